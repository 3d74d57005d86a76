"""The axes of some points: arrays broadcast by place or, where their dimensions have names, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.model import value_keys
from giantstep.spec.step_table import unnumbered
from giantstep.sweep.columns import Column, column_of, listed, ravelled, same_column

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Coordinate:
    """What is known along some axes: ``values`` over the dimensions ``dims``, in the order of ``ravel()``."""

    dims: tuple[str, ...]
    values: Column

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coordinate) and self.dims == other.dims and same_column(self.values, other.values)


@dataclass(frozen=True)
class Axes:
    """A name for every axis, and what arrays with named dimensions say beside their values, by name."""

    dims: tuple[str, ...]
    coordinates: Mapping[str, Coordinate] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        known = {name: {"dims": list(one.dims), "values": listed(one.values)} for name, one in self.coordinates.items()}
        return {"dims": list(self.dims), "coordinates": known}

    @classmethod
    def of_dict(cls, found: Mapping[str, Any]) -> Self:
        """Those of ``to_dict``; without names where there are none. Raises KeyError, TypeError or ValueError."""
        given = found.get("coordinates", {}).items()
        known = {name: Coordinate(tuple(one["dims"]), column_of(one["values"])) for name, one in given}
        return cls(tuple(found.get("dims", ())), known)


def numbered(count: int) -> Axes:
    """Axes that nobody has named."""
    return Axes(tuple(f"axis_{number}" for number in range(count)))


def broadcast(given: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], Axes]:
    """Arrays of one shape, which are views, and their axes.

    Arrays whose dimensions have names, as those of xarray, go together by name and keep their coordinates; others by
    place, as in NumPy, and an axis along which one key alone varies has the name of this key. Raises BadInput where
    they do not go together.
    """
    labelled = [key for key, value in given.items() if hasattr(value, "dims") and hasattr(value, "coords")]
    arrays = {key: _array(key, value) for key, value in given.items()}
    if labelled:
        return _by_name(given, arrays, labelled)
    shape = common_shape(arrays)
    return {key: np.broadcast_to(array, shape) for key, array in arrays.items()}, Axes(_names(arrays, shape))


def common_shape(arrays: Arrays) -> tuple[int, ...]:
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


def cut(axes: Axes, keep: NDArray[np.bool_]) -> tuple[tuple[int, ...], Axes]:
    """(shape, axes) of the points that are kept; one axis without a name where they are no part of every axis."""
    every_axis = range(keep.ndim)
    lines = [np.asarray(keep.any(axis=tuple(o for o in every_axis if o != axis))) for axis in every_axis]
    if not keep[np.ix_(*lines)].all():
        return (int(keep.sum()),), numbered(1)
    place = dict(zip(axes.dims, lines, strict=True))
    sizes = {name: line.size for name, line in place.items()}
    known = {}
    for name, one in axes.coordinates.items():
        values = np.asarray(one.values).reshape([sizes[dim] for dim in one.dims])
        known[name] = Coordinate(one.dims, ravelled(values[np.ix_(*(place[dim] for dim in one.dims))]))
    return tuple(int(line.sum()) for line in lines), Axes(axes.dims, known)


def _array(key: str, given: Any) -> NDArray[Any]:
    """Numbers or texts."""
    if np.ma.is_masked(given):
        raise BadInput(
            f"{int(np.ma.getmaskarray(given).sum())} values of {key} are masked",
            "give a value for each point (numpy.ma.filled), or leave these points out",
        )
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind == "O" and array.size and all(isinstance(one, str) for one in array.flat):
        array = array.astype(np.str_)
    if array.dtype.kind in "iuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind == "U":
        return array
    raise BadInput(f"the values of {key} are {shorten(given)}", "give numbers or texts, of one kind")


def _names(arrays: Arrays, shape: tuple[int, ...]) -> tuple[str, ...]:
    """An axis is called as the key that lies along it and along no other, where there is one such key."""
    covered = {key: _along(array.shape, shape) for key, array in arrays.items()}
    along = {key: {axis for axis in axes if shape[axis] > 1} or axes for key, axes in covered.items()}
    found = list(numbered(len(shape)).dims)
    for axis in range(len(shape)):
        keys = [key for key, axes in along.items() if axis in axes]
        if len(keys) == 1 and len(along[keys[0]]) == 1:
            found[axis] = keys[0]
    return tuple(found)


def _along(own: tuple[int, ...], shape: tuple[int, ...]) -> set[int]:
    """The axes of a shape that an array of a shape of its own has in full."""
    first = len(shape) - len(own)
    return {first + place for place, size in enumerate(own) if size == shape[first + place]}


def _by_name(given: Mapping[str, Any], arrays: Arrays, labelled: Sequence[str]) -> tuple[dict[str, NDArray[Any]], Axes]:
    for key, array in arrays.items():
        if key not in labelled and array.ndim:
            raise BadInput(
                f"the dimensions of {labelled[0]} have names, and those of {key} have none",
                f"give {key} as an xarray.DataArray too, or {labelled[0]} without names, as array.values",
            )
    own = {key: _dims(given[key]) if key in labelled else () for key in arrays}
    sizes = _sizes(arrays, own)
    full = {key: spread(array, own[key], sizes) for key, array in arrays.items()}
    found: dict[str, Coordinate] = {}
    for key, name, coordinate in _coordinates(given, labelled):
        if found.setdefault(name, coordinate) != coordinate:
            raise BadInput(f"the coordinate {name} of {key} differs from that of another key", "give equal ones")
        _check_coordinate(key, name, coordinate, full, sizes)
    return full, Axes(tuple(sizes), {name: one for name, one in found.items() if name not in given})


def _sizes(arrays: Arrays, own: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """The sizes of all dimensions. Raises BadInput."""
    sizes: dict[str, int] = {}
    for key, array in arrays.items():
        for name, size in zip(own[key], array.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise BadInput(
                    f"the dimension {name} has {sizes[name]} values and, in {key}, {size}", "give equal ones"
                )
    for name in sizes:
        if name in arrays and own[name] != (name,):
            raise BadInput(f"{name} does not vary along the dimension {name} alone", "rename this dimension")
    if math.prod(sizes.values()) == 0:
        raise BadInput("there are no values to solve for", "give at least one point")
    return sizes


def _dims(array: Any) -> tuple[str, ...]:
    return tuple(map(str, array.dims))


def _coordinates(given: Mapping[str, Any], labelled: Sequence[str]) -> Iterator[tuple[str, str, Coordinate]]:
    """(key, name, coordinate) of all arrays."""
    for key in labelled:
        for name, coordinate in given[key].coords.items():
            values = ravelled(_array(f"the coordinate {name}", coordinate.values))
            yield key, str(name), Coordinate(_dims(coordinate), values)


def _check_coordinate(key: str, name: str, known: Coordinate, full: Arrays, sizes: Mapping[str, int]) -> None:
    """A coordinate with the name of a key says what the key is at the points: it has to be so. Raises BadInput."""
    if unnumbered(name) not in value_keys():
        return
    if name not in full:
        raise BadInput(
            f"{key} has the coordinate {name}, and there are no values of {name}",
            f'give it too, as {{"{key}": array, "{name}": array["{name}"]}}, or leave it out by array.drop_vars',
        )
    own = np.asarray(known.values).reshape([sizes[one] for one in known.dims])
    if not np.array_equal(full[name], spread(own, known.dims, sizes)):
        raise BadInput(f"the coordinate {name} of {key} differs from the values of {name}", "give equal ones")


def spread(array: NDArray[Any], own: Sequence[str], sizes: Mapping[str, int]) -> NDArray[Any]:
    """An array over some dimensions, in any order, over all of them: a view."""
    order = sorted(range(len(own)), key=lambda place: list(sizes).index(own[place]))
    shape = [size if name in own else 1 for name, size in sizes.items()]
    return np.broadcast_to(array.transpose(order).reshape(shape), tuple(sizes.values()))
