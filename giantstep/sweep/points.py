"""The points of ``solve_many``: values of some keys of the model, row by row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from giantstep.spec.arguments import checked_table
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.sweep.axes import Axes, broadcast, numbered
from giantstep.sweep.columns import Column, equal_columns, ravelled
from giantstep.sweep.grid import Changes, Value, check_key


@dataclass(frozen=True)
class Points:
    """Rows of values by key, numbers or texts; the rows reshape to ``shape``, last axis fastest; what ``axes`` are."""

    values: Mapping[str, Column]
    shape: tuple[int, ...]
    axes: Axes = Axes(())  # those of `numbered` by default

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))
        if not self.axes.dims:
            object.__setattr__(self, "axes", numbered(len(self.shape)))

    def __reduce__(self) -> tuple[Any, ...]:
        """The mapping that cannot be written is copied as what it holds."""
        return type(self), (dict(self.values), self.shape, self.axes)

    def __eq__(self, other: object) -> bool:
        """Whether the values are the same, in the same shape, along axes of the same names."""
        if not isinstance(other, Points):
            return NotImplemented
        return (self.shape, self.axes) == (other.shape, other.axes) and equal_columns(self.values, other.values)

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def keys(self) -> tuple[str, ...]:
        """What varies."""
        return tuple(self.values)

    def to_dict(self) -> dict[str, Any]:
        """What is needed beside the columns to know the points, in plain lists and numbers."""
        return {"keys": list(self.keys), "shape": list(self.shape), **self.axes.to_dict()}

    def changes(self, row: int) -> Changes:
        """The keys and values of one row."""
        return tuple((key, _plain(column[row])) for key, column in self.values.items())

    def __str__(self) -> str:
        return ", ".join(self.values)


def points_of(values: Mapping[str, Any]) -> Points:
    """Points from arrays, lists or single values by key, broadcast against each other. Raises BadInput."""
    if hasattr(values, "columns") and hasattr(values, "to_dict"):
        raise BadInput("the values are a data frame", "give its columns by name, as dict(frame)")
    if not checked_table("values", values, '{"fit.samples": [0.5, 1.0, 2.0]}'):
        raise BadInput("there are no values to solve for", 'give arrays by key, as {"fit.samples": [0.5, 1.0, 2.0]}')
    for key in values:
        check_key(key)
    arrays, axes = broadcast(values)
    shape = next(iter(arrays.values())).shape
    return Points({key: ravelled(array) for key, array in arrays.items()}, shape, axes)


def points_of_dict(found: Mapping[str, Any], columns: Mapping[str, Column]) -> Points:
    """The points of ``Points.to_dict`` and their columns. Raises KeyError, TypeError or ValueError."""
    return Points({key: columns[key] for key in found["keys"]}, tuple(found["shape"]), Axes.of_dict(found))


def points_of_models(models: Sequence[Model]) -> Points:
    """Points from models: the numbers and texts in which they differ; nan or nothing where a model has none."""
    rows = [_leaves(model.to_dict()) for model in models]
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    varying = {key: column for key, column in columns.items() if any(value != column[0] for value in column)}
    return Points({key: _of_models(column) for key, column in varying.items()}, (len(models),))


def _leaves(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= _leaves(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return found


def _of_models(column: list[Any]) -> Column:
    if all(value is None or isinstance(value, int | float) for value in column):
        return np.array([math.nan if value is None else value for value in column], dtype=np.float64)
    return tuple("" if value is None else str(value) for value in column)


def _plain(value: Any) -> Value:
    return value if isinstance(value, str) else float(value)
