"""The integral over the readouts: conjugates, replica matrices, n -> 0, zero temperature [THEORY section 11, 2, 3, 5].

The overlaps are fixed by Fourier integrals over conjugates. What is left of the readouts is Gaussian: a precision that
is the same for each replica, a coupling between replicas, and sources along spike and target.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.blocks import BlockSum, family, index
from derive.directions import directions_of
from derive.operations import COMPOSED, computed, equal
from derive.replica.matrices import REPLICAS, LogDeterminant, OnInverse, ReplicaMatrix, per_replica
from derive.replica.network import TEMPERATURE, R, S
from derive.symbols import NORM, NORM_HAT, Q1, Q1_HAT, Q2, Q2_HAT, V1, V1_HAT, V2, V2_HAT
from derive.trace import Claim, Recorder

B, C = index("b"), index("c")
_SOURCE = "[CUI24] App. C"
_WIDTH = sp.Symbol("p", integer=True, positive=True)
PRECISION, COUPLING = sp.MatrixSymbol("A", _WIDTH, _WIDTH), sp.MatrixSymbol("B", _WIDTH, _WIDTH)
SOURCE = sp.MatrixSymbol("j", _WIDTH, 1)
CHI, SHARED, CHI_HAT, SHARED_HAT = sp.symbols("V Q Vhat qhat", real=True)  # members of one pair of overlaps

Families = tuple[tuple[sp.IndexedBase, sp.IndexedBase], ...]


def psi_families(directions: int) -> Families:
    """(psi, psi_hat) for each direction of the target beside the spike."""
    return _families("psi", directions)


def zeta_families(spikes: int) -> Families:
    """(zeta, zeta_hat) for each direction of the spike."""
    return _families("zeta", spikes)


def norm_families(norms: bool) -> Families:
    """(o, o_hat) where the norms of the rows vary."""
    return ((NORM, NORM_HAT),) if norms else ()


def _families(name: str, count: int) -> Families:
    names = zip(directions_of(name, count), directions_of(f"{name}_hat", count), strict=True)
    return tuple((family(overlap), family(hat)) for overlap, hat in names)


def conjugate_pairs(trace: Recorder, directions: int, spikes: int, norms: bool = False) -> sp.Expr:
    """Order parameters times their conjugates, as they enter Phi/beta.

    zeta_hat and V1_hat are those of the whole bulk W W^T, whose overlap is Q1 + sum_j zeta_j zeta_j^T.
    """
    _record_pair(trace)
    words = [f"${sp.latex(zeta[B])}$" for zeta, _ in zeta_families(spikes)]
    trace.define(
        "overlap of the whole bulk",
        sp.Symbol("a W W^T a/p"),
        Q1[B, C] + sp.Add(*(zeta[B] * zeta[C] for zeta, _ in zeta_families(spikes))),
        f"across the spike and along it; {', '.join(words)} the part along it",
    )
    overlaps = (*zeta_families(spikes), *psi_families(directions), *norm_families(norms))
    return trace.derive(
        "conjugate pairs",
        sp.Symbol("pairs"),
        computed(
            "sum",
            "all overlaps with their conjugates; those linear in the readout have $\\beta_T$ times a conjugate",
            "overlap times conjugate at n = 0",
            "overlap of the whole bulk",
            by=lambda pair, whole: _all_pairs(pair, whole, overlaps),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_pair(trace: Recorder) -> None:
    """One overlap between replicas times its conjugate, n -> 0."""
    trace.assume(
        "overlap matrix",
        sp.Symbol("Q^rs"),
        sp.Matrix([[SHARED + CHI / TEMPERATURE, SHARED]]),
        "an overlap $Q+\\delta_{rs}V/\\beta_T$ of the readouts, in the order same replica, other replica",
        source=_SOURCE,
        assumption="replica symmetry",
    )
    own, shared = TEMPERATURE * CHI_HAT, -(TEMPERATURE**2) * SHARED_HAT
    trace.assume(
        "conjugate matrix",
        sp.Symbol("Qhat^rs"),
        sp.Matrix([[own + shared, shared]]),
        "its conjugate in the Fourier integral of the delta function that fixes it, stationary as $d\\to\\infty$",
        source=_SOURCE,
        assumption="overlaps concentrate; replica symmetry, finite at zero temperature",
    )
    trace.derive(
        "overlap times conjugate",
        sp.Symbol("sum_rs Qhat^rs Q^rs"),
        computed(
            "contract replica matrices",
            "the sum over pairs of replicas, by eigenvalues $A$ ($n-1$ times) and $A+nB$",
            "overlap matrix",
            "conjugate matrix",
            by=lambda q, hat: _replica(q).contracted(_replica(hat)),
            test=Claim(_pair_by_pair),
        ),
        shown=False,
    )
    trace.derive(
        "overlap times conjugate at n = 0",
        sp.Symbol("pair"),
        computed(
            "take the limit n -> 0",
            "the derivative in $n$ at $n=0$ over $-\\beta_T$, to leading order in $\\beta_T$",
            "overlap times conjugate",
            by=lambda total: sp.limit(sp.expand(per_replica(total) / -TEMPERATURE), TEMPERATURE, sp.oo),
            test=equal(lambda total: sp.Limit(_slope_at_no_replica(total) / -TEMPERATURE, TEMPERATURE, sp.oo)),
        ),
        _SOURCE,
    )


def _replica(row: Any) -> ReplicaMatrix:
    """From the element of a replica with itself and with another."""
    return ReplicaMatrix(sp.expand(row[0] - row[1]), row[1])


def _all_pairs(pair: sp.Expr, whole: sp.Expr, overlaps: Families) -> sp.Expr:
    def of(members: tuple[sp.Expr, ...]) -> sp.Expr:
        places = zip((CHI, SHARED, CHI_HAT, SHARED_HAT), members, strict=True)
        return pair.subs(dict(places), simultaneous=True)

    linear = BlockSum(sp.Add(*(hat[B] * overlap[B] for overlap, hat in overlaps)), B)
    matrices = BlockSum(BlockSum(of((V1[B, C], Q1[B, C], V1_HAT[B, C], Q1_HAT[B, C])), B), C)
    along = BlockSum(BlockSum(V1_HAT[B, C] * (whole - Q1[B, C]), B), C)
    vectors = BlockSum(of((V2[B], Q2[B], V2_HAT[B], Q2_HAT[B])), B)
    return linear + (matrices + vectors) / 2 - along / 2


def gaussian_integral(trace: Recorder, norms: bool = False) -> sp.Expr:
    """R = [Tr A^-1 B + j^T A^-1 j]/p: what the integral over the readouts leaves, -beta R/2 in Phi."""
    trace.define(
        "precision of the readouts",
        sp.Symbol("X^rs"),
        sp.Tuple(TEMPERATURE * PRECISION, -(TEMPERATURE**2) * COUPLING, TEMPERATURE * SOURCE),
        "the exponent of the readouts is $-\\frac{1}{2}a^r(X_0\\delta_{rs}+X_1)a^s+j\\cdot a^r$: each replica has "
        "$A=\\lambda+\\hat{V}^{(2)}+W\\hat{V}^{(1)}W^T$, the coupling is $B=\\hat{q}^{(2)}+W\\hat{q}^{(1)}W^T$, "
        "and the source $j=\\sqrt{p}\\,(Wv\\,\\hat{\\zeta}+W\\theta_{\\perp}\\hat{\\psi}"
        + "+\\delta\\,\\hat{o}/\\sqrt{d}" * norms
        + ")$, block by block",
    )
    trace.derive(
        "Gaussian integral",
        sp.Symbol("log G"),
        computed(
            "integrate",
            "$\\int\\prod_rda^r$: the logarithm of the determinant, and half of the source on its inverse, both by "
            "eigenvalues over replicas",
            "precision of the readouts",
            by=_integral,
            test=Claim(_all_replicas_at_once),
        ),
        _SOURCE,
    )
    trace.derive(
        "Gaussian integral at n = 0",
        sp.Symbol("log G_0"),
        computed(
            "take the limit n -> 0",
            "the derivative in $n$ at $n=0$",
            "Gaussian integral",
            by=per_replica,
            test=equal(_slope_at_no_replica),
        ),
        _SOURCE,
    )
    return trace.derive(
        "entropic part of the readouts",
        sp.Symbol("R"),
        computed(
            "take the limit of zero temperature",
            "$2/(p\\,\\beta_T)$ times it as $\\beta_T\\to\\infty$, where the determinant does not count",
            "Gaussian integral at n = 0",
            by=_cold,
            test=equal(lambda e: sp.Limit(2 * e / (_WIDTH * TEMPERATURE), TEMPERATURE, sp.oo)),
        ),
        _SOURCE,
    )


def _pair_by_pair(total: sp.Expr, overlaps: sp.Expr, conjugates: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The sum over pairs of replicas, element by element, and the result for as many replicas."""

    def element(row: sp.Expr) -> sp.Expr:
        return row[1] + sp.KroneckerDelta(R, S) * (row[0] - row[1])

    pairs = BlockSum(BlockSum(element(overlaps) * element(conjugates), R), S)
    return pairs, sp.Subs(total, REPLICAS, BlockSum(sp.S.One, R))


