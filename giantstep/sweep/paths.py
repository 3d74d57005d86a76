"""Points of a curve that are solved one after the other, each from where those before it lead.

The grid alone cuts a curve into paths. A point has the same leaders whoever solves it and when, so that its last digits
depend neither on the number of workers nor on an interruption.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from generated.runtime.leading import fill_guesses
from giantstep.sweep.grid import Changes
from giantstep.system.result import Result

LENGTH = 50  # points of a path, of which the first ones lead to the others
_LEADING, _ROWS = 8, 10  # points before that lead to one, and their numbers and rates; more of them bring rounding
_TRUSTED = 0.03  # relative change by the first of these, beyond which they are too far apart
_NEXT = 0.1  # the same of numbers that two lead to, which are off by its square; the distance that a single one leads
_STEP, _SMALL = 1e-7, 1e-6  # relative errors of what is led to that cost no step; numbers below this count as this
_Row = TypeVar("_Row")
_Kind = list[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Path:
    """The key that varies along a path, and its values at the points before; none at the first one."""

    key: str = ""
    before: tuple[float, ...] = ()

    def onward(self, last: Changes, changes: Changes) -> Path:
        """The path at the next point of a grid: a new one where more than a number changes, or this is long enough."""
        moved = [(key, value) for (key, value), other in zip(last, changes, strict=False) if (key, value) != other]
        if len(moved) == 1 and len(self.before) + 1 < LENGTH:
            ((key, value),) = moved
            if isinstance(value, float) and self.key in ("", key):
                return Path(key, (*self.before, value))
        return Path()

    def points(self, changes: Changes) -> Iterator[tuple[float, Changes]]:
        """The points from the first one to that of ``changes``, each with its place on the path."""
        here = dict(changes).get(self.key, 0.0)
        assert isinstance(here, float)
        for place in self.before:
            yield place, tuple((key, place if key == self.key else own) for key, own in changes)
        yield here, changes


def with_paths(rows: Iterable[tuple[_Row, Changes]]) -> Iterator[tuple[_Row, Changes, Path]]:
    """Rows of a grid in the order in which they are solved, each with its path."""
    path = Path()
    last: Changes = ()
    for row, changes in rows:
        path, last = path.onward(last, changes), changes
        yield row, changes, path


class Leaders:
    """Solutions along a path, and where they lead."""

    def __init__(self) -> None:
        self._places: list[float] = []
        self._rows: list[np.ndarray] = []  # of every place its numbers [1, n], or these and their rates [2, n]
        self._last: Result | None = None
        self._kind: _Kind = []
        self._guess: np.ndarray | None = None  # the numbers that they led to last

    def missed(self, result: Result) -> bool:
        """Whether the solution at the place that they led to last is not so near that one step would go there."""
        if self._guess is None or _kind(result) != self._kind:
            return True
        numbers = _joined(result.order_parameters, result)
        return not np.all(np.abs(self._guess - numbers) <= _STEP * np.maximum(np.abs(numbers), _SMALL))

    def add(self, place: float, result: Result, rates: Mapping[str, np.ndarray] | None = None) -> None:
        """The solution at a further place; one with other order parameters is the first of its kind.

        rates: derivatives of its order parameters in the logarithm of the place, where they are known.
        """
        rows = np.array([_joined(each, result) for each in (result.order_parameters, rates) if each is not None])
        if (kind := _kind(result)) != self._kind:
            self._places, self._rows, self._kind = [], [], kind
        self._places, self._rows = [*self._places, place], [*self._rows, rows]
        while len(self._rows) > _LEADING or sum(map(len, self._rows)) > _ROWS:
            del self._places[0], self._rows[0]
        self._last = result

    def start(self, place: float) -> Result | None:
        """The polynomials through the last solutions, at a further place; None where these are far apart.

        They are polynomials of the logarithm of a place, where places have one sign: solutions vary as powers of it.
        """
        self._guess = None
        if self._last is None:
            return None
        *places, here = _coordinates([*self._places, place])
        numbers = np.concatenate(self._rows)
        guesses = np.empty((2, numbers.shape[1]))
        apart = fill_guesses(np.repeat(places, [len(rows) for rows in self._rows]), here, numbers, guesses)
        if len(places) == 1:
            near = abs(place - self._places[0]) <= _NEXT * abs(self._places[0])
        else:
            near = apart <= (_TRUSTED if len(numbers) > 2 else _NEXT)
        if not near:
            return None
        self._guess = guess = guesses[0]
        order, begin = {}, 0
        for name, values in self._last.order_parameters.items():
            order[name] = guess[begin : begin + values.size].reshape(values.shape)
            begin += values.size
        return replace(self._last, order_parameters=order)


def _joined(order: Mapping[str, np.ndarray], result: Result) -> np.ndarray:
    """The numbers of order parameters in the order of those of a result."""
    return np.concatenate([order[name].ravel() for name in result.order_parameters])


def _kind(result: Result) -> _Kind:
    return [(name, values.shape) for name, values in result.order_parameters.items()]


def _coordinates(places: list[float]) -> list[float]:
    """Logarithms of places, where these have one sign."""
    if min(places) > 0.0 or max(places) < 0.0:
        return [math.log(abs(place)) for place in places]
    return places
