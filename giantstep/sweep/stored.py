"""More points than fit into memory: solved in parts that go to a Zarr store as they are finished."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep.spec.bars import GivenProgress, Progress, progress_of
from giantstep.spec.counts import checked_count
from giantstep.spec.errors import BadInput
from giantstep.spec.files import suffix_of
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.sweep.axes import Axes, broadcast
from giantstep.sweep.checkpoint import Checkpoint, Outcome
from giantstep.sweep.dataset import Dataset, versions
from giantstep.sweep.grid import check_key
from giantstep.sweep.many import solve_many
from giantstep.sweep.tasks import named
from giantstep.sweep.zarr_store import REASON, STATUS, Columns, Store, Wholes, digest_of

CHUNK = 2**16


@hands_over
def solve_into(
    model: Model,
    path: str | os.PathLike[str],
    values: Mapping[str, Any],
    *,
    chunk: int = CHUNK,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    executor: Executor | int | None = None,
    progress: GivenProgress = None,
) -> Path:
    """Solve a model at very many values of some keys, as ``solve_many`` does, into a Zarr store: a .zarr folder.

    ``chunk`` points at a time are in memory. A run that was stopped, by whatever, goes on after its last whole part
    when it is called again, and the store has the same bits as without the stop; of a finished store nothing is solved
    again but what is damaged. Columns are along the dimension
    ``point``, in the order of ``ravel()`` of the values broadcast against each other; ``status`` is 0 (ok),
    1 (not_converged) or 2 (impossible), ``reason`` says why in words and is left out where there is none.
    ``xarray.open_zarr`` and ``Dataset.read`` read the store. progress: "auto" for a bar with the time left. Raises
    BadInput for values that are not allowed, without zarr, and for a store of other points.
    """
    checked_count("chunk", chunk, 1)
    suffix_of(path, (".zarr",))
    points = _Points.of(values)
    for key, array in points.values.items():
        for value in (array.min(), array.max()):  # what a number may be is an interval: its ends decide
            model.replace({key: value})
    options: dict[str, Any] = {"dimension": dimension, "tolerance": tolerance}
    about: dict[str, Any] = {"model": json.dumps(model.to_dict()), "options": json.dumps(options)}
    about |= {"keys": list(points.values), "values": points.digest(chunk)}
    store = Store(
        Path(path),
        points.shape,
        chunk,
        about,
        {"versions": json.dumps(versions()), "axes": json.dumps(points.axes.to_dict())},
    )

    def solve(rows: Columns, tell: Progress | None) -> Columns:
        try:
            return _numbers(solve_many(model, rows, **options, executor=executor, progress=tell))
        except BadInput as error:
            if not len(done):
                raise  # nothing is possible, or wrong from the start
            count = len(next(iter(rows.values())))
            status, reasons = np.full(count, STATUS.index("impossible"), np.int8), np.full(count, str(error), object)
            return {**rows, "status": status, REASON: reasons}

    finished: Wholes = store.whole
    parts: dict[str, Mapping[str, Any]] = {}
    with Checkpoint(_journal(Path(path))) as done, progress_of(progress) as told:
        for part in points.parts(chunk):
            rows = points.rows(part)
            key = named(model, {"points": digest_of(rows), "at": part.start, **options})
            known = done.get(key)
            whole = finished.get(str(part.start)) if known is None else known.values
            if whole is None or whole["digest"] != store.digest(part, whole["columns"]):
                columns = solve(rows, _within(told, part.start, len(points)))
                store.write(part, columns)
                whole = {"digest": digest_of(columns), "columns": list(columns)}
                done.add({key: Outcome("ok", whole)})
            parts[str(part.start)] = whole
            if told is not None:
                told("points", part.stop, len(points))
        store.finish(parts)
        done.remove()
    return Path(path)


def _journal(path: Path) -> Path:
    """Parts that are whole, beside the store."""
    return path.with_name(f"{path.name}.partial.jsonl")


def _within(told: Progress | None, start: int, total: int) -> Progress | None:
    return None if told is None else lambda _, done, __: told("points", start + done, total)


@dataclass(frozen=True)
class _Points:
    """Arrays of one shape that are views of what was given: no copies."""

    values: Columns
    shape: tuple[int, ...]
    axes: Axes

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> _Points:
        """Raises BadInput for what are no numbers, or shapes that do not go together."""
        if not isinstance(values, Mapping) or not values:
            raise BadInput(f"the values are {shorten(values)}", 'give arrays by key, as {"fit.samples": [0.5, 1.0]}')
        for key in values:
            check_key(key)
        arrays, axes = broadcast(values)
        for key, array in arrays.items():
            if array.dtype.kind != "f":
                raise BadInput(f"the values of {key} are {shorten(values[key])}", "give numbers")
        return cls(arrays, next(iter(arrays.values())).shape, axes)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def parts(self, chunk: int) -> Iterator[slice]:
        """Ranges of rows."""
        for start in range(0, len(self), chunk):
            yield slice(start, min(start + chunk, len(self)))

    def digest(self, chunk: int) -> str:
        """That of all values."""
        every = sha256()
        for part in self.parts(chunk):
            every.update(digest_of(self.rows(part)).encode())
        return every.hexdigest()

    def rows(self, part: slice) -> Columns:
        """The values of some rows."""
        return {key: array.flat[part.start : part.stop] + 0.0 for key, array in self.values.items()}


def _numbers(found: Dataset) -> dict[str, NDArray[Any]]:
    """Columns of numbers, the status as a small one, the reasons as words."""
    columns: dict[str, NDArray[Any]] = {n: c for n, c in found.columns.items() if isinstance(c, np.ndarray)}
    columns["status"] = np.array([STATUS.index(str(one)) for one in found["status"]], dtype=np.int8)
    columns[REASON] = np.array(found[REASON], dtype=object)
    return columns
