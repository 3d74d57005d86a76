"""Numerical certificate of a sign: an adaptive scan of a function of u at adaptive precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy as sp

from derive.gaussian.numeric import mpmath_function
from derive.loss.pieces import Sample

Evaluate = Callable[[Any], Any]

DIGITS = 50
_REACH = 4  # the scan ends at |u| = 10^4; beyond, the outer pieces are judged by their last points
_PER_DECADE = 12
_MOST_CENTRES = 8
_DEPTH = 7  # halvings of an interval of the grid
_NEGLIGIBLE = mpmath.mpf(10) ** -25  # of the largest value: not refined further, its sign is still looked at


@dataclass(frozen=True)
class Failure:
    """Where a scanned function is negative (``lower`` to ``upper``), or no finite real number (a point)."""

    lower: Any
    upper: Any
    finite: bool


def function_of(expression: sp.Expr, u: sp.Symbol, sample: Sample) -> Evaluate:
    """The expression as a function of u that returns None where it is no finite real number."""
    raw = mpmath_function(expression.subs(dict(sample)), (u,))

    def evaluate(x: Any) -> Any:
        try:
            value = mpmath.mpmathify(raw(x))
        except (ZeroDivisionError, ValueError, OverflowError, MemoryError):
            return None
        return value if isinstance(value, mpmath.mpf) and mpmath.isfinite(value) else None

    return evaluate


def grid(expression: sp.Expr, u: sp.Symbol, sample: Sample, lower: Any, upper: Any) -> list[Any]:
    """Points inside an interval, out to 10^4 where it is infinite: dense at its ends, at 0 and where the arguments of
    the functions in the expression vanish or turn around.
    """
    ends = [end for end in (lower, upper) if mpmath.isfinite(end)]
    centres = [*ends, mpmath.mpf(0), *_centres(expression.subs(dict(sample)), u)]
    points = {centre + side * step for centre in centres for step in _STEPS for side in (-1, 1)} | set(centres)
    if len(ends) == 2:
        shares = [step for step in _STEPS if step < mpmath.mpf("0.5")] + [mpmath.mpf("0.5")]
        points |= {(1 - t) * a + t * b for t in shares for a, b in ((lower, upper), (upper, lower))}
    return sorted(point for point in points if lower < point < upper)


_STEPS = tuple(mpmath.mpf(10) ** (mpmath.mpf(k) / _PER_DECADE) for k in range(-5 * _PER_DECADE, _REACH * _PER_DECADE))


def _centres(expression: sp.Expr, u: sp.Symbol) -> list[Any]:
    """Real parts of the zeros, and of the zeros of the slope, of every polynomial inside a function or a power."""
    inside = {a.args[0] for a in expression.atoms(sp.Function, sp.exp, sp.Pow)}
    polynomials = [g for g in inside if g.has(u) and g.is_polynomial(u) and not g.free_symbols - {u}]
    found: set[Any] = set()
    for polynomial in sorted(polynomials, key=sp.default_sort_key)[:_MOST_CENTRES]:
        for g in (polynomial, sp.diff(polynomial, u)):
            coefficients = [mpmath.mpmathify(c.evalf(30)) for c in sp.Poly(g, u).all_coeffs()]
            if 2 <= len(coefficients) <= _MOST_CENTRES:
                roots = mpmath.polyroots(coefficients, maxsteps=200, extraprec=200)
                found |= {mpmath.re(root) for root in roots}
    return sorted(found)[:_MOST_CENTRES]


def first_failure(expression: sp.Expr, u: sp.Symbol, sample: Sample, lower: Any, upper: Any) -> Failure | None:
    """Where the expression is negative on the open interval, or not finite; None where the scan finds neither.

    A grid of 12 points per decade is halved wherever a value is far from the line through its neighbours. Each sign
    is taken at 50 and at 80 digits; what differs between them is zero.
    """
    with mpmath.workdps(DIGITS):
        evaluate = _certain(function_of(expression, u, sample))
        points: list[tuple[Any, Any]] = []
        for x in grid(expression, u, sample, lower, upper):
            value = evaluate(x)
            if value is None:
                return Failure(x, x, False)
            points.append((x, value))
        scale = max(abs(value) for _, value in points)
        between = [
            point
            for left, right in zip(points, points[1:], strict=False)
            for point in _refined(evaluate, left, right, scale, _DEPTH)
        ]
        return _negative(evaluate, sorted(points + between, key=lambda point: point[0]))


def _certain(evaluate: Evaluate) -> Evaluate:
    """Values whose leading digit is certain; zero for those that are rounding."""

    def at(x: Any) -> Any:
        value = evaluate(x)
        with mpmath.extradps(30):
            better = evaluate(x)
        if value is None or better is None:
            return None
        return +better if abs(value - better) <= abs(better) / 100 else mpmath.mpf(0)

    return at


def _refined(
    evaluate: Evaluate, left: tuple[Any, Any], right: tuple[Any, Any], scale: Any, depth: int
) -> Iterator[tuple[Any, Any]]:
    middle = (left[0] + right[0]) / 2
    value = evaluate(middle)
    if value is None:
        return
    yield middle, value
    least = min(left[1], right[1], value)
    straight = abs(value - (left[1] + right[1]) / 2) <= abs(least) / 4
    if depth and not straight and max(left[1], right[1], value) > _NEGLIGIBLE * scale:
        yield from _refined(evaluate, left, (middle, value), scale, depth - 1)
        yield from _refined(evaluate, (middle, value), right, scale, depth - 1)


def _negative(evaluate: Evaluate, points: list[tuple[Any, Any]]) -> Failure | None:
    """The stretch of negative values nearest to 0, as far as the points and those half way between them tell."""
    below = [k for k, (_, value) in enumerate(points) if value < 0]
    if not below:
        return None
    first = last = min(below, key=lambda k: abs(points[k][0]))

    def joined(k: int, other: int) -> bool:
        if not 0 <= other < len(points) or points[other][1] >= 0:
            return False
        between = evaluate((points[k][0] + points[other][0]) / 2)
        return between is not None and bool(between < 0)

    while joined(first, first - 1):
        first -= 1
    while joined(last, last + 1):
        last += 1
    return Failure(points[first][0], points[last][0], True)
