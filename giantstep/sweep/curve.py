"""Learning curves: the theory over a grid of models, with baselines, finite sizes and simulation beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from giantstep.observe.baselines import best_linear_error, has_spike, random_features
from giantstep.observe.finite_system import DEFAULT_KIND, at_dimension, checked_simulation, default_kind, finite_system
from giantstep.observe.measured_steps import standard_error
from giantstep.observe.optimal.optimal import ignored_by_best, samples_of
from giantstep.observe.optimal.optimal import optimal as best_estimator
from giantstep.observe.simulate import DEFAULT_SEEDS
from giantstep.simulate.system import SystemKind
from giantstep.spec.arguments import checked_flag
from giantstep.spec.bars import GivenProgress, Progress, progress_of
from giantstep.spec.counts import checked_count, checked_tolerance
from giantstep.spec.errors import BadInput, GiantstepError, NotConverged
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.sweep.checkpoint import Checkpoint, Outcome
from giantstep.sweep.dataset import Column, Dataset, versions
from giantstep.sweep.grid import Changes, Grid, SweepLike, grid_of
from giantstep.sweep.measured import names_of
from giantstep.sweep.paths import Path, with_paths
from giantstep.sweep.tasks import SeedUnit, SolveUnit, not_parameters, run_units
from giantstep.sweep.workers import compile_once, executor_of
from giantstep.system.points import goes_together

SIMULATED_POINTS = 12
_CHUNK = 64
_FITTED = ("fit.samples", "fit.ridge")  # one simulation covers all their values
_ERRORS = ("test_error", "train_error")
_Row = TypeVar("_Row")


@hands_over
def curve(
    model: Model,
    sweep: SweepLike,
    *,
    simulate: bool = False,
    dimension: int | None = None,
    seeds: int = DEFAULT_SEEDS,
    what: SystemKind | None = None,
    seed: int = 0,
    simulate_points: int = SIMULATED_POINTS,
    executor: Executor | int | None = None,
    progress: GivenProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    baselines: bool = True,
    optimal: bool = False,
    tolerance: float = 1e-10,
) -> Dataset:
    """Errors and metrics of a model along a sweep ("fit.samples=0.2:3:30", or several for a family of curves).

    dimension: adds the theory at that finite size, for whole numbers of neurons and samples, where ``solve`` takes
    ratios as they are. simulate: adds ``seeds`` systems of that dimension, at most
    ``simulate_points`` points spread over the first sweep; points of one feature law share their features, so
    their simulated errors are correlated. executor: a number of processes, or any concurrent.futures.Executor;
    default, in this process. checkpoint: a file of finished points from which an interrupted sweep goes on; delete it
    when the dataset is saved. optimal: adds what the best estimator reaches with all samples.
    progress(stage, done, total) follows; "auto": a bar with the time left. A point that
    cannot be solved has nan and a reason. Raises BadInput for a grid that is not possible, and where no point of it is.
    """
    grid, tolerance = grid_of(sweep), checked_tolerance(tolerance)
    baselines, optimal = checked_flag("baselines", baselines), checked_flag("optimal", optimal)
    checked_count("simulate_points", simulate_points, 1)
    if dimension is not None:
        checked_count("dimension", dimension, 2)
    simulate = checked_simulation(simulate, dimension, (seeds, what, seed))
    plan, what = _Plan(model, grid, dimension, tolerance), what or (default_kind(model) if simulate else DEFAULT_KIND)
    options: dict[str, Any] = {"dimension": dimension, "tolerance": tolerance, "simulation": None}
    if simulate:
        finite_system(plan.base, what)
        options["simulation"] = {"what": what, "seeds": seeds, "seed": seed}
    store = Checkpoint(checkpoint) if checkpoint is not None else None
    with nullcontext() if store is None else store, executor_of(executor) as workers, progress_of(progress) as told:
        compile_once(plan.base, workers)
        work = _Work(store, workers, told)
        table = _Table(len(grid))
        _solve(plan, table, work, "theory")
        if all(status == "impossible" for status in table.status):
            raise BadInput(f"no point of the sweep is possible: {table.reasons[0]}")
        if baselines:
            _add_baselines(plan, table, work)
        if optimal:
            options["optimal"] = {"ignores": _add_optimal(plan, table, work)}
        if dimension is not None:
            _solve(plan, table, work, "finite size")
            _add_sizes(plan, table)
        if simulate:
            _simulate(plan, table, work, _Sampling(what, seeds, seed, simulate_points))
    return Dataset(model, grid, table.columns(grid), options, versions())


class _Plan:
    """The grid with a base model that carries its first values; every value is checked to be possible alone."""

    def __init__(self, model: Model, grid: Grid, dimension: int | None, tolerance: float) -> None:
        self.grid, self.dimension, self.tolerance = grid, dimension, tolerance
        self.base = model.replace(dict(grid.changes(0)))
        self.measured = (*_ERRORS, *names_of(self.base))
        for sweep in grid.sweeps:
            # what a number may be is an interval: its ends decide
            values = (min(sweep.values), max(sweep.values)) if sweep.numeric else sweep.values
            for value in values:
                self.base.replace({sweep.key: value})

    def in_order(self) -> Iterator[int]:
        """The rows, those that share features and labels one after the other."""
        free = {key for key, _ in self.grid.changes(0)} - {key for key, _ in self._shared(0)}
        return map(int, self.grid.rows_along(free).ravel())

    def points(self, dimension: int | None) -> Iterator[tuple[int, Changes, Path]]:
        """The rows in this order, each with the points that lead to it: none where all are solved at once."""
        return _led(self.base, dimension, ((row, self.grid.changes(row)) for row in self.in_order()))

    def _shared(self, row: int) -> Changes:
        return not_parameters(self.base, self.grid.changes(row))


def _led(
    base: Model, dimension: int | None, rows: Iterable[tuple[_Row, Changes]]
) -> Iterator[tuple[_Row, Changes, Path]]:
    """Rows with the points that lead to them: none where all are solved at once."""
    if goes_together(base, dimension):
        return ((row, changes, Path()) for row, changes in rows)
    return with_paths(rows)


@dataclass(frozen=True)
class _Work:
    """How units are run, and who is told."""

    store: Checkpoint | None
    executor: Executor | None
    progress: Progress | None

    def tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total)


@dataclass(frozen=True)
class _Sampling:
    """What is simulated."""

    what: SystemKind
    seeds: int
    seed: int
    points: int


class _Table:
    """Columns while they are being filled."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.status = [""] * rows
        self.reasons = [""] * rows
        self._numbers: dict[str, NDArray[np.float64]] = {}

    def put(self, name: str, row: int, value: float) -> None:
        self.column(name)[row] = value

    def column(self, name: str) -> NDArray[np.float64]:
        """A column of numbers, made of nan at its first use."""
        if name not in self._numbers:
            self._numbers[name] = np.full(self.rows, math.nan)
        return self._numbers[name]

    def possible(self) -> list[int]:
        """The rows whose values make a model."""
        return [row for row, status in enumerate(self.status) if status != "impossible"]

    def because(self, row: int, stage: str, reason: str) -> None:
        text = reason if stage == "theory" else f"{stage}: {reason}"
        self.reasons[row] = f"{self.reasons[row]} | {text}" if self.reasons[row] else text

    def columns(self, grid: Grid) -> Mapping[str, Column]:
        found: dict[str, Column] = {}
        for number, sweep in enumerate(grid.sweeps):
            column = grid.column(number)
            found[sweep.key] = np.array(column, dtype=np.float64) if sweep.numeric else tuple(map(str, column))
        for error in _ERRORS:
            found[error] = self.column(error)
        found |= self._numbers
        found["status"], found["reason"] = tuple(self.status), tuple(self.reasons)
        return found


