"""Columns of a table: an array of numbers, nan for what is not known, or a tuple of texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = NDArray[np.float64] | tuple[str, ...]


def same_column(one: Column, other: Column) -> bool:
    """Whether the entries are the same; nan is equal to nan."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return isinstance(one, tuple) and isinstance(other, tuple) and one == other


def equal_columns(one: Mapping[str, Column], other: Mapping[str, Column]) -> bool:
    """Whether columns have the same names, in any order, and the same entries; nan is equal to nan."""
    return one.keys() == other.keys() and all(same_column(column, other[name]) for name, column in one.items())


def ravelled(array: NDArray[Any]) -> Column:
    """An array of numbers or texts, of any shape, as a column; without -0.0, which counts as another point than 0.0."""
    flat = array.ravel()
    return flat + 0.0 if flat.dtype.kind == "f" else tuple(flat.tolist())


def column_of(entries: Sequence[Any] | NDArray[np.float64]) -> Column:
    """The column of what `listed` gave. Raises TypeError or ValueError for other entries."""
    if isinstance(entries, np.ndarray):
        return entries
    if entries and all(isinstance(entry, str) for entry in entries):
        return tuple(entries)
    return np.array([math.nan if entry is None else float(entry) for entry in entries], dtype=np.float64)


def listed(column: Column) -> list[Any]:
    """The entries of a column as plain numbers or texts, None for what is not known."""
    if not isinstance(column, np.ndarray):
        return list(column)
    return [entry if math.isfinite(entry) else None for entry in column.tolist()]
