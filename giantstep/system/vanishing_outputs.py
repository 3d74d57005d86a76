"""Signs of outputs whose every part is below the least number, as features leave them that saturate far out.

A sign depends on ratios: there they are taken to be those of the last node where they can be told, if they no longer
change by what the test error feels. Where they do, nothing is known of the sign, nor of the test error.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.system.sign_panels import Output

Array = np.ndarray
_LEAST = 1e-250  # squares of an output below this are not told: parts of it underflow soon after
_NEXT = 1e50  # times as large is where the ratios are compared
_NOTHING = (
    1e-12  # of a test error: the change of a ratio, as the sine of an angle, times the probability of what follows
)


class End(NamedTuple):
    """Mean, slopes [D, 1] and variance of the outermost output that is told on one side; the variance is not a number
    where ratios still change.
    """

    mean: float
    slopes: Array
    variance: float


Ends = dict[float, End]  # by the sign of kappa


def ends_of(output: Output) -> Ends:
    """Where outputs along one direction vanish, by side; empty where they are told at all nodes."""
    if output.variance.min() >= _LEAST or (size := _size(output)).min() >= _LEAST:
        return {}
    found = {}
    for side in (-1.0, 1.0):
        here = np.flatnonzero(side * output.kappa > 0.0)
        told = here[size[here] >= _LEAST]
        if 0 < told.size < here.size:
            found[side] = _end(output, size, told[np.argsort(np.abs(output.kappa[told]))])
    return found


def _end(output: Output, size: Array, outwards: NDArray[np.intp]) -> End:
    last = outwards[-1]
    inside = outwards[size[outwards] >= _NEXT * size[last]]
    angles = _angles(output)
    change = float(np.max(np.abs(angles[:, last] - angles[:, inside[-1]]))) if inside.size > 0 else 1.0
    known = change * math.erfc(abs(output.kappa[last]) / math.sqrt(2.0)) <= _NOTHING
    return End(output.mean[last], output.slopes[:, [last]], output.variance[last] if known else math.nan)


def continued(output: Output, ends: Ends) -> Output:
    """The output with those of the ends in the place of what is not told."""
    if not ends:
        return output
    untold = _size(output) < _LEAST
    mean, slopes, variance = output.mean.copy(), output.slopes.copy(), output.variance.copy()
    for side, end in ends.items():
        here = untold & (side * output.kappa > 0.0)
        mean[here], slopes[:, here], variance[here] = end
    return replace(output, mean=mean, slopes=slopes, variance=variance)


def told_along_several(output: Output, weight: Array) -> Output:
    """The output along several directions, no number where it is not told; as it is where signs there are of no mean
    and no slope, or too seldom to matter.
    """
    size = _size(output)
    untold = size < _LEAST
    near = ~untold & (size < _NEXT * _LEAST)
    if weight @ untold * np.max(np.abs(_angles(output)[:, near]), initial=0.0) <= _NOTHING:
        return output
    return replace(output, variance=np.where(untold, math.nan, output.variance))


def _size(output: Output) -> Array:
    return np.asarray(output.mean**2 + output.spread**2)


def _angles(output: Output) -> Array:
    """Sines of what a sign depends on [1 + D, N]: mean and slopes beside the root of the variance."""
    parts = np.concatenate([output.mean[None], output.slopes])
    return np.asarray(parts / np.sqrt(output.variance + parts**2))