def _slope_at_no_replica(total: sp.Expr) -> sp.Expr:
    return sp.Subs(sp.Derivative(total, REPLICAS), REPLICAS, 0)


def _all_replicas_at_once(found: sp.Expr, matrices: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """Determinant and quadratic form of the matrix of two replicas, and the result for as many."""
    own, shared, source = matrices
    ones = sp.OneMatrix(2, 2)
    whole = sp.MatAdd(sp.KroneckerProduct(sp.Identity(2), own), sp.KroneckerProduct(ones, shared))
    vector = sp.KroneckerProduct(sp.OneMatrix(2, 1), source)
    return (OnInverse(whole, vector) - LogDeterminant(whole)) / 2, sp.Subs(found, REPLICAS, 2)


def _integral(matrices: sp.Tuple) -> sp.Expr:
    own, shared, source = matrices
    precision = ReplicaMatrix(own, shared)
    return (precision.on_inverse(source) - precision.log_determinant()) / 2


def _cold(logarithm: sp.Expr) -> sp.Expr:
    """2/(p beta_T) times the logarithm as beta_T -> infinity."""
    opaque = {node: sp.Dummy(real=True) for node in logarithm.atoms(sp.Trace, OnInverse, LogDeterminant)}
    leading = sp.limit(sp.expand(2 * logarithm.xreplace(opaque) / (_WIDTH * TEMPERATURE)), TEMPERATURE, sp.oo)
    return leading.xreplace({dummy: node for node, dummy in opaque.items()})
