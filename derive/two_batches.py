"""Two fits after steps on batches of their own: two spikes, whose overlap is that of each with the target.

Given ``z = theta.x`` the components kappa_1, kappa_2 along the two spikes are independent, so that averages over both
outputs are products of conditional ones. Rows of one initialisation keep an overlap: a batch adds noise of its own.

Source: THEORY section 14, for the square loss, one direction of the spike and one index.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.blocks import BlockSum, family, family_name, index
from derive.canonical import canonical
from derive.layers_of_two import Q2_HAT_12
from derive.loss.loss import VARIANCE
from derive.operations import computed, equal
from derive.replica.network import put
from derive.symbols import ALPHA, BETA, SYMMETRIC
from derive.trace import Claim, Derivation, Recorder
from derive.two_readouts import Q1_12, Q2_12, WEIGHT, pair_system

B, C, D, E = (index(name) for name in "bcde")
Z, K, L, X = (index(name) for name in "iklu")  # z; kappa given z in each fit; what the rows of a neuron share
GAMMA = sp.Symbol("gamma", positive=True)
NOISE_12 = sp.Symbol("noise_12", nonnegative=True)
PRODUCTS = sp.symbols("vv vo oo", real=True)
LAW, GIVEN = family("law_z"), family("given")  # weights of z, and of kappa given z
MU1, REST, GAIN, RESIDUAL = family("mu1"), family("rest"), family("gain"), family("residual")
COMMON = family("common")  # what the rest of the features of a block has in common in both layers
_SOURCE = "THEORY section 14"


@dataclass(frozen=True)
class TwoBatches:
    """fixes: what vanishes for T_12; across: Q1_12 across all three directions; products: of spikes and the rest of the
    target by gamma; common: what the rest of the features has in common; conjugates; gain: h of the square loss at
    V [Z, k]; shared: E (y - f_1)(y - f_2) by the residuals of a single fit.
    """

    fixes: sp.Expr
    across: sp.Expr
    products: tuple[sp.Expr, ...]
    common: sp.Expr
    conjugates: tuple[sp.Expr, sp.Expr]
    gain: sp.Expr
    shared: sp.Expr
    derivation: Derivation


@lru_cache(maxsize=1)
def two_batches() -> TwoBatches:
    """Derive the equations of two fits with batches of their own."""
    single = pair_system()
    trace = Recorder("Two readouts, batches of their own", (single.derivation,))
    products = _record_directions(trace)
    fixes, across = _record_rows(trace)
    _record_samples(trace)
    conjugates = (
        _conjugate(trace, "d/dQ1_12, two batches", family("Q1_hat_12")[B, C], MU1[B, Z, K] * MU1[C, Z, L]),
        _conjugate(trace, "d/dQ2_12, two batches", Q2_HAT_12[B], COMMON[B, Z, K, L], square=True),
    )
    gain = _gain(trace)
    shared = _record_shared(trace)
    common = trace.right_side("rest of the features in common")
    return TwoBatches(fixes, across, products, common, conjugates, gain, shared, trace.finish())


def _record_directions(trace: Recorder) -> tuple[sp.Expr, ...]:
    """Products of the directions of two fits."""
    rest = sp.sqrt(1 - GAMMA**2)
    trace.assume(
        "spikes of two batches",
        sp.Tuple(*sp.symbols("v_1 v_2")),
        sp.Tuple(sp.Matrix([GAMMA, rest, 0]), sp.Matrix([GAMMA, 0, rest])),
        "each batch to turn the spike away from $\\theta$ by noise of its own: $v_i=\\gamma\\theta+\\sqrt{1-\\gamma^2}"
        "\\,\\eta_i$, in coordinates along $\\theta$, $\\eta_1$, $\\eta_2$",
        source=_SOURCE,
        assumption="batches are independent; $\\eta_1\\cdot\\eta_2$ vanishes as $d$ grows",
    )
    found = trace.derive(
        "products of directions",
        sp.Tuple(*PRODUCTS),
        computed(
            "multiply",
            "the spikes and $o_i=(\\theta-\\gamma v_i)/\\sqrt{1-\\gamma^2}$: $v_1\\cdot v_2$, $v_1\\cdot o_2$, "
            "$o_1\\cdot o_2$",
            "spikes of two batches",
            by=_products,
            test=Claim(_gram),
        ),
        _SOURCE,
    )
    return tuple(found)


def _beside(spike: sp.Matrix) -> sp.Matrix:
    return (sp.Matrix([1, 0, 0]) - GAMMA * spike) / sp.sqrt(1 - GAMMA**2)


def _products(spikes: sp.Tuple) -> sp.Tuple:
    first, second = spikes
    pairs = ((first, second), (first, _beside(second)), (_beside(first), _beside(second)))
    return sp.Tuple(*(sp.simplify(one.dot(other)) for one, other in pairs))


def _gram(found: sp.Tuple, spikes: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """theta = gamma v_i + sqrt(1 - gamma^2) o_i on both sides has length one."""
    vv, vo, oo = found
    rest = sp.sqrt(1 - GAMMA**2)
    length = GAMMA**2 * vv + 2 * GAMMA * rest * vo + rest**2 * oo
    return sp.Tuple(length, vv), sp.Tuple(sp.S.One, spikes[0].dot(spikes[1]))


def _record_rows(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """T_12 and Q1_12 where sources of two fits lie along different directions."""
    fixes = trace.derive(
        "d/dT_12, two batches",
        sp.S.Zero,
        computed(
            "substitute",
            "the source of block $b$ is the vector $\\hat\\zeta_bv_i+(P\\hat\\psi)_bo_i$ of fit $i$: its square "
            "becomes the product of both",
            "d/dT_12",
            by=_polarised,
            test=Claim(lambda found, body: (body, sp.Subs(found, PRODUCTS, (sp.S.One, sp.S.Zero, sp.S.One)))),
        ),
        _SOURCE,
    )
    across = trace.derive(
        "d/dQ1_hat_12, two batches",
        Q1_12[B, C],
        computed(
            "substitute",
            "across all directions that either fit knows there is no source",
            "d/dQ1_hat_12",
            by=lambda body: canonical(put(body, {"psi_hat": lambda *_: sp.S.Zero}), SYMMETRIC),
            test=equal(lambda body: put(body, {"psi_hat": lambda *_: sp.S.Zero})),
        ),
        _SOURCE,
    )
    return fixes, across


def _polarised(body: sp.Expr) -> sp.Expr:
    """Squares of zeta_hat and of P psi_hat as products of two vectors."""
    squares = [term for term in sp.Add.make_args(body) if _names(term) & {"psi_hat", "zeta_hat"}]
    overlap, zeta = family("overlap")[B], family("zeta_hat")[B]
    (along,) = [term for term in squares if "psi_hat" in _names(term)]
    (root,) = [factor.base for factor in sp.Mul.make_args(along) if isinstance(factor, sp.Pow)]
    if sp.expand(sp.Add(*squares) - overlap * (root**2 + zeta**2)) != 0:
        raise ValueError(f"the sources {squares} of T_12 are no sum of two squares")
    vv, vo, oo = PRODUCTS
    return body - sp.Add(*squares) + overlap * (vv * zeta**2 + 2 * vo * zeta * root + oo * root**2)


def _names(term: sp.Expr) -> set[str | None]:
    return {family_name(node) for node in sp.preorder_traversal(term)}


def _record_samples(trace: Recorder) -> None:
    """The product of both residuals given z and both kappa."""
    trace.define(
        "rest of the features in common",
        COMMON[D, Z, K, L],
        BlockSum(REST[X, D, Z, K] * REST[X, D, Z, L], X),
        "a neuron has in both layers $g_i=\\sqrt\\varrho\\,x+\\sqrt{1-\\varrho}\\,x_i$, and beside mean and linear "
        "part $E[\\sigma|x]$ in common: a sum over nodes of $x$",
        _SOURCE,
    )
    trace.assume(
        "residuals of two fits",
        sp.Symbol("<r_1 r_2>"),
        RESIDUAL[Z, K] * RESIDUAL[Z, L]
        + BlockSum(BlockSum(Q1_12[D, E] * MU1[D, Z, K] * MU1[E, Z, L], D), E)
        + BlockSum(COMMON[D, Z, K, L] * Q2_12[D], D),
        "given $z$ and $\\kappa_1,\\kappa_2$: the mean residuals $y-\\bar f-\\text{slope}\\,t$ with "
        "$t=(z-\\gamma\\kappa)/\\sqrt{1-\\gamma^2}$, and the covariance of the rest of the outputs",
        source=_SOURCE,
        assumption="conditional Gaussian equivalence for both layers together",
    )


def _conjugate(trace: Recorder, label: str, left: sp.Expr, features: sp.Expr, square: bool = False) -> sp.Expr:
    """The average of g_1 g_2 with features of both fits: sums over both kappa given z."""
    words = "the rest of the features" if square else "the linear parts of the features"

    def whole(residuals: sp.Expr) -> sp.Expr:
        product = features * GAIN[Z, K] * GAIN[Z, L] * (residuals + NOISE_12)
        return ALPHA / BETA * BlockSum(LAW[Z] * _over_kappa(product), Z)

    return trace.derive(
        label,
        left,
        computed(
            "average",
            f"$g_i=\\bar h_ir_i$ with {words}, over $\\kappa_1$ and $\\kappa_2$, which are independent given $z$",
            "residuals of two fits",
            by=lambda residuals: canonical(whole(residuals), SYMMETRIC),
            test=equal(whole),
        ),
        _SOURCE,
    )


def _gain(trace: Recorder) -> sp.Expr:
    """h of a sample of weight one."""
    places = {WEIGHT: sp.S.One, VARIANCE: family("V")[Z, K]}
    return trace.derive(
        "gain of a sample",
        GAIN[Z, K],
        computed(
            "substitute",
            "every sample has the weight one",
            "h of a weighted sample",
            by=lambda h: h.xreplace(places),
            test=equal(lambda h: sp.Subs(h, tuple(places), tuple(places.values()))),
        ),
        _SOURCE,
        shown=False,
    )


def _over_kappa(body: sp.Expr) -> sp.Expr:
    return BlockSum(BlockSum(GIVEN[K] * GIVEN[L] * body, K), L)


def _record_shared(trace: Recorder) -> sp.Expr:
    def whole(residuals: sp.Expr) -> sp.Expr:
        return BlockSum(LAW[Z] * _over_kappa(residuals), Z)

    return trace.derive(
        "shared error, two batches",
        sp.Symbol("E (y - f_1)(y - f_2)"),
        computed(
            "average",
            "the product of the residuals from the clean label",
            "residuals of two fits",
            by=lambda residuals: canonical(whole(residuals), SYMMETRIC),
            test=equal(whole),
        ),
        _SOURCE,
    )
