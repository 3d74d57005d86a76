"""Averages over the output by definition: losses typed in by hand, the prox by bisection, quadrature in omega.

Everything is written for arrays of floats or of mpf, so that one text gives a fast oracle and a precise one. Used by
tests only; shares nothing with derive, codegen or the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from scipy import special

Piece = tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]  # rho, its slope, its curvature
#: The averages of one direction beside the spike, in the order of the kernels.
AVERAGES = ("M", "g", "h", "gg", "gh", "hx", "ggh", "ghx", "hxx", "tg", "th", "tgh", "thx", "tth", "l")


@dataclass(frozen=True)
class Arithmetic:
    """Functions of arrays in one kind of number."""

    exp: Callable[[Any], Any]
    log1p: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    log_ndtr: Callable[[Any], Any]
    mills: Callable[[Any], Any]  # phi/Phi
    number: Callable[[float], Any]
    rule: list[tuple[Any, Any]]


def _mills(u: Any) -> Any:
    return math.sqrt(2.0 / math.pi) / special.erfcx(-u / math.sqrt(2.0))


def _legendre(degree: int) -> list[tuple[Any, Any]]:
    with mpmath.workdps(40):
        return list(mpmath.mp._gauss_legendre.get_nodes(-1, 1, degree, mpmath.mp.prec))


def _mp(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return np.frompyfunc(function, 1, 1)


def _mp_log_ndtr(u: Any) -> Any:
    below, above = (mpmath.erfc(s * u / mpmath.sqrt(2)) / 2 for s in (-1, 1))
    return mpmath.log(below) if u < 0 else mpmath.log1p(-above)


FLOAT = Arithmetic(
    np.exp,
    np.log1p,
    np.tanh,
    special.log_ndtr,
    _mills,
    float,
    [(float(x), float(w)) for x, w in _legendre(3)],
)
PRECISE = Arithmetic(
    _mp(mpmath.exp),
    _mp(mpmath.log1p),
    _mp(mpmath.tanh),
    _mp(_mp_log_ndtr),
    _mp(lambda u: 2 * mpmath.npdf(u) / mpmath.erfc(-u / mpmath.sqrt(2))),
    mpmath.mpf,
    _legendre(3),
)


@dataclass(frozen=True)
class Loss:
    """rho(u) by pieces between kinks."""

    form: str
    kinks: tuple[Any, ...]
    pieces: tuple[Piece, ...]


def _line(slope: Any, at: Any, value: Any) -> Piece:
    return lambda u: value + slope * (u - at), lambda u: slope + 0 * u, lambda u: 0 * u


def _parabola(curvature: Any, at: Any) -> Piece:
    return (
        lambda u: curvature * (u - at) ** 2 / 2,
        lambda u: curvature * (u - at),
        lambda u: curvature + 0 * u,
    )


def _softplus(a: Arithmetic, u: Any) -> Any:
    return np.maximum(-u, 0) + a.log1p(a.exp(-abs(u)))


def _sigmoid(a: Arithmetic, u: Any) -> Any:
    e = a.exp(-abs(u))
    return np.where(u > 0, 1 / (1 + e), e / (1 + e))


def loss(name: str, a: Arithmetic, label: float = 1.0, **numbers: float) -> Loss:
    """A registered loss as its citation has it; label: of losses that are no functions of y f or f - y."""
    zero, one = a.number(0.0), a.number(1.0)
    tau, delta, epsilon = (a.number(numbers.get(k, d)) for k, d in (("tau", 0.5), ("delta", 1.0), ("epsilon", 0.1)))
    y, trials = a.number(label), a.number(numbers.get("trials", 1.0))
    s = lambda u: _sigmoid(a, u)  # noqa: E731
    e = lambda u: a.exp(-u)  # noqa: E731
    table: dict[str, tuple[str, tuple[Any, ...], tuple[Piece, ...]]] = {
        "square": ("residual", (), (_parabola(one, zero),)),
        "absolute": ("residual", (zero,), (_line(-one, zero, zero), _line(one, zero, zero))),
        "quantile": ("residual", (zero,), (_line(-tau, zero, zero), _line(one - tau, zero, zero))),
        "huber": (
            "residual",
            (-delta, delta),
            (_line(-delta, -delta, delta**2 / 2), _parabola(one, zero), _line(delta, delta, delta**2 / 2)),
        ),
        "epsilon_insensitive": (
            "residual",
            (-epsilon, epsilon),
            (_line(-one, -epsilon, zero), _line(zero, zero, zero), _line(one, epsilon, zero)),
        ),
        "log_cosh": (
            "residual",
            (),
            (
                (
                    lambda u: abs(u) + a.log1p(a.exp(-2 * abs(u))) - a.log1p(one),
                    a.tanh,
                    lambda u: 4 * s(2 * u) * s(-2 * u),
                ),
            ),
        ),
        "hinge": ("margin", (one,), (_line(-one, one, zero), _line(zero, one, zero))),
        "squared_hinge": ("margin", (one,), (_parabola(one, one), _line(zero, one, zero))),
        "smoothed_hinge": (
            "margin",
            (one - delta, one),
            (_line(-one, one - delta, delta / 2), _parabola(1 / delta, one), _line(zero, one, zero)),
        ),
        "logistic": ("margin", (), ((lambda u: _softplus(a, u), lambda u: -s(-u), lambda u: s(u) * s(-u)),)),
        "exponential": ("margin", (), ((e, lambda u: -e(u), e),)),
        "probit": (
            "margin",
            (),
            ((lambda u: -a.log_ndtr(u), lambda u: -a.mills(u), lambda u: a.mills(u) * (u + a.mills(u))),),
        ),
        "poisson": ("general", (), ((lambda u: a.exp(u) - y * u, lambda u: a.exp(u) - y, a.exp),)),
        "binomial": (
            "general",
            (),
            (
                (
                    lambda u: trials * _softplus(a, -u) - y * u,
                    lambda u: trials * s(u) - y,
                    lambda u: trials * s(u) * s(-u),
                ),
            ),
        ),
    }
    return Loss(*table[name])


@dataclass(frozen=True)
class Curve:
    """Places omega_u with quadrature weights, and envelope, g, h and the loss of the prox there."""

    omega: Any
    weight: Any
    envelope: Any
    g: Any
    h: Any
    loss: Any


def curve(found: Loss, a: Arithmetic, v: Any, low: Any, high: Any, width: Any) -> Curve:
    """Gauss-Legendre panels of 12 nodes between low and high that end at the images of the kinks; a panel spans no
    more than ``width``, and so little of the prox that the map is nearly linear.
    """
    parts: list[list[Any]] = []
    edges = [-math.inf, *found.kinks, math.inf]
    start = -math.inf
    for k, piece in enumerate(found.pieces):
        end = edges[k + 1] + v * piece[1](edges[k + 1]) if k < len(found.kinks) else math.inf
        first, last = max(start, low), min(end, high)
        if first < last:
            parts += _smooth(piece, a, v, first, last, width, edges[k], edges[k + 1])
        if k < len(found.kinks):
            start = edges[k + 1] + v * found.pieces[k + 1][1](edges[k + 1])
            first, last = max(end, low), min(start, high)
            if first < last:
                kink = edges[k + 1]
                value = piece[0](kink)
                for omega, weight in _nodes(a, first, last, width):
                    g = (kink - omega) / v
                    parts.append([omega, weight, value + v * g * g / 2, g, 1 / v, value])
    return Curve(*(np.array(column) for column in zip(*parts, strict=True)))


def _nodes(a: Arithmetic, first: Any, last: Any, width: Any) -> list[tuple[Any, Any]]:
    count = max(1, math.ceil((last - first) / width))
    half = (last - first) / (2 * count)
    return [(first + (2 * k + 1 + x) * half, half * w) for k in range(count) for x, w in a.rule]


def _smooth(
    piece: Piece, a: Arithmetic, v: Any, first: Any, last: Any, width: Any, left: Any, right: Any
) -> list[list[Any]]:
    rho, slope, curvature = piece
    ends = prox(piece, v, np.array([first, last]), left, right)
    images = [place + v * slope(place) for place in _cuts(curvature, v, *ends)]
    cuts = [first, *(x for x in images if first < x < last), last]
    grid = [pair for x, y in pairwise(cuts) for pair in _nodes(a, x, y, width)]
    omega, weight = (np.array(column) for column in zip(*grid, strict=True))
    u = prox(piece, v, omega, left, right)
    g, bend = -slope(u), curvature(u)
    loss, h = rho(u), bend / (1 + v * bend)
    return [list(row) for row in zip(omega, weight, loss + v * g * g / 2, g, h, loss, strict=True)]


def _cuts(curvature: Callable[[Any], Any], v: Any, low: Any, high: Any) -> list[Any]:
    """Places inside (low, high), half a unit apart at most, between which omega' = 1 + V rho'' changes by a third."""
    rates = [1 + v * curvature(place) for place in (low, high)]
    if high - low < 0.5 and max(rates) < 1.34 * min(rates) or high - low < 1e-6:
        return []
    middle = (low + high) / 2
    return [*_cuts(curvature, v, low, middle), middle, *_cuts(curvature, v, middle, high)]


