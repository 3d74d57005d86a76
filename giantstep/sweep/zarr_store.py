"""A Zarr group of points: an array a column, a piece of it a part that was solved at a time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantstep.spec.errors import BadInput
from giantstep.sweep.formats import long_name, units

Columns = Mapping[str, NDArray[Any]]
STATUS = ("ok", "not_converged", "impossible")  # by their numbers in the store
REASON = "reason"  # the one column of words
FORMAT = "giantstep-points-1"
_UNSOLVED = -1
_WHOLE = "parts"  # digests and columns of finished parts
Wholes = Mapping[str, Mapping[str, Any]]


class Store:
    """The Zarr group, one array a column, one piece of it a part."""

    def __init__(
        self, path: Path, shape: Sequence[int], chunk: int, about: Mapping[str, Any], more: Mapping[str, str]
    ) -> None:
        """about: what tells these points from others; more: what does not. Raises BadInput."""
        zarr = zarr_module()
        self._length = math.prod(shape)
        self._chunk = min(chunk, self._length)
        about = {"format": FORMAT, "shape": list(shape), "chunk": self._chunk, **about}
        if path.exists():
            try:
                self._group = zarr.open_group(path, mode="r+")
            except Exception:  # whatever zarr finds in a folder that is no group
                raise BadInput(f"{path} is no Zarr store", "give another name, or remove it") from None
            other = [name for name, value in about.items() if self._group.attrs.get(name) != value]
            if other:
                raise BadInput(
                    f"{path} holds other points: its {', '.join(other)} differ", "give another name, or remove it"
                )
        else:
            try:
                self._group = zarr.open_group(path, mode="w")
            except OSError as error:
                raise BadInput(
                    f"cannot write {path}: {error.strerror}", "give a folder that you may write to"
                ) from None
            self._group.attrs.update({**about, **more})

    def write(self, part: slice, columns: Columns) -> None:
        """Put the columns of a part in their places; reasons where there are any, here or in other parts."""
        for name, column in columns.items():
            if name == REASON and name not in self._group and not column.any():
                continue
            if name not in self._group:
                self._add(name, column)
            self._group[name][part] = column

    def digest(self, part: slice, names: Sequence[str]) -> str:
        """That of what is stored; of nothing where a column is not there or not whole."""
        try:
            return digest_of({name: self._stored(name, part) for name in names})
        except Exception:  # torn or changed: whatever zarr says of it
            return ""

    @property
    def whole(self) -> Wholes:
        """The parts of a finished store, by their first point."""
        return dict(self._group.attrs.get(_WHOLE, {}))

    def finish(self, parts: Wholes) -> None:
        """Keep with the points what tells whether they are damaged."""
        self._group.attrs[_WHOLE] = parts

    def _stored(self, name: str, part: slice) -> NDArray[Any]:
        if name == REASON and name not in self._group:
            return np.full(part.stop - part.start, "", object)
        found: NDArray[Any] = self._group[name][part]
        return found

    def _add(self, name: str, column: NDArray[Any]) -> None:
        about: dict[str, Any] = {"long_name": long_name(name), "units": units(name)}
        fill: float | str = _UNSOLVED if name == "status" else "" if name == REASON else math.nan
        if name == "status":
            about = {"long_name": long_name(name), "flag_meanings": " ".join(STATUS), "flag_values": [0, 1, 2]}
        self._group.create_array(
            name,
            shape=(self._length,),
            dtype=str if name == REASON else column.dtype,
            chunks=(self._chunk,),
            fill_value=fill,
            dimension_names=("point",),
            attributes=about,
        )
        if name != REASON:
            self._group.attrs["columns"] = [*self._group.attrs.get("columns", ()), name]


def digest_of(columns: Columns) -> str:
    """Of names, types and every bit."""
    digest = sha256()
    for name, column in columns.items():
        digest.update(f"{name} {'str' if name == REASON else column.dtype} {column.shape}".encode())
        digest.update(json.dumps(column.tolist()).encode() if name == REASON else np.ascontiguousarray(column).data)
    return digest.hexdigest()


def zarr_module() -> Any:
    """Zarr. Raises BadInput where it is not installed."""
    try:
        import zarr  # an optional dependency
    except ImportError:
        raise BadInput("zarr is not installed", "pip install 'giantstep[zarr]'") from None
    return zarr


def parts_of_store(path: Path) -> dict[str, Any]:
    """What ``to_dict`` of the dataset gives, of a whole store. Raises BadInput."""
    zarr = zarr_module()
    try:
        group = zarr.open_group(path, mode="r")
        about = dict(group.attrs)
        arrays = {name: group[name][:] for name in group.array_keys()}
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']}")
        _check_parts(arrays, dict(about.get(_WHOLE, {})), int(about["chunk"]))
        status = arrays.pop("status")
        columns: dict[str, Any] = {name: arrays[name] for name in about["columns"] if name != "status"}
        if np.any(status == _UNSOLVED):
            raise BadInput(f"{path} is not finished", "call solve_into again: it goes on from the finished points")
        columns["status"] = tuple(STATUS[number] for number in status.tolist())
        columns[REASON] = tuple(map(str, arrays[REASON])) if REASON in arrays else ("",) * len(status)
    except BadInput:
        raise
    except Exception as error:  # whatever zarr finds
        raise BadInput(f"{path} is no store of solve_into: {error}") from None
    return {
        "model": json.loads(about["model"]),
        "points": {"keys": about["keys"], "shape": about["shape"], **json.loads(about.get("axes", "{}"))},
        "options": {**json.loads(about["options"]), "simulation": None},
        "versions": json.loads(about["versions"]),
        "columns": columns,
    }


def _check_parts(arrays: Mapping[str, NDArray[Any]], parts: Wholes, chunk: int) -> None:
    """Raises ValueError where a part does not hold what was written."""
    for first, whole in parts.items():
        part = slice(int(first), int(first) + chunk)
        count = len(arrays["status"][part])
        held = {name: arrays[name][part] if name in arrays else np.full(count, "", object) for name in whole["columns"]}
        if digest_of(held) != whole["digest"]:
            last = part.start + count - 1
            raise ValueError(f"points {first} to {last} are damaged; solve_into solves them again")