def _solve(plan: _Plan, table: _Table, work: _Work, stage: str) -> None:
    """Theory at every row; at the sizes of the dimension for the stage "finite size"."""
    dimension = plan.dimension if stage == "finite size" else None
    units = (
        (row, SolveUnit(plan.base, changes, dimension, plan.tolerance, path, stage, whole=True))
        for row, changes, path in plan.points(dimension)
    )
    for done, (row, outcome) in enumerate(run_units(units, work.store, work.executor, _CHUNK), 1):
        if stage == "theory":
            table.status[row] = outcome.status
        _record(plan, table, stage, (row,), outcome)
        work.tell(stage, done, len(plan.grid))


def _record(plan: _Plan, table: _Table, stage: str, rows: Iterable[int], outcome: Outcome) -> None:
    """Put the numbers of an outcome into its rows: all of the theory's, the errors and metrics of the others."""
    prefix = "" if stage == "theory" else f"{stage.replace(' ', '_')}_"
    names = outcome.values if stage == "theory" else [name for name in plan.measured if name in outcome.values]
    for row in rows:
        if outcome.reason:
            table.because(row, stage, outcome.reason)
        for name in names:
            table.put(prefix + name, row, outcome.values[name])


def _add_baselines(plan: _Plan, table: _Table, work: _Work) -> None:
    """Plain random features, solved once where the sweep changes only the step; best linear predictor."""
    links: dict[str, float] = {}
    for row in table.possible():
        model = plan.base.replace(dict(plan.grid.changes(row)))
        if model.fit.loss.form != "margin":  # of signs a linear one is no bound
            link = model.target.mean_link
            table.put("best_linear_test_error", row, links.setdefault(link, _linear(link)))
    if not has_spike(plan.base):
        return
    base = random_features(plan.base)
    of_step = {key for key in plan.grid.keys if key.partition(".")[0] in ("step", "spike")}
    shared = plan.grid.rows_along(of_step)
    points = _led(base, None, ((rows, plan.grid.without(of_step, int(rows[0]))) for rows in shared))
    stage = "random features"
    units = ((rows, SolveUnit(base, kept, None, plan.tolerance, path, stage)) for rows, kept, path in points)
    for done, (rows, outcome) in enumerate(run_units(units, work.store, work.executor, _CHUNK), 1):
        _record(plan, table, stage, rows, outcome)
        work.tell(stage, done, len(shared))


