"""Gaussian integrals at any precision: trapezoidal, or adaptive Gauss-Legendre between breakpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import mpmath

_EXTRA = 12  # guard digits of the working precision
_MAX_PIECES = 4000
_HALVINGS = 6
_EXTENSIONS = 20
_NEGLIGIBLE = mpmath.mpf("0.001")


class QuadratureError(ArithmeticError):
    """The integral did not reach the precision asked for."""


def gaussian_expectation(function: Callable[[Any], Any], dps: int, breakpoints: Iterable[Any] = ()) -> tuple[Any, Any]:
    """E[function(g)], g ~ N(0,1), and an error estimate (both mpf), good to `dps` digits of E|function|.

    The tails are cut where the weighted integrand is below the precision. Without breakpoints the trapezoidal
    rule is tried first (it converges faster than any power for functions analytic around the real line).
    Otherwise the line is cut at the breakpoints, on each piece the rules of n and of 2n Gauss-Legendre nodes
    are compared, and pieces where they disagree are halved: kinks and jumps that are not declared are found,
    only slower. Raises QuadratureError where the halving does not end (an integral that diverges, for
    instance).
    """
    with mpmath.workdps(dps + _EXTRA):
        norm = 1 / mpmath.sqrt(2 * mpmath.pi)

        def weighted(x: Any) -> Any:
            return function(x) * mpmath.exp(-x * x / 2) * norm

        points = sorted(mpmath.mpf(b) for b in breakpoints)
        low, high = _tails(weighted, points, dps)
        if not points:
            found = _trapezoid(weighted, low, high, dps)
            if found is not None:
                return found
        return _adaptive(weighted, _edges(points, low, high), dps)


def _tails(weighted: Callable[[Any], Any], points: list[Any], dps: int) -> tuple[Any, Any]:
    """Where the weighted integrand has fallen below the precision."""
    cut = mpmath.sqrt(2 * mpmath.log(10) * (dps + _EXTRA))
    tiny = mpmath.mpf(10) ** (-dps - _EXTRA // 2)
    scale = max(abs(weighted(mpmath.mpf(k) / 3)) for k in range(-9, 10))
    if scale == 0 and points:
        # a function that vanishes in the bulk: what there is lies beyond its breakpoints, however far out
        return min(points[0], 0) - cut, max(points[-1], 0) + cut
    ends = []
    for end in (-cut, cut):
        for _ in range(_EXTENSIONS):
            size = abs(weighted(end))
            if size <= tiny * scale:
                break
            scale = max(scale, size)
            end *= mpmath.mpf("1.25")
        else:
            raise QuadratureError(f"the integrand still grows at g = {mpmath.nstr(end, 3)}: the integral diverges")
        ends.append(end)
    return ends[0], ends[1]


def _edges(points: list[Any], low: Any, high: Any) -> list[Any]:
    """Where the pieces end: the tails, the breakpoints inside, and a coarse grid."""
    marks = [low, *(p for p in points if low < p < high), high]
    edges: list[Any] = []
    for a, b in pairwise(marks):
        parts = min(64, max(1, int(mpmath.ceil((b - a) / 4))))
        edges.extend(a + (b - a) * k / parts for k in range(parts))
    return [*edges, high]


def _trapezoid(weighted: Callable[[Any], Any], low: Any, high: Any, dps: int) -> tuple[Any, Any] | None:
    """The trapezoidal rule, its step halved until two successive halvings agree; None if too slow."""
    tolerance = mpmath.mpf(10) ** (-dps - 3)
    width = high - low
    count = int(mpmath.ceil(2 * width))
    values = [weighted(low + width * k / count) for k in range(count + 1)]
    total, size, agreed = mpmath.fsum(values), mpmath.fsum(abs(v) for v in values), 0
    previous = total * width / count
    for _ in range(_HALVINGS):
        values = [weighted(low + width * (2 * k + 1) / (2 * count)) for k in range(count)]
        total += mpmath.fsum(values)
        size += mpmath.fsum(abs(v) for v in values)
        count *= 2
        current = total * width / count
        gap = abs(current - previous)
        # convergence squares the error at each halving, so half the digits twice is as good as all of them
        # once
        agreed = agreed + 1 if gap <= mpmath.sqrt(tolerance) * size * width / count else 0
        if gap <= tolerance * size * width / count and agreed >= 2:
            return current, gap
        previous = current
    return None


def _adaptive(weighted: Callable[[Any], Any], edges: list[Any], dps: int) -> tuple[Any, Any]:
    rule = mpmath.mp._gauss_legendre
    prec = mpmath.mp.prec
    # 3 * 2^(degree-1) nodes; half as many nodes as digits wanted, at least, on an interval of length 4
    degree = 4 if dps <= 20 else 5 if dps <= 60 else 6
    coarse, fine = rule.get_nodes(-1, 1, degree, prec), rule.get_nodes(-1, 1, degree + 1, prec)
    spans = [(a, b) for a, b in pairwise(edges) if b > a]
    pieces = [(a, b, 0, *_apply(weighted, coarse, a, b)) for a, b in spans]
    total, error = mpmath.mpf(0), mpmath.mpf(0)
    tolerance = mpmath.mpf(10) ** (-dps - 3)
    allowed = tolerance * max(mpmath.fsum(p[4] for p in pieces), mpmath.mpf(10) ** (-50 * dps))
    halvings = 0
    while pieces:
        a, b, depth, first, _ = pieces.pop()
        second, magnitude = _apply(weighted, fine, a, b)
        gap = abs(first - second)
        if gap <= allowed or magnitude <= allowed * _NEGLIGIBLE or depth > 4 * prec:
            total += second
            error += gap
            continue
        halvings += 1
        if halvings > _MAX_PIECES:
            raise QuadratureError(
                f"the Gaussian integral does not settle to {dps} digits after {_MAX_PIECES} halvings; "
                "it diverges, oscillates fast, or its jumps should be declared as breakpoints"
            )
        middle = (a + b) / 2
        pieces.extend((x, y, depth + 1, *_apply(weighted, coarse, x, y)) for x, y in ((a, middle), (middle, b)))
    return total, error


def _apply(weighted: Callable[[Any], Any], nodes: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The rule on [a, b], and the integral of the magnitude."""
    centre, half = (a + b) / 2, (b - a) / 2
    values = [(w, weighted(centre + half * x)) for x, w in nodes]
    return half * mpmath.fsum(w * v for w, v in values), half * mpmath.fsum(w * abs(v) for w, v in values)
