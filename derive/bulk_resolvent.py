"""The bulk that one gradient step leaves: its covariance, and the resolvent of the matrix that it depends on.

With sigma' = mu_1 + (rest) and a rest without linear Hermite coefficient, row k of the first layer is
``w_k + (spike) + (A u_k/n0) sum_i e_i rest(w_k.x_i) x_i``: given the batch, Gaussian with covariance
``Sigma = 1 + a C, C = (1/n0) sum_i e_i^2 x_i x_i^T, a = (A u)^2 Var sigma'/alpha0``. The spike's direction
``v = (1/(n n0)) sum_i e_i x_i`` and the target's are correlated with C; what the readout needs is the resolvent of C
between them, which leaving one sample out gives in the limit of large d. Source: THEORY section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.gradient_step import ALPHA0, VARIANCE, U
from derive.network_step import DIMENSION, A
from derive.operations import computed, equal
from derive.replica.matrices import OnInverse
from derive.trace import Claim, Derivation, Recorder

SHIFT = sp.Symbol("w", positive=True)  # the resolvent is (C + w)^-1
TRACE = sp.Symbol("S", positive=True)  # (1/d) tr (C + w)^-1
LENGTH = sp.Symbol("n", positive=True)  # |(1/n0) sum e_i x_i|
OVERLAP = sp.Symbol("t", real=True)
RESIDUAL = sp.Function("residual_e", real=True)(OVERLAP)
ALONG = sp.Symbol("S_theta", positive=True)  # theta.(C + w)^-1 theta
MIXED = sp.Symbol("S_v", real=True)  # E[e t/D]
_SOURCE = "THEORY section 5"
_LARGE = "an identity of large matrices, written down sample by sample; nothing is carried out"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"


@dataclass(frozen=True)
class BulkResolvent:
    """``covariance``: the factor a of C; ``trace``: what vanishes at S; ``along`` and ``mixed``: theta.Res.theta and
    E[e t/D] by S; ``cross`` and ``own``: v.Res.theta and v.Res.v by those.

    Expectations are over t and, where the label has noise, over the residual e given t.
    """

    covariance: Any
    trace: Any
    along: Any
    mixed: Any
    cross: Any
    own: Any
    derivation: Derivation


def bulk_resolvent() -> BulkResolvent:
    """Derive the covariance of the bulk and the resolvent of C, of a target of one index."""
    trace = Recorder("Bulk of the trained network")
    factor = _covariance(trace)
    _leave_one_out(trace)
    trace_of_one, along = _identities(trace)
    mixed, cross, own = _along_spike(trace)
    return BulkResolvent(factor, trace_of_one - 1, along, mixed, cross, own, trace.finish())


def _leave_one_out(trace: Recorder) -> None:
    """What a sample's own presence in C does to it: the factor 1/D."""
    trace.assume(
        "left out",
        sp.Symbol("x.Res_0.x"),
        DIMENSION * TRACE,
        "$x\\cdot\\mathrm{Res}_0\\,x\\to dS$ of a sample $x$ and the resolvent without it, "
        "$S=\\frac{1}{d}\\mathrm{tr}\\,(C+w)^{-1}$",
        source=_SOURCE,
        assumption=_LIMIT,
    )
    weight = RESIDUAL**2 / (ALPHA0 * DIMENSION)
    trace.derive(
        "leave one out",
        sp.Symbol("x.Res.x"),
        computed(
            "solve",
            "the sample put back into $C$ with its weight $e^2/n_0$",
            "left out",
            by=lambda quadratic: sp.factor(sherman_morrison(quadratic, -weight)),
            test=Claim(lambda found, quadratic: _one_more_sample(found, quadratic, weight)),
        ),
        "Sherman and Morrison (1950)",
    )
    trace.derive(
        "shrinking",
        sp.Symbol("D") ** -1,
        computed(
            "divide",
            "what its own presence does to a sample",
            "leave one out",
            "left out",
            by=lambda inside, outside: sp.simplify(inside / outside),
            test=equal(lambda inside, outside: inside / outside),
        ),
        shown=False,
    )


def _identities(trace: Recorder) -> tuple[Any, Any]:
    """The trace of (C + w)(C + w)^-1, and its projection on the target solved for theta.Res.theta."""
    trace_of_one = trace.derive(
        "trace",
        sp.S.One,
        computed(
            "average",
            "the trace of $(C+w)(C+w)^{-1}$, sample by sample",
            "shrinking",
            by=lambda shrunk: SHIFT * TRACE + TRACE * Expectation(RESIDUAL**2 * shrunk, OVERLAP),
            test=_LARGE,
        ),
        _SOURCE,
    )
    trace.derive(
        "projection on the target",
        sp.S.One,
        computed(
            "average",
            "the same identity between $\\theta$ and $\\theta$: a sample has $\\theta\\cdot x=t$, and its "
            "part across $\\theta$ averages out",
            "shrinking",
            by=lambda shrunk: SHIFT * ALONG + ALONG * Expectation(RESIDUAL**2 * OVERLAP**2 * shrunk, OVERLAP),
            test=_LARGE,
        ),
        _SOURCE,
        shown=False,
    )
    along = trace.derive(
        "resolvent along the target",
        ALONG,
        computed(
            "solve",
            "solved for $\\theta\\cdot\\mathrm{Res}\\,\\theta$",
            "projection on the target",
            by=lambda projected: _solved(projected - 1, ALONG),
            test=Claim(lambda root, projected: (projected.xreplace({ALONG: root}), sp.S.One)),
        ),
        _SOURCE,
    )
    return trace_of_one, along


