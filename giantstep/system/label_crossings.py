"""Places along a line on which the label varies, where an average over the output turns: it passes a kink there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.quadrature.gauss import legendre, lobatto
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
Index = NDArray[np.intp]
Distance = Callable[[Array, Index], Array]  # at t [I, n] of lines [I]
Kink = tuple[int, int]  # its number, and 0 or 1 for the piece before or after it
REACH = 9.0  # of t: the Gaussian weight beyond is 1e-18
NOWHERE = 1e300  # the distance of a kink that there is not
_PARTS, _ROUNDS = 16, 12  # of an interval in which a crossing is, and how often one is taken for the whole
NEAR = 1e-6  # step of a slope
FAR = 40.0  # spreads from a kink at which an average does not feel it
NARROW, _NARROWED, _STEP = 0.1, 6, 1e-3  # of t: what panels may miss; of a search for the least distance; of its bend


@dataclass(frozen=True)
class Panels:
    """Panels [low, high] of t, each of its owner: a node of kappa, or a line beside it."""

    owner: Index
    low: Array
    high: Array

    def chosen(self, keep: NDArray[np.bool_]) -> Panels:
        """Some of them."""
        return Panels(self.owner[keep], self.low[keep], self.high[keep])

    def halves(self) -> tuple[Panels, Panels]:
        """The lower ones and the upper ones."""
        middle = 0.5 * (self.low + self.high)
        return Panels(self.owner, self.low, middle), Panels(self.owner, middle, self.high)

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


class Search(NamedTuple):
    """Points of a line at which a crossing is looked for, and edges of panels about it, in spreads of the output."""

    grid: int
    around: tuple[float, ...]


def crossings_of(distances: list[Distance], width: Array, search: Search) -> Array:
    """Places t [I, C] on lines around which an average over the output turns: what no rule finds that does not look
    there; width [I]: the distance from a kink on which it does.

    Where the centre of the output passes the image of a kink, or comes close to it and turns back, and some spreads of
    the output to either side; for a smooth loss, where it passes zero. Rows are filled up with repeated places.
    """
    grid = np.linspace(-REACH, REACH, search.grid)
    found = [np.zeros((len(width), 1))]
    for distance in distances:
        values = distance(np.broadcast_to(grid, (len(width), search.grid)), np.arange(len(width)))
        found.append(_turning_back(distance, values, width, search))
        owner, place = np.nonzero((values[:, 1:] > 0.0) != (values[:, :-1] > 0.0))
        low = _first_places(distance, owner, (grid[place], grid[place + 1]), values[owner, place + 1] > 0.0)
        ends = (distance(np.clip(x, -REACH, REACH)[:, None], owner)[:, 0] for x in (low - NEAR, low + NEAR))
        with np.errstate(divide="ignore"):
            reach = np.minimum(2.0 * NEAR * width[owner] / np.abs(np.subtract(*ends)), REACH)
        found.append(_in_rows(owner, low, reach, len(width), search))
    return np.concatenate(found, axis=1)


def _first_places(distance: Distance, owner: Index, ends: tuple[Array, Array], rising: NDArray[np.bool_]) -> Array:
    """Where the distance is about to pass zero, between ends [I] of lines; rising: the sign that it has behind."""
    (low, high), row = ends, np.arange(len(owner))
    parts = np.linspace(0.0, 1.0, _PARTS + 1)
    for _ in range(_ROUNDS if len(owner) else 0):
        places = low[:, None] + (high - low)[:, None] * parts
        passed = (distance(places[:, 1:-1], owner) > 0.0) == rising[:, None]
        first = np.where(passed.any(axis=1), np.argmax(passed, axis=1), _PARTS - 1)
        low, high = places[row, first], places[row, first + 1]
    return low


def _in_rows(owner: Index, place: Array, reach: Array, count: int, search: Search) -> Array:
    """Edges about places, a row for each of so many lines."""
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    places = np.zeros((count, int(rank.max(initial=-1)) + 1, len(search.around)))
    places[owner, rank] = place[:, None] + reach[:, None] * np.array(search.around)
    return places.reshape(count, -1)


def _turning_back(distance: Distance, values: Array, width: Array, search: Search) -> Array:
    """Edges about places where the distance, known on the grid, is the least without passing zero, and is felt on a
    part of t that panels may miss.
    """
    grid, size = np.linspace(-REACH, REACH, search.grid), np.abs(values)
    before, inner, after = size[:, :-2], size[:, 1:-1], size[:, 2:]
    least = (inner <= before) & (inner < after) & (np.sign(values[:, :-2]) * values[:, 2:] > 0.0)
    # what turns back between two points of the grid is less than these by no more than they differ
    least &= 2.0 * inner - np.maximum(before, after) <= FAR * width[:, None]
    owner, place = np.nonzero(least)
    if not len(owner):
        return np.zeros((len(width), 0))
    low, high = grid[place], grid[place + 2]

    def at(t: Array) -> Array:
        return np.abs(distance(t[:, None], owner)[:, 0])

    row, parts = np.arange(len(owner)), np.linspace(0.0, 1.0, _PARTS + 1)
    for _ in range(_NARROWED):
        places = low[:, None] + (high - low)[:, None] * parts
        nearest = 1 + np.argmin(np.abs(distance(places[:, 1:-1], owner)), axis=1)
        low, high = places[row, nearest - 1], places[row, nearest + 1]
    middle = 0.5 * (low + high)
    bend = (at(middle - _STEP) + at(middle + _STEP) - 2.0 * at(middle)) / _STEP**2
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.sqrt(2.0 * width[owner] / np.maximum(bend, 0.0))
    felt = (at(middle) <= FAR * width[owner]) & (reach < NARROW)
    return _in_rows(owner[felt], middle[felt], reach[felt], len(width), search)


def kinks_of(system: CoupledSystem) -> list[Kink | None]:
    """The kinks of a loss, from both sides; None for a smooth one, which turns at zero."""
    kinks = range(system.loss.COUNT - 1)
    return [(k, side) for k in kinks for side in (0, 1)] or [None]


def distance_to(system: CoupledSystem, kink: Kink | None, label: Array, centre: Array, response: Array) -> Array:
    """How far u of an output is from the image of a kink under the proximal map; arrays of one shape."""
    loss, constants = system.loss, system.constants
    u = label * centre if loss.FORM == "margin" else centre - label if loss.FORM == "residual" else centre
    if kink is None:
        return np.asarray(u)
    number, side = kink
    if loss.FORM == "general":
        image = np.vectorize(lambda y, v: _image(loss, constants, number, side, y, v), [float])
        return np.asarray(u - image(label, response))
    place = loss.edge(number, 0.0, constants)
    steep = loss.piece(number + side, place, 0.0, constants)[1]
    return np.asarray(u - place - response * steep)


def _image(loss: ModuleType, constants: Array, kink: int, side: int, label: float, response: float) -> float:
    """Where the prox passes one side of a kink of the loss at a label; far out where it has fewer kinks."""
    start, count = loss.cell(label)
    if kink >= count - 1:
        return -NOWHERE
    place = float(loss.edge(start + kink, label, constants))
    return place + response * float(loss.piece(start + kink + side, place, label, constants)[1])
