"""Very many points: arrays of values in, a dataset back. What shares its features is solved together, in threads."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep.spec.bars import GivenProgress, progress_of
from giantstep.spec.counts import checked_dimension, checked_tolerance
from giantstep.spec.errors import BadInput
from giantstep.spec.given import ModelLike, model_of, tells_model
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Column, Dataset, versions
from giantstep.sweep.grid import Changes
from giantstep.sweep.points import Points, points_of, points_of_models
from giantstep.sweep.tasks import columns_of, outcome_of
from giantstep.sweep.workers import compile_once, executor_of
from giantstep.system.first_compilation import compile_first
from giantstep.system.points import goes_together, parameter_keys

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]

_TOGETHER = 1024  # points of a call of the solver: their numbers stay in the processor's cache
_FEW = 64  # small groups go to a worker together, up to so many points


def solve_many(
    models: ModelLike | Sequence[ModelLike],
    values: Mapping[str, Any] | None = None,
    *,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    executor: Executor | int | None = None,
    progress: GivenProgress = None,
) -> Dataset:
    """Solve a model at many values of some keys, as ``{"fit.samples": array, "fit.ridge": array}``, or many models.

    Arrays are broadcast against each other, those of NumPy by place, those of xarray by name; a row of the dataset
    is a point, in the order of ``ravel()``. Every point is solved and certified as by ``solve``, alone: the numbers
    depend neither on the other points nor on threads. Where there is no solution they are nan, and ``status`` and
    ``reason`` say why. Of the square loss, points with the same features and labels go through one call of the
    kernel; any other model works, point by point. executor: a number of threads for those, of processes for others,
    or any concurrent.futures.Executor; default, a thread for each processor or this one. progress(stage, done,
    total) follows; "auto": a bar with the time left. Raises BadInput for values that are not allowed.
    """
    dimension, tolerance = checked_dimension(dimension), checked_tolerance(tolerance)
    base, points, groups = _given(models, values)
    together = goes_together(base) and all(isinstance(column, np.ndarray) for column in points.values.values())
    if together:
        compile_first(base)  # in no thread: a second process helps
    work = [_Work(tuple(part), dimension, tolerance) for part in _parts(groups)]
    table = _Table(len(points))
    several = _processors() if executor is None and together and len(work) > 1 else executor
    with executor_of(several, threads=together) as workers, progress_of(progress) as told:
        compile_once(base, workers)
        done = 0
        for part, solved in _solved(work, workers):
            for group, found in zip(part.groups, solved, strict=True):
                table.put(group.rows, found)
                done += len(group.rows)
            if told is not None:
                told("theory", done, len(points))
    options = {"dimension": dimension, "tolerance": tolerance, "simulation": None}
    return Dataset(base, points, table.columns(points), options, versions())


@dataclass(frozen=True)
class _Group:
    """Rows of one model but for parameters of the equations: values [P] of these, by key."""

    base: Model
    changes: Changes
    values: Mapping[str, Array]
    rows: Rows

    def __getitem__(self, part: slice) -> _Group:
        values = {key: column[part] for key, column in self.values.items()}
        return _Group(self.base, self.changes, values, self.rows[part])


@dataclass(frozen=True)
class _Solved:
    """Columns of the rows of a group, and the rows without a number: place -> (status, reason)."""

    numbers: Mapping[str, Array]
    failed: Mapping[int, tuple[str, str]]


@dataclass(frozen=True)
class _Work:
    """What a worker does at a time."""

    groups: tuple[_Group, ...]
    dimension: int | None
    tolerance: float

    def run(self) -> list[_Solved]:
        """The columns of each group."""
        return [_solve_group(group, self.dimension, self.tolerance) for group in self.groups]


def _solve_group(group: _Group, dimension: int | None, tolerance: float) -> _Solved:
    """All points together where that is possible; one by one what is left."""
    count = len(group.rows)
    try:
        model = group.base.replace(dict(group.changes))
    except BadInput as error:
        return _Solved({}, dict.fromkeys(range(count), ("impossible", str(error))))
    found = columns_of(model, group.values, dimension, tolerance) if group.values else None
    numbers = {} if found is None else dict(found.numbers)
    failed: dict[int, tuple[str, str]] = {}
    for place in range(count) if found is None else np.flatnonzero(~found.ok).tolist():
        try:
            one = model.replace({key: float(column[place]) for key, column in group.values.items()})
        except BadInput as error:
            failed[place] = "impossible", str(error)
            continue
        outcome = outcome_of(one, dimension, tolerance)
        if outcome.status != "ok":
            failed[place] = outcome.status, outcome.reason
        for name, value in outcome.values.items():
            numbers.setdefault(name, np.full(count, math.nan))[place] = value
    return _Solved(numbers, failed)


@dataclass
class _Table:
    """Columns while they are being filled."""

    rows: int
    numbers: dict[str, Array] = field(default_factory=dict)
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)

    def put(self, rows: Rows, found: _Solved) -> None:
        """Put the columns of some rows in their places."""
        for name, values in found.numbers.items():
            if name not in self.numbers:
                self.numbers[name] = np.full(self.rows, math.nan)
            self.numbers[name][rows] = values
        self.failed |= {int(rows[place]): why for place, why in found.failed.items()}

    def columns(self, points: Points) -> dict[str, Column]:
        """Those of the dataset. Raises BadInput where no point is possible."""
        status, reason = ["ok"] * self.rows, [""] * self.rows
        for row, why in self.failed.items():
            status[row], reason[row] = why
        if len(self.failed) == self.rows and all(one == "impossible" for one in status):
            raise BadInput(f"no point is possible: {reason[0]}")
        errors = {name: np.full(self.rows, math.nan) for name in ("test_error", "train_error")}
        return {**points.values, **errors, **self.numbers, "status": tuple(status), "reason": tuple(reason)}


def _given(
    models: ModelLike | Sequence[ModelLike], values: Mapping[str, Any] | None
) -> tuple[Model, Points, list[_Group]]:
    """(first model, the points, their groups)."""
    if tells_model(models):
        if values is None:
            raise BadInput("there are no values to solve for", 'give arrays by key, as {"fit.samples": [0.5, 1.0]}')
        model, points = model_of(models), points_of(values)
        return model.replace(dict(points.changes(0))), points, _groups(model, points)
    if values is not None or not isinstance(models, Sequence) or not models:
        raise BadInput(f"the models are {shorten(models)}", "give one model with arrays of values, or a list of models")
    for one in models:
        if not tells_model(one):
            raise BadInput(f"the list of models holds {shorten(one)}", "give models")
    several = [model_of(one) for one in models]
    return several[0], points_of_models(several), _groups_of_models(several)


def _groups(model: Model, points: Points) -> list[_Group]:
    """Rows that share features and labels, in the order of their first one. Raises BadInput for impossible values."""
    base = model.replace(dict(points.changes(0)))
    number, codes = np.zeros(len(points), np.intp), []
    for key, column in points.values.items():
        distinct, inverse = np.unique(np.asarray(column), return_inverse=True)
        ends = distinct if distinct.dtype.kind == "U" else distinct[[0, -1]]  # numbers are allowed in intervals
        for value in ends.tolist():
            base.replace({key: value})
        if key not in parameter_keys(base) or distinct.dtype.kind == "U":
            codes.append(inverse.ravel())
    for code in codes:
        number = np.unique(number * (int(code.max()) + 1) + code, return_inverse=True)[1].ravel()
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    free = [key for key in parameter_keys(base) if isinstance(points.values.get(key), np.ndarray)]
    groups = []
    for rows in np.split(order, starts[1:]):
        changes = tuple((key, value) for key, value in points.changes(int(rows[0])) if key not in free)
        taken = {key: np.asarray(points.values[key])[rows] for key in free}
        groups.append(_Group(model, changes, taken, rows))
    return sorted(groups, key=lambda group: int(group.rows[0]))


def _groups_of_models(models: Sequence[Model]) -> list[_Group]:
    """The same of models."""
    found: dict[str, list[int]] = {}
    for row, model in enumerate(models):
        rest = model.to_dict()
        for key in parameter_keys(model):
            table, _, name = key.partition(".")
            rest[table] = {other: value for other, value in rest[table].items() if other != name}
        found.setdefault(json.dumps(rest), []).append(row)
    groups = []
    for rows in found.values():
        first = models[rows[0]]
        values = {key: np.array([models[row].number_at(key) for row in rows]) for key in parameter_keys(first)}
        groups.append(_Group(first, (), values, np.array(rows)))
    return groups


def _parts(groups: Sequence[_Group]) -> Iterator[list[_Group]]:
    """Groups as they go to the workers: large ones in parts, small ones together. Whatever the number of workers."""
    waiting: list[_Group] = []
    for group in groups:
        for start in range(0, len(group.rows), _TOGETHER):
            waiting.append(group[start : start + _TOGETHER])
            if sum(len(one.rows) for one in waiting) >= _FEW:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


def _solved(work: Sequence[_Work], executor: Executor | None) -> Iterator[tuple[_Work, list[_Solved]]]:
    """What is solved, in any order; what has not begun is cancelled where the caller stops."""
    if executor is None:
        for part in work:
            yield part, part.run()
        return
    futures = {executor.submit(part.run): part for part in work}
    try:
        for future in as_completed(futures):
            yield futures.pop(future), future.result()  # whose numbers are kept no longer than they are needed
    finally:
        for future in futures:
            future.cancel()


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