def _add_optimal(plan: _Plan, table: _Table, work: _Work) -> str:
    """What the best estimator reaches, solved once where the sweep changes neither target nor samples; returns what it
    is not told of some point.
    """
    found: dict[tuple[object, ...], float] = {}
    ignored = ""
    for row in table.possible():
        model = plan.base.replace(dict(plan.grid.changes(row)))
        ignored = ignored or ignored_by_best(model)
        key = (model.target, samples_of(model), model.fit.loss.form)
        if key not in found:
            try:
                error = best_estimator(model).test_error
            except NotConverged:
                error = None
            found[key] = math.nan if error is None else error
        table.put("optimal_test_error", row, found[key])
        work.tell("best estimator", row + 1, len(plan.grid))
    return ignored


def _linear(link: str) -> float:
    try:
        return best_linear_error(link)
    except GiantstepError:
        return math.nan


def _add_sizes(plan: _Plan, table: _Table) -> None:
    """Where the finite system really lies on the x axis: ratios of whole numbers."""
    assert plan.dimension is not None
    key, numeric = plan.grid.x.key, plan.grid.x.numeric
    if not numeric:
        return
    rounded: dict[float, float] = {}
    for row in range(len(plan.grid)):
        value = dict(plan.grid.changes(row))[key]
        assert isinstance(value, float)
        if value not in rounded:
            try:
                there = at_dimension(plan.base.replace({key: value}), plan.dimension)
                rounded[value] = there.number_at(key)
            except BadInput:
                rounded[value] = math.nan
        table.put("finite_size_x", row, rounded[value])