def prox(piece: Piece, v: Any, omega: Any, left: Any, right: Any) -> Any:
    """Roots of u + v rho'(u) = omega in (left, right), by bisection and then Newton."""
    slope, curvature = piece[1:]
    low = np.full(omega.shape, left) if left > -math.inf else omega - _reach(piece, v, omega, -1)
    high = np.full(omega.shape, right) if right < math.inf else omega + _reach(piece, v, omega, 1)
    for _ in range(60 if omega.dtype == float else 24):
        middle = (low + high) / 2
        above = middle + v * slope(middle) > omega
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    u = (low + high) / 2
    for _ in range(4):
        u = u - (u + v * slope(u) - omega) / (1 + v * curvature(u))
    return u


def _reach(piece: Piece, v: Any, omega: Any, side: int) -> Any:
    """How far from omega the root may lie on a side: |omega - u| = V |rho'(u)|, bracketed by doubling."""
    step = 0 * omega + 1
    for _ in range(200):
        place = omega + side * step
        short = (place + v * piece[1](place) - omega) * side < 0
        if not np.any(short):
            return step
        step = np.where(short, 2 * step, step)
    raise AssertionError("no bracket of the proximal map")


def averages(
    found: Loss,
    a: Arithmetic,
    law: Sequence[tuple[Any, Any, Any]],
    v: Any,
    mean: Any,
    slope: Any,
    variance: Any,
) -> tuple[list[Any], list[Any], list[Any]]:
    """The averages in the order of AVERAGES for a law of (weight, t, label); those of the absolute values; the largest
    absolute values within 11 standard deviations.

    variance: of the output given t, label noise of a residual loss included.
    """
    weight, t, y = (np.array(column) for column in zip(*law, strict=True))
    sign = y if found.form == "margin" else 0 * y + 1
    centre = sign * (mean + slope * t) - (y if found.form == "residual" else 0)
    spread = variance**0.5
    c = curve(found, a, v, min(centre) - 11 * spread, max(centre) + 11 * spread, 1.5 * spread)
    norm = (0.3989422804014327 if a is FLOAT else 1 / mpmath.sqrt(2 * mpmath.pi)) / spread
    total = np.zeros((2, len(AVERAGES)), dtype=c.omega.dtype)
    largest = np.zeros(len(AVERAGES), dtype=c.omega.dtype)
    for start in range(0, len(centre), 64):
        part = slice(start, start + 64)
        reach = (c.omega > min(centre[part]) - 11 * spread) & (c.omega < max(centre[part]) + 11 * spread)
        near = Curve(*(getattr(c, name)[reach] for name in ("omega", "weight", "envelope", "g", "h", "loss")))
        off = near.omega[None, :] - centre[part, None]
        p = norm * weight[part, None] * near.weight[None, :] * a.exp(-(off**2) / (2 * variance))
        values = _monomials(near, sign[part, None], t[part, None], off, variance)
        total += np.array([[(p * value).sum() for value in values], [(p * abs(value)).sum() for value in values]])
        largest = np.maximum(largest, [abs(value).max() for value in values])
    return list(total[0]), list(total[1]), list(largest)


