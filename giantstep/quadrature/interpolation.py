"""The coefficients of a function between Chebyshev points: many values for the price of a few hundred."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from giantstep.spec.kernels import coefficients

Array = np.ndarray
_ORDER = 18
_PANEL = 1.5  # width of a panel in standard deviations of the average, which leaves an error of about 1e-14
_CHUNK = 8192  # shifts at a time, which stay in the processor's cache
UNIT = 8  # the range is rounded outwards to so many panels, so that one table serves similar ranges


def interpolated(function: str, variance: float, shift: Array) -> Array:
    """mu0, mu1, mu2sq of f(s + sqrt(c) g) at any number of shifts s [N], to about 1e-13 of the largest: [3, N].

    Averages over g vary with s on the scale sqrt(c), whatever the function. Raises NotConverged. [CUI24, Result 3.2]
    """
    if is_fine(variance, shift):
        return coefficients(function, shift, variance)
    return between(partial(_table, function, variance), variance, shift)


def interpolated_mean(function: str, variance: float, shift: Array) -> Array:
    """mu0 alone, [N]."""
    if is_fine(variance, shift):
        return np.asarray(coefficients(function, shift, variance)[0])
    table = partial(_table, function, variance)
    found: Array = between(lambda low, high: table(low, high)[:, :1], variance, shift)[0]
    return found


def is_fine(variance: float, shift: Array) -> bool:
    """Whether panels of so small a variance would have more points than there are shifts."""
    return float(shift.max() - shift.min()) * _ORDER > len(shift) * _PANEL * math.sqrt(variance)


def between(table: Callable[[int, int], Array], variance: float, shift: Array) -> Array:
    """Averages over g at any number of shifts [N], from their ``chebyshev_table`` between two ends: [A, N]."""
    width = _PANEL * math.sqrt(variance)
    low = math.floor(float(shift.min()) / (UNIT * width)) * UNIT
    high = (math.floor(float(shift.max()) / (UNIT * width)) + 1) * UNIT
    known = table(low, high)
    found = np.empty((known.shape[1], len(shift)))
    for start in range(0, len(shift), _CHUNK):
        part = slice(start, start + _CHUNK)
        place = shift[part] / width - low
        panel = np.minimum(place.astype(int), high - low - 1)
        found[:, part] = _chebyshev_sum(known, panel, 2.0 * (place - panel) - 1.0)
    return found


def chebyshev_table(values: Callable[[Array], Array], variance: float, low: int, high: int) -> Array:
    """Chebyshev coefficients [order, A, panel] on panels from low to high, in units of their width; read-only.

    values: A averages over g at shifts [N], [A, N].
    """
    angle = math.pi * (np.arange(_ORDER) + 0.5) / _ORDER
    points = np.cos(angle)
    shift = (np.arange(low, high)[:, None] + 0.5 * (points + 1.0)) * (_PANEL * math.sqrt(variance))
    at_points = values(shift.ravel()).reshape(-1, high - low, _ORDER)
    to_chebyshev = chebvander(points, _ORDER - 1).T * (2.0 / _ORDER)
    to_chebyshev[0] *= 0.5
    found = np.ascontiguousarray(np.einsum("kj,apj->kap", to_chebyshev, at_points))
    found.flags.writeable = False
    return found


def _chebyshev_sum(table: Array, panel: Array, x: Array) -> Array:
    """Clenshaw's recurrence at points x of panels."""
    found, before, twice = table[-1].take(panel, axis=1), np.zeros((table.shape[1], len(x))), 2.0 * x
    for row in table[-2:0:-1]:
        found, before = row.take(panel, axis=1) + twice * found - before, found
    return np.asarray(table[0].take(panel, axis=1) + x * found - before)


@lru_cache(maxsize=64)
def _table(function: str, variance: float, low: int, high: int) -> Array:
    return chebyshev_table(lambda shift: coefficients(function, shift, variance), variance, low, high)
