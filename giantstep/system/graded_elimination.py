"""Combinations of columns of coefficients in which the largest parts do not cancel, by elimination in many digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray
Row = tuple[tuple[int, ...], int]  # (a, k): the function kappa^a D_k(kappa)
Column = dict[Row, Any]
_ZERO = mpmath.mpf(10) ** -200


def eliminated(
    columns: list[Column], sizes: Array, moved: Sequence[list[Column]] = ()
) -> tuple[Any, tuple[Column, ...], float]:
    """(matrix, series, doubt): combinations of the columns by elimination with complete pivoting.

    The largest rest comes first. Columns that depend on the others have an empty series. sizes: of D_k; moved: the
    columns where what is rounded in them is off by some roundings, each time by others: a rest that changes as much as
    it is, is rounding. doubt: by how much of itself any other changes.
    """
    series, matrix = [dict(column) for column in columns], mpmath.eye(len(columns))
    shadows = [[dict(column) for column in each] for each in moved]
    rows = sorted({row for column in columns for row in column})
    norms = {row: norm_of_powers(row[0]) * float(sizes[max(0, row[1])]) for row in rows}
    least = {row: _ZERO * max(abs(column.get(row, 0)) for column in columns) for row in rows}
    free, doubt = list(range(len(columns))), 0.0
    while free:
        entries = (
            (abs(series[c][row]) * norms[row], c, row)
            for c in free
            for row in rows
            if _counts(series[c], row, least) and all(_is_known(series[c], each[c], row) for each in shadows)
        )
        largest = max(entries, default=None)
        if largest is None:
            break
        _, place, row = largest
        doubt = max(doubt, *(_change(series[place], each[place], row) for each in shadows), 0.0)
        free.remove(place)
        _take_out(series, place, row, free, matrix)
        for each in shadows:
            _take_out(each, place, row, free)
    return matrix, tuple({} if c in free else column for c, column in enumerate(series)), doubt


def _counts(column: Column, row: Row, least: dict[Row, Any]) -> bool:
    return row in column and abs(column[row]) > least[row]


def _is_known(column: Column, moved: Column, row: Row) -> bool:
    return bool(abs(moved.get(row, 0) - column[row]) < abs(column[row]))


def _change(column: Column, moved: Column, row: Row) -> float:
    return float(abs(moved.get(row, 0) / column[row] - 1))


def _take_out(series: list[Column], place: int, row: Row, free: list[int], matrix: Any = None) -> None:
    """Make an entry of a column one, and zero in the free columns; the same of the matrix of combinations."""
    _combine(series, matrix, place, place, 1 - 1 / series[place][row])
    for other in free:
        if row in series[other]:
            _combine(series, matrix, other, place, series[other][row])
            del series[other][row]


@lru_cache(maxsize=4096)
def norm_of_powers(powers: tuple[int, ...]) -> float:
    """The root of E kappa^(2a)."""
    return math.sqrt(math.prod(float(mpmath.fac2(2 * p - 1)) for p in powers))


def _combine(series: list[Column], matrix: Any, target: int, source: int, factor: Any) -> None:
    """Subtract a multiple of a column from another."""
    taken = dict(series[source])
    for row, value in taken.items():
        series[target][row] = series[target].get(row, 0) - factor * value
    for c in range(matrix.rows if matrix is not None else 0):
        matrix[c, target] -= factor * matrix[c, source]


def rewritten(column: Column, dependent: Mapping[Row, Column]) -> Column:
    """A column without functions that depend on others."""
    found = {row: value for row, value in column.items() if row not in dependent}
    for row in sorted(dependent.keys() & column.keys()):
        for other, share in dependent[row].items():
            found[other] = found.get(other, 0) + column[row] * share
    return found
