"""Panels on which a function is a polynomial to all digits, however narrow its features are.

Bounds of the function on an interval tell what samples miss there: intervals are halved until they agree. Panels are
then halved until a polynomial is right at all of these samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval, chebvander
from numpy.typing import NDArray

from derive.scalar import scalar_function
from giantstep.verify.enclosures import enclosure
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.lambdified import Function, numpy_of

Array = np.ndarray
_FARTHEST = 2048.0  # |z| looked at
_UNSEEN = 1e-3  # of one and the size of the function: by how much bounds may leave what is sampled
_MOST, _DEEPEST = 400_000, 56  # intervals; halvings
_ORDER, _RIGHT = 16, 1e-10  # nodes of a polynomial, and what it may be off by, relative to one and the function
_ROUNDED = 64.0 * float(np.finfo(float).eps)  # what functions make of the rounding of a place, in slopes

_NODES = np.cos(np.pi * (np.arange(_ORDER) + 0.5) / _ORDER)
_SERIES = np.linalg.inv(chebvander(_NODES, _ORDER - 1))
_BETWEEN = np.array([-1.0, -0.83, -0.47, -0.11, 0.29, 0.63, 0.91, 1.0])


@dataclass(frozen=True, eq=False)
class SmoothPanels:
    """Panels [low, high] on each of which a function of one variable is smooth, sorted."""

    low: Array
    high: Array

    def ends(self, narrower: float, low: float, high: float) -> Array:
        """Ends between two places of the panels that are narrower than a width."""
        chosen = (self.high - self.low < narrower) & (self.high > low) & (self.low < high)
        return np.unique(np.concatenate([self.low[chosen], self.high[chosen]]))

    def centres(self) -> Array:
        """The middles of panels, or rows of panels, that are narrower than those to either side."""
        width = np.concatenate([[np.inf], self.high - self.low, [np.inf]])
        first = np.flatnonzero(width[1:-1] < width[:-2])
        last = np.array([k + int(np.argmax(width[k + 2 :] != width[k + 1])) for k in first], dtype=int)
        narrow = width[last + 2] > width[last + 1]
        return np.asarray((0.5 * (self.low[first] + self.high[last]))[narrow])


@lru_cache(maxsize=64)
def smooth_panels(text: str) -> SmoothPanels:
    """Those of a function of z between its breakpoints; a piece of which no bounds are known is taken for smooth."""
    found = scalar_function(text)
    inside = [float(b) for b in found.breakpoints if abs(float(b)) < _FARTHEST]
    edges = np.array([-_FARTHEST, *inside, _FARTHEST])
    pieces = [_of_piece(piece, found.z, *ends) for (_, _, piece), ends in zip(found.pieces, _pairs(edges), strict=True)]
    low, high = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return SmoothPanels(low, high)


def _pairs(edges: Array) -> list[tuple[float, float]]:
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _of_piece(piece: Any, z: Any, low: float, high: float) -> tuple[Array, Array]:
    if piece.is_polynomial(z):
        return np.array([low]), np.array([high])
    function = numpy_of(piece, (z,))
    try:
        samples = _sampled(piece, z, function, np.array([low, *np.arange(np.floor(low) + 1.0, high), high]))
    except NotEvaluable:
        return np.array([low]), np.array([high])
    values = function(samples)
    finite = np.isfinite(values)
    return _panels(function, samples[finite], values[finite], (low, high))


def _sampled(piece: Any, z: Any, function: Function, edges: Array) -> Array:
    """Middles of intervals on which bounds of a function tell no more than its values at the ends and the middle."""
    low, high, kept, count = edges[:-1], edges[1:], [], 0
    for _ in range(_DEEPEST):
        middle = 0.5 * (low + high)
        values = np.array([function(x) for x in (low, middle, high)])
        least, most = enclosure(piece, z, low, high)
        with np.errstate(invalid="ignore"):
            unseen = np.maximum(most - values.max(axis=0), values.min(axis=0) - least)
        size = 1.0 + np.abs(values).max(axis=0)
        further = (unseen > _UNSEEN * size) & np.isfinite(size)
        kept.append(middle)
        count += int(further.sum())
        if not further.any() or count > _MOST:
            break
        low, middle, high = low[further], middle[further], high[further]
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return np.sort(np.concatenate(kept))


def _panels(function: Function, samples: Array, exact: Array, whole: tuple[float, float]) -> tuple[Array, Array]:
    low, high, found = np.array(whole[:1]), np.array(whole[1:]), []
    for _ in range(_DEEPEST):
        rough = _rough(function, (samples, exact), low, high)
        found.append(np.array([low[~rough], high[~rough]]))
        if not rough.any():
            break
        kept = rough[np.searchsorted(high, samples)]
        samples, exact = samples[kept], exact[kept]
        middle = 0.5 * (low + high)
        low, high = (np.stack(ends, axis=1)[rough].ravel() for ends in ((low, middle), (middle, high)))
    else:
        found.append(np.array([low, high]))
    ends = np.concatenate(found, axis=1)
    low, high = ends[:, np.argsort(ends[0])]
    return low, high


@np.errstate(all="ignore")
def _rough(function: Function, sampled: tuple[Array, Array], low: Array, high: Array) -> NDArray[np.bool_]:
    """Of which panels a polynomial is off, at samples in them or at places of their own."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)

    def on(t: Array) -> Array:
        return np.asarray(function(middle[:, None] + half[:, None] * t))

    values = on(_NODES)
    slope = np.ptp(values, axis=1) / half
    rounding = _ROUNDED * np.maximum(np.abs(low), np.abs(high)) * slope  # of places, in values

    def off(told: Array, exact: Array, allowed: Array) -> NDArray[np.bool_]:
        return np.asarray(~(np.abs(told - exact) <= _RIGHT * (1.0 + np.abs(exact)) + allowed))

    series = _SERIES @ values.T
    samples, exact = sampled
    owner = np.searchsorted(high, samples)
    told = chebval((samples - middle[owner]) / half[owner], series[:, owner], tensor=False)
    own = on(_BETWEEN)
    between = off(chebval(_BETWEEN, series), own, rounding[:, None]) & np.isfinite(own)  # what overflows has no weight
    inside = np.bincount(owner, off(told, exact, rounding[owner]), len(low)) > 0
    return np.asarray(inside | between.any(axis=1))
