"""Parts of a dataset by the values of its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import did_you_mean, shorten
from giantstep.spec.arguments import checked_table
from giantstep.spec.errors import BadInput, UnknownColumn
from giantstep.sweep.axes import cut
from giantstep.sweep.columns import Column
from giantstep.sweep.grid import Changes, Grid, Sweep
from giantstep.sweep.points import Points

_NEAR = 1e-9  # relative difference of numbers that are taken for equal


Selected = tuple[Changes, Grid | Points, dict[str, Column]]


def selected(grid: Grid | Points, columns: Mapping[str, Column], choices: Mapping[str, Any], nearest: bool) -> Selected:
    """(keys that are fixed now, what still varies, columns) of the rows where keys have the values chosen.

    choices: for a key a value, a list of values, or a slice of numbers, ends included. A key of a grid with a single
    value is fixed, as long as another one is left. Raises UnknownColumn for what is no key of the grid, and BadInput
    for a value that it does not take.
    """
    for key in checked_table("choices", choices, '{"fit.ridge": 0.1}'):
        if key not in grid.keys:
            hint = did_you_mean(key, grid.keys) if isinstance(key, str) else ""
            raise UnknownColumn(f"{shorten(key)} is not varied", f"{hint}varied are {', '.join(grid.keys)}")
    keep = np.ones(len(grid), dtype=bool)
    for key, choice in choices.items():
        known = np.asarray(columns[key])
        keep &= np.isin(known, _values(key, np.unique(known), choice, nearest))
    if not keep.any():
        raise BadInput("no point has all of these values", "choose fewer")
    left = {name: _rows(column, keep) for name, column in columns.items()}
    if isinstance(grid, Points):
        shape, axes = cut(grid.axes, keep.reshape(grid.shape))
        return (), Points({key: left[key] for key in grid.keys}, shape, axes), left
    return _of_grid(grid, left, choices)


def _of_grid(grid: Grid, columns: dict[str, Column], choices: Mapping[str, Any]) -> Selected:
    sweeps = []
    for sweep in grid.sweeps:
        left = set(np.asarray(columns[sweep.key]).tolist())
        sweeps.append(Sweep(sweep.key, tuple(value for value in sweep.values if value in left), sweep.log))
    fixed = [sweep for sweep in sweeps if len(sweep.values) == 1 and sweep.key in choices]
    if len(fixed) == len(sweeps):
        fixed = fixed[1:]
    changes = tuple((sweep.key, sweep.values[0]) for sweep in fixed)
    kept = {name: column for name, column in columns.items() if name not in dict(changes)}
    return changes, Grid(tuple(sweep for sweep in sweeps if sweep not in fixed)), kept


def _values(key: str, known: NDArray[Any], choice: Any, nearest: bool) -> NDArray[Any]:
    """The values of a key that are chosen."""
    if isinstance(choice, slice):
        if choice.step is not None or known.dtype.kind == "U":
            raise BadInput(f"the values of {key} cannot be cut by {choice}", "give slice(low, high) of numbers")
        low = -np.inf if choice.start is None else choice.start
        high = np.inf if choice.stop is None else choice.stop
        return known[(known >= low) & (known <= high)]
    chosen = list(choice) if isinstance(choice, list | tuple | np.ndarray) else [choice]
    return np.array([_one(key, known, value, nearest) for value in chosen])


def _one(key: str, known: NDArray[Any], value: Any, nearest: bool) -> Any:
    if known.dtype.kind == "U":
        if value in known:
            return value
        raise BadInput(f"{key} does not take {shorten(value)}", did_you_mean(str(value), tuple(known.tolist())))
    if isinstance(value, str | bool) or not isinstance(value, int | float | np.number):
        raise BadInput(f"{key} does not take {shorten(value)}", "give a number")
    given = float(value)
    best = float(known[np.argmin(np.abs(known - given))])
    if nearest or abs(best - given) <= _NEAR * max(abs(best), abs(given)):
        return best
    raise BadInput(f"{key} does not take {value!r}", f"the nearest value is {best!r}; nearest=True takes it")


def _rows(column: Column, keep: NDArray[np.bool_]) -> Column:
    if isinstance(column, np.ndarray):
        return column[keep]
    return tuple(entry for entry, kept in zip(column, keep.tolist(), strict=True) if kept)
