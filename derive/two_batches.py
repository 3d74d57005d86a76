"""Two fits after steps on batches of their own: two spikes whose overlaps are those of each with the target.

Given the indices ``z = theta.x`` the components kappa_1, kappa_2 along the two spikes are independent, so that averages
over both outputs are sums over z, kappa_1 and kappa_2. Rows of one initialisation keep an overlap: a batch adds noise
of its own. One set of equations holds for any number of steps, indices and directions of the spike, and for any convex
loss: what two slopes have in common is a series in the covariance of their outputs.

Source: THEORY section 14, there for the square loss, one direction of the spike and one index.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, family, family_name, index
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.layers_of_two import Q2_HAT_12
from derive.operations import computed, equal
from derive.outputs_of_two_batches import (
    COMMON,
    LAW,
    MU1,
    SLOPES,
    K,
    L,
    Z,
    over_kappa,
    record_covariance,
    record_gain,
    record_half,
    record_mean,
    record_series,
    record_square,
)
from derive.replica.network import put
from derive.replica.two_kinds import two_kinds_derivation
from derive.symbols import SYMMETRIC
from derive.trace import Claim, Derivation, Recorder
from derive.two_readouts import Q1_12, pair_system

A, B, C = (index(name) for name in "abc")
J, H, R, S = (index(name) for name in "jhrs")  # directions of the spike; of the rest of the target
GAMMA, LOWER = family("gamma"), family("L_rest")  # overlaps [j, i]; the rest of the target: L L^T = 1 - gamma^T gamma
VV, VO, OO = family("vv"), family("vo"), family("oo")
ZETA_HAT, PSI_HAT = family("zeta_hat"), family("psi_hat")
_SOURCE = "THEORY section 14"


@dataclass(frozen=True)
class TwoBatches:
    """fixes: what vanishes for T_12; across: Q1_12 across all directions; products: of spikes and the rest of the
    target; common: what the rest of the features has in common; covariance: of the outputs given z and both kappa;
    conjugates: by E g_1 g_2 there; square: E g and E g' of the square loss given z and kappa, by its gain, h at
    V [Z, k]; half: E (f_1 - f_2)^2/2; mean_output: mean and variance of (f_1 + f_2)/2 given z and both kappa.
    """

    fixes: sp.Expr
    across: sp.Expr
    products: tuple[sp.Expr, ...]
    common: sp.Expr
    covariance: sp.Expr
    conjugates: tuple[sp.Expr, sp.Expr]
    gain: sp.Expr
    square: tuple[sp.Expr, ...]
    half: sp.Expr
    mean_output: tuple[sp.Expr, ...]
    derivation: Derivation


@lru_cache(maxsize=1)
def two_batches() -> TwoBatches:
    """Derive the equations of two fits with batches of their own."""
    single = pair_system()
    trace = Recorder("Two readouts, batches of their own", (single.derivation, two_kinds_derivation()))
    products = _record_directions(trace)
    fixes, across = _record_rows(trace)
    common, covariance = record_covariance(trace)
    record_series(trace)
    conjugates = (
        _conjugate(trace, "d/dQ1_12", family("Q1_hat_12")[B, C], MU1[B, Z, K] * MU1[C, Z, L]),
        _conjugate(trace, "d/dQ2_12", Q2_HAT_12[B], COMMON[B, Z, K, L], square=True),
    )
    gain = record_gain(trace)
    square = record_square(trace)
    half, mean_output = record_half(trace), record_mean(trace)
    found = fixes, across, products, common, covariance, conjugates, gain, square, half, mean_output
    return TwoBatches(*found, trace.finish())


# --- directions ------------------------------------------------------------------------------------------------------


def _record_directions(trace: Recorder) -> tuple[sp.Expr, ...]:
    """Products of the directions of two fits."""
    spikes = trace.assume(
        "spikes of two batches",
        VV[J, H],
        BlockSum(GAMMA[J, A] * GAMMA[H, A], A),
        "each batch to turn the spike away from the target by noise of its own, so that two have in common what they "
        "have along the target: $v_{1j}\\cdot v_{2h}$, with $\\gamma_{ja}=v_j\\cdot\\theta_a$ of both",
        source=_SOURCE,
        assumption="batches are independent; their noise is orthogonal as $d$ grows",
    )
    trace.define(
        "square of the rest of the target",
        BlockSum(LOWER[R, A] * LOWER[S, A], A),
        _beside(R, S),
        "$\\theta=\\gamma^Tv_i+Lo_i$ with orthonormal $o_i$",
        _SOURCE,
    )
    found = trace.derive(
        "products of directions",
        sp.Tuple(VO[J, R], OO[R, S]),
        computed(
            "multiply",
            "$v_1\\cdot o_2$ and $o_1\\cdot o_2$ with $o_i=L^{-1}(\\theta-\\gamma^Tv_i)$",
            "spikes of two batches",
            "square of the rest of the target",
            by=lambda *_: sp.Tuple(BlockSum(GAMMA[J, A] * LOWER[A, R], A), BlockSum(LOWER[A, R] * LOWER[A, S], A)),
            test=Claim(_by_definition, (_inverse(), _square())),
        ),
        _SOURCE,
    )
    return spikes, *found


def _beside(one: sp.Symbol, other: sp.Symbol) -> sp.Expr:
    return sp.KroneckerDelta(one, other) - BlockSum(GAMMA[J, one] * GAMMA[J, other], J)


def _inverse() -> MatrixInverse:
    return MatrixInverse("inverse_of_L", R, S, LOWER[R, S])


def _square() -> Definition:
    """gamma^T gamma, by L."""
    body = sp.KroneckerDelta(R, S) - BlockSum(LOWER[R, A] * LOWER[S, A], A)
    return Definition("gamma_gamma", (R, S), body)


def _by_definition(found: sp.Tuple, *_: sp.Expr) -> tuple[sp.Tuple, sp.Tuple]:
    """The same from o = L^-1 (theta - gamma^T v), where gamma^T gamma is known by L."""
    inverse, square = family("inverse_of_L"), family("gamma_gamma")
    p, q = index("p"), index("q")

    def outside(one: sp.Symbol, other: sp.Symbol) -> sp.Expr:  # 1 - gamma^T gamma
        return sp.KroneckerDelta(one, other) - square[one, other]

    along = BlockSum(GAMMA[J, q] * BlockSum(inverse[R, p] * outside(q, p), p), q)
    twice = BlockSum(outside(p, A) * outside(A, q), A)
    across = BlockSum(inverse[R, p] * BlockSum(inverse[S, q] * twice, q), p)
    return sp.Tuple(along, across), found


def _record_rows(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """T_12 and Q1_12 where sources of two fits lie along different directions."""
    fixes = trace.derive(
        "d/dT_12, two batches",
        sp.S.Zero,
        computed(
            "substitute",
            "the source of block $b$ is the vector $\\sum_j\\hat\\zeta_{bj}v_{ij}+\\sum_r(P\\hat\\psi)_{br}o_{ir}$ of "
            "fit $i$: its square becomes the product of both",
            "d/dT_12",
            by=_polarised,
            test=Claim(lambda found, body: (body, found), _one_direction()),
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


def _one_direction() -> tuple[Definition, ...]:
    """One direction of each kind, the same for both fits."""
    first = sp.KroneckerDelta(J, 0)
    return (
        Definition("zeta_hat", (B, J), ZETA_HAT[B] * first),
        Definition("psi_hat", (B, J), PSI_HAT[B] * first),
        Definition("vv", (J, H), sp.S.One),
        Definition("vo", (J, H), sp.S.Zero),
        Definition("oo", (J, H), sp.S.One),
    )


def _polarised(body: sp.Expr) -> sp.Expr:
    """Squares of zeta_hat and of P psi_hat as products of two vectors."""
    squares = [term for term in sp.Add.make_args(body) if _names(term) & {"psi_hat", "zeta_hat"}]
    overlap, zeta = family("overlap")[B], ZETA_HAT[B]
    (along,) = [term for term in squares if "psi_hat" in _names(term)]
    (root,) = [factor.base for factor in sp.Mul.make_args(along) if isinstance(factor, sp.Pow)]
    if sp.expand(sp.Add(*squares) - overlap * (root**2 + zeta**2)) != 0:
        raise ValueError(f"the sources {squares} of T_12 are no sum of two squares")

    def beside(place: sp.Symbol) -> sp.Expr:
        return put(root, {"psi_hat": lambda b: PSI_HAT[b, place]})

    spikes = BlockSum(BlockSum(VV[J, H] * ZETA_HAT[B, J] * ZETA_HAT[B, H], J), H)
    mixed = BlockSum(BlockSum(VO[J, R] * ZETA_HAT[B, J] * beside(R), J), R)
    rests = BlockSum(BlockSum(OO[R, S] * beside(R) * beside(S), R), S)
    return body - sp.Add(*squares) + overlap * (spikes + 2 * mixed + rests)


def _names(term: sp.Expr) -> set[str | None]:
    return {family_name(node) for node in sp.preorder_traversal(term)}


def _conjugate(trace: Recorder, of: str, left: sp.Expr, features: sp.Expr, square: bool = False) -> sp.Expr:
    """The average of g_1 g_2 with features of both fits: sums over both kappa given z."""
    words = "the rest of the features" if square else "the linear parts of the features"
    return trace.derive(
        f"{of}, two batches",
        left,
        computed(
            "average",
            f"$g_1g_2$ with {words}, over $\\kappa_1$ and $\\kappa_2$, which are independent given $z$",
            of,
            by=lambda body: canonical(_summed(body, features), SYMMETRIC),
            test=equal(lambda body: _summed(body, features)),
        ),
        _SOURCE,
    )


def _summed(body: sp.Expr, features: sp.Expr) -> sp.Expr:
    """The average over one kappa as that over z and both kappa."""
    (average,) = body.atoms(Expectation)
    found = BlockSum(LAW[Z] * over_kappa(features * SLOPES[Z, K, L]), Z)
    return body.xreplace({average: found})
