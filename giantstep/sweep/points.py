"""The points of ``solve_many``: values of some keys of the model, row by row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep.spec.arguments import checked_table
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.sweep.grid import Changes, Value, check_key

Column: TypeAlias = NDArray[np.float64] | tuple[str, ...]


@dataclass(frozen=True)
class Points:
    """Rows of values by key, numbers or texts; the rows reshape to ``shape``, last axis fastest."""

    values: Mapping[str, Column]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __reduce__(self) -> tuple[Any, ...]:
        """The mapping that cannot be written is copied as what it holds."""
        return type(self), (dict(self.values), self.shape)

    def __eq__(self, other: object) -> bool:
        """Whether the values are the same, in the same shape."""
        if not isinstance(other, Points):
            return NotImplemented
        return self.shape == other.shape and equal_columns(self.values, other.values)

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def keys(self) -> tuple[str, ...]:
        """What varies."""
        return tuple(self.values)

    def changes(self, row: int) -> Changes:
        """The keys and values of one row."""
        return tuple((key, _plain(column[row])) for key, column in self.values.items())

    def __str__(self) -> str:
        return ", ".join(self.values)


def equal_columns(one: Mapping[str, Column], other: Mapping[str, Column]) -> bool:
    """Whether columns have the same names, in any order, and the same entries; nan is equal to nan."""
    if one.keys() != other.keys():
        return False
    return all(_equal(column, other[name]) for name, column in one.items())


def _equal(one: Column, other: Column) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return isinstance(one, tuple) and isinstance(other, tuple) and one == other


def points_of(values: Mapping[str, Any]) -> Points:
    """Points from arrays, lists or single values by key, broadcast against each other. Raises BadInput."""
    if hasattr(values, "columns") and hasattr(values, "to_dict"):
        raise BadInput("the values are a data frame", "give its columns by name, as dict(frame)")
    if not checked_table("values", values, '{"fit.samples": [0.5, 1.0, 2.0]}'):
        raise BadInput("there are no values to solve for", 'give arrays by key, as {"fit.samples": [0.5, 1.0, 2.0]}')
    arrays = {key: _array(key, given) for key, given in values.items()}
    shape = common_shape(arrays)
    return Points({key: _column(np.broadcast_to(array, shape)) for key, array in arrays.items()}, shape)


def common_shape(arrays: Mapping[str, NDArray[Any]]) -> tuple[int, ...]:
    """The shape of arrays broadcast against each other. Raises BadInput where there is none, or nothing in it."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise BadInput(
            f"the shapes of the values do not go together: {shapes}",
            "give equal ones; for all combinations give one of them as array[:, None]",
        ) from None
    if math.prod(shape) == 0:
        raise BadInput("there are no values to solve for", "give at least one point")
    return shape


def points_of_models(models: Sequence[Model]) -> Points:
    """Points from models: the numbers and texts in which they differ; nan or nothing where a model has none."""
    rows = [_leaves(model.to_dict()) for model in models]
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    varying = {key: column for key, column in columns.items() if any(value != column[0] for value in column)}
    return Points({key: _of_models(column) for key, column in varying.items()}, (len(models),))


def _array(key: str, given: Any) -> NDArray[Any]:
    check_key(key)
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind in "iuf":
        return np.asarray(array, dtype=np.float64) + 0.0
    if array.dtype.kind == "U":
        return array
    raise BadInput(f"the values of {key} are {shorten(given)}", "give numbers or texts, of one kind")


def _column(array: NDArray[Any]) -> Column:
    flat = array.ravel()
    return flat if flat.dtype.kind == "f" else tuple(flat.tolist())


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
