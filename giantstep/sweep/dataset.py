"""A learning curve, or a family of them, as a table of columns: what ``curve`` returns and files hold."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep import __version__
from giantstep.spec.errors import BadInput
from giantstep.spec.files import suffix_of, write_atomic
from giantstep.spec.model import Model
from giantstep.sweep.grid import Grid, Sweep
from giantstep.sweep.points import Column as Column
from giantstep.sweep.points import Points

if TYPE_CHECKING:
    import xarray

FORMAT = "giantstep-curve-1"
SUFFIXES = (".json", ".csv", ".nc")


@dataclass(frozen=True)
class Dataset:
    """Rows are the points of ``grid``, its first sweep fastest, or those given to ``solve_many``; a number that is not
    known is nan.

    Columns: the swept keys; ``test_error``, ``train_error``, ``free_energy``, ... of the theory; ``status``
    ("ok", "not_converged", "impossible") and ``reason``; ``random_features_*`` and ``best_linear_test_error``;
    with a dimension, ``finite_size_*``, the theory at the whole-number sizes of that dimension; with a simulation,
    ``simulation_*`` with ``*_standard_error`` and ``*_z_score``, the difference from ``finite_size_*`` in standard
    errors. Errors are without the factor 1/2, the test error against the clean target.
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
        for name in ("columns", "options", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.grid)

    @property
    def shape(self) -> tuple[int, ...]:
        """A column reshapes to it: that of the arrays, or one axis a sweep, the first one last."""
        return self.grid.shape

    def __getitem__(self, name: str) -> Column:
        """A column by name. Raises BadInput for one that is not there."""
        if name not in self.columns:
            raise BadInput(f"there is no column {shorten(name)}", f"there are {', '.join(self.columns)}")
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers by name; all nan for one that is not there."""
        column = self.columns.get(name)
        return column if isinstance(column, np.ndarray) else np.full(len(self), math.nan)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, None for what is not known."""
        return {
            "format": FORMAT,
            "model": self.model.to_dict(),
            **_header(self.grid),
            "options": dict(self.options),
            "versions": dict(self.versions),
            "columns": {name: _listed(column) for name, column in self.columns.items()},
        }

    def to_json(self) -> str:
        """JSON text, one column per line; equal datasets give equal bytes."""
        found = self.to_dict()
        columns = found.pop("columns")
        lines = [f"{json.dumps(name)}: {_json(value)}" for name, value in found.items()]
        inner = ",\n".join(f"  {json.dumps(name)}: {_json(column)}" for name, column in columns.items())
        return "{\n" + ",\n".join(lines) + ',\n"columns": {\n' + inner + "\n}\n}\n"

    def to_csv(self) -> str:
        """A header and one line per point; what is not known is empty. Model and options are not in it."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        plain = [_listed(column) for column in self.columns.values()]
        writer.writerows(["" if entry is None else entry for entry in row] for row in zip(*plain, strict=True))
        return stream.getvalue()

    def to_xarray(self) -> xarray.Dataset:
        """The columns over one dimension per sweep, the first sweep last. Raises BadInput without xarray."""
        xr = _xarray()
        sweeps = () if isinstance(self.grid, Points) else tuple(reversed(self.grid.sweeps))
        dims = [sweep.key for sweep in sweeps] or [f"axis_{number}" for number in range(len(self.grid.shape))]
        shaped = {
            name: (
                dims,
                np.asarray(column, dtype=None if isinstance(column, np.ndarray) else np.str_).reshape(self.grid.shape),
            )
            for name, column in self.columns.items()
            if name not in dims
        }
        header = {name: value for name, value in self.to_dict().items() if name != "columns"}
        attributes = {name: value if isinstance(value, str) else _json(value) for name, value in header.items()}
        coordinates = {sweep.key: np.asarray(sweep.values) for sweep in sweeps}
        found: xarray.Dataset = xr.Dataset(shaped, coordinates, attributes)
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a .json, .csv or .nc file, all of it or nothing. Raises BadInput."""
        suffix = suffix_of(path, SUFFIXES)
        write_atomic(path, _netcdf(self) if suffix == ".nc" else self._text(suffix).encode())

    def _text(self, suffix: str) -> str:
        return self.to_csv() if suffix == ".csv" else self.to_json()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The dataset of ``to_json``. Raises BadInput."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the dataset is not JSON: {error}", "read a file that curve has written") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise BadInput(f"the JSON is not a dataset of the format {FORMAT}", "read a file that curve has written")
        try:
            columns = {name: _column(entries) for name, entries in found["columns"].items()}
            options, versions = dict(found["options"]), dict(found["versions"])
            model, grid = Model.from_dict(found["model"]), _grid(found, columns)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"the dataset is damaged: {error}", "read a file that curve has written") from None
        return cls(model, grid, columns, options, versions)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The dataset of a .json file. Raises BadInput; .csv holds no model and .nc is read by xarray."""
        if Path(path).suffix.lower() != ".json":
            raise BadInput(f"{shorten(os.fspath(path), 200)} is not a .json file", "write the curve as .json too")
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the dataset {shorten(os.fspath(path), 200)} cannot be read: {error}") from None

    def failures(self) -> Iterator[tuple[int, str]]:
        """Rows without a theoretical value, with the reason."""
        for row, (status, reason) in enumerate(zip(self["status"], self["reason"], strict=True)):
            if status != "ok":
                yield row, str(reason)

    def point(self, row: int) -> str:
        """The coordinates of a row in words."""
        return ", ".join(f"{key} = {shown(value)}" for key, value in self.grid.changes(row))


def versions() -> dict[str, str]:
    """What the numbers of a dataset were made with."""
    return {"giantstep": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _header(grid: Grid | Points) -> dict[str, Any]:
    """What is needed beside the columns to know the points."""
    if isinstance(grid, Points):
        return {"points": {"keys": list(grid.keys), "shape": list(grid.shape)}}
    return {"sweeps": [{"key": s.key, "values": list(s.values), "log": s.log} for s in grid.sweeps]}


def _grid(found: Mapping[str, Any], columns: Mapping[str, Column]) -> Grid | Points:
    """The points of a dataset that was read."""
    if "points" in found:
        keys, shape = found["points"]["keys"], tuple(found["points"]["shape"])
        return Points({key: columns[key] for key in keys}, shape)
    return Grid(tuple(Sweep(one["key"], tuple(one["values"]), one["log"]) for one in found["sweeps"]))


def shown(value: object) -> str:
    """A coordinate for a person: six digits of a number, a text as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def require_netcdf() -> None:
    """Raise BadInput unless .nc files can be written: to be asked before the work starts."""
    _xarray()


def _xarray() -> Any:
    try:
        import xarray  # an optional dependency
    except ImportError:
        raise BadInput("xarray is not installed", "pip install 'giantstep[netcdf]', or write .json or .csv") from None
    return xarray


def _netcdf(dataset: Dataset) -> bytes:
    """NetCDF 3, by scipy: no further library, and no time stamp inside."""
    return bytes(dataset.to_xarray().to_netcdf(engine="scipy", format="NETCDF3_64BIT"))


def _json(value: object) -> str:
    return json.dumps(value, separators=(", ", ": "), allow_nan=False)


def _listed(column: Column) -> list[Any]:
    if not isinstance(column, np.ndarray):
        return list(column)
    return [entry if math.isfinite(entry) else None for entry in column.tolist()]


def _column(entries: Sequence[Any]) -> Column:
    if entries and all(isinstance(entry, str) for entry in entries):
        return tuple(entries)
    return np.array([math.nan if entry is None else float(entry) for entry in entries], dtype=np.float64)