def _simulate(plan: _Plan, table: _Table, work: _Work, sampling: _Sampling) -> None:
    """All seeds of all feature laws; errors, standard errors and z-scores into the simulated rows."""
    groups = list(_groups(plan, sampling.points))
    total = len(groups) * sampling.seeds
    units = (
        ((number, index), _seed_unit(plan, group, sampling, index))
        for number, group in enumerate(groups)
        for index in range(sampling.seeds)
    )
    found: dict[int, dict[int, Outcome]] = {}
    for done, ((number, index), outcome) in enumerate(run_units(units, work.store, work.executor, 1), 1):
        found.setdefault(number, {})[index] = outcome
        work.tell("simulation", done, total)
    failed = {}
    for number, group in enumerate(groups):
        outcomes = [found[number][index] for index in range(sampling.seeds)]
        bad = next((one for one in outcomes if one.status != "ok"), None)
        if bad is not None:
            failed[number] = bad.reason
            for row in group.cells:
                table.because(row, "simulation", bad.reason)
            continue
        _record_simulation(plan, table, group, outcomes)
    if len(failed) == len(groups):
        raise BadInput(failed[0])


@dataclass(frozen=True)
class _Group:
    """Rows with one feature law, each with its cell in the table samples x ridges, flattened."""

    changes: Changes
    samples: tuple[float, ...]
    ridges: tuple[float, ...]
    cells: Mapping[int, int]


def _groups(plan: _Plan, points: int) -> Iterator[_Group]:
    """The simulated rows, gathered by what is not fitted: a group shares first layers and features."""
    length = len(plan.grid.x.values)
    chosen = set(np.unique(np.linspace(0, length - 1, min(points, length)).round()).astype(int).tolist())
    laws: dict[Changes, list[int]] = {}
    for row in range(len(plan.grid)):
        if row % length in chosen:
            law = tuple((key, value) for key, value in plan.grid.changes(row) if key not in _FITTED)
            laws.setdefault(law, []).append(row)
    for law, rows in laws.items():
        fitted = {row: _fitted(plan, row) for row in rows}
        samples = tuple(dict.fromkeys(alpha for alpha, _ in fitted.values()))
        ridges = tuple(dict.fromkeys(ridge for _, ridge in fitted.values()))
        cells = {
            row: samples.index(alpha) * len(ridges) + ridges.index(ridge) for row, (alpha, ridge) in fitted.items()
        }
        yield _Group(law, samples, ridges, cells)


def _fitted(plan: _Plan, row: int) -> tuple[float, float]:
    changes = dict(plan.grid.changes(row))
    samples = changes.get("fit.samples", plan.base.fit.samples)
    ridge = changes.get("fit.ridge", plan.base.fit.ridge)
    return float(samples), float(ridge)


def _seed_unit(plan: _Plan, group: _Group, sampling: _Sampling, index: int) -> SeedUnit:
    assert plan.dimension is not None
    model = plan.base.replace(dict(group.changes))
    return SeedUnit(model, sampling.what, plan.dimension, sampling.seed, index, group.samples, group.ridges)


def _record_simulation(plan: _Plan, table: _Table, group: _Group, outcomes: list[Outcome]) -> None:
    for name in plan.measured:
        values = np.array([one.values[name] for one in outcomes], dtype=np.float64)
        mean, error = values.mean(axis=0), standard_error(values)
        for row, cell in group.cells.items():
            table.put(f"simulation_{name}", row, mean[cell])
            table.put(f"simulation_{name}_standard_error", row, error[cell])
            theory = table.column(f"finite_size_{name}")[row]
            score = (mean[cell] - theory) / error[cell] if error[cell] > 0.0 else math.nan
            table.put(f"simulation_{name}_z_score", row, score)
