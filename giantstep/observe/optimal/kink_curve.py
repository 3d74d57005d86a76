"""A curve of two kappa where a kink or jump of a link is, in widths of what is not known, and where lines meet it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.observe.optimal.strips import REACH, STRIP
from giantstep.spec.expressions import Prepared, jet

Array = np.ndarray
_GRID = np.linspace(-REACH - 0.4, REACH + 0.4, 113)  # where it is looked for
_NEAR = 0.02  # of a width of t: a root is known to that
_PARABOLAS, _NEWTON = 4, 3  # that close in on the least distance, and on two roots beside that
_STEP = 1e-4  # of slopes
_STEEP = 10.0  # ratio of slopes
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class KinkCurve:
    """Where an expression of two names vanishes, with z = root kappa + lower t."""

    node: Prepared
    names: tuple[str, ...]
    root: Array
    lower: Array

    def values(self, kappa: Array, beside: Array | None = None) -> Array:
        """The expression [...] at kappa [2, ...], and z [2] beside."""
        root, shift = self.root, (0.0, 0.0) if beside is None else beside
        z = [root[i, 0] * kappa[0] + root[i, 1] * kappa[1] + shift[i] for i in range(2)]
        found: Array = jet(self.node, self.names[0], dict(zip(self.names, z, strict=True)), 0)[0]
        return found

    def spread(self, kappa: Array) -> tuple[Array, Array]:
        """Its deviation at kappa [2, ...] by values a deviation of t away, and the part that bends are of it."""
        here = self.values(kappa)
        first, second = self.lower.T
        near = [[self.values(kappa, i * first + j * second) for j in (-1, 0, 1)] for i in (-1, 0, 1)]
        slopes = 0.25 * ((near[2][1] - near[0][1]) ** 2 + (near[1][2] - near[1][0]) ** 2)
        bends = 0.5 * ((near[2][1] + near[0][1] - 2.0 * here) ** 2 + (near[1][2] + near[1][0] - 2.0 * here) ** 2)
        bends += (0.25 * (near[2][2] - near[2][0] - near[0][2] + near[0][0])) ** 2
        spread = np.sqrt(np.maximum(slopes + bends, _TINY))
        return spread, np.sqrt(bends) / spread

    def away(self, kappa: Array) -> tuple[Array, Array]:
        """How far kappa [2, ...] is from the curve, in widths of what is not known; how bent it is in one of these."""
        spread, bent = self.spread(kappa)
        return self.values(kappa) / spread, bent

    def met(self, first: int, a: Array) -> tuple[Array, Array, Array]:
        """Where lines at places a [A] of one kappa meet the curve, or come near: lines, places of the other kappa, and
        how long a panel is beside them.
        """

        def at(line: Array, b: Array) -> Array:
            return self.values(_pair(first, a[line], b))

        shape = len(a), len(_GRID)
        values = at(np.repeat(np.arange(len(a)), len(_GRID)), np.tile(_GRID, len(a))).reshape(shape)
        positive = values > 0.0
        crossing, cell = np.nonzero(positive[:, 1:] != positive[:, :-1])
        halvings = math.ceil(math.log2(max((_GRID[1] - _GRID[0]) / (_NEAR * self._width(1 - first)), 2.0)))
        crossed = _between(lambda b: at(crossing, b), _GRID[cell], _GRID[cell + 1], halvings)
        touching, near = _least(values, positive)
        beside = _beside(lambda b: at(touching, b), near)
        line = np.concatenate([crossing, touching, touching])
        return self._felt(first, a, line, np.concatenate([crossed, *beside]))

    def slant(self, first: int, a: Array) -> float:
        """How little lines at places a [A] of one kappa cross the curve steeply, and how often."""
        line, place, _ = self.met(first, a)
        kappa = _pair(first, a[line], place)
        slopes = [0.5 * (self.values(kappa, step) - self.values(kappa, -step)) for step in _STEP * self.root.T]
        along, across = np.abs(slopes[first]), np.abs(slopes[1 - first])
        return float(np.sum(np.minimum(along / np.maximum(across, _TINY), _STEEP) ** 2 + 1.0))

    def _felt(self, first: int, a: Array, line: Array, place: Array) -> tuple[Array, Array, Array]:
        """Those of places that are in the strip about the curve, and how long panels are beside them."""
        kappa = _pair(first, a[line], place)
        spread, bent = self.spread(kappa)
        felt = np.abs(self.values(kappa)) < STRIP * spread
        line, place, spread, bent = line[felt], place[felt], spread[felt], bent[felt]
        slope, bend = _slopes(lambda b: self.values(_pair(first, a[line], b)), place)
        slope, bend = np.abs(slope) / spread, np.abs(bend) / spread
        length = 2.0 * STRIP / np.maximum(slope + np.sqrt(slope**2 + 2.0 * STRIP * bend), _TINY)
        # where curves cross what labels tell varies on the width of t
        return line, place, np.minimum(length, STRIP * self._width(1 - first) / np.maximum(bent, _TINY))

    def _width(self, axis: int) -> float:
        """Of t, in one kappa."""
        return float(np.linalg.norm(self.lower)) / max(float(np.linalg.norm(self.root[:, axis])), 1e-3)


def _pair(first: int, a: Array, b: Array) -> Array:
    """kappa [2, N] at places of the first one and of the other one."""
    return np.stack([b, a] if first else [a, b])


def _between(function: Callable[[Array], Array], low: Array, high: Array, halvings: int) -> Array:
    """Where functions [N] change their signs between places."""
    if not len(low):
        return low
    above = function(low) > 0.0
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        same = (function(middle) > 0.0) == above
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(0.5 * (low + high))


def _least(values: Array, positive: Array) -> tuple[Array, Array]:
    """Lines and places of the grid where values [A, G] come nearest to zero without a change of sign."""
    sizes = np.abs(values)
    found = (sizes[:, 1:-1] < sizes[:, :-2]) & (sizes[:, 1:-1] <= sizes[:, 2:])
    found &= (positive[:, :-2] == positive[:, 1:-1]) & (positive[:, 2:] == positive[:, 1:-1])
    line, cell = np.nonzero(found)
    return line, _GRID[cell + 1]


def _beside(function: Callable[[Array], Array], start: Array) -> tuple[Array, Array]:
    """The two roots of functions [N] that turn near places, or twice the place where they do if there is no root."""
    if not len(start):
        return start, start
    found, step = start, float(_GRID[1] - _GRID[0])
    for _ in range(_PARABOLAS):
        low, here, high = (function(found + side * step) for side in (-1.0, 0.0, 1.0))
        bend = high + low - 2.0 * here
        moved = 0.5 * (low - high) / np.where(bend == 0.0, np.inf, bend)
        found, step = found + step * np.clip(moved, -1.0, 1.0), 0.1 * step
    bend = _slopes(function, found)[1]
    apart = np.sqrt(np.maximum(-2.0 * function(found) / np.where(bend == 0.0, np.inf, bend), 0.0))
    ends = [found - apart, found + apart]
    for _ in range(_NEWTON):
        ends = [np.where(apart > 0.0, _improved(function, end, apart), end) for end in ends]
    return ends[0], ends[1]


def _improved(function: Callable[[Array], Array], place: Array, most: Array) -> Array:
    """After a step of Newton's method, no longer than half of the most."""
    slope = _slopes(function, place)[0]
    step = -function(place) / np.where(slope == 0.0, np.inf, slope)
    found: Array = place + np.clip(step, -0.5 * most, 0.5 * most)
    return found


def _slopes(function: Callable[[Array], Array], place: Array) -> tuple[Array, Array]:
    """First and second derivatives of functions [N]."""
    low, here, high = (function(place + side * _STEP) for side in (-1.0, 0.0, 1.0))
    return (high - low) / (2.0 * _STEP), (high + low - 2.0 * here) / _STEP**2
