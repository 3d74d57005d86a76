"""Whether a loss is convex and finite in f: by symbols where SymPy can tell, otherwise by a scan, or refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import mpmath
import sympy as sp

from derive.gaussian.breakpoints import real_zeros
from derive.language.grammar import ExpressionError
from derive.loss.curvature_scan import DIGITS, Failure, first_failure, function_of, grid
from derive.loss.label_cells import LabelRange
from derive.loss.loss import Loss, LossAnalysis, U, Y, analyse_loss, described, edge_slopes, simplest
from derive.loss.pieces import Sample

Method = Literal["symbolic", "numeric"]

_PARTS = ("methods", "jumps")
_SIMPLIFIED = 200  # operations, and
_HIGH_POWER = 16  # the largest exponent, up to which a second derivative is expanded
_HINT = (
    "the engine needs a convex loss, such as (y - f)**2/2, log(1 + exp(-y*f)) or abs(y - f); "
    "a non-convex one has no unique proximal map"
)


_SIGNS_HINT = (
    "at the labels -1 and 1 it is convex. If there are no others, say so with step(y), which is 1 at y = 1 and 0 at "
    "y = -1: the weight 1 + y/2 is 1/2 + step(y)"
)


class NotConvex(ExpressionError):
    """A loss that is not convex, with the offending ``region`` of u and the ``label`` y it was found at (if any)."""

    def __init__(
        self, message: str, region: tuple[float, float], label: float | None = None, hint: str = _HINT
    ) -> None:
        super().__init__(message, hint)
        self.region = region
        self.label = label


@dataclass(frozen=True)
class Convexity:
    """Certificate: ``methods`` says how the curvature of each piece was found to be >= 0.

    "symbolic" is a proof for all parameters; "numeric" is an adaptive scan of u over [-10^4, 10^4] for sampled
    parameters and labels, and no proof. ``jumps``: of the slope at each breakpoint, all >= 0.
    """

    analysis: LossAnalysis
    methods: tuple[Method, ...]
    jumps: tuple[sp.Expr, ...]

    @property
    def symbolic(self) -> bool:
        """Whether every piece was decided symbolically."""
        return all(method == "symbolic" for method in self.methods)


@lru_cache(maxsize=256)
def check_convex(loss: Loss) -> Convexity:
    """The certificate that a loss is convex in f, finite for every real f, and not linear.

    Raises NotConvex where it is not convex, ExpressionError where it is linear, not finite, or as analyse_loss does.
    """
    analysis = analyse_loss(loss)
    try:
        certified = [_certified(part) for part in analysis.parts()]
    except NotConvex as error:
        hint = _SIGNS_HINT if _is_convex_at_signs(loss) else _HINT
        raise NotConvex(error.message, error.region, error.label, hint) from None
    if all(_linear(part) for part in analysis.parts()):
        raise ExpressionError(
            f"the loss {analysis.loss.expression} is linear in f: it has no minimum", "give a convex loss"
        )
    methods, jumps = (tuple(one for certificate in certified for one in getattr(certificate, name)) for name in _PARTS)
    return Convexity(analysis, methods, jumps)


def _linear(analysis: LossAnalysis) -> bool:
    return not analysis.breakpoints and sp.simplify(sp.diff(analysis.pieces[0], U, 2)) == 0


def _certified(analysis: LossAnalysis) -> Convexity:
    for sample in analysis.loss.samples():
        _check_finite(analysis, sample)
    methods: list[Method] = []
    for lower, upper, piece in analysis.intervals():
        curvature = sp.diff(piece, U, 2)
        if _nonnegative(curvature, lower, upper):
            methods.append("symbolic")
        else:
            _scan(analysis, curvature, lower, upper)
            methods.append("numeric")
    jumps = tuple(_slope_jump(analysis, position) for position in range(len(analysis.breakpoints)))
    for sample in analysis.loss.samples():
        _check_slopes(analysis, sample)
    return Convexity(analysis, tuple(methods), jumps)


def _nonnegative(curvature: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> bool:
    """Whether SymPy's assumptions make the expression >= 0 on the interval, brought to t > 0."""
    t = sp.Dummy("t", positive=True)
    inside = {
        (True, True): U,
        (True, False): upper - t,
        (False, True): lower + t,
        (False, False): (lower + upper * t) / (1 + t),
    }[(lower == -sp.oo, upper == sp.oo)]
    moved = curvature.subs(U, inside)
    if moved.is_nonnegative:
        return True
    high_powers = any(power.exp.is_number and abs(power.exp) > _HIGH_POWER for power in moved.atoms(sp.Pow))
    if high_powers or sp.count_ops(moved) > _SIMPLIFIED:
        return False
    # one fraction in exponentials: sympy.simplify and factor hang on exp(1000 u)
    above, below = sp.fraction(sp.together(moved.rewrite([sp.tanh, sp.sinh, sp.cosh], sp.exp)))
    return bool(sp.factor_terms(sp.expand(above)).is_nonnegative and below.is_positive)


