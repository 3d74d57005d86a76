"""A map of the error over two keys: refined where the error changes, with the line of the optimum."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from giantstep.observe.gradient.parameter_directions import check_key
from giantstep.observe.tune import is_at_edge, tune
from giantstep.spec.bars import GivenProgress, Progress, progress_of
from giantstep.spec.counts import checked_count, checked_tolerance
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row
from giantstep.sweep.checkpoint import Checkpoint, Outcome
from giantstep.sweep.dataset import Column, Dataset, versions
from giantstep.sweep.grid import AxisLike, Changes, Grid, Sweep, grid_of
from giantstep.sweep.measured import names_of
from giantstep.sweep.tasks import SolveUnit, Unit, named, run_units
from giantstep.sweep.tasks import told as with_metrics
from giantstep.sweep.workers import compile_once, executor_of

Array = NDArray[np.float64]
_CHUNK = 64  # points that are kept together; tuned ones, each of some twenty solutions, are kept one by one
_LEVELS = 24  # a step between two lines of the grid is at most this share of the range of the error, or is halved
_MOST_LINES = 4  # times the lines that were asked for
_NUMBERS = ("test_error", "train_error")


@dataclass(frozen=True, repr=False, eq=False)
class Map(Pictured):
    """Errors over two keys, a rectangular grid whose lines are closer where the error changes.

    dataset: a row for every point, x fastest. optimum: a third key, at its best value in every point (a column of the
    dataset), or None. test_error [Y, X]: nan where a point has no solution.
    """

    dataset: Dataset
    optimum: str | None = None

    @property
    def x(self) -> Sweep:
        """The key along the horizontal axis, with its values [X]."""
        return self._sweeps[0]

    @property
    def y(self) -> Sweep:
        """The key along the vertical axis, with its values [Y]."""
        return self._sweeps[1]

    @property
    def test_error(self) -> Array:
        """The test error [Y, X]."""
        return self.values("test_error")

    def values(self, column: str) -> Array:
        """A column of numbers as [Y, X]."""
        return self.dataset.numbers(column).reshape(self.dataset.shape)

    def line(self) -> Array:
        """The value of y with the least test error for every x [X]; nan where that is at an end of its range.

        Between the grid's lines by the parabola through the three best points.
        """
        y = _on_axis(self.y)
        found = [_least(y, column) for column in self.test_error.T]
        return np.exp(found) if self.y.log else np.array(found)

    def least(self) -> int | None:
        """The row of the dataset with the least test error; None where no point has one."""
        error = self.dataset.numbers("test_error")
        return int(np.nanargmin(error)) if np.isfinite(error).any() else None

    def ends(self, row: int) -> tuple[str, ...]:
        """The keys that have the first or the last value of their range at a row; the third key: of what it may be."""
        found = [
            sweep.key
            for sweep, (_, value) in zip(self._sweeps, self.dataset.grid.changes(row), strict=True)
            if value in (sweep.values[0], sweep.values[-1])
        ]
        if self.optimum is not None and is_at_edge(self.optimum, float(self.dataset.numbers(self.optimum)[row])):
            found.append(self.optimum)
        return tuple(found)

    def summary(self) -> list[Row]:
        """The grid, the least test error and where, the third key, the model."""
        best = self.least()
        least = "not known" if best is None else f"{self.dataset.numbers('test_error')[best]:.6g}"
        where = "" if best is None else f" at {self.dataset.point(best)}"
        edge = "" if best is None else ", ".join(self.ends(best))
        tuned = [] if self.optimum is None else [("tuned in every point", self.optimum)]
        return [
            ("points", f"{len(self.dataset)} over {self.dataset.grid}"),
            ("least test error", least + where),
            *([("at an end of the range", f"{edge}: the error may be less beyond it")] if edge else []),
            *tuned,
            ("model", outline(self.dataset.model, self.dataset.grid.keys)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """That of the dataset, whose options name the third key."""
        return self.dataset.to_dict()

    def to_json(self) -> str:
        """JSON text: that of the dataset, whose options name the third key."""
        return self.dataset.to_json()

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Self:
        """The map whose dataset this is, as read from a file. Raises BadInput for another dataset."""
        options = dataset.options.get("map")
        if not isinstance(options, Mapping) or not isinstance(dataset.grid, Grid):
            raise BadInput("the dataset is that of a curve and no map", "read a file that map has written")
        return cls(dataset, options.get("optimum"))

    @property
    def _sweeps(self) -> tuple[Sweep, ...]:
        assert isinstance(self.dataset.grid, Grid)
        return self.dataset.grid.sweeps


@dataclass(frozen=True)
class TuneUnit:
    """One point with a key at its best value: ``base`` with ``changes``, tuned over ``over``."""

    base: Model
    changes: Changes
    over: str
    dimension: int | None
    tolerance: float

    def run(self) -> Outcome:
        """Errors, and the value of the key."""
        try:
            model = self.base.replace(dict(self.changes))
            best = tune(model, self.over, dimension=self.dimension, tolerance=self.tolerance)
        except NotConverged as error:
            return Outcome("not_converged", reason=str(error))
        except BadInput as error:
            return Outcome("impossible", reason=str(error))
        numbers = {name: float(getattr(best.result, name)) for name in _NUMBERS}
        return with_metrics(best.result, {**numbers, self.over: best.values[self.over]})

    def key(self) -> str:
        """Everything that decides the numbers of this point."""
        what = {"tune": self.over, "changes": self.changes, "dimension": self.dimension, "tolerance": self.tolerance}
        return named(self.base, what)


@dataclass(frozen=True)
class _Work:
    """What is solved at a point, and how."""

    model: Model
    optimum: str | None
    dimension: int | None
    tolerance: float
    store: Checkpoint | None
    executor: Executor | None
    progress: Progress | None

    def unit(self, changes: Changes) -> Unit:
        """The work of a point."""
        if self.optimum is None:
            return SolveUnit(self.model, changes, self.dimension, self.tolerance)
        return TuneUnit(self.model, changes, self.optimum, self.dimension, self.tolerance)

    def solve(self, todo: Sequence[Changes], stage: str) -> dict[Changes, Outcome]:
        """Outcomes of points, those that share features one after the other."""
        units = [(changes, self.unit(changes)) for changes in todo]
        units.sort(key=lambda pair: repr(pair[1].shared) if isinstance(pair[1], SolveUnit) else "")
        found: dict[Changes, Outcome] = {}
        for changes, outcome in run_units(units, self.store, self.executor, _CHUNK if self.optimum is None else 1):
            found[changes] = outcome
            if self.progress is not None:
                self.progress(stage, len(found), len(todo))
        return found


@hands_over
def map(
    model: Model,
    x: AxisLike,
    y: AxisLike,
    *,
    optimum: str | None = None,
    refine: int = 2,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    executor: Executor | int | None = None,
    progress: GivenProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Map:
    """Test error and metrics over two keys, "fit.samples=0.1:4:40" and "step.learning_rate=0.1:10:40:log".

    x, y: also as {"fit.samples": array}. optimum: a third key that is tuned in every point, as "fit.ridge". refine:
    rounds in which lines are added to the grid where the error changes by more than a shade between two of them.
    executor, checkpoint and progress are those of ``curve``. Raises BadInput for keys that take no numbers, and where
    no point is possible.
    """
    grid = _increasing(Grid((_axis(x), _axis(y))))
    checked_count("refine", refine, 0)
    tolerance = checked_tolerance(tolerance)
    if dimension is not None:
        checked_count("dimension", dimension, 2)
    base = model.replace(dict(grid.changes(0)))
    names_of(base)
    if optimum is not None:
        if optimum in grid.keys:
            raise BadInput(f"{optimum} is an axis of the map", "tune another key: the best y is drawn in any case")
        check_key(base, optimum)
    most = [_MOST_LINES * len(sweep.values) for sweep in grid.sweeps]
    store = Checkpoint(checkpoint) if checkpoint is not None else None
    with nullcontext() if store is None else store, executor_of(executor) as workers, progress_of(progress) as told:
        compile_once(base, workers)
        work = _Work(base, optimum, dimension, tolerance, store, workers, told)
        known: dict[Changes, Outcome] = {}
        for times in range(refine + 1):
            todo = [changes for row in range(len(grid)) if (changes := grid.changes(row)) not in known]
            known |= work.solve(todo, "theory" if times == 0 else f"finer {times}")
            if times == 0 and all(outcome.status == "impossible" for outcome in known.values()):
                raise BadInput(f"no point of the map is possible: {next(iter(known.values())).reason}")
            finer = _finer(grid, known, most) if times < refine else grid
            if finer == grid:
                break
            grid = finer
    options = {"dimension": dimension, "tolerance": tolerance, "map": {"optimum": optimum}, "simulation": None}
    columns = _columns(grid, [known[grid.changes(row)] for row in range(len(grid))])
    return Map(Dataset(model, grid, columns, options, versions()), optimum)


def _axis(given: AxisLike) -> Sweep:
    sweeps = grid_of(given).sweeps
    if len(sweeps) > 1:
        raise BadInput(f"an axis of a map has one key, not {len(sweeps)}", "give the other one as y")
    return sweeps[0]


def _increasing(grid: Grid) -> Grid:
    """Both sweeps with increasing numbers. Raises BadInput."""
    for sweep in grid.sweeps:
        if not sweep.numeric or len(sweep.values) < 2:
            raise BadInput(
                f"the axis {sweep.key} of a map needs at least two numbers", f"write {sweep.key}=start:stop:count[:log]"
            )
    return Grid(tuple(Sweep(s.key, tuple(sorted(float(value) for value in s.values)), s.log) for s in grid.sweeps))


def _finer(grid: Grid, known: Mapping[Changes, Outcome], most: Sequence[int]) -> Grid:
    """The grid with lines between those that the error differs on by more than a share of its range."""
    rows = [known[grid.changes(row)].values.get("test_error", np.nan) for row in range(len(grid))]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.log(np.array(rows, dtype=float).reshape(grid.shape))
    finite = error[np.isfinite(error)]
    if not finite.size:
        return grid
    step = float(np.ptp(finite)) / _LEVELS
    sweeps = []
    for axis, (sweep, count) in enumerate(zip(grid.sweeps, most, strict=True)):
        change = np.abs(np.diff(error, axis=1 - axis)).max(
            axis=axis, initial=0.0, where=np.isfinite(np.diff(error, axis=1 - axis))
        )
        sweeps.append(_with_lines(sweep, change, step, count))
    return Grid(tuple(sweeps))


def _with_lines(sweep: Sweep, change: Array, step: float, most: int) -> Sweep:
    """A sweep with the middles of the steps in which the change is too large, the largest first, up to ``most``."""
    room = most - len(sweep.values)
    large = [place for place in np.argsort(-change, kind="stable").tolist() if change[place] > step][:room]
    values = [float(value) for value in sweep.values]
    ends = list(pairwise(values))
    middles = [np.sqrt(a * b) if sweep.log else 0.5 * (a + b) for a, b in (ends[place] for place in large)]
    return Sweep(sweep.key, tuple(sorted({*values, *(float(middle) for middle in middles)})), sweep.log)


def _columns(grid: Grid, outcomes: Sequence[Outcome]) -> Mapping[str, Column]:
    found: dict[str, Column] = {sweep.key: np.array(grid.column(i), float) for i, sweep in enumerate(grid.sweeps)}
    names: dict[str, Any] = dict.fromkeys([*_NUMBERS, *(name for one in outcomes for name in one.values)])
    for name in names:
        found[name] = np.array([one.values.get(name, np.nan) for one in outcomes], dtype=np.float64)
    found["status"] = tuple(one.status for one in outcomes)
    found["reason"] = tuple(one.reason for one in outcomes)
    return found


def _on_axis(sweep: Sweep) -> Array:
    """The values where they lie on their axis: logarithms on a logarithmic one."""
    values = np.array(sweep.values, dtype=np.float64)
    return np.log(values) if sweep.log else values


def _least(y: Array, error: Array) -> float:
    """Where a function given at points is least: the vertex of a parabola; nan at an end, and beside an unknown."""
    if not np.any(np.isfinite(error)):
        return float("nan")
    place = int(np.nanargmin(error))
    if place in (0, len(y) - 1) or not np.all(np.isfinite(error[place - 1 : place + 2])):
        return float("nan")
    (a, b, c), (f, g, h) = y[place - 1 : place + 2], error[place - 1 : place + 2]
    below, above = (b - a) * (g - h), (b - c) * (g - f)
    return float(b if below == above else b - 0.5 * ((b - a) * below - (b - c) * above) / (below - above))
