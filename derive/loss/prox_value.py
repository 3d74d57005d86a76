"""The proximal map as numbers of any precision: a monotone equation, bracketed and bisected, for any convex loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp

from derive.gaussian.numeric import mpmath_function
from derive.loss.loss import LossAnalysis, U, Y, edge_slopes
from derive.loss.pieces import limit_at

Evaluate = Callable[..., Any]

_GUARD = 15


@dataclass(frozen=True)
class MoreauValues:
    """Numbers (mpf) at one (y, omega, V), in terms of f: prox, M_V, g = (prox - omega)/V, h = -dg/domega."""

    prox: Any
    envelope: Any
    g: Any
    h: Any


def prox_value(
    analysis: LossAnalysis,
    y: Any,
    omega: Any,
    variance: Any,
    parameters: Mapping[str, Any] | None = None,
    digits: int = 30,
) -> Any:
    """argmin_f (f - omega)^2/(2V) + loss(y, f) as mpf, to ``digits`` digits; parameters not given have their defaults.

    Raises ValueError for V <= 0, an unknown parameter, or a margin loss with a label other than +-1.
    """
    return moreau_values(analysis, y, omega, variance, parameters, digits).prox


def moreau_values(
    analysis: LossAnalysis,
    y: Any,
    omega: Any,
    variance: Any,
    parameters: Mapping[str, Any] | None = None,
    digits: int = 30,
) -> MoreauValues:
    """Prox, envelope, g and h of any convex loss, kinks included. Arguments and errors as ``prox_value``."""
    analysis = analysis.at(y)
    loss = analysis.loss
    unknown = sorted(set(parameters or {}) - {p.name for p in loss.parameters})
    if unknown or not mpmath.mpf(variance) > 0 or loss.form == "margin" and abs(y) != 1:
        problem = f"unknown parameter {unknown[0]}" if unknown else f"V = {variance}, y = {y}"
        raise ValueError(f"no proximal map of the {loss.name} loss: {problem}")
    label, centre, v = (mpmath.mpf(x) for x in (y, omega, variance))
    guard = _GUARD + max(0, mpmath.mag(centre), mpmath.mag(label)) // 3 + abs(mpmath.mag(v)) // 3
    with mpmath.workdps(digits + guard):
        chosen = [mpmath.mpf((parameters or {}).get(p.name, p.default)) for p in loss.parameters]
        sign = label if loss.form == "margin" else mpmath.mpf(1)
        offset = label if loss.form == "residual" else mpmath.mpf(0)
        w = sign * centre - offset
        u, rho, g, h = _solved(_numbers_of(analysis, (label, *chosen)), w, v, digits)
        found = MoreauValues(sign * (u + offset), v * g**2 / 2 + rho, sign * g, h)
    with mpmath.workdps(digits):
        return MoreauValues(+found.prox, +found.envelope, +found.g, +found.h)


@dataclass(frozen=True)
class _Kink:
    """A breakpoint: its place, the slopes on both sides, the value of rho there."""

    place: Any
    left: Any
    right: Any
    value: Any


@dataclass(frozen=True)
class _Numbers:
    """A loss with numbers put in: its breakpoints, and value, slope and curvature of each piece as functions of u."""

    kinks: tuple[_Kink, ...]
    pieces: tuple[tuple[Evaluate, Evaluate, Evaluate], ...]


@lru_cache(maxsize=64)
def _functions(analysis: LossAnalysis) -> tuple[list[list[Evaluate]], list[list[Evaluate]]]:
    names = (Y, *(p.symbol for p in analysis.loss.parameters))
    kinks = []
    for k, place in enumerate(analysis.breakpoints):
        value = limit_at(analysis.pieces[k], U, place, "-")
        kinks.append([mpmath_function(sp.sympify(e), names) for e in (place, *edge_slopes(analysis, k), value)])
    pieces = [[mpmath_function(sp.diff(e, U, n), (U, *names)) for n in range(3)] for e in analysis.pieces]
    return kinks, pieces


def _numbers_of(analysis: LossAnalysis, numbers: tuple[Any, ...]) -> _Numbers:
    def bound(function: Evaluate) -> Evaluate:
        return lambda u: mpmath.mpf(function(u, *numbers))

    kinks, pieces = _functions(analysis)
    places = tuple(_Kink(*(mpmath.mpf(entry(*numbers)) for entry in kink)) for kink in kinks)
    return _Numbers(places, tuple((bound(p[0]), bound(p[1]), bound(p[2])) for p in pieces))


def _solved(loss: _Numbers, w: Any, v: Any, digits: int) -> tuple[Any, Any, Any, Any]:
    """u, rho(u), g and h where u + V rho'(u) passes w."""
    lower = -mpmath.inf
    for kink, piece in zip(loss.kinks, loss.pieces, strict=False):
        if w <= kink.place + v * kink.left:
            return _in_piece(piece, lower, kink.place, w, v, digits)
        if w < kink.place + v * kink.right:
            return kink.place, kink.value, (kink.place - w) / v, 1 / v
        lower = kink.place
    return _in_piece(loss.pieces[-1], lower, mpmath.inf, w, v, digits)


def _in_piece(
    piece: tuple[Evaluate, Evaluate, Evaluate], lower: Any, upper: Any, w: Any, v: Any, digits: int
) -> tuple[Any, Any, Any, Any]:
    value, slope, curvature = piece

    def excess(u: Any) -> Any:
        return u + v * slope(u) - w

    u = _root(excess, lambda x: 1 + v * curvature(x), *_bracket(excess, lower, upper, w), digits)
    bend = curvature(u)
    return u, value(u), -slope(u), bend / (1 + v * bend)  # (u - w)/V cancels where g is small


def _bracket(excess: Evaluate, lower: Any, upper: Any, start: Any) -> tuple[Any, Any]:
    """Two points around the root, which lies between the ends; ends are not evaluated."""
    if not lower < start < upper:
        start = upper - 1 if mpmath.isinf(lower) else lower + 1 if mpmath.isinf(upper) else (lower + upper) / 2
    too_high = excess(start) > 0
    step, inner = mpmath.mpf(-1 if too_high else 1), start
    while True:
        outer = start + step
        if not lower < outer < upper:
            outer = lower if too_high else upper
        elif (excess(outer) > 0) == too_high:
            inner, step = outer, 2 * step
            continue
        return (outer, inner) if too_high else (inner, outer)


def _root(excess: Evaluate, slope: Evaluate, low: Any, high: Any, digits: int) -> Any:
    """Newton where it halves its step and stays inside, bisection elsewhere."""
    x, last = (low + high) / 2, high - low
    step = last
    for _ in range(200 + 20 * digits):
        f, rise = excess(x), slope(x)
        low, high = (low, x) if f > 0 else (x, high)
        newton = x - f / rise
        inside = low < newton < high and 2 * abs(newton - x) < abs(last)
        last, step = step, (newton if inside else (low + high) / 2) - x
        x += step
        if abs(step) <= mpmath.mpf(10) ** (-digits - 5) * max(abs(x), mpmath.mpf(10) ** -digits):
            return x
    raise ValueError(f"no proximal map found between {mpmath.nstr(low, 8)} and {mpmath.nstr(high, 8)}")
