"""Units of work of a sweep: small records that say what to solve or simulate, and run anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from giantstep import __version__
from giantstep.law.spike import SpikeParameters
from giantstep.observe.finite_system import at_dimension, finite_system
from giantstep.observe.simulate import simulate_seed
from giantstep.simulate.system import SystemKind
from giantstep.spec.errors import BadInput, GiantstepError, NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.checkpoint import Checkpoint, Outcome, key_of
from giantstep.sweep.grid import Changes
from giantstep.sweep.paths import Leaders, Path
from giantstep.system.points import goes_together, parameter_keys, solve_points
from giantstep.system.result import Result
from giantstep.system.solve import solve

#: Points of a family with more blocks than this carry no columns of order parameters: there are K^2 of them.
MAX_BLOCKS_WITH_ORDER_PARAMETERS = 4
IN_FLIGHT = 64


#: Numbers of a result that say how good it is, and those it is for.
EVIDENCE = ("test_error", "train_error", "free_energy", "training_loss", "residual", "quadrature_error")


@dataclass(frozen=True)
class Columns:
    """Numbers of many points by column; nan where a point is not ``ok`` [P]."""

    ok: NDArray[np.bool_]
    numbers: Mapping[str, NDArray[np.float64]]


class Unit(Protocol):
    """A unit of work: run it, or name it."""

    def run(self) -> Outcome:
        """Do the work. Errors of the model or of its solution are outcomes."""

    def key(self) -> str:
        """Name in a checkpoint."""


@dataclass(frozen=True)
class SolveUnit:
    """One solve: ``base`` with ``changes``; whole: at the sizes of networks of the dimension, which are whole numbers.

    path: the points that lead to this one; stage: of the sweep, what it is solved for.
    """

    base: Model
    changes: Changes
    dimension: int | None
    tolerance: float
    path: Path = Path()
    stage: str = "theory"
    whole: bool = False

    def run(self) -> Outcome:
        """Errors, spike and order parameters."""
        *_, last = self.run_path()
        return last

    def run_path(self) -> Iterator[Outcome]:
        """The same of all points of the path, from its first to this one."""
        leaders = Leaders()
        for place, changes in self.path.points(self.changes):
            try:
                model = self.base.replace(dict(changes))
                if self.whole and self.dimension is not None:
                    model = at_dimension(model, self.dimension)
            except BadInput as error:
                yield Outcome("impossible", reason=str(error))
                continue
            outcome, result = _solved(model, self.dimension, self.tolerance, leaders.start(place))
            if result is not None:
                leaders.add(place, result)
            yield outcome

    @property
    def shared(self) -> Changes:
        """The changes that points have in common which are solved together."""
        return not_parameters(self.base, self.changes)

    def key(self) -> str:
        """The model is named by its base and the changes: cheaper than building it."""
        what: dict[str, Any] = {"changes": self.changes, "dimension": self.dimension, "tolerance": self.tolerance}
        what |= {} if self.dimension is None else {"whole": self.whole}
        led = {"path": [self.path.key, self.path.before]} if self.path.before else {}
        return named(self.base, {"solve": None, **what, **led}, self.stage)


@dataclass(frozen=True)
class SeedUnit:
    """One seed of a simulation, all its sample sizes and ridges at once."""

    model: Model
    what: SystemKind
    dimension: int
    seed: int
    index: int
    samples: tuple[float, ...]
    ridges: tuple[float, ...]

    def run(self) -> Outcome:
        """Test and train errors and metrics, sample after sample, the ridges of a sample together."""
        try:
            system = finite_system(at_dimension(self.model, self.dimension), self.what)
            found = simulate_seed(system, self.what, self.dimension, self.seed, self.index, self.samples, self.ridges)
        except BadInput as error:
            return Outcome("impossible", reason=str(error))
        values = {"test_error": found.test_error, "train_error": found.train_error}
        if self.model.metrics is not None:
            values |= self.model.metrics.by_name(found.metrics)
        return Outcome("ok", {name: each.ravel().tolist() for name, each in values.items()})

    def key(self) -> str:
        """Everything that decides the numbers of this seed."""
        return named(
            self.model,
            {
                "simulate": None,
                "what": self.what,
                "dimension": self.dimension,
                "seed": [self.seed, self.index],
                "samples": self.samples,
                "ridges": self.ridges,
            },
            "simulation",
        )


def named(model: Model, what: Mapping[str, Any], stage: str = "theory") -> str:
    """A name for what is done with a model by this version of the program, at a stage of a sweep."""
    return key_of({**what, "model": _digest(model), "program": _program()}, stage)


def not_parameters(base: Model, changes: Changes) -> Changes:
    """Changes without those of plain parameters of the equations, which share features and labels.

    base: a model with the tables of all points.
    """
    free = parameter_keys(base)
    return tuple((key, value) for key, value in changes if key not in free or not isinstance(value, float))


@lru_cache(maxsize=64)
def _digest(model: Model) -> str:
    return key_of(model.to_dict())


@lru_cache(maxsize=1)
def _program() -> str:
    """Version of the program and of its kernels: points of another version are computed afresh."""
    manifest = resources.files("generated").joinpath("MANIFEST.json")
    return key_of({"version": __version__, "kernels": manifest.read_text() if manifest.is_file() else ""})


def outcome_of(model: Model, dimension: int | None, tolerance: float) -> Outcome:
    """What ``solve`` finds for a model, errors included."""
    return _solved(model, dimension, tolerance, None)[0]


def _solved(
    model: Model, dimension: int | None, tolerance: float, start: Result | None
) -> tuple[Outcome, Result | None]:
    """The same with the result, if there is one."""
    try:
        result = solve(model, dimension=dimension, tolerance=tolerance, start=start)
        return told(result, _numbers_of(result)), result
    except NotConverged as error:
        return Outcome("not_converged", reason=str(error)), None
    except BadInput as error:
        return Outcome("impossible", reason=str(error)), None


def told(result: Result, numbers: Mapping[str, float]) -> Outcome:
    """The outcome of a solution with these numbers, and the metrics of its model."""
    if result.model.metrics is None:
        return Outcome("ok", dict(numbers))
    from giantstep.sweep.measured import measured  # most models have none

    found, reason = measured(result)
    return Outcome("ok", {**numbers, **found}, reason)


def _numbers_of(result: Result) -> dict[str, float]:
    """Columns of one result. Raises NotConverged where one is not finite."""
    evidence = {name: getattr(result, name) for name in EVIDENCE}
    numbers = {name: float(value) for name, value in _columns(evidence, result.order_parameters, result.spike).items()}
    if not all(map(math.isfinite, numbers.values())):
        bad = [f"{name} = {value}" for name, value in numbers.items() if not math.isfinite(value)]
        raise NotConverged(f"the solution is not finite: {', '.join(bad)}")
    return numbers


def _columns(
    evidence: Mapping[str, Any], order_parameters: Mapping[str, NDArray[np.float64]], spike: SpikeParameters
) -> dict[str, Any]:
    """The columns of a table by name: of one point, or of all points on the last axis of the numbers."""
    found = {**evidence, "spike_strength": spike.strength, "spike_alignment": spike.alignment}
    variances = tuple(spike.bulk_variance)
    if len(variances) <= MAX_BLOCKS_WITH_ORDER_PARAMETERS:
        found |= {f"bulk_variance_{index + 1}": value for index, value in enumerate(variances)}
        points = np.ndim(evidence["test_error"])
        for name, values in order_parameters.items():
            own, further = values.shape[: values.ndim - points], values.shape[values.ndim - points :]
            rows = values.reshape(-1, *further) if further else values.ravel().tolist()
            found |= zip(_members(name, own), rows, strict=True)
    return found


@lru_cache(maxsize=64)
def _members(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the members of a family of order parameters."""
    return tuple(f"{name}_{''.join(str(place + 1) for place in index)}" for index in np.ndindex(shape))