def _along_spike(trace: Recorder) -> tuple[Any, Any, Any]:
    """E[e t/D], v.Res.theta and v.Res.v: the spike is an average over samples."""
    mixed = trace.derive(
        "spike and target, per sample",
        MIXED,
        computed(
            "average",
            "a sample of $v=\\frac{1}{n\\,n_0}\\sum_ie_ix_i$ left out of the resolvent",
            "shrinking",
            by=lambda shrunk: Expectation(RESIDUAL * OVERLAP * shrunk, OVERLAP),
            test=_LARGE,
        ),
        _SOURCE,
    )
    cross = trace.derive(
        "resolvent between spike and target",
        sp.Symbol("v.Res.theta"),
        computed(
            "average",
            "the average over samples; $n=|\\frac{1}{n_0}\\sum_ie_ix_i|$",
            "spike and target, per sample",
            "resolvent along the target",
            by=lambda *_: ALONG * MIXED / LENGTH,
            test=_LARGE,
        ),
        _SOURCE,
    )
    own = trace.derive(
        "resolvent along the spike",
        sp.Symbol("v.Res.v"),
        computed(
            "average",
            "equal and different samples counted apart; two different ones are both left out",
            "shrinking",
            "spike and target, per sample",
            "resolvent along the target",
            by=lambda shrunk, *_: (_equal(shrunk) + ALONG * MIXED**2) / LENGTH**2,
            test=_LARGE,
        ),
        _SOURCE,
    )
    return mixed, cross, own


def sherman_morrison(resolvent: Any, weight: Any) -> Any:
    """``u.(A - x u u^T)^-1 u`` from ``I = u.A^-1 u`` and the weight x: the scalar ``I/(1 - x I)``.

    Solved from the defining linear system: with ``z = (A - x u u^T)^-1 u`` and ``q = u.z``, ``z = A^-1 u (1 + x q)``.
    Source: Sherman and Morrison (1950); used in [CUI24] eq. (108)-(116).
    """
    q = sp.Dummy("q")
    (root,) = sp.solve(sp.Eq(q, resolvent * (1 + weight * q)), q)
    return sp.factor(root)


def _one_more_sample(found: Any, quadratic: Any, weight: Any) -> tuple[Any, Any]:
    """x.Res.x of a matrix with the sample in it, and the result by x.Res.x of the matrix without it."""
    size = sp.Symbol("K", integer=True, positive=True)
    matrix, sample = sp.MatrixSymbol("C", size, size), sp.MatrixSymbol("x", size, 1)
    with_it = sp.MatAdd(matrix, weight * sample * sample.T)
    return OnInverse(with_it, sample), sp.Subs(found, TRACE, OnInverse(matrix, sample) * TRACE / quadratic)


def _equal(shrunk: Any) -> Any:
    """Pairs of the same sample in n^2 v.Res.v."""
    return TRACE / ALPHA0 * Expectation(RESIDUAL**2 * shrunk, OVERLAP)


def _covariance(trace: Recorder) -> Any:
    factor = (A * U) ** 2 * VARIANCE / ALPHA0
    trace.assume(
        "covariance of the bulk",
        sp.Symbol("Sigma_cov"),
        1 + factor * sp.Symbol("C"),
        source=_SOURCE,
        rule="the row of a neuron to be Gaussian given the batch, of covariance "
        "$1+aC$, $C=\\frac{1}{n_0}\\sum_ie_i^2x_ix_i^T$: the rests of $\\sigma'(w_k\\cdot x_i)$ are uncorrelated "
        "between samples and with $w_k$",
        assumption="$\\mathbb{E}\\sigma''=0$ at initialisation, as for every odd activation",
    )
    mean = sp.Symbol("trace_C")
    trace.define(
        "mean of C",
        mean,
        Expectation(RESIDUAL**2, OVERLAP),
        source=_SOURCE,
        rule="$\\frac{1}{d}\\mathrm{tr}\\,C$: the squared norm of a row is the bulk variance "
        "$c=1+a\\,\\frac{1}{d}\\mathrm{tr}\\,C$ of the isotropic law",
    )
    return factor


def _solved(equation: Any, unknown: sp.Symbol) -> Any:
    (node,) = equation.atoms(Expectation)
    hidden = sp.Dummy()
    (root,) = sp.solve(equation.xreplace({node: hidden}), unknown)
    return root.xreplace({hidden: node})
