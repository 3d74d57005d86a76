"""Fixed points of state evolution where all indices are known alike, Q = q 1, and free entropies between them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantstep.observe.optimal.alike import told_alike
from giantstep.observe.optimal.prior import Sought
from giantstep.quadrature.gauss import legendre

Array = np.ndarray
#: Overlaps between which fixed points are looked for.
GRID = np.sort(
    np.concatenate([10.0 ** np.arange(-7.0, -1.0), np.arange(0.05, 1.0, 0.05), 1.0 - 10.0 ** np.arange(-9.0, -1.0)])
)
_ROOT = 1e-24  # of a fixed point, beside its rounding
_ORDER = 8  # nodes of a path for each factor e of 1 - q
_NEAR = 1e-4  # step of a slope, over the distance from 0 and 1


def fixed_points(sought: Sought, samples: float) -> list[float]:
    """The stable fixed points: where alpha E[E[t|y]^2] - q falls through zero, and one, if it does not."""
    surplus = _surplus(sought, samples)
    values = _signs(surplus, sought, samples)
    falls = [i for i in range(len(GRID) - 1) if values[i] > 0.0 >= values[i + 1]]
    roots = [between(surplus, GRID[i], GRID[i + 1]) for i in falls]
    if values[0] <= 0.0 and surplus(0.0) > 0.0:  # next to nothing is known, but something
        roots.insert(0, between(surplus, 0.0, GRID[0]))
    return roots + ([1.0] if values[-1] > 0.0 else [])


def _surplus(sought: Sought, samples: float) -> Callable[[float], float]:
    told = told_alike(sought.target)
    return lambda q: sought.prior.surplus(q, told.information(q), samples)


def _signs(surplus: Callable[[float], float], sought: Sought, samples: float) -> list[float]:
    """The surplus on the grid, or a bound above it that is negative: what labels tell over 1 - q grows with q."""
    told, bound, values = told_alike(sought.target), math.inf, []
    for q in GRID[::-1].tolist():
        above = math.inf if math.isinf(bound) else sought.prior.surplus(q, bound * (1.0 - q), samples)
        if above > 0.0:
            bound, above = told.information(q) / (1.0 - q), surplus(q)
        values.append(above)
    return values[::-1]


def likeliest(sought: Sought, samples: float, stable: list[float]) -> float:
    """The fixed point of the largest free entropy, which has no bound where all is known."""
    best = stable[0]
    for other in stable[1:]:
        if other == 1.0:
            return other
        number, slope = entropy_gain(sought, best, other)
        best = other if number + samples * slope > 0.0 else best
    return best


def moved_by(sought: Sought, samples: float, q: float) -> float:
    """How far the error of what labels tell moves a fixed point."""
    if q in (0.0, 1.0):
        return 0.0
    told, surplus, step = told_alike(sought.target), _surplus(sought, samples), _NEAR * min(q, 1.0 - q)
    slope = (surplus(q + step) - surplus(q - step)) / (2.0 * step)
    return samples * told.error(q) / max(abs(slope), 1e-300)


def between(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that changes its sign between two overlaps."""
    from scipy.optimize import brentq  # not needed to solve

    return float(brentq(function, low, high, xtol=_ROOT, rtol=1e-14))


def entropy_gain(sought: Sought, low: float, high: float) -> tuple[float, float]:
    """What the free entropy of an index gains up to a larger overlap: a number, and what multiplies samples."""
    told, ends = told_alike(sought.target), [-math.log1p(-q) for q in (low, high)]
    panels = max(1, math.ceil(ends[1] - ends[0]))
    x, weight = legendre(_ORDER)
    width = (ends[1] - ends[0]) / panels
    number = slope = 0.0
    for panel in range(panels):
        for place, share in zip(ends[0] + width * (panel + 0.5 * (1.0 + x)), 0.5 * width * weight, strict=True):
            q = -math.expm1(-place)
            found = np.array([[told.information(q)]])
            none, one = (float(sought.prior.entropy_slope(np.array([[q]]), found, n)[0, 0]) for n in (0.0, 1.0))
            number += share * math.exp(-place) * none
            slope += share * math.exp(-place) * (one - none)
    return number, slope
