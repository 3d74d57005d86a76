"""Fixed points of state evolution at some samples, and the likeliest of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from giantstep.observe.optimal.path import Path

_ROOT = 1e-24  # of a fixed point, beside its rounding


def fixed_points(path: Path, samples: float) -> list[float]:
    """The stable fixed points: where state evolution leads to more below and to less above, and one, if it does there.

    Mean overlaps of all indices.
    """

    def surplus(place: float) -> float:
        return path.surplus(place, samples)

    grid, values = path.grid.tolist(), _signs(path, samples)
    falls = [i for i in range(len(grid) - 1) if values[i] > 0.0 >= values[i + 1]]
    roots = [between(surplus, grid[i], grid[i + 1]) for i in falls]
    if values[0] <= 0.0 and surplus(0.0) > 0.0:  # next to nothing is known, but something
        roots.insert(0, between(surplus, 0.0, grid[0]))
    return roots + ([1.0] if values[-1] > 0.0 else [])


def _signs(path: Path, samples: float) -> list[float]:
    """The surplus on the grid, or a bound above it that is negative."""
    rate, values = math.inf, []
    for place in path.grid[::-1].tolist():
        above = path.surplus_at_most(place, samples, rate)
        if above > 0.0:
            rate, above = path.rate(place), path.surplus(place, samples)
        values.append(above)
    return values[::-1]


def likeliest(path: Path, samples: float, stable: list[float]) -> float:
    """The fixed point of the largest free entropy, which has no bound where all is known."""
    best = stable[0]
    for other in stable[1:]:
        if other == 1.0:
            return other
        number, slope = path.entropy_gain(best, other)
        best = other if number + samples * slope > 0.0 else best
    return best


def between(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that changes its sign between two overlaps."""
    from scipy.optimize import brentq  # not needed to solve

    return float(brentq(function, low, high, xtol=_ROOT, rtol=1e-14))
