"""Where functions along lines pass levels: also pairs of crossings that are close together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

Array = np.ndarray
At = Callable[[Array, Array], Array]  # of rows [I] and places [I]
_STEPS, _SHRINKINGS = 120, 45  # of the search for a crossing, at most; of that for the least value
_GOLDEN = 0.6180339887498949
_EPS, _LEAST = 2.2e-16, 1e-18  # of a place: what two ends may differ by where it is found


@dataclass(frozen=True)
class _Brackets:
    """Intervals in each of which a row passes a level once."""

    row: Array
    level: Array
    low: Array
    high: Array

    def some(self, which: Array) -> _Brackets:
        return _Brackets(*(getattr(self, each.name)[which] for each in fields(self)))


def crossings(values: Array, at: At, line: Array, levels: Array) -> tuple[Array, Array]:
    """(rows, places) where rows pass any of their levels [rows, L], in no order.

    values [rows, points]: those of ``at`` at the places ``line`` of every row, also [rows, points].
    """
    found = [*_changes(values, line, levels), *_pairs(values, at, line, levels)]
    all_of = _Brackets(*(np.concatenate([getattr(part, each.name) for part in found]) for each in fields(_Brackets)))
    return all_of.row, _places(at, all_of)


def _changes(values: Array, line: Array, levels: Array) -> list[_Brackets]:
    """Between neighbours on two sides of a level."""
    found, gaps = [], line.shape[1] - 1
    for level in levels.T:
        above = values > level[:, None]
        row, i = np.divmod(np.flatnonzero(above[:, 1:] != above[:, :-1]), gaps)
        found.append(_Brackets(row, level[row], line[row, i], line[row, i + 1]))
    return found


def _pairs(values: Array, at: At, line: Array, levels: Array) -> list[_Brackets]:
    """Both sides of a turn that passes a level between neighbours on one side of it."""
    rise, inner = np.diff(values, axis=1), values.shape[1] - 2
    with np.errstate(invalid="ignore"):
        turns = (rise[:, :-1] <= 0.0) != (rise[:, 1:] < 0.0)
    row, i = np.divmod(np.flatnonzero(turns), inner)
    bend = rise[row, i + 1] - rise[row, i]
    beyond = values[row, i + 1][:, None] - levels[row]
    near = ((beyond > 0.0) == (bend > 0.0)[:, None]) & (np.abs(beyond) <= 0.5 * np.abs(bend)[:, None])
    turn, number = np.nonzero(near)
    row, i, side = row[turn], i[turn], np.sign(bend[turn])
    level = levels[row, number]
    place = _least(at, line[row, i], line[row, i + 2], row, side)
    crossed = side * (at(row, place) - level) < 0.0
    row, i, place, level = row[crossed], i[crossed], place[crossed], level[crossed]
    return [_Brackets(row, level, line[row, i], place), _Brackets(row, level, place, line[row, i + 2])]


def _least(at: At, low: Array, high: Array, row: Array, side: Array) -> Array:
    """Where side times the function is least, by golden sections."""
    for _ in range(_SHRINKINGS if len(row) else 0):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        smaller = side * at(row, left) < side * at(row, right)
        low, high = np.where(smaller, low, left), np.where(smaller, right, high)
    return np.asarray(0.5 * (low + high))


def _places(at: At, found: _Brackets) -> Array:
    """Where a level is passed in each bracket, by inverse quadratic interpolation, halved where the function bends too
    much or jumps. Source: Chandrupatla, Advances in Engineering Software 28 (1997) 145.
    """
    places, active = np.empty(len(found.row)), np.arange(len(found.row))
    here, there = found.high, found.low
    f, f_there = (at(found.row, end) - found.level for end in (here, there))
    share = np.full(len(active), 0.5)
    for _ in range(_STEPS):
        if not len(active):
            break
        place = here + share * (there - here)
        value = at(found.row, place) - found.level
        same = (value > 0.0) == (f > 0.0)
        last, f_last = np.where(same, here, there), np.where(same, f, f_there)
        there, f_there = np.where(same, there, here), np.where(same, f_there, f)
        here, f = place, value
        nearest = np.where(np.abs(f) < np.abs(f_there), here, there)
        places[active] = nearest
        least = (_EPS * np.abs(nearest) + _LEAST) / np.maximum(np.abs(there - here), 1e-300)
        share = np.clip(_share((here, f), (there, f_there), (last, f_last)), least, 1.0 - least)
        on = (least <= 0.5) & (f != 0.0)
        active, found = active[on], found.some(on)
        here, there, f, f_there, share = (each[on] for each in (here, there, f, f_there, share))
    return places


def _share(one: tuple[Array, Array], two: tuple[Array, Array], three: tuple[Array, Array]) -> Array:
    """Of the way from the first place to the second, where the next one is looked for."""
    (x, f), (x2, f2), (x3, f3) = one, two, three
    with np.errstate(all="ignore"):
        way, rise = (x - x2) / (x3 - x2), (f - f2) / (f3 - f2)
        smooth = (rise**2 < way) & ((1.0 - rise) ** 2 < 1.0 - way)
        quadratic = f / (f2 - f) * f3 / (f2 - f3) + (x3 - x) / (x2 - x) * f / (f3 - f) * f2 / (f3 - f2)
    return np.where(smooth & np.isfinite(quadratic), quadratic, 0.5)
