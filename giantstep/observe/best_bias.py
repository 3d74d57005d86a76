"""The common bias of all neurons at which a bound is least, where it is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np

from giantstep.observe.bound_fits import fitted, lower_of
from giantstep.observe.conditional_model import conditional
from giantstep.observe.minimise import CLOSE, Minimum, between, guarded, least
from giantstep.quadrature.mesh import ORDERS
from giantstep.system.problem import Problem

Array = np.ndarray
Bounded = Literal["lower", "upper"]
Features = Callable[[float], Problem]
Value = Callable[[float], float]
_SAME = 1e-12  # relative, of bounds that differ by rounding
_BIASES = np.linspace(-4.0, 4.0, 17)  # in units of the spread of a pre-activation
_WEAK, _BESIDE_WEAK = 0.25, np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])  # of these, a strength; biases over that
_WIDER, _FARTHER = 1.5, 100.0  # how biases beyond these grow, up to so many times the last one
_COARSE = 1e-3  # how closely a rate of a grid has its bias there: next to the best rate it is looked for again
# the first step from zero, over the strength of a spike below 1, and how steps grow, up to the farthest place; of the
# first step: one that tells where downhill is
_FIRST, _GROWTH, _SHORTER, _FARTHEST, _SLOPE = 0.25, 1.5, 0.4, 20.0, 1e-2


def best_bias(features: Features, kind: Bounded) -> Minimum:
    """The bias with the least bound; of the infinite ridge that with the least training error."""
    value = _value(features, kind)
    found = _least(value, _grid(features(0.0)))
    # in the limit of a step below the giant one a bias of zero may have more features than any other
    return found if found.value < (1.0 - _SAME) * value(0.0) else Minimum(0.0, value(0.0), False)


def _least(value: Value, grid: Array) -> Minimum:
    """The least over a grid; where it is at one end, of what is further out."""
    found = least(value, grid)
    return _further_out(guarded(value), grid, found) if found.at_edge else found


def _further_out(value: Value, grid: Array, end: Minimum, close: float = CLOSE) -> Minimum:
    """The first minimum beyond an end of a grid, as far as a bound falls and is known."""
    before, last = map(float, (grid[1], grid[0]) if end.place < 0.0 else (grid[-2], grid[-1]))
    least_value = end.value
    while abs(last) < _FARTHER * abs(grid[-1]):
        if not (there := value(_WIDER * last)) < least_value:
            return Minimum(*_between(value, before, _WIDER * last, close), not math.isfinite(there))
        before, last, least_value = last, _WIDER * last, there
    return Minimum(last, least_value, True)


def first_bias(features: Features) -> float | None:
    """Where the training error of an infinite ridge has its first minimum downhill from zero, as ``solve`` looks for
    the bias; of mirror images the positive one. None where it falls without one as far as it is known.
    """
    value, first = cache(guarded(_value(features, "upper"))), _FIRST * min([1.0, *_strengths(features(0.0))])
    beside = _SLOPE * first
    down = min((1.0, -1.0), key=lambda side: value(side * beside))
    if not value(down * beside) < (1.0 - _SAME) * value(0.0):
        return 0.0
    near, step = 0.0, first
    while abs(near) < _FARTHEST:
        far = near + down * step
        if value(far + down * beside) >= value(far):
            known = math.isfinite(value(far + down * beside))
            return _between(value, near, far + down * beside)[0] if known else None
        if value(far) > value(near):  # it rose and falls again: a minimum was passed
            step *= _SHORTER
        else:
            near, step = far, _GROWTH * step
    return None


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
            found, _ = _between(value, *_beside(self.known[near], grid))
        else:
            values = [value(bias) for bias in grid.tolist()]
            best = int(np.argmin(values))
            found = float(grid[best])
            if best in (0, len(grid) - 1):
                found = _further_out(value, grid, Minimum(found, values[best], True), _COARSE).place
        self.known[log] = found
        return found


def _beside(known: float, grid: Array) -> tuple[float, float]:
    """Places between which the best bias is that is near one on a grid, or beyond it."""
    if abs(known) >= grid[-1]:
        return known / _WIDER, known * _WIDER
    place = int(np.argmin(np.abs(grid - known)))
    return float(grid[max(place - 1, 0)]), float(grid[min(place + 1, len(grid) - 1)])


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


def _between(value: Value, one: float, other: float, close: float = CLOSE) -> tuple[float, float]:
    """Place and value of a minimum between two biases, in any order."""
    return between(value, min(one, other), max(one, other), close)


def _value(features: Features, kind: Bounded) -> Value:
    def value(bias: float) -> float:
        parts = conditional(features(bias), ORDERS[0])
        return lower_of(parts).value if kind == "lower" else fitted(parts).left

    return value