def _monomials(c: Curve, s: Any, t: Any, off: Any, variance: Any) -> tuple[Any, ...]:
    g, h, x = s * c.g[None, :], c.h[None, :], s * off / variance
    return (
        c.envelope[None, :],
        g,
        h,
        g * g,
        g * h,
        h * x,
        g * g * h,
        g * h * x,
        h * (x * x - 1 / variance),
        t * g,
        t * h,
        t * g * h,
        t * h * x,
        t * t * h,
        c.loss[None, :],
    )


def interval_law(
    low: float, high: float, gamma: float, kappa: float, probit: float, finest: float
) -> list[tuple[float, float]]:
    """(weight, t) on panels of t no longer than ``finest``; in the weight the probability that z' = gamma kappa +
    width t + sqrt(probit) n lies in [low, high).
    """
    width, root = math.sqrt((1.0 - gamma) * (1.0 + gamma)), math.sqrt(probit)
    cuts = [(e - gamma * kappa) / width for e in (low, high) if math.isfinite(e) and width > 0.0]
    near = [c + k * root / width for c in cuts for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8)]
    edges = sorted({-10.0, 10.0, *(c for c in near if -10.0 < c < 10.0)})
    found = []
    for first, last in pairwise(edges):
        for t, w in _nodes(FLOAT, first, last, min(1.0, finest)):
            shift = gamma * kappa + width * t
            ends = (low - shift, high - shift)
            p = float(low <= shift < high)
            if probit > 0.0 and low < shift < high:
                p = 1.0 - special.ndtr((low - shift) / root) - special.ndtr((shift - high) / root)
            elif probit > 0.0:
                p = special.ndtr(-min(map(abs, ends)) / root) - special.ndtr(-max(map(abs, ends)) / root)
            if p > 0.0:
                found.append((w * math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi) * p, t))
    return found
