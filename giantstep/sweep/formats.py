"""Datasets as data frames, labelled arrays and files of theirs; pandas and xarray are optional."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.model import value_keys
from giantstep.spec.schema import meaning_of
from giantstep.spec.step_table import numbered_step, unnumbered
from giantstep.sweep.axes import Coordinate
from giantstep.sweep.columns import Column, listed, ravelled
from giantstep.sweep.grid import Grid, Sweep
from giantstep.sweep.kinds import KINDS
from giantstep.sweep.points import Points

if TYPE_CHECKING:
    import pandas
    import xarray

_ROWS = 1024  # of a column that become text at a time
_WORDS: Mapping[str, str] = {
    "test_error": "test error",
    "train_error": "training error",
    "free_energy": "minimum of the training objective over d",
    "residual": "worst relative residual of all equations",
    "quadrature_error": "relative change of the test error between orders of quadrature",
    "iterations": "iterations of the solver",
    "seconds": "time of the solve",
    "status": "ok, not_converged or impossible",
    "reason": "why there is no number",
    "test_error_is": "which error the test error is",
    "train_error_is": "which error the training error is",
}
_PREFIXES: Mapping[str, str] = {
    "finite_size_": " with the correction of the dimension",
    "random_features_": " without the step",
    "best_linear_": " of the best linear predictor",
    "optimal_": " of the best estimator with all samples",
    "simulation_": ", simulated",
}
_SUFFIXES: Mapping[str, str] = {
    "_standard_error": ", standard error of the mean",
    "_z_score": ", simulation minus theory in standard errors",
}


def long_name(column: str) -> str:
    """What a column holds, in words."""
    if unnumbered(column) in value_keys():
        number = numbered_step(column)
        return meaning_of(unnumbered(column)) + ("" if number is None else f" of step {number}")
    for suffix, words in _SUFFIXES.items():
        if column.endswith(suffix):
            return long_name(column.removesuffix(suffix)) + words
    for prefix, words in _PREFIXES.items():
        if column.startswith(prefix) and column.removeprefix(prefix) in _WORDS:
            return _WORDS[column.removeprefix(prefix)] + words
    return _WORDS.get(column, column.replace("_", " "))


def units(column: str) -> str:
    """All numbers of the theory are ratios: "1", but for times."""
    return "s" if column == "seconds" else "1"


def to_pandas(columns: Mapping[str, Column], header: Mapping[str, Any]) -> pandas.DataFrame:
    """A row for every point; ``attrs`` has the header and words for the columns. Raises BadInput without pandas."""
    try:
        import pandas  # an optional dependency
    except ImportError:
        raise BadInput("pandas is not installed", "pip install 'giantstep[pandas]', or write .csv") from None
    frame: pandas.DataFrame = pandas.DataFrame(
        {name: list(column) if isinstance(column, tuple) else column for name, column in columns.items()}
    )
    frame.attrs.update(header, long_name={name: long_name(name) for name in columns})
    return frame


def to_xarray(grid: Grid | Points, columns: Mapping[str, Column], header: Mapping[str, Any]) -> xarray.Dataset:
    """The columns over one dimension for each sweep, the first sweep last, or over the axes of points, with what is
    known along them. Raises BadInput without xarray, and where one of these is called as a column.
    """
    xr = xarray_module()
    dims, known = _dimensions(grid)
    for name in (*dims, *dict(known)):
        if name in columns and name not in grid.keys:
            raise BadInput(f"an axis or a coordinate is called {name}, as a column of the dataset", "rename it")
    shaped = {
        name: (dims, _array(column).reshape(grid.shape), _words(name, column))
        for name, column in columns.items()
        if name not in dims
    }
    coordinates = {name: (one.dims, _shaped(one, dims, grid.shape), _words(name, one.values)) for name, one in known}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in header.items()}
    found: xarray.Dataset = xr.Dataset(shaped, coordinates, {**texts, "columns": json.dumps(list(columns))})
    return found


def _dimensions(grid: Grid | Points) -> tuple[tuple[str, ...], list[tuple[str, Coordinate]]]:
    """(names of the axes, coordinates along them)."""
    if isinstance(grid, Points):
        return grid.axes.dims, [*grid.axes.coordinates.items(), *_keys_along(grid)]
    sweeps = grid.sweeps[::-1]
    along = [(sweep.key, Coordinate((sweep.key,), ravelled(np.asarray(sweep.values)))) for sweep in sweeps]
    return tuple(sweep.key for sweep in sweeps), along


def _keys_along(points: Points) -> Iterator[tuple[str, Coordinate]]:
    """The keys that are axes themselves."""
    for place, name in enumerate(points.axes.dims):
        if name in points.keys:
            values = np.moveaxis(_array(points.values[name]).reshape(points.shape), place, -1)
            yield name, Coordinate((name,), ravelled(values.reshape(-1, points.shape[place])[0]))


def _shaped(one: Coordinate, dims: Sequence[str], shape: Sequence[int]) -> Any:
    return _array(one.values).reshape([shape[dims.index(name)] for name in one.dims])


def netcdf(labelled: xarray.Dataset) -> bytes:
    """NetCDF 3, by scipy: no further library, and no time stamp inside."""
    return bytes(labelled.to_netcdf(engine="scipy", format="NETCDF3_64BIT"))


def parts_of_netcdf(content: bytes) -> dict[str, Any]:
    """What ``to_dict`` of the dataset gave, of a file in memory. Raises BadInput."""
    try:
        with xarray_module().open_dataset(io.BytesIO(content), engine="scipy") as read:
            found = {name: _parsed(name, text) for name, text in read.attrs.items()}
            names = json.loads(found.pop("columns"))
            shape = [read.sizes[name] for name in (read[names[-1]].dims)]
            columns = {name: _broadcast(read, name, shape) for name in names}
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise BadInput(f"the file is no dataset: {error}", "read a .nc file that curve has written") from None
    return {**found, "columns": columns}


def json_parts(header: Mapping[str, Any], columns: Mapping[str, Column]) -> Iterator[str]:
    """A JSON object with one line for each entry of the header and each column; in parts, as columns may be long."""
    lines = [f"{json.dumps(name)}: {_json(value)}" for name, value in header.items()]
    yield "{\n" + ",\n".join(lines) + ',\n"columns": {\n'
    for number, (name, column) in enumerate(columns.items()):
        yield (",\n" if number else "") + f"  {json.dumps(name)}: ["
        for start in range(0, len(column), _ROWS):
            yield (", " if start else "") + _json(listed(column[start : start + _ROWS]))[1:-1]
        yield "]"
    yield "\n}\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, separators=(", ", ": "), allow_nan=False)


def csv_parts(columns: Mapping[str, Column]) -> Iterator[str]:
    """A header and one line for each point, in parts; what is not known is empty."""
    length = len(next(iter(columns.values()), ()))
    for start in range(0, max(length, 1), _ROWS):
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        if not start:
            writer.writerow(columns)
        rows = zip(*(listed(column[start : start + _ROWS]) for column in columns.values()), strict=True)
        writer.writerows(["" if entry is None else entry for entry in row] for row in rows)
        yield stream.getvalue()


def columns_of_csv(text: str) -> dict[str, list[Any]]:
    """Entries by column; numbers where all of a column are, None where one is empty. Raises BadInput."""
    try:
        head, *rows = list(csv.reader(io.StringIO(text), strict=True))
        return {name: _entries(name, [row[place] for row in rows]) for place, name in enumerate(head)}
    except (csv.Error, ValueError, IndexError) as error:
        raise BadInput(f"the dataset is not CSV: {error}", "read a file that curve has written") from None


def grid_of_columns(columns: Mapping[str, Column]) -> Grid | Points:
    """The grid of the keys that a table holds, where its rows run through one, the first key fastest."""
    keys = [name for name in columns if unnumbered(name) in value_keys()]
    if not keys:
        raise BadInput("the table has no column of a key of the model", "read a file that curve has written")
    distinct = {key: tuple(dict.fromkeys(np.asarray(columns[key]).tolist())) for key in keys}
    grid = Grid(tuple(Sweep(key, values, _is_geometric(values)) for key, values in distinct.items()))
    rows = len(columns[keys[0]])
    same = len(grid) == rows and all(
        list(grid.column(place)) == np.asarray(columns[key]).tolist() for place, key in enumerate(keys)
    )
    return grid if same else Points({key: columns[key] for key in keys}, (rows,))


def _is_geometric(values: Sequence[Any]) -> bool:
    """Whether numbers grow by a factor: then they were asked for as a logarithmic sweep."""
    if len(values) < 3 or not all(isinstance(value, float) and value > 0.0 for value in values):
        return False
    return bool(np.ptp(np.diff(np.log(values))) < 1e-9)


def xarray_module() -> Any:
    """Xarray. Raises BadInput where it is not installed."""
    try:
        import xarray  # an optional dependency
    except ImportError:
        raise BadInput("xarray is not installed", "pip install 'giantstep[netcdf]', or write .json or .csv") from None
    return xarray


def _words(name: str, column: Column) -> dict[str, str]:
    numeric = np.asarray(column).dtype.kind == "f"
    return {"long_name": long_name(name), **({"units": units(name)} if numeric else {})}


def _array(column: Column) -> Any:
    return np.asarray(column, dtype=None if isinstance(column, np.ndarray) else np.str_)


def _parsed(name: str, text: Any) -> Any:
    return text if name in ("format", "columns") else json.loads(text)


def _broadcast(read: Any, name: str, shape: Sequence[int]) -> list[Any]:
    """A column row by row; a coordinate is repeated along the other dimensions."""
    array = read[name]
    if array.ndim == 1 and len(shape) > 1:
        order = list(read[next(iter(read.data_vars))].dims)
        place = [1] * len(shape)
        place[order.index(name)] = -1
        values = np.broadcast_to(array.values.reshape(place), shape)
    else:
        values = array.values
    flat: list[Any] = values.ravel().tolist()
    if values.dtype.kind == "f":
        return [entry if math.isfinite(entry) else None for entry in flat]
    return [entry.decode() if isinstance(entry, bytes) else str(entry) for entry in flat]


def _entries(name: str, texts: list[str]) -> list[Any]:
    if name in ("status", "reason", *KINDS):
        return list(texts)
    try:
        return [None if text == "" else float(text) for text in texts]
    except ValueError:
        if unnumbered(name) not in value_keys():
            raise ValueError(f"the column {shorten(name)} holds no numbers") from None
        return list(texts)
