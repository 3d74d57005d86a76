"""The bulk that one gradient step leaves: its covariance, and the resolvent of that between spike and target.

With sigma' = mu_1 + sigma_2 z + (rest) row k of the first layer is
``(1 + A u_k sigma_2 B) w_k + (spike) + (A u_k/n0) sum_i e_i rest(w_k.x_i) x_i``, B = (1/n0) sum_i e_i x_i x_i^T.
Given the batch it is Gaussian of covariance ``Sigma = (1 + a2 B)^2 + a C``, C = (1/n0) sum_i e_i^2 x_i x_i^T;
B and C do not commute. ``Sigma - 1 + w`` is a Schur complement of a matrix that is linear in the samples,
``m x 1 + (1/n0) sum_i k_i x x_i x_i^T`` with 2 x 2 matrices m and k, and leaving one sample out gives the resolvent in
the limit of large d. An odd activation has sigma_2 = 0. Source: THEORY section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.gradient_step import ALPHA0, SECOND, VARIANCE, U
from derive.network_step import A
from derive.operations import COMPOSED, computed, equal
from derive.replica.matrices import LogDeterminant, OnInverse
from derive.trace import Claim, Derivation, Recorder

SHIFT = sp.Symbol("w", positive=True)  # the resolvent is (Sigma - 1 + w)^-1
NOISE, STRETCH = sp.Symbol("a", positive=True), sp.Symbol("a_2", real=True)  # Sigma = (1 + a_2 B)^2 + a C
LENGTH = sp.Symbol("n", positive=True)  # |(1/n0) sum e_i x_i|
OVERLAP = sp.Symbol("t", real=True)
RESIDUAL = sp.Function("residual_e", real=True)(OVERLAP)
TRACE, MIXED, OTHER = sp.symbols("S S_12 S_22", real=True)  # S = (1/d) tr (Sigma - 1 + w)^-1
_S = sp.Matrix([[TRACE, MIXED], [MIXED, OTHER]])
PRESENCE = sp.Function("D", real=True)(OVERLAP)  # det(1 + s k) of a sample, what its own presence divides by
_ADDED = sp.symbols("k_theta k_theta12 k_theta22", real=True)
_ALONG = sp.symbols("S_theta S_theta12 S_theta22", real=True)
_OF_F, _OF_G = sp.symbols("S_f1 S_f2", real=True), sp.symbols("S_g1 S_g2", real=True)
VECTORS = tuple(sp.Function(name, real=True)(OVERLAP) for name in ("f_1", "f_2", "g_1", "g_2"))
_F, _G = sp.Matrix(VECTORS[:2]), sp.Matrix(VECTORS[2:])
_SOURCE = "THEORY section 5"
_LARGE = "an identity of large matrices, written down sample by sample; nothing is carried out"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"


@dataclass(frozen=True)
class BulkResolvent:
    """``stretch``, ``noise``: a_2 and a of ``Sigma = (1 + a_2 B)^2 + a C``; ``presence``: D, what the presence
    of a sample divides by; ``equations``: three expressions that vanish
    at (S, S_12, S_22), S the mean of the resolvent; ``added``: what samples add along theta; ``along``: theta.Res.theta
    and two more entries by that; ``vectors``: averages that those of two sums over samples x_F and x_G are made of;
    ``cross``, ``between``: x_F.Res.theta and x_F.Res.x_G by those, F and G functions (f_1, f_2) of the residual.

    Expectations are over t and, where the label has noise, over the residual e given t.
    """

    stretch: Any
    noise: Any
    presence: Any
    equations: tuple[Any, ...]
    added: tuple[Any, ...]
    along: tuple[Any, ...]
    vectors: tuple[Any, ...]
    cross: Any
    between: Any
    derivation: Derivation


def bulk_resolvent() -> BulkResolvent:
    """Derive the covariance of the bulk and its resolvent, of a target of one index."""
    trace = Recorder("Bulk of the trained network")
    stretch, noise = _covariance(trace)
    _linearised(trace)
    presence = _leave_one_out(trace)
    equations = _trace(trace)
    added, along = _along_target(trace)
    vectors, cross, between = _between_samples(trace)
    return BulkResolvent(stretch, noise, presence, equations, added, along, vectors, cross, between, trace.finish())


def _covariance(trace: Recorder) -> tuple[Any, Any]:
    """The factors a_2 and a of the covariance, from the parts of sigma'."""
    trace.assume(
        "slope of a neuron on a sample",
        sp.Symbol("sigma'(z)"),
        sp.Symbol("mu_1") + SECOND * sp.Symbol("z") + sp.Symbol("rest"),
        source=_SOURCE,
        rule="$\\sigma'$ split by its first two Hermite coefficients; the rests of the samples are to be uncorrelated "
        "with each other and with $w_k$",
        assumption="d, n0 large at fixed ratio: the overlaps of two samples are of order $d^{-1/2}$",
    )
    stretch = trace.derive(
        "stretch of the rows",
        STRETCH,
        computed(
            "read off",
            "$\\frac{Au}{n_0}\\sum_ie_i\\,\\sigma_2(w_k\\cdot x_i)\\,x_i=a_2Bw_k$, "
            "$B=\\frac{1}{n_0}\\sum_ie_ix_ix_i^T$",
            "slope of a neuron on a sample",
            by=lambda slope: A * U * slope.coeff(sp.Symbol("z")),
            test=equal(lambda slope: A * U * sp.Derivative(slope, sp.Symbol("z"), evaluate=False)),
        ),
        _SOURCE,
    )
    noise = trace.derive(
        "noise of the rows",
        NOISE,
        computed(
            "average",
            "the covariance of $\\frac{Au}{n_0}\\sum_ie_i\\,\\mathrm{rest}_i\\,x_i$ is $\\frac{a}{d}C$, "
            "$C=\\frac{1}{n_0}\\sum_ie_i^2x_ix_i^T$; the rest has the variance of $\\sigma'$ beside its linear part",
            "slope of a neuron on a sample",
            by=lambda _: (A * U) ** 2 * (VARIANCE - SECOND**2) / ALPHA0,
            test=_LARGE,
        ),
        _SOURCE,
    )
    trace.define(
        "covariance of the bulk",
        sp.Symbol("Sigma_cov"),
        (1 + STRETCH * sp.Symbol("B")) ** 2 + NOISE * sp.Symbol("C"),
        "of a row given the batch, which is Gaussian, times $d$",
        _SOURCE,
    )
    mean, square = Expectation(RESIDUAL, OVERLAP), Expectation(RESIDUAL**2, OVERLAP)
    trace.derive(
        "mean of the covariance",
        sp.Symbol("c"),
        computed(
            "average",
            "$\\frac{1}{d}\\mathrm{tr}\\,\\Sigma$: the bulk variance of the isotropic law",
            "covariance of the bulk",
            by=lambda _: 1 + 2 * STRETCH * mean + STRETCH**2 * (mean**2 + square / ALPHA0) + NOISE * square,
            test=_LARGE,
        ),
        _SOURCE,
    )
    return stretch, noise


