"""How much the test error of a fit varies between draws of what is random in it [THEORY section 14].

A source h on the test error makes a fit whose free energy has the test error as its slope in h. Two fits with sources
h_1 and h_2 share the data, and the term n_1 n_2 of log E[Z_1^n_1 Z_2^n_2] is the covariance of their free energies: d
times its derivative in h_1 and h_2 is the variance of d times the test error. The overlaps of the replicas of one kind
move by O(n) where the other kind is there, which costs O(n^3): they stay those of a single fit. At h = 0 both fits are
the same one. Overlaps between the kinds are extremal, and symmetric in the kinds: moved by one source alone they go
half of the way of those of a single fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from derive.moved_envelopes import record_moved_envelopes
from derive.operations import computed
from derive.replica.matrices import LogDeterminant, OnInverse
from derive.replica.two_kinds import KIND, two_kinds_derivation
from derive.trace import Claim, Derivation, Recorder

_BLOCKS = sp.Symbol("K", integer=True, positive=True)


def _matrix(name: str) -> sp.MatrixSymbol:
    return sp.MatrixSymbol(name, _BLOCKS, _BLOCKS)


T = _matrix("T_1"), _matrix("T_2")  # of both fits, diagonal
V_HAT = _matrix("V_1"), _matrix("V_2")  # conjugates of Q1
COUPLED, COMMON = _matrix("q"), _matrix("t")  # Q1_hat_12; T_12 = beta Q2_12, diagonal
OVERLAP, NEURONS = _matrix("Q"), _matrix("N")  # beta Q1_12; beta times the share of each block, diagonal
# beta times the sums of products j_2 j_1^T of sources along the target, along the spike, and of m over the dimension
ALONG_TARGET, ALONG_SPIKE, CONSTANT = _matrix("J_target"), _matrix("J_spike"), _matrix("J_m")
_J = sp.MatrixSymbol("j_1", _BLOCKS, 1), sp.MatrixSymbol("j_2", _BLOCKS, 1)
_OF_EACH = sp.ImmutableMatrix([[1, 0], [0, 0]]), sp.ImmutableMatrix([[0, 0], [0, 1]])  # of two replicas
_EXCHANGE = sp.ImmutableMatrix([[0, 1], [1, 0]])
_SOURCE = "THEORY section 14"


@dataclass(frozen=True)
class Draws:
    """sample: E of this is what one sample adds to the variance, beside the square of the mean of ``moved``, what a
    source adds to its envelope; readouts: a matrix whose trace, as a function of the numbers of both fits, has the
    rest as its derivative in both sources.
    """

    sample: sp.Expr
    moved: sp.Expr
    readouts: Any
    derivation: Derivation


@lru_cache(maxsize=1)
def draws() -> Draws:
    """Derive the variance of the test error between draws."""
    trace = Recorder("Fluctuations between draws", (two_kinds_derivation(),))
    _record_sources(trace)
    moved, sample = record_moved_envelopes(trace)
    return Draws(sample, moved, _record_readouts(trace), trace.finish())


def _record_sources(trace: Recorder) -> None:
    """What the variance is, and how the numbers of two fits with a source each move."""
    first, second, dimension = sp.symbols("h_1 h_2 d", real=True)
    covariance = sp.Function("c_12")(first, second)
    trace.define(
        "variance between draws",
        sp.Function("Var")(sp.Symbol("E_test")),
        sp.Subs(sp.Derivative(covariance, first, second), (first, second), (0, 0)) / dimension,
        "$h_i\\,d$ times the test error in the objective of each of two fits: the slope of the free energy in $h_i$ is "
        "$d$ times the test error, and $d\\,c_{12}$ the covariance of both, the term $n_1n_2$ of "
        "$\\log E[Z_1^{n_1}Z_2^{n_2}]$ over $\\beta_T^2$: $\\alpha$ times that of the envelopes of a sample, and what "
        "the readouts add",
    )
    number, rate = sp.symbols("X X'", real=True)
    trace.assume(
        "two fits with sources",
        sp.Tuple(*sp.symbols("X_1 X_2 X_12")),
        sp.Tuple(number + first * rate, number + second * rate, number + (first + second) * rate / 2),
        "numbers of either fit to be those of a single one, also beside the replicas of the other, and what both have "
        "in common to go half of the way with each source: at $h=0$ both fits are one",
        source=_SOURCE,
        assumption="concentration of overlaps; the action is extremal in what both have in common, and does not change "
        "where the fits are exchanged",
    )


def _record_readouts(trace: Recorder) -> Any:
    """The integral over the readouts of two fits whose numbers differ, and over the rows that they share."""
    trace.assume(
        "bulk of two fits",
        sp.Tuple(sp.Symbol("V"), sp.Symbol("T")),
        sp.Tuple(_whole(V_HAT, -COUPLED), _whole(T, COMMON)),
        "two fits of one first layer to see a bulk of both together, $s\\to1$: conjugates $\\hat V_1,\\hat V_2$ and "
        "$-s\\hat q_{12}$ between the fits, responses $T_1,T_2$ and $sT_{12}$ between them",
        source=_SOURCE,
        assumption="rows Gaussian given the law, drawn with the data; two replicas, one of each fit, stand for all: "
        "between the kinds only their sums are coupled",
    )
    trace.derive(
        "rows of two fits",
        sp.Symbol("log G_12"),
        computed(
            "average",
            "over the rows: $-\\frac12\\log\\det(1+VT)$, its term of order $s^2$, as the trace of",
            "bulk of two fits",
            by=_rows,
            test=Claim(lambda found, bulk: (_as_determinant(*bulk), sp.Trace(found))),
        ),
        _SOURCE,
    )
    trace.derive(
        "sources of two fits",
        sp.Symbol("J_12"),
        computed(
            "differentiate",
            "sources $j_1,j_2$ on the inverse, $\\frac12j^T(T^{-1}+V)^{-1}j$, in $s$: the trace of this times "
            "$j_2j_1^T$",
            "bulk of two fits",
            by=lambda bulk: _on_inverse(),
            test=Claim(lambda found, bulk: (_as_form(*bulk), sp.Trace(found * _J[1] * _J[0].T))),
        ),
        _SOURCE,
    )
    _record_neurons(trace)
    return trace.derive(
        "readouts of two fits that differ",
        sp.Symbol("F_12"),
        computed(
            "add",
            "rows, sources along the target, along the spike ($V=q=0$) and of $m$, neurons, and overlaps times "
            "conjugates; the trace of",
            "rows of two fits",
            "sources of two fits",
            "neurons of two fits",
            by=_added,
            test="earlier results put together",
        ),
        _SOURCE,
    )


def _whole(own: tuple[Any, Any], between: Any) -> Any:
    """A matrix over two replicas: their own parts, and s times what is between them."""
    parts = [sp.KroneckerProduct(place, matrix) for place, matrix in zip(_OF_EACH, own, strict=True)]
    return sp.MatAdd(*parts, sp.MatMul(KIND, sp.KroneckerProduct(_EXCHANGE, between)))


def _factors() -> tuple[Any, Any]:
    """(1 + V T)^-1 of both fits."""
    first, second = (sp.Inverse(sp.Identity(_BLOCKS) + v * t) for v, t in zip(V_HAT, T, strict=True))
    return first, second


def _rows(_: sp.Tuple) -> Any:
    """log det of 1 + V T: half of the trace of the second order less a quarter of that of the square of the first."""
    one, other = _factors()
    across = (V_HAT[0] * COMMON - COUPLED * T[1], V_HAT[1] * COMMON - COUPLED * T[0])
    both = one * across[0] * other * across[1]
    return (one * COUPLED * COMMON + other * COUPLED * COMMON + both) / 2


def _as_determinant(conjugates: Any, responses: Any) -> Any:
    one = sp.MatAdd(*(sp.KroneckerProduct(own, sp.Identity(_BLOCKS)) for own in _OF_EACH))
    whole = sp.MatAdd(one, sp.MatMul(conjugates, responses))
    return sp.Subs(-sp.Derivative(LogDeterminant(whole), KIND, KIND, evaluate=False) / 4, KIND, 0)


def _on_inverse() -> Any:
    """Of the inverse of T^-1 + V the part between the fits, to first order."""
    one, other = _factors()
    between = sp.Inverse(T[0]) * COMMON * sp.Inverse(T[1]) + COUPLED
    return T[0] * one * between * T[1] * other


def _as_form(conjugates: Any, responses: Any) -> Any:
    first, second = sp.ImmutableMatrix([1, 0]), sp.ImmutableMatrix([0, 1])
    vector = sp.MatAdd(sp.KroneckerProduct(first, _J[0]), sp.KroneckerProduct(second, _J[1]))
    form = OnInverse(sp.MatAdd(sp.Inverse(responses), conjugates), vector)
    return sp.Subs(sp.Derivative(form, KIND, evaluate=False) / 2, KIND, 0)


def _record_neurons(trace: Recorder) -> None:
    """A block's neurons, which see the potential of both fits; extremal in what conjugates T_12."""
    count, common, field = sp.symbols("N t B", positive=True)
    responses = sp.symbols("T_1 T_2", positive=True)
    trace.define(
        "potential of two fits",
        sp.Symbol("A_12"),
        count * sp.log(count**2 / (responses[0] * responses[1]) - KIND**2 * field**2),
        "of the $N=\\beta\\pi_b$ neurons of a block, over d: the determinant of curvatures $N/T_1,N/T_2$ with $-sB$ "
        "between the fits, $B$ the conjugate of $T_{12}$",
    )
    trace.derive(
        "neurons of two fits",
        sp.Symbol("A_12"),
        computed(
            "eliminate",
            "the term of order $s^2$ of $-\\frac12A_{12}$ less $T_{12}B$, at the $B$ that makes it stationary",
            "potential of two fits",
            by=lambda body: _eliminated(_of_neurons(body, common, field), field),
            test=Claim(lambda found, body: (sp.Integer(0), _slope_there(found, body, common, field))),
        ),
        _SOURCE,
    )


