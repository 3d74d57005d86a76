"""Averages over what is known, kappa, of two indices, of functions that vary beside straight lines and nowhere else.

What labels tell varies in strips along the kinks and jumps of their link, as wide as what is not known. One direction
of kappa is averaged on panels that follow the lines it crosses, then the other one on panels about the places where
lines meet, and about lines that it crosses alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from giantstep.quadrature.gauss import normal_between

Array = np.ndarray
REACH = 5.2  # of kappa: beyond lies a part of 2e-7
STRIP = 5.8  # a panel on each side of a line, in its widths
_STILL = 0.3  # widths that a line moves over the reach of a direction that does not cross it
_BLUNT = 0.1  # widths of a line in one of kappa, below which it is nowhere
_SLANTED, _SHORTEST = 2.6, 0.1  # panels of the other direction over the slope of the lines, and at least
_JOINED = 1.25  # length of two panels that are one, over that which is needed
_GROWTH = 3.0  # of panels beyond strips
_RARE = 1e-9  # weight of a node that does not count, over the largest

Break = tuple[float, float]  # a place, and the length of a panel beside it


@dataclass(frozen=True, eq=False)
class Strips:
    """Nodes of two kappa, with z = root kappa + lower t, about lines ``normal.z = offset``, rows [L, 3].

    order: nodes of a panel. longest: panel. even: of which kappa one sign is enough. mixed: whether t1 t2 has a mean.
    wide: whether functions vary beyond the strips too, over distances like that from the line.
    """

    lines: Array
    root: Array
    lower: Array
    order: int
    longest: float
    even: tuple[bool, bool]
    mixed: bool
    wide: bool = False

    def average(self, values: Callable[[Array, Array, Array], Array]) -> Array:
        """E over kappa of values(kappa, low, high) [N, 1, 1, 4] at kappa [2, N, 1, 1]: of t1^2, t1 t2, t2^2 and one
        more.
        """
        kappa, weight = self.nodes()
        kappa = kappa[:, :, None, None]
        found: Array = weight @ values(kappa, kappa, kappa)[:, 0, 0]
        return found if self.mixed else found * np.array([1.0, 0.0, 1.0, 1.0])

    def nodes(self) -> tuple[Array, Array]:
        """kappa [2, N] and weights [N]."""
        wide = np.linalg.norm(self.lines[:, :2] @ self.lower, axis=1)
        frame = self._frame(self.lines[:, :2] @ self.root / wide[:, None])
        slopes, places = self.lines[:, :2] @ self.root @ frame / wide[:, None], self.lines[:, 2] / wide
        felt = np.linalg.norm(self.root @ frame, axis=0) > 1e-9
        crossed = np.abs(slopes[:, 1]) * REACH > _STILL
        half = self._is_half(frame)
        first, share = np.zeros(1), np.ones(1)
        if felt[0]:
            slants = np.abs(slopes[crossed, 1]) / np.maximum(np.abs(slopes[crossed, 0]), 1e-300)
            longest = max(float(np.min(_SLANTED * slants, initial=self.longest)), _SHORTEST)
            ends = ends_about(self._widened(list(_breaks(slopes, places, crossed))), longest, 0.0 if half else -REACH)
            first, share = (x.ravel() for x in normal_between(ends[:-1], ends[1:], self.order))
            share = share * (2.0 if half else 1.0)
        owner, second, part = np.arange(len(first)), np.zeros((len(first), 1)), np.ones((len(first), 1))
        if felt[1]:
            lines = list(zip(slopes[crossed].tolist(), places[crossed].tolist(), strict=True))
            met = [self._widened([_met(line, at) for line in lines]) for at in first.tolist()]
            each = [ends_about(breaks, self.longest, -REACH) for breaks in met]
            owner = np.repeat(owner, [len(ends) - 1 for ends in each])
            low, high = (np.concatenate(x) for x in ([ends[:-1] for ends in each], [ends[1:] for ends in each]))
            second, part = normal_between(low, high, self.order)
        weight = (share[owner, None] * part).ravel()
        at = np.stack([np.repeat(first[owner], second.shape[1]), second.ravel()])
        likely = weight > _RARE * weight.max()
        return frame @ at[:, likely], weight[likely]

    def _widened(self, breaks: list[Break]) -> list[Break]:
        """With panels that grow with the distance."""
        if not self.wide:
            return breaks
        count = [max(1, math.ceil(math.log(self.longest / length, _GROWTH))) for _, length in breaks]
        return [
            (place, length * _GROWTH**k) for (place, length), n in zip(breaks, count, strict=True) for k in range(n)
        ]

    def _is_half(self, frame: Array) -> bool:
        """Whether one sign of the first direction is enough: where the sign of both is, or of one that is the first."""
        if self.even[0] and (self.even[1] or self.mixed):
            return True
        return any(even and abs(frame[a, 0]) > 1.0 - 1e-12 for a, even in enumerate(self.even))

    def _frame(self, slopes: Array) -> Array:
        """Columns [2, 2]: the first direction, and the second one, which lines cross steeply or not at all."""
        angles = [0.0, math.atan2(*np.linalg.svd(self.root)[2][0].tolist()), *np.arctan2(*slopes.T).tolist()]
        angles += [x + 0.5 * math.pi for x in angles]
        frames = [np.array([[math.cos(x), math.sin(x)], [-math.sin(x), math.cos(x)]]) for x in angles]
        return min(frames, key=lambda frame: _slant(slopes @ frame))


def _slant(slopes: Array) -> float:
    """How little lines cross a second direction steeply; of those alike the least number of lines."""
    first, second = np.abs(slopes).T
    crossed = second * REACH > _STILL
    return round(float(np.sum((first[crossed] / second[crossed]) ** 2)), 6) + 1e-3 * float(np.sum(crossed))


def _met(line: tuple[list[float], float], first: float) -> Break:
    """Where a line is met along the second direction."""
    (a, b), place = line
    return (place - a * first) / b, STRIP / abs(b)


def _breaks(slopes: Array, places: Array, crossed: Array) -> Iterator[Break]:
    """Where averages over the second direction vary along the first one."""
    for (a, _), place in zip(slopes[~crossed].tolist(), places[~crossed].tolist(), strict=True):
        if abs(a) > _BLUNT:
            yield place / a, STRIP / abs(a)
    along, where = slopes[crossed], places[crossed]
    for i in range(len(along)):
        for j in range(i):
            if abs(np.linalg.det(along[[i, j]])) > 1e-9:
                inverse = np.linalg.inv(along[[i, j]])
                first, second = inverse @ where[[i, j]]
                if abs(second) < REACH + STRIP * np.abs(inverse[1]).sum():
                    yield float(first), STRIP * math.hypot(*inverse[0])


def ends_about(breaks: list[Break], longest: float, least: float) -> Array:
    """Ends of panels from a place on, at breaks and beside them, none much longer than what they say."""
    about = [(place, wide) for place, wide in breaks if wide < longest and least - wide < place < REACH + wide]
    inside = {place + side * wide for place, wide in about for side in (-1.0, 0.0, 1.0)}
    ends = [least, *sorted(x for x in inside if least < x < REACH), REACH]

    def most(low: float, high: float) -> float:
        return min([longest, *(wide for place, wide in about if place - wide < high and low < place + wide)])

    kept = [least]
    for k, end in enumerate(ends[1:], 1):
        if end < REACH and ends[k + 1] - kept[-1] <= _JOINED * most(kept[-1], ends[k + 1]):
            continue
        middle = 0.5 * (kept[-1] + end)
        parts = max(1, math.ceil((end - kept[-1]) / (_JOINED * most(middle, middle))))
        kept += np.linspace(kept[-1], end, parts + 1)[1:].tolist()
    return np.array(kept)