def _blocks() -> tuple[sp.Matrix, sp.Matrix]:
    """(m, k): the part without samples, and that of one sample."""
    across = -STRETCH * RESIDUAL
    return sp.diag(SHIFT, -1), sp.Matrix([[NOISE * RESIDUAL**2 - 2 * across, across], [across, 0]])


def _linearised(trace: Recorder) -> None:
    """A matrix linear in the samples with Sigma - 1 + w as a Schur complement."""
    plain, sample = _blocks()
    trace.define(
        "linear in the samples",
        sp.Tuple(sp.Symbol("m"), sp.Symbol("k")),
        sp.Tuple(*plain, *sample),
        "entries of the $2\\times2$ matrices of $m\\otimes1+\\frac{1}{n_0}\\sum_ik_i\\otimes x_ix_i^T"
        "=\\begin{pmatrix}w+aC+2a_2B&-a_2B\\\\-a_2B&-1\\end{pmatrix}$",
        _SOURCE,
    )
    trace.derive(
        "Schur complement",
        sp.Symbol("Sigma - 1 + w"),
        computed(
            "take the Schur complement",
            "of the lower right block: the upper left block of the inverse is $(\\Sigma-1+w)^{-1}$",
            "covariance of the bulk",
            "linear in the samples",
            by=lambda covariance, _: covariance - 1 + SHIFT,
            test=Claim(lambda *_: _schur()),
        ),
        _SOURCE,
    )


