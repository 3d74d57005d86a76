"""The common bias of all neurons at which a bound is least, where it is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from giantstep.observe.bound_fits import fitted, lower_of
from giantstep.observe.conditional_model import conditional
from giantstep.observe.minimise import Minimum, guarded, least
from giantstep.quadrature.mesh import ORDERS
from giantstep.system.problem import Problem

Array = np.ndarray
Bounded = Literal["lower", "upper"]
Features = Callable[[float], Problem]
_SAME = 1e-12  # relative, of bounds that differ by rounding
_BIASES = np.linspace(-4.0, 4.0, 17)  # in units of the spread of a pre-activation
_WEAK, _BESIDE_WEAK = 0.25, np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])  # of these, a strength; biases over that
_WIDER, _FARTHER = 1.5, 100.0  # how biases beyond these grow, up to so many times the last one
_CLOSE = 1e-9  # of a cell of these: how close to the best one a bias is
# the first step from zero, over the strength of a spike below 1, and how steps grow, up to the farthest place; of the
# first step: one that tells where downhill is
_FIRST, _GROWTH, _SHORTER, _FARTHEST, _SLOPE = 0.25, 1.5, 0.4, 20.0, 1e-2


def best_bias(features: Features, kind: Bounded) -> Minimum:
    """The bias with the least bound; of the infinite ridge that with the least training error."""
    value = _value(features, kind)
    found = _least(value, _grid(features(0.0)))
    # in the limit of a step below the giant one a bias of zero may have more features than any other
    return found if found.value < (1.0 - _SAME) * value(0.0) else Minimum(0.0, value(0.0), False)


def _least(value: Callable[[float], float], grid: Array) -> Minimum:
    """The least over a grid; where it is at one end, of what is further out, as far as it falls and is known."""
    found, guard = least(value, grid), guarded(value)
    if not found.at_edge:
        return found
    before, last = (grid[1], grid[0]) if found.place < 0.0 else (grid[-2], grid[-1])
    best = found.value
    while abs(last) < _FARTHER * abs(grid[-1]):
        if not (there := guard(_WIDER * last)) < best:
            place = _refined(guard, [float(before), float(_WIDER * last)])
            return Minimum(place, guard(place), not math.isfinite(there))
        before, last, best = last, _WIDER * last, there
    return Minimum(float(last), best, True)


def first_bias(features: Features) -> float:
    """Where the training error of an infinite ridge has its first minimum downhill from zero, as ``solve`` looks for
    the bias; of mirror images the positive one.
    """
    value, first = guarded(_value(features, "upper")), _FIRST * min([1.0, *_strengths(features(0.0))])
    beside = _SLOPE * first
    down = min((1.0, -1.0), key=lambda side: value(side * beside))
    if not value(down * beside) < (1.0 - _SAME) * value(0.0):
        return 0.0
    near, step = 0.0, first
    while abs(near) < _FARTHEST:
        far = near + down * step
        if value(far + down * beside) >= value(far):
            return _refined(value, [near, far + down * beside])
        if value(far) > value(near):  # it rose and falls again: a minimum was passed
            step *= _SHORTER
        else:
            near, step = far, _GROWTH * step
    return near


@dataclass
class AlongRates:
    """The bias at which a bound is least, of one learning rate after the other: the best of a grid, or, where that of a
    rate less than ``apart`` away is known, in the logarithm, next to it.
    """

    kind: Bounded
    apart: float
    known: dict[float, float] = field(default_factory=dict)

    def at(self, rate: float, features: Features) -> float:
        """That of a learning rate."""
        value, grid, log = guarded(_value(features, self.kind)), _grid(features(0.0)), math.log(rate)
        near = min(self.known, key=lambda other: abs(other - log), default=math.inf)
        if abs(near - log) < self.apart:
            found = _refined(value, _beside(self.known[near], grid))
        else:
            found = min(grid.tolist(), key=value)
            found = _least(value, grid).place if found in grid[[0, -1]] else found
        self.known[log] = found
        return found


def _beside(known: float, grid: Array) -> list[float]:
    """Places between which the best bias is that is near one on a grid, or beyond it."""
    if abs(known) >= grid[-1]:
        return [known / _WIDER, known * _WIDER]
    place = int(np.argmin(np.abs(grid - known)))
    return [float(x) for x in grid[max(place - 1, 0) : place + 2]]


def _grid(plain: Problem) -> Array:
    """Biases on the scales on which features vary with them: the spread of a pre-activation, and that of a weak spike,
    beside which a constant of the size of its linear part counts.
    """
    spread = plain.spread()
    weak = [scale for scale in _strengths(plain) if scale < _WEAK * spread]
    return np.unique(np.concatenate([spread * _BIASES, *(scale * _BESIDE_WEAK for scale in weak)]))


def _strengths(plain: Problem) -> list[float]:
    """Of the spike in the blocks that feel it."""
    return [abs(term.scale) for term in plain.blocks if term.scale]


def _refined(value: Callable[[float], float], places: list[float]) -> float:
    """The place of a minimum between the first and the last ones."""
    low, high = min(places), max(places)
    with np.errstate(invalid="ignore", over="ignore"):  # no parabola is laid through places of infinite values
        return float(
            minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": _CLOSE * (high - low)}).x
        )


def _value(features: Features, kind: Bounded) -> Callable[[float], float]:
    def value(bias: float) -> float:
        parts = conditional(features(bias), ORDERS[0])
        return lower_of(parts).value if kind == "lower" else fitted(parts).left

    return value
