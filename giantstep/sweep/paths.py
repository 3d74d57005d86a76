"""Points of a curve that are solved one after the other, each from where those before it lead.

The grid alone cuts a curve into paths. A point has the same leaders whoever solves it and when, so that its last digits
depend neither on the number of workers nor on an interruption.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from generated.runtime.leading import fill_guesses
from giantstep.sweep.grid import Changes
from giantstep.system.result import Result

LENGTH = 50  # points of a path, of which the first ones lead to the others
_LEADING = 8  # points before that lead to one; more of them bring rounding
_TRUSTED = 0.03  # relative change by the first of these, beyond which they are too far apart
_NEXT = 0.1  # the same of the place beside a single one, and of numbers that two lead to, which are off by its square
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
        self._numbers: list[np.ndarray] = []
        self._last: Result | None = None
        self._kind: _Kind = []

    def add(self, place: float, result: Result) -> None:
        """The solution at a further place; one with other order parameters is the first of its kind."""
        numbers = np.concatenate([values.ravel() for values in result.order_parameters.values()])
        if (kind := _kind(result)) != self._kind:
            self._places, self._numbers, self._kind = [], [], kind
        self._places, self._numbers = [*self._places, place][-_LEADING:], [*self._numbers, numbers][-_LEADING:]
        self._last = result

    def start(self, place: float) -> Result | None:
        """The polynomials through the last solutions, at a further place; None where these are far apart.

        They are polynomials of the logarithm of a place, where places have one sign: solutions vary as powers of it.
        """
        if self._last is None:
            return None
        if len(self._places) == 1:
            (before,) = self._places
            return self._last if abs(place - before) <= _NEXT * abs(before) else None
        numbers, (*places, here) = np.array(self._numbers), _coordinates([*self._places, place])
        guesses = np.empty((2, numbers.shape[1]))
        if not fill_guesses(np.array(places), here, numbers, guesses) <= (_TRUSTED if len(places) > 2 else _NEXT):
            return None
        guess, order, begin = guesses[0], {}, 0
        for name, values in self._last.order_parameters.items():
            order[name] = guess[begin : begin + values.size].reshape(values.shape)
            begin += values.size
        return replace(self._last, order_parameters=order)


def _kind(result: Result) -> _Kind:
    return [(name, values.shape) for name, values in result.order_parameters.items()]


def _coordinates(places: list[float]) -> list[float]:
    """Logarithms of places, where these have one sign."""
    if min(places) > 0.0 or max(places) < 0.0:
        return [math.log(abs(place)) for place in places]
    return places
