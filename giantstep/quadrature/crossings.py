"""Places along lines where functions pass zero, or come near to it and turn back: about them what depends on these
turns, within less than a rule may resolve that does not look there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated.runtime.label_search import NEAREST, PASSES, mark_turns
from giantstep.quadrature.gauss import legendre, lobatto

Array = np.ndarray
Index = NDArray[np.intp]
Distances = Callable[[Array, Index], Array]  # from every kink [K, I, n] at t [I, n] of lines [I]
REACH = 9.0  # of t: the Gaussian weight beyond is 1e-18
_PARTS, _ROUNDS = 16, 12  # of an interval in which a crossing is, and how often one is taken for the whole
_WITHIN = 0.5  # of the width: what a distance may change by on an interval where it is straight
CLOSE = 0.25  # of t, between blunt crossings
FAR = 40.0  # spreads from a kink at which an average does not feel it
NARROW, _NARROWED, _STEP = 0.1, 6, 1e-3  # of t: what panels may miss; of a search for the least distance; of its bend


@dataclass(frozen=True)
class Panels:
    """Panels [low, high] of t, each of its owner: a node of kappa, or a line beside it."""

    owner: Index
    low: Array
    high: Array

    def chosen(self, keep: NDArray[np.bool_] | Index) -> Panels:
        """Some of them."""
        return Panels(self.owner[keep], self.low[keep], self.high[keep])

    def halves(self) -> tuple[Panels, Panels]:
        """The lower ones and the upper ones."""
        middle = 0.5 * (self.low + self.high)
        return Panels(self.owner, self.low, middle), Panels(self.owner, middle, self.high)

    def in_order(self) -> Panels:
        """Sorted by their owners."""
        return self.chosen(np.argsort(self.owner, kind="stable"))

    def joined(self, *others: Panels) -> Panels:
        """Together with others."""
        each = (self, *others)
        return Panels(*(np.concatenate([getattr(part, name) for part in each]) for name in ("owner", "low", "high")))

    def nodes(self, order: int, ends: bool = False) -> tuple[Array, Array]:
        """Gauss nodes and weights [panel, order] of a standard normal variable; whether the ends are among them."""
        points, weights = lobatto(order) if ends else legendre(order)
        half, middle = 0.5 * (self.high - self.low)[:, None], 0.5 * (self.high + self.low)[:, None]
        t = middle + half * points
        return t, half * weights * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)


def panels_between(cuts: list[Array], longest: float | Array, reach: float = REACH) -> Panels:
    """Panels between places [C, I] on lines that end at a reach, nan for none, in parts where they are long: all alike,
    or [I].
    """
    places = np.concatenate([np.full((1, cuts[0].shape[1]), reach), *cuts]).T
    places = np.concatenate([-places[:, :1], np.nan_to_num(places, nan=reach)], axis=1)
    edges = np.sort(np.clip(places, -reach, reach), axis=1)
    owner, place = np.nonzero(np.diff(edges, axis=1) > 0.0)
    low, high = edges[owner, place], edges[owner, place + 1]
    parts = np.ceil((high - low) / np.broadcast_to(longest, len(edges))[owner]).astype(int)
    whole = np.repeat(np.arange(len(owner)), parts)
    number = np.arange(len(whole)) - np.repeat(np.cumsum(parts) - parts, parts)
    length = ((high - low) / parts)[whole]
    start = low[whole] + number * length
    return Panels(owner[whole], start, start + length)


class Search(NamedTuple):
    """Points of a line at which a crossing is looked for, and edges of panels about it, in spreads of the output."""

    grid: int
    around: tuple[float, ...]
    sharp: float = math.inf  # the longest part of a line on which an average turns that has edges to either side of it
    reach: float = REACH  # where lines end

    def as_far_as(self, reach: float) -> Search:
        """The same on longer lines."""
        return self._replace(grid=round(self.grid * reach / self.reach), reach=reach)


def crossings_of(distances: Distances, width: Array, search: Search) -> Array:
    """Places t [I, C] on lines around which an average over the output turns: what no rule finds that does not look
    there; width [I]: the distance from a kink on which it does.

    Where the centre of the output passes the image of a kink, or comes close to it and turns back, and some spreads of
    the output to either side; for a smooth loss, where it passes zero. Rows are filled up with nan.
    """
    grid = np.linspace(-search.reach, search.reach, search.grid)
    values = distances(np.tile(grid, (len(width), 1)), np.arange(len(width)))
    marks = np.zeros(values.shape, dtype=np.uint8)
    mark_turns(values, FAR * width, marks)
    kink, owner, place = _marked(marks, PASSES)
    once = _Parts(kink, owner, grid[place], grid[place + 1])
    ends = values[kink, owner, place], values[kink, owner, place + 1]
    turned, twice, beside = _turning_back(distances, (values, marks), width, search)
    ends = np.concatenate([ends[0], beside[0]]), np.concatenate([ends[1], beside[1]])
    passed = _passed(distances, once.joined(twice), ends, width)
    found = (_apart(*each, search) for each in (passed, turned))
    return np.concatenate([_in_rows(*each, len(width), search) for each in found], axis=1)


class _Parts(NamedTuple):
    """Parts [I] of lines, and which kink is looked for there."""

    kink: Index
    owner: Index
    low: Array
    high: Array

    def chosen(self, keep: NDArray[np.bool_] | Index) -> _Parts:
        """Some of them."""
        return _Parts(*(each[keep] for each in self))

    def joined(self, other: _Parts) -> _Parts:
        """Together with others."""
        return _Parts(*(np.concatenate(each) for each in zip(self, other, strict=True)))

    def values(self, distances: Distances, t: Array) -> Array:
        """How far each is from its kink at places t [I, n]."""
        if not t.size:
            return t
        return np.asarray(distances(t, self.owner)[self.kink, np.arange(len(self.owner))])


def _passed(distances: Distances, parts: _Parts, ends: tuple[Array, Array], width: Array) -> tuple[Index, Array, Array]:
    """The lines where distances pass zero first within parts, at whose ends they are known, with the places, and on
    which length of t they change by a width there.
    """
    (first, last), shares, found = ends, np.linspace(0.0, 1.0, _PARTS + 1), []
    for number in range(_ROUNDS + 1):
        rise, length = np.abs(last - first), parts.high - parts.low
        near = rise <= _WITHIN * width[parts.owner] if number < _ROUNDS else np.ones(len(rise), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            place = parts.low + length * np.nan_to_num(np.abs(first) / rise)
            reach = np.minimum(width[parts.owner] * length / rise, REACH)
        found.append((parts.owner[near], place[near], reach[near]))
        if near.all():
            break
        parts, first, last = parts.chosen(~near), first[~near], last[~near]
        row = np.arange(len(parts.owner))
        places = parts.low[:, None] + (parts.high - parts.low)[:, None] * shares
        values = np.empty(places.shape)
        values[:, 0], values[:, -1], values[:, 1:-1] = first, last, parts.values(distances, places[:, 1:-1])
        after = np.argmax((values > 0.0) == (last > 0.0)[:, None], axis=1)
        parts = parts._replace(low=places[row, after - 1], high=places[row, after])
        first, last = values[row, after - 1], values[row, after]
    owner, place, reach = (np.concatenate(each) for each in zip(*found, strict=True))
    return owner, place, reach


def _marked(marks: NDArray[np.uint8], mark: int) -> tuple[Index, ...]:
    """Where a mark is set: along one axis that takes a third of the time."""
    return np.unravel_index(np.flatnonzero((marks & mark).ravel()), marks.shape)


def _apart(owner: Index, place: Array, reach: Array, search: Search) -> tuple[Index, Array, Array]:
    """Of blunt crossings that are close to each other one, without edges aside."""
    sharp = reach <= search.sharp
    cell = owner[~sharp] * int(2.0 * search.reach / CLOSE + 2.0) + np.floor(place[~sharp] / CLOSE).astype(int)
    blunt = np.flatnonzero(~sharp)[np.unique(cell, return_index=True)[1]]
    kept = np.concatenate([np.flatnonzero(sharp), blunt])
    return owner[kept], place[kept], np.where(sharp, reach, 0.0)[kept]


def _in_rows(owner: Index, place: Array, reach: Array, count: int, search: Search) -> Array:
    """Edges about places, a row for each of so many lines."""
    order = np.argsort(owner, kind="stable")
    owner, place, reach = owner[order], place[order], reach[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    places = np.full((count, int(rank.max(initial=-1)) + 1, len(search.around)), np.nan)
    places[owner, rank] = place[:, None] + reach[:, None] * np.array(search.around)
    return places.reshape(count, -1)


def _turning_back(
    distances: Distances, on_grid: tuple[Array, NDArray[np.uint8]], width: Array, search: Search
) -> tuple[tuple[Index, Array, Array], _Parts, tuple[Array, Array]]:
    """The same where the distance, known and marked on the grid, is the least without passing zero there, and is felt
    on a part of t that panels may miss; and, where it does pass zero between two points, twice, the parts in which it
    does so once with its values at their ends.
    """
    values, marks = on_grid
    grid = np.linspace(-search.reach, search.reach, search.grid)
    kink, owner, place = _marked(marks, NEAREST)
    place = place - 1
    whole = parts = _Parts(kink, owner, grid[place], grid[place + 2])
    side = np.where(values[kink, owner, place] > 0.0, 1.0, -1.0)

    def at(t: Array) -> Array:
        return np.asarray(side[:, None] * parts.values(distances, t))

    row, shares = np.arange(len(owner)), np.linspace(0.0, 1.0, _PARTS + 1)
    for _ in range(_NARROWED if len(owner) else 0):
        places = parts.low[:, None] + (parts.high - parts.low)[:, None] * shares
        nearest = 1 + np.argmin(at(places[:, 1:-1]), axis=1)
        parts = parts._replace(low=places[row, nearest - 1], high=places[row, nearest + 1])
    middle = 0.5 * (parts.low + parts.high)
    beside = at(middle[:, None] + _STEP * np.array([-1.0, 0.0, 1.0]))
    bend = (beside[:, 0] + beside[:, 2] - 2.0 * beside[:, 1]) / _STEP**2
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.sqrt(2.0 * width[owner] / np.maximum(bend, 0.0))
    felt = (np.abs(beside[:, 1]) <= FAR * width[owner]) & (reach < NARROW)
    twice, lowest = beside[:, 1] < 0.0, side * beside[:, 1]
    halves = whole._replace(high=middle).chosen(twice), whole._replace(low=middle).chosen(twice)
    first, last = (values[kink, owner, place + step][twice] for step in (0, 2))
    ends = np.concatenate([first, lowest[twice]]), np.concatenate([lowest[twice], last])
    return (owner[felt], middle[felt], reach[felt]), halves[0].joined(halves[1]), ends