def _schur() -> tuple[Any, Any]:
    """u.(Sigma - 1 + w)^-1 u of any vector u, and of the large matrix."""
    size = sp.Symbol("K", integer=True, positive=True)
    b, c, u = sp.MatrixSymbol("B", size, size), sp.MatrixSymbol("C", size, size), sp.MatrixSymbol("x", size, 1)
    one = sp.Identity(size)
    stretched = sp.MatAdd(one, STRETCH * b)
    upper, across, lower = (sp.ImmutableMatrix(2, 2, each) for each in ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1)))
    large = sp.MatAdd(
        sp.KroneckerProduct(upper, sp.MatAdd(SHIFT * one, NOISE * c, 2 * STRETCH * b)),
        -STRETCH * sp.KroneckerProduct(across, b),
        -1 * sp.KroneckerProduct(lower, one),
    )
    vector = sp.KroneckerProduct(sp.ImmutableMatrix([[1], [0]]), u)
    small = sp.MatAdd(SHIFT * one, -1 * one, sp.MatMul(stretched, stretched), NOISE * c)
    return OnInverse(small, u), OnInverse(large, vector)


def _leave_one_out(trace: Recorder) -> Any:
    """What a sample's own presence does to it: (1 + s k)^-1, s the resolvent at a sample left out."""
    trace.assume(
        "left out",
        sp.Tuple(*sp.symbols("s s_12 s_22")),
        sp.Tuple(*(_entry / ALPHA0 for _entry in (TRACE, MIXED, OTHER))),
        "the inverse without a sample $x$ between $x$ and $x$, over $n_0$, to be $s=S/\\alpha_0$, $S$ its mean over "
        "the input dimensions, a $2\\times2$ matrix",
        source=_SOURCE,
        assumption=_LIMIT,
    )
    return trace.derive(
        "one sample put back",
        PRESENCE,
        computed(
            "take the determinant",
            "$(1+sk)^{-1}$ is what its own presence makes of a sample, by Woodbury's identity",
            "left out",
            "linear in the samples",
            by=lambda left, _: sp.expand((sp.eye(2) + _matrix(left) * _blocks()[1]).det()),
            test=Claim(_one_more_sample),
        ),
        "Woodbury (1950)",
    )


def _matrix(entries: sp.Tuple) -> sp.Matrix:
    return sp.Matrix([[entries[0], entries[1]], [entries[1], entries[2]]])


def _one_more_sample(found: Any, *_: Any) -> tuple[Any, Any]:
    """The ratio of determinants of a large matrix with a sample and without, and the result at its own s."""
    size = sp.Symbol("K", integer=True, positive=True)
    one, other, sample = (
        sp.MatrixSymbol("X", size, size),
        sp.MatrixSymbol("Y", size, size),
        sp.MatrixSymbol("x", size, 1),
    )
    across = sp.ImmutableMatrix([[0, 1], [1, 0]])
    large = sp.MatAdd(sp.KroneckerProduct(sp.Identity(2), one), sp.KroneckerProduct(across, other))
    with_it = sp.MatAdd(large, sp.KroneckerProduct(sp.ImmutableMatrix(_blocks()[1]), sp.MatMul(sample, sample.T)))
    upper, lower, both = (
        OnInverse(large, sp.KroneckerProduct(sp.ImmutableMatrix(column), sample))
        for column in ([[1], [0]], [[0], [1]], [[1], [1]])
    )
    inside = (ALPHA0 * upper, ALPHA0 * (both - upper - lower) / 2, ALPHA0 * lower)
    ratio = sp.exp(LogDeterminant(with_it) - LogDeterminant(large))
    return ratio, sp.Subs(found, (TRACE, MIXED, OTHER), inside)


def _presence() -> sp.Matrix:
    """(1 + k s)^-1 by the means S."""
    return (sp.eye(2) + _blocks()[1] * _S / ALPHA0).adjugate() / PRESENCE


def _weighed() -> tuple[Any, Any, Any]:
    """The entries of k (1 + s k)^-1 = (1 + k s)^-1 k: what a sample adds to the inverse of S."""
    product = (_presence() * _blocks()[1]).applyfunc(sp.factor)
    return product[0, 0], product[0, 1], product[1, 1]


