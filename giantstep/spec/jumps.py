"""Where a function of one variable jumps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import function_kernel

Array = NDArray[np.float64]
Jump = tuple[float, float, float]  # place, value before, value after

_GAPS = np.array([2.0**-20, 2.0**-30])
_ROUNDED = 2.0**-48
_PARTS = 8  # of an interval, and how often the one that changes most is divided again
_ROUNDS = 10
_STEEP = 3.0  # times the change of a neighbour: where a jump is looked for


def jumps(text: str) -> tuple[Jump, ...]:
    """Place, value before and value after of each jump; the places are exact.

    Raises BadInput for what is no function.
    """
    function, found = numpy_values(text), []
    for place in function_kernel(text).BREAKPOINTS:
        gaps = (1.0 + abs(place)) * _GAPS
        before, after = function(place - gaps), function(place + gaps)
        wide, narrow = np.abs(after - before)
        # the difference of a continuous function shrinks with the gap, but for rounding of values and of the place
        slope = max(np.ptp(before), np.ptp(after)) / (gaps[0] - gaps[1])
        rounding = _ROUNDED * (np.abs([before, after]).max() + slope * abs(place))
        if narrow > max(0.5 * wide, rounding):
            found.append((float(place), float(before[1]), float(after[1])))
    return tuple(found)


def jumps_between(function: Callable[[Array], Array], at: Array, values: Array, scale: float) -> tuple[Jump, ...]:
    """The jumps of a function known only by its values [N] at points [N]: at most one between two of them.

    They are looked for where it changes much more than beside, and by more than 1e-9 of the scale.
    """
    order = np.unique(at, return_index=True)[1]
    x, y = at[order], values[order]
    if len(x) < 4:
        return ()
    change = np.abs(np.diff(y))
    beside = np.minimum(np.append(change[1:], np.inf), np.append(np.inf, change[:-1]))
    steep = np.flatnonzero((change > _STEEP * beside) & (change > 1e-9 * scale))
    found: list[Jump] = []
    for i in steep:
        jump = _narrowed(function, x[i : i + 2], y[i : i + 2])
        if jump is not None and found and jump[0] - found[-1][0] < 1e-7 * (x[i + 1] - x[i]):  # both sides of a point
            found[-1] = (float(x[i]), found[-1][1], jump[2])
        elif jump is not None:
            found.append(jump)
    return tuple(found)


def _narrowed(function: Callable[[Array], Array], ends: Array, values: Array) -> Jump | None:
    """The jump inside an interval; None where the function is continuous there."""
    whole = abs(values[1] - values[0])
    for _ in range(_ROUNDS):
        inside = np.linspace(ends[0], ends[1], _PARTS + 1)
        found = np.concatenate([values[:1], function(inside[1:-1]), values[1:]])
        most = int(np.argmax(np.abs(np.diff(found))))
        ends, values = inside[most : most + 2], found[most : most + 2]
        if abs(values[1] - values[0]) < 0.5 * whole:
            return None
    return float(ends.mean()), float(values[0]), float(values[1])
