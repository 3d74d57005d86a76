"""Losses whose curvature is infinite at an end of a piece, as |y - f|^(3/2): averages against integrals over the prox.

With l the prox, omega = l + V rho'(l), and every average is an integral over l with the weight 1 + V rho''(l); beside
an infinite curvature l = end + s^10 takes out the root. Panels are integrated to rounding, and what is nearer to such
an end than 1e-18 counts as held there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest

from derive.output import output_averages
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.fit_loss import FitLoss
from giantstep.system.kernels import loss_kernel

_V, _DELTA, _CENTER = 0.7, 0.5, 0.2
_STEPS = 64
_TOLERANCE = 1e-12
_FAR = 12.0  # of l: the Gaussian of omega is 1e-60 there
_NAMES = ("M", "g", "gg", "h", "l")
Number = mpmath.mpf
# rho, its slope and its curvature, in u
Function = Callable[[Number], tuple[Number, Number, Number]]


def _power(base: Number, p: float, sign: int = 1) -> tuple[Number, Number, Number]:
    """max(0, base)^p of a base with the slope ``sign``."""
    if base <= 0:
        return mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    return base**p, sign * p * base ** (p - 1), p * (p - 1) * base ** (p - 2)


def _beyond(edge: float, p: float) -> Function:
    """max(0, |u| - edge)^p."""

    def rho(u: Number) -> tuple[Number, Number, Number]:
        return _power(abs(u) - mpmath.mpf(edge), p, 1 if u > 0 else -1)

    return rho


def _of_two(u: Number) -> tuple[Number, Number, Number]:
    parts = _power(1 - u, 1.5, -1), _power(1 + u, 1.5)
    return tuple(a + b for a, b in zip(*parts, strict=True))


def _with_square(u: Number) -> tuple[Number, Number, Number]:
    value, slope, curvature = _beyond(0.0, 1.5)(u)
    return value + u * u, slope + 2 * u, curvature + 2


@pytest.mark.parametrize(
    "text, rho, ends",
    [
        ("abs(y-f)**1.5", _beyond(0.0, 1.5), [0.0]),
        ("abs(y-f)**1.2", _beyond(0.0, 1.2), [0.0]),
        ("max(0,abs(y-f)-0.25)**1.5", _beyond(0.25, 1.5), [-0.25, 0.25]),
        ("max(0,abs(y-f)-0.3)**1.8", _beyond(0.3, 1.8), [-0.3, 0.3]),
        ("abs(y-f)**1.5+(y-f)**2", _with_square, [0.0]),
        ("max(0,1-y+f)**1.5+max(0,1+y-f)**1.5", _of_two, [-1.0, 1.0]),  # both ends of a piece
    ],
)
def test_averages_are_integrals_over_the_prox(text: str, rho: Function, ends: list[float]) -> None:
    found, wanted = _averages(text), _integrals(rho, ends)
    for name in _NAMES:
        assert abs(found[name] - wanted[name]) <= _TOLERANCE * max(1.0, abs(wanted[name])), name


def _averages(text: str) -> dict[str, float]:
    kernel, one, none = loss_kernel(FitLoss(text)), np.ones((1, 1)), np.zeros((1, 1))
    names = tuple(output_averages(1).monomials)
    out = np.empty((len(names), 1))
    fields = Fields(np.array([_V]), np.array([_CENTER]), np.zeros((1, 1)), np.array([_DELTA]))
    rule = Rule(gauss_rule(_STEPS), _STEPS, np.empty(0), 0.0)
    nodes = LabelNodes(one, np.zeros((1, 1, 1)), none, none)
    kernel.points(rule, nodes, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    return {name: float(out[names.index(f"avg_{name}"), 0]) for name in _NAMES}


def _integrals(rho: Function, ends: list[float]) -> dict[str, float]:
    with mpmath.workdps(60):
        total = [mpmath.mpf(0)] * len(_NAMES)
        for start, stop in _panels(ends):
            part = _over(rho, start, stop)
            total = [a + b for a, b in zip(total, part, strict=True)]
        return {name: float(value) for name, value in zip(_NAMES, total, strict=True)}


def _panels(ends: list[float]) -> Iterator[tuple[Number, Number]]:
    """(end of infinite curvature, where its panel stops), outwards from each end on both sides."""
    places = [-_FAR, *ends, _FAR]
    for k, end in enumerate(ends, start=1):
        for other in (places[k - 1], places[k + 1]):
            yield mpmath.mpf(end), mpmath.mpf(other) if abs(other) == _FAR else mpmath.mpf(end + other) / 2


def _over(rho: Function, start: Number, stop: Number) -> list[Number]:
    """Integrals of all averages over l between two places, by the Gauss rule in s."""
    side, reach = mpmath.sign(stop - start), abs(stop - start) ** mpmath.mpf("0.1")
    sums = [mpmath.mpf(0)] * len(_NAMES)
    cuts = [reach * k / 8 for k in range(9)]
    for low, high in zip(cuts, cuts[1:], strict=False):
        for x, w in _gauss():
            s = (low + high) / 2 + (high - low) / 2 * x
            value, slope, curvature = rho(start + side * s**10)
            weight = w * (high - low) / 2 * 10 * s**9 * (1 + _V * curvature)
            omega = start + side * s**10 + mpmath.mpf(_V) * slope
            weight *= mpmath.npdf(omega, mpmath.mpf(_CENTER), mpmath.sqrt(_DELTA))
            h = curvature / (1 + mpmath.mpf(_V) * curvature)
            terms = value + mpmath.mpf(_V) * slope**2 / 2, -slope, slope**2, h, value
            sums = [a + weight * b for a, b in zip(sums, terms, strict=True)]
    return sums


def _gauss() -> list[tuple[Number, Number]]:
    points, weights = np.polynomial.legendre.leggauss(40)
    return [(mpmath.mpf(x), mpmath.mpf(w)) for x, w in zip(points.tolist(), weights.tolist(), strict=True)]