def _slope_jump(analysis: LossAnalysis, position: int) -> sp.Expr:
    place = analysis.breakpoints[position]
    left, right = edge_slopes(analysis, position)
    jump = simplest(right - left)
    if jump.is_nonnegative:
        return jump
    for sample in (*analysis.loss.samples(), *_between_zeros(jump, analysis.labels)):
        with mpmath.workdps(DIGITS):
            value = jump.subs(dict(sample)).evalf(DIGITS)
            if not value.is_comparable or value < -(sp.Float(10, DIGITS) ** (10 - DIGITS)):
                point = float(place.subs(dict(sample)))
                raise _not_convex(analysis, sample, point, point, "its slope falls")
    return jump


def _between_zeros(jump: sp.Expr, labels: LabelRange | None) -> tuple[Sample, ...]:
    """Labels between the zeros of a jump that depends on the label alone, where it keeps its sign."""
    if labels is None or jump.free_symbols != {Y}:
        return ()
    zeros = [zero for zero in real_zeros(jump, Y) if labels.low < zero < labels.high]
    ends = [labels.low, *zeros, labels.high]
    return tuple({Y: LabelRange(a, b).inside()[1]} for a, b in zip(ends, ends[1:], strict=False))


def _scan(analysis: LossAnalysis, curvature: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> None:
    for sample in analysis.loss.samples():
        ends = _ends(lower, upper, sample)
        failure = first_failure(curvature, U, sample, *ends)
        if failure and failure.finite:
            region = (float(failure.lower), float(failure.upper))
            raise _not_convex(analysis, sample, *region, "its second derivative is negative")
        if failure:
            raise _not_finite(analysis, sample, failure, "its second derivative")


def _ends(lower: sp.Expr, upper: sp.Expr, sample: Sample) -> tuple[Any, Any]:
    with mpmath.workdps(DIGITS):
        low, high = (end.subs(dict(sample)).evalf(DIGITS)._to_mpmath(mpmath.mp.prec) for end in (lower, upper))
    return low, high


def _check_finite(analysis: LossAnalysis, sample: Sample) -> None:
    with mpmath.workdps(DIGITS):
        for lower, upper, piece in analysis.intervals():
            value = function_of(piece, U, sample)
            for x in grid(piece, U, sample, *_ends(lower, upper, sample)):
                if value(x) is None:
                    raise _not_finite(analysis, sample, Failure(x, x, False), "it")


def _check_slopes(analysis: LossAnalysis, sample: Sample) -> None:
    """Slopes that never fall, across poles inside a piece too, and that are those of the values between them."""
    with mpmath.workdps(DIGITS):
        points: list[tuple[Any, Any, Any]] = []
        for lower, upper, piece in analysis.intervals():
            value, slope = (function_of(e, U, sample) for e in (piece, sp.diff(piece, U)))
            points += [(x, value(x), slope(x)) for x in grid(piece, U, sample, *_ends(lower, upper, sample))]
        for (a, low, start), (b, high, end) in zip(points, points[1:], strict=False):
            if start is None or end is None:
                raise _not_finite(analysis, sample, Failure(a, b, False), "its slope")
            rise = (high - low) / (b - a)
            rounding = mpmath.mpf(10) ** (20 - DIGITS) * (abs(start) + abs(end) + (1 + abs(low) + abs(high)) / (b - a))
            if not start - rounding <= rise <= end + rounding:
                raise _not_convex(analysis, sample, float(a), float(b), "its slope falls")


def _not_convex(analysis: LossAnalysis, sample: Sample, lower: float, upper: float, what: str) -> NotConvex:
    where = f"at {described(analysis.loss)} = {lower:.6g}"
    if lower != upper:
        where = f"for {described(analysis.loss)} from {lower:.6g} to {upper:.6g}"
    label = float(sample[Y]) if Y in sample else None
    return NotConvex(
        f"the loss {analysis.loss.expression} is not convex in f: {what} {where}{_at(sample)}",
        (lower, upper),
        label,
    )


def _is_convex_at_signs(loss: Loss) -> bool:
    """Whether a loss that is not convex at other labels is at -1 and 1."""
    if loss.form != "general" or loss.labels:
        return False
    try:
        for label in (sp.S.One, sp.S.NegativeOne):
            _certified(analyse_loss(replace(loss, expr=loss.expr.subs(Y, label), labels=(label,))))
    except ExpressionError:
        return False
    return True


def _not_finite(analysis: LossAnalysis, sample: Sample, failure: Failure, what: str) -> ExpressionError:
    place = mpmath.nstr(failure.lower, 6)
    return ExpressionError(
        f"the loss {analysis.loss.expression} cannot be used: {what} is not a finite real number at "
        f"{described(analysis.loss)} = {place}{_at(sample)}",
        "a loss must be finite for every real output f",
    )


def _at(sample: Sample) -> str:
    values = ", ".join(f"{symbol} = {float(sample[symbol]):.4g}" for symbol in sorted(sample, key=str))
    return f" ({values})" if values else ""
