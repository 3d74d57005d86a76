"""Minimisation of a function of one positive number: a grid in its logarithm, then refinement of the best places."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from giantstep.spec.errors import BadInput, NotConverged

Array = np.ndarray
_REFINED = 3  # local minima of the grid that are looked at closely
CLOSE = 1e-7  # of an interval: the value a little beside a minimum differs by the square of that
Told = Callable[[int, int], object]


def _nobody(done: int, total: int) -> None:
    """Nobody is told how far the search has come."""


@dataclass(frozen=True)
class Minimum:
    """Where the least value was found, and whether that is at the edge of the range."""

    place: float
    value: float
    at_edge: bool


def least(function: Callable[[float], float], grid: Array, told: Told = _nobody) -> Minimum:
    """The least value over an increasing grid and, by bounded minimisation, around its local minima.

    told(done, total) follows the grid. Places where the function cannot be evaluated (BadInput, NotConverged) are left
    out. Raises NotConverged where there is no other.
    """
    guard = guarded(function)
    values = np.empty(len(grid))
    for done, x in enumerate(grid):
        told(done, len(grid))
        values[done] = guard(float(x))
    if not np.isfinite(values).any():
        raise NotConverged(
            f"nothing could be evaluated between {grid[0]:g} and {grid[-1]:g}", "change the range that is searched"
        )
    padded = np.concatenate([[np.inf], values, [np.inf]])
    local = np.flatnonzero(np.isfinite(values) & (values <= padded[:-2]) & (values <= padded[2:]))
    chosen = local[np.argsort(values[local], kind="stable")][:_REFINED]
    found = [_refined(guard, grid, int(i), float(values[i])) for i in chosen]
    place, value = min(found, key=lambda pair: pair[1])
    span = float(grid[-1] - grid[0])
    edge = min(abs(place - float(grid[0])), abs(place - float(grid[-1]))) <= 1e-6 * span
    return Minimum(place, value, edge)


def least_positive(
    function: Callable[[float], float], low: float, high: float, points: int, told: Told = _nobody
) -> Minimum:
    """The least value over [low, high], both positive, searched in the logarithm."""
    found = least(lambda log: function(math.exp(log)), np.linspace(math.log(low), math.log(high), points), told)
    return Minimum(math.exp(found.place), found.value, found.at_edge)


def _refined(function: Callable[[float], float], grid: Array, i: int, value: float) -> tuple[float, float]:
    place, closer = between(function, float(grid[max(i - 1, 0)]), float(grid[min(i + 1, len(grid) - 1)]))
    return (place, closer) if closer < value else (float(grid[i]), value)


def between(function: Callable[[float], float], low: float, high: float, close: float = CLOSE) -> tuple[float, float]:
    """Place and value of a minimum between two places, to a share of what these are apart."""
    with np.errstate(invalid="ignore", over="ignore"):  # no parabola is laid through places of infinite values
        options = {"xatol": close * (high - low)}
        found = minimize_scalar(function, bounds=(low, high), method="bounded", options=options)
    return float(found.x), float(found.fun)


def guarded(function: Callable[[float], float]) -> Callable[[float], float]:
    """The same function; infinite where it cannot be evaluated."""

    def value(x: float) -> float:
        try:
            found = function(x)
        except (BadInput, NotConverged):
            return math.inf
        return found if math.isfinite(found) else math.inf

    return value