def columns_of(
    model: Model, values: Mapping[str, NDArray[np.float64]], dimension: int | None, tolerance: float
) -> Columns | None:
    """Columns of a model at values [P] of ``parameter_keys``, all at a time; None where they have to be solved one by
    one. A point that is not certified has nan.
    """
    if model.metrics is not None or not goes_together(model, dimension):
        return None
    try:
        for key, column in values.items():  # what a number may be is an interval: its ends decide
            model.replace({key: float(column.min())})
            model.replace({key: float(column.max())})
        found = solve_points(model, values, dimension, tolerance)
    except GiantstepError:
        return None
    columns = _columns(found.evidence, found.order_parameters, found.spike)
    return Columns(found.ok, {name: np.where(found.ok, column, np.nan) for name, column in columns.items()})


_Slot = TypeVar("_Slot")
_Chunk = Future[tuple[Outcome, ...]]
_Pending = dict[_Chunk, tuple[list[_Slot], list[str]]]
_Ended = SimpleQueue[_Chunk]


def run_units(
    units: Iterable[tuple[_Slot, Unit]],
    checkpoint: Checkpoint | None,
    executor: Executor | None,
    chunk: int,
) -> Iterator[tuple[_Slot, Outcome]]:
    """Outcomes of units, each with its slot, in any order: known ones from the checkpoint, others as they end.

    Without an executor the work is done here. At most ``IN_FLIGHT`` chunks are handed over at a time, so that
    a large grid is never in memory at once; what has not begun is cancelled where the caller stops.
    """
    pending: _Pending[_Slot] = {}
    ended: _Ended = SimpleQueue()
    try:
        for part in _chunks(units, chunk):  # of whole paths
            slots, todo, keys = [], [], []
            for slot, unit in part:
                key = "" if checkpoint is None else unit.key()
                known = None if checkpoint is None else checkpoint.get(key)
                if known is not None:
                    yield slot, known
                    continue
                slots.append(slot)
                todo.append(unit)
                keys.append(key)
            if not todo:
                continue
            if executor is None:
                yield from _kept(slots, keys, run_all(todo), checkpoint)
                continue
            future = executor.submit(run_all, todo)
            pending[future] = (slots, keys)
            future.add_done_callback(ended.put)
            if len(pending) >= IN_FLIGHT:
                yield from _finished(pending, ended, checkpoint)
        while pending:
            yield from _finished(pending, ended, checkpoint)
    finally:
        for future in pending:
            future.cancel()