def _trace(trace: Recorder) -> tuple[Any, ...]:
    """The three equations of S: its inverse is m + E[k (1 + s k)^-1]."""
    plain, _ = _blocks()
    inverse = _S.adjugate() / _S.det()
    averages = [Expectation(each, OVERLAP) for each in _weighed()]
    places = ((0, 0), (0, 1), (1, 1))
    return tuple(
        trace.derive(
            f"inverse of the mean resolvent, entry {i + 1}{j + 1}",
            sp.S.Zero,
            computed(
                "average",
                "the trace over samples and input dimensions of matrix times inverse; $S^{-1}=m+E[k(1+sk)^{-1}]$",
                "one sample put back",
                "linear in the samples",
                by=lambda *_, i=i, j=j, average=average: plain[i, j] + average - inverse[i, j],
                test=_LARGE,
            ),
            _SOURCE,
        )
        for (i, j), average in zip(places, averages, strict=True)
    )


def _along_target(trace: Recorder) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What samples add along theta, and the inverse of m with that: a sample has theta.x = t."""
    plain, _ = _blocks()
    entries = ("11", "12", "22")
    added = tuple(
        trace.derive(
            f"samples along the target, entry {entry}",
            name,
            computed(
                "average",
                "$E[t^2k(1+sk)^{-1}]$: the same identity between $\\theta$ and $\\theta$; the part of a sample across "
                "$\\theta$ averages out",
                "one sample put back",
                "linear in the samples",
                by=lambda *_, each=each: Expectation(OVERLAP**2 * each, OVERLAP),
                test=_LARGE,
            ),
            _SOURCE,
        )
        for entry, name, each in zip(entries, _ADDED, _weighed(), strict=True)
    )
    matrix = plain + _matrix(sp.Tuple(*_ADDED))
    inverse = matrix.adjugate() / matrix.det()
    along = tuple(
        trace.derive(
            f"resolvent along the target, entry {entry}",
            name,
            computed(
                "invert",
                "the inverse of $m$ with what the samples add",
                *(f"samples along the target, entry {each}" for each in entries),
                by=lambda *_, place=place: inverse[place],
                test=COMPOSED,
            ),
            _SOURCE,
        )
        for entry, name, place in zip(entries, _ALONG, ((0, 0), (0, 1), (1, 1)), strict=True)
    )
    return added, along


def _between_samples(trace: Recorder) -> tuple[tuple[Any, ...], Any, Any]:
    """Sums over samples x_F = (1/n0) sum_i F_i x x_i with F in R^2, between theta and between each other."""
    presence = _presence()
    per_sample = tuple(
        trace.derive(
            f"vector {letter} and target, per sample, entry {i + 1}",
            name,
            computed(
                "average",
                "a sample of $x_F=\\frac{1}{n_0}\\sum_iF_i\\otimes x_i$ left out of the resolvent; the spike has "
                "$F=(e/n,0)$, $n=|\\frac{1}{n_0}\\sum_ie_ix_i|$",
                "one sample put back",
                by=lambda _, i=i, of=of: Expectation(OVERLAP * (presence * of)[i], OVERLAP),
                test=_LARGE,
            ),
            _SOURCE,
        )
        for letter, of, names in (("F", _F, _OF_F), ("G", _G, _OF_G))
        for i, name in enumerate(names)
    )
    along = _matrix(sp.Tuple(*_ALONG))
    labels = [f"resolvent along the target, entry {entry}" for entry in ("11", "12", "22")]
    samples = [f"vector {letter} and target, per sample, entry {i + 1}" for letter in "FG" for i in range(2)]
    cross = trace.derive(
        "resolvent between a vector and the target",
        sp.Symbol("x_F.Res.theta"),
        computed(
            "average",
            "the average over samples, the first entry of what is left",
            *samples[:2],
            *labels,
            by=lambda *_: (along * sp.Matrix(_OF_F))[0],
            test=COMPOSED,
        ),
        _SOURCE,
    )
    own = (_S / ALPHA0 * presence).applyfunc(sp.factor)
    same = Expectation(sp.expand((_F.T * own * _G)[0]), OVERLAP)
    between = trace.derive(
        "resolvent between two vectors",
        sp.Symbol("x_F.Res.x_G"),
        computed(
            "average",
            "equal and different samples counted apart; two different ones are both left out",
            "one sample put back",
            *samples,
            *labels,
            by=lambda *_: same + sp.expand((sp.Matrix(_OF_F).T * along * sp.Matrix(_OF_G))[0]),
            test=_LARGE,
        ),
        _SOURCE,
    )
    return per_sample, cross, between
