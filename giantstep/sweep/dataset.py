"""A learning curve, or a family of them, as a table of columns: what ``curve`` returns and files hold."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import did_you_mean, shorten
from giantstep import __version__
from giantstep.spec.arguments import checked_table
from giantstep.spec.errors import BadInput, UnknownColumn
from giantstep.spec.files import suffix_of, write_atomic
from giantstep.spec.given import ModelLike, model_of
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, html_table
from giantstep.sweep.columns import Column as Column
from giantstep.sweep.columns import column_of, equal_columns, listed
from giantstep.sweep.formats import (
    columns_of_csv,
    csv_parts,
    grid_of_columns,
    json_parts,
    netcdf,
    parts_of_netcdf,
    to_pandas,
    to_xarray,
    xarray_module,
)
from giantstep.sweep.grid import Grid, Sweep
from giantstep.sweep.kinds import kinds_of_errors
from giantstep.sweep.points import Points, points_of_dict
from giantstep.sweep.selection import selected
from giantstep.sweep.zarr_store import parts_of_store

if TYPE_CHECKING:
    import pandas
    import xarray

FORMAT = "giantstep-curve-1"
SUFFIXES = (".json", ".csv", ".nc")
_SHOWN_COLUMNS = (  # in a notebook
    "test_error", "test_error_is", "finite_size_test_error", "train_error", "simulation_test_error", "status"
)  # fmt: skip
_SHOWN_ROWS = 8


@dataclass(frozen=True, repr=False)
class Dataset(Pictured):
    """Rows are the points of ``grid``, its first sweep fastest, or those given to ``solve_many``; a number that is not
    known is nan.

    Columns: the swept keys; ``test_error``, ``train_error``, ``free_energy``, ... of the theory; ``status``
    ("ok", "not_converged", "impossible") and ``reason``; where losses are swept, ``test_error_is`` and
    ``train_error_is``, which error a row holds; ``random_features_*``, ``best_linear_test_error`` and
    ``optimal_test_error``; the metrics of the model by their names, with all that the errors have too;
    with a dimension, ``finite_size_*``, the theory at the whole-number sizes of that dimension; with a simulation,
    ``simulation_*`` with ``*_standard_error`` and ``*_z_score``, the difference from ``finite_size_*`` in standard
    errors, by chance of Student's law with seeds - 1 degrees of freedom. Errors are without the factor 1/2, the test
    error against the clean target.
    """

    model: Model
    grid: Grid | Points
    columns: Mapping[str, Column]
    options: Mapping[str, Any]
    versions: Mapping[str, str]

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if len(column) != len(self.grid):
                raise BadInput(f"the column {name} has {len(column)} rows", f"it must have {len(self.grid)}")
            if isinstance(column, np.ndarray):
                column.setflags(write=False)
        object.__setattr__(self, "columns", {**self.columns, **kinds_of_errors(self.model, self.grid)})
        for name in ("columns", "options", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Mappings that cannot be written are copied as what they hold."""
        parts = (dict(self.columns), dict(self.options), dict(self.versions))
        return type(self), (self.model, self.grid, *parts)

    def __eq__(self, other: object) -> bool:
        """Whether model, points, numbers and options are the same; nan is equal to nan."""
        if not isinstance(other, Dataset):
            return NotImplemented
        same = (self.model, self.grid, self.options, self.versions) == (
            other.model, other.grid, other.options, other.versions
        )  # fmt: skip
        return same and equal_columns(self.columns, other.columns)

    def __len__(self) -> int:
        return len(self.grid)

    def summary(self) -> list[Row]:
        """What varies, how many points are solved, the range of the test error, the columns, the model."""
        solved = sum(status == "ok" for status in self.columns.get("status", ()))
        return [
            ("points", f"{len(self)} over {self.grid}"),
            ("solved", str(solved)),
            *((f"test error {kind}".rstrip(), _span(error)) for kind, error in self._errors_by_kind().items()),
            ("columns", ", ".join(self.columns)),
            ("model", outline(self.model, self.grid.keys)),
        ]

    def _errors_by_kind(self) -> dict[str, NDArray[np.float64]]:
        """Test errors that may be compared: all, or those of each kind where losses are swept."""
        error, kinds = self.numbers("test_error"), self.columns.get("test_error_is", ())
        if len(set(kinds)) < 2:
            return {"": error}
        return {kind: error[np.array(kinds) == kind] for kind in dict.fromkeys(map(str, kinds))}

    def _repr_html_(self) -> str:
        names = [*self.grid.keys, *(name for name in _SHOWN_COLUMNS if name in self.columns)]
        rows = [[shown(_entry(self[name], row)) for name in names] for row in range(min(len(self), _SHOWN_ROWS))]
        left = len(self) - len(rows)
        more = [[f"... and {left} more"] + [""] * (len(names) - 1)] if left else []
        return html_table(f"Dataset: {len(self)} points over {self.grid}", [*rows, *more], names)

    @property
    def shape(self) -> tuple[int, ...]:
        """A column reshapes to it: that of the arrays, or one axis a sweep, the first one last."""
        return self.grid.shape

    @overload
    def __getitem__(self, name: Literal["status", "reason"]) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        """A column by name: an array of numbers, or a tuple of texts.

        Raises UnknownColumn, a KeyError, for one that is not there.
        """
        if name not in self.columns:
            meant = did_you_mean(name, tuple(self.columns)) if isinstance(name, str) else ""
            raise UnknownColumn(f"there is no column {shorten(name)}", f"{meant}there are {', '.join(self.columns)}")
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers by name; all nan for one that is not there."""
        column = self.columns.get(name)
        return column if isinstance(column, np.ndarray) else np.full(len(self), math.nan)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, None for what is not known."""
        return {**self._header(), "columns": {name: listed(column) for name, column in self.columns.items()}}

    def _header(self) -> dict[str, Any]:
        """What is known beside the columns."""
        return {
            "format": FORMAT,
            "model": self.model.to_dict(),
            **_points(self.grid),
            "options": dict(self.options),
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """JSON text, one column per line; equal datasets give equal bytes."""
        return "".join(json_parts(self._header(), self.columns))

    def to_csv(self) -> str:
        """A header and one line per point; what is not known is empty. Model and options are not in it."""
        return "".join(csv_parts(self.columns))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each point; ``attrs`` has model, options and words for columns. Raises BadInput without pandas."""
        return to_pandas(self.columns, self._header())

    def to_xarray(self) -> xarray.Dataset:
        """The columns over one dimension per sweep, the first sweep last, with ``long_name`` and ``units``.

        Raises BadInput without xarray.
        """
        return to_xarray(self.grid, self.columns, self._header())

    def sel(self, choices: Mapping[str, Any] | None = None, *, nearest: bool = False, **more: Any) -> Self:
        """The points where keys have given values: ``sel({"fit.ridge": 0.1, "fit.samples": slice(0.5, 2.0)})``, or
        ``sel(**{"fit.ridge": 0.1})`` as in xarray.

        A value, a list of values, or a slice of numbers with both ends; a key left with one value leaves the grid and
        is set in the model. Raises BadInput for a value that a key does not take, but with ``nearest``.
        """
        choices = {**checked_table("choices", {} if choices is None else choices, '{"fit.ridge": 0.1}'), **more}
        changes, grid, columns = selected(self.grid, self.columns, choices, nearest)
        model = self.model.replace(dict(changes)) if changes else self.model
        return type(self)(model, grid, columns, self.options, self.versions)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a .json, .csv or .nc file, all of it or nothing. Raises BadInput."""
        suffix = suffix_of(path, SUFFIXES)
        if suffix == ".nc":
            write_atomic(path, netcdf(self.to_xarray()))
            return
        parts = csv_parts(self.columns) if suffix == ".csv" else json_parts(self._header(), self.columns)
        write_atomic(path, (part.encode() for part in parts))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The dataset of ``to_json``. Raises BadInput."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the dataset is not JSON: {error}", "read a file that curve has written") from None
        return cls._of_parts(found)

    @classmethod
    def _of_parts(cls, found: Any) -> Self:
        """The dataset of what ``to_dict`` gave. Raises BadInput."""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise BadInput(f"the file is no dataset of the format {FORMAT}", "read a file that curve has written")
        try:
            columns = {name: column_of(entries) for name, entries in found["columns"].items()}
            options, versions = dict(found["options"]), dict(found["versions"])
            model, grid = Model.from_dict(found["model"]), _grid(found, columns)
        except BadInput:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"the dataset is damaged: {error}", "read a file that curve has written") from None
        return cls(model, grid, columns, options, versions)

    @classmethod
    def read(cls, path: str | os.PathLike[str], model: ModelLike | None = None) -> Self:
        """The dataset of a .json, .nc or .csv file, or of a .zarr folder of ``solve_into``; a .csv file holds no model,
        so that it has to be given. Raises BadInput.
        """
        suffix = suffix_of(path, (*SUFFIXES, ".zarr"))
        if suffix == ".zarr":
            return cls._of_parts({"format": FORMAT, **parts_of_store(Path(path))})
        try:
            content = Path(path).read_bytes()
            text = "" if suffix == ".nc" else content.decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the dataset {shorten(os.fspath(path), 200)} cannot be read: {error}") from None
        if suffix == ".json":
            return cls.from_json(text)
        if suffix == ".nc":
            return cls._of_parts(parts_of_netcdf(content))
        if model is None:
            raise BadInput("a .csv file holds no model", 'give it, as in Dataset.read("curve.csv", "model.toml")')
        columns = {name: column_of(entries) for name, entries in columns_of_csv(text).items()}
        grid, options = grid_of_columns(columns), {"dimension": None, "tolerance": None, "simulation": None}
        return cls(model_of(model), grid, columns, options, {})

    def failures(self) -> Iterator[tuple[int, str]]:
        """Rows without a theoretical value, with the reason."""
        for row, (status, reason) in enumerate(zip(self["status"], self["reason"], strict=True)):
            if status != "ok":
                yield row, str(reason)

    def point(self, row: int) -> str:
        """The coordinates of a row in words."""
        return ", ".join(f"{key} = {shown(value)}" for key, value in self.grid.changes(row))


def _span(column: NDArray[np.float64]) -> str:
    known = column[np.isfinite(column)]
    return f"{known.min():.6g} to {known.max():.6g}" if known.size else "not known"


def versions() -> dict[str, str]:
    """What the numbers of a dataset were made with."""
    return {"giantstep": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _points(grid: Grid | Points) -> dict[str, Any]:
    """What is needed beside the columns to know the points."""
    if isinstance(grid, Points):
        return {"points": grid.to_dict()}
    return {"sweeps": [{"key": s.key, "values": list(s.values), "log": s.log} for s in grid.sweeps]}


def _grid(found: Mapping[str, Any], columns: Mapping[str, Column]) -> Grid | Points:
    """The points of a dataset that was read."""
    if "points" in found:
        return points_of_dict(found["points"], columns)
    return Grid(tuple(Sweep(one["key"], tuple(one["values"]), one["log"]) for one in found["sweeps"]))


def shown(value: object) -> str:
    """A coordinate for a person: six digits of a number, a text as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def require_netcdf() -> None:
    """Raise BadInput unless .nc files can be written: to be asked before the work starts."""
    xarray_module()


def _entry(column: Column, row: int) -> object:
    return column[row].item() if isinstance(column, np.ndarray) else column[row]