def run_all(units: Sequence[Unit]) -> tuple[Outcome, ...]:
    """Run units, those together that share their features: the function an executor is given."""
    known: dict[int, Outcome] = {}
    for places in _together(units).values():
        known |= _run_together([(place, unit) for place in places if isinstance(unit := units[place], SolveUnit)])
    for path in _along_paths([(place, unit) for place, unit in enumerate(units) if place not in known]):
        known |= _run_along(path)
    return tuple(known[place] if place in known else unit.run() for place, unit in enumerate(units))


def _along_paths(units: Sequence[tuple[int, Unit]]) -> Iterable[list[tuple[int, SolveUnit]]]:
    """Units with their places, those of a path together."""
    paths: dict[object, list[tuple[int, SolveUnit]]] = {}
    for place, unit in units:
        if isinstance(unit, SolveUnit):
            _, first = next(unit.path.points(unit.changes))
            paths.setdefault((id(unit.base), unit.dimension, unit.tolerance, first), []).append((place, unit))
    return paths.values()


def _run_along(units: Sequence[tuple[int, SolveUnit]]) -> dict[int, Outcome]:
    """Place -> outcome of units of one path."""
    _, furthest = max(units, key=lambda one: len(one[1].path.before))
    outcomes = list(furthest.run_path())
    return {place: outcomes[len(unit.path.before)] for place, unit in units}


def _together(units: Sequence[Unit]) -> dict[object, list[int]]:
    """Places of units that differ in parameters of the equations alone."""
    groups: dict[object, list[int]] = {}
    for place, unit in enumerate(units):
        if isinstance(unit, SolveUnit) and unit.dimension is None:
            groups.setdefault((id(unit.base), unit.tolerance, unit.shared), []).append(place)
    return groups


def _run_together(units: Sequence[tuple[int, SolveUnit]]) -> dict[int, Outcome]:
    """Place -> outcome of units that were solved."""
    first = units[0][1]
    if len(units) == 1:
        return {}
    try:
        model = first.base.replace(dict(first.changes))
    except BadInput:
        return {}
    changes = [dict(unit.changes) for _, unit in units]
    keys = [key for key, _ in first.changes if key not in dict(first.shared)]
    values = {key: np.array([one[key] for one in changes], dtype=np.float64) for key in keys}
    columns = columns_of(model, values, None, first.tolerance)
    if columns is None:
        return {}
    names, rows = tuple(columns.numbers), np.array(list(columns.numbers.values())).T.tolist()
    return {
        place: Outcome("ok", dict(zip(names, row, strict=True)))
        for (place, _), row, ok in zip(units, rows, columns.ok.tolist(), strict=True)
        if ok
    }


def _chunks(items: Iterable[tuple[_Slot, Unit]], size: int) -> Iterator[list[tuple[_Slot, Unit]]]:
    """Items of at least ``size`` units at a time, which end where a path does."""
    part: list[tuple[_Slot, Unit]] = []
    for slot, unit in items:
        begins = not (isinstance(unit, SolveUnit) and unit.path.before)
        if len(part) >= size and begins:
            yield part
            part = []
        part.append((slot, unit))
    if part:
        yield part


def _finished(
    pending: _Pending[_Slot], ended: _Ended, checkpoint: Checkpoint | None
) -> Iterator[tuple[_Slot, Outcome]]:
    """Outcomes of the chunk that ends first.

    `concurrent.futures.wait` locks every chunk again and again; a signal that comes meanwhile leaves one locked,
    and the pool waits for it forever.
    """
    future = ended.get()
    slots, keys = pending.pop(future)
    yield from _kept(slots, keys, future.result(), checkpoint)


def _kept(
    slots: Sequence[_Slot], keys: Sequence[str], outcomes: Sequence[Outcome], checkpoint: Checkpoint | None
) -> Iterator[tuple[_Slot, Outcome]]:
    if checkpoint is not None:
        # what is impossible is found again at once, and may be due to this machine
        known = zip(keys, outcomes, strict=True)
        checkpoint.add({key: outcome for key, outcome in known if outcome.status != "impossible"})
    yield from zip(slots, outcomes, strict=True)