def _of_neurons(potential: sp.Expr, common: sp.Symbol, field: sp.Symbol) -> sp.Expr:
    return -sp.diff(potential, KIND, KIND).subs(KIND, 0) / 4 - common * field


def _eliminated(body: sp.Expr, field: sp.Symbol) -> sp.Expr:
    (root,) = sp.solve(sp.diff(body, field), field)
    return sp.simplify(body.subs(field, root))


def _slope_there(found: sp.Expr, potential: sp.Expr, common: sp.Symbol, field: sp.Symbol) -> sp.Expr:
    """The distance of the quadratic function of B from what was found, at the B where that distance is least: zero."""
    body = _of_neurons(potential, common, field)
    there = -2 * found / common  # of a quadratic function without a constant: half of its linear part at the extremum
    return body.subs(field, there) - found + sp.diff(body, field).subs(field, there)


def _added(rows: Any, sources: Any, neurons: sp.Expr) -> Any:
    plain = {V_HAT[0]: _NOTHING, V_HAT[1]: _NOTHING, COUPLED: _NOTHING}
    along_spike = sources.subs(plain).doit()
    constant = sp.Inverse(T[0]) * COMMON * sp.Inverse(T[1])  # that of m: minus the derivative of half of T^-1
    parts = [rows, sources * ALONG_TARGET, along_spike * ALONG_SPIKE, constant * CONSTANT]
    return sp.MatAdd(*parts, _diagonal(neurons), -COUPLED * OVERLAP)


_NOTHING = sp.ZeroMatrix(_BLOCKS, _BLOCKS)


def _diagonal(body: sp.Expr) -> Any:
    """A monomial in numbers of a block as a product of diagonal matrices, each of them in turn until none is left."""
    names = {"N": NEURONS, "t": COMMON, "T_1": T[0], "T_2": T[1]}
    factor, rest = body.as_coeff_Mul()
    left = sorted(rest.as_powers_dict().items(), key=str, reverse=True)
    parts: list[Any] = []
    while left:
        parts += [names[str(base)] if power > 0 else sp.Inverse(names[str(base)]) for base, power in left]
        left = [(base, power - sp.sign(power)) for base, power in left if abs(power) > 1]
    return sp.MatMul(factor, *parts)
