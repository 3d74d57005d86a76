"""How much several giant steps are worth: overlap and errors against their number, for a batch of each and a budget.

Source: THEORY section 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.law.layer_state import LayerState
from giantstep.observe.simulate import Simulation, simulate
from giantstep.simulate.layer import MeasuredStep
from giantstep.spec.bars import GivenMessages, messages_of
from giantstep.spec.counts import checked_count, checked_dimension, checked_seeds
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number
from giantstep.spec.step_table import MOST_STEPS
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray


@dataclass(frozen=True)
class StepsPoint:
    """A network after some steps, each on samples = n0/d of its own: the solution, or in words why there is none, or no
    simulation.

    overlaps: of every theta_i the length of its part in the span of the rows' means, nan where that is not known.
    simulation: networks of some dimension, with measured overlaps [seed, index] where the theory has that span.
    """

    steps: int
    samples: float
    overlaps: tuple[float, ...]
    result: Result | None
    reason: str = ""
    simulation: Simulation | None = None
    measured: Array | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; None for what is not known."""
        overlaps = [value if math.isfinite(value) else None for value in self.overlaps]
        found: dict[str, Any] = {"steps": self.steps, "samples": self.samples, "overlaps": overlaps}
        for name in ("test_error", "train_error"):
            found[name] = None if self.result is None else getattr(self.result, name)
        if self.simulation is not None:
            shown = self.simulation.to_dict()
            found["simulation"] = {name: shown[name] for name in ("test_error", "train_error", "dimension", "seeds")}
            found["simulation"]["overlaps"] = None if self.measured is None else self.measured.mean(axis=0).tolist()
        return found | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, repr=False, eq=False)
class Steps(Pictured):
    """Points by the number of steps, from none on: ``each`` with the same batch for every step, ``shared`` with one
    number of samples, ``total`` = n0/d, for all steps together.
    """

    model: Model
    total: float
    each: tuple[StepsPoint, ...]
    shared: tuple[StepsPoint, ...]

    @property
    def repeated(self) -> bool:
        """Whether steps of ``each`` take one batch."""
        return self.model.step is not None and self.model.step.batch == "same"

    @property
    def remark(self) -> str:
        """That steps of the model which differ are not those that are taken; empty where they do not."""
        taken = {(step.samples, step.learning_rate) for step in self.model.steps}
        if len(taken) < 2:
            return ""
        last = self.model.steps[-1]
        return f"the steps of the model differ: all are like its last one (learning rate {last.learning_rate:g})"

    def summary(self) -> list[Row]:
        """The best number of steps of both kinds, the model."""
        rows = [("steps", f"0 to {self.each[-1].steps}")]
        for name, points in ((f"{self.each[-1].samples:g} d samples each", self.each), (self._budget, self.shared)):
            best = min(points, key=_error)
            if best.result is not None:
                rows.append((name, f"least test error {number(best.result.test_error)} after {best.steps}"))
        remark = [("remark", self.remark)] if self.remark else []
        return [*rows, *remark, ("model", outline(self.model))]

    @property
    def _budget(self) -> str:
        return f"{self.total:g} d samples in all"

    def to_dict(self) -> dict[str, Any]:
        """The object of ``steps --json``."""
        points = {name: [point.to_dict() for point in getattr(self, name)] for name in ("each", "shared")}
        return {**points, "total_samples": self.total, "model": self.model.to_dict()}


def _error(point: StepsPoint) -> float:
    return math.inf if point.result is None else point.result.test_error


@takes_model
def steps(
    model: Model,
    most: int = 6,
    *,
    total: float | None = None,
    dimension: int | None = None,
    seeds: int = 0,
    seed: int = 0,
    progress: GivenMessages = None,
) -> Steps:
    """Overlap with the target, test and training error after 0, 1, ..., ``most`` giant steps.

    Each step is like the last one of the model; with batch = "same" all steps take one batch in the first curve, and
    fresh ones in the second. ``total``: samples over d that all steps share in the second curve, by default those of
    all steps of the model. ``dimension``: with the correction of that size; ``seeds``: networks of that dimension are
    simulated too. progress(done, total, message) follows; "auto": a bar. Points that are not solved say why. Raises
    BadInput for a model without a giant step. Source: docs/theory.md, section 12.
    """
    checked_count("most", most, 1)
    dimension = checked_dimension(dimension)
    checked_seeds(seeds, 0)
    last = model.step
    if last is None or last.exponent < 0.5 or last.bulk == "matrix":
        raise BadInput(
            "the model has no giant step that could be taken several times",
            "give [step] with samples and learning_rate, without exponent and matrix",
        )
    if most > MOST_STEPS:
        raise BadInput(f"most = {most} steps are too many", f"give at most {MOST_STEPS}")
    if seeds and dimension is None:
        raise BadInput("the simulation needs a dimension", "give dimension, e.g. 500")
    fresh = (step.samples for step in model.steps if step.batch == "fresh")
    budget = math.fsum(fresh) if total is None else total
    if isinstance(budget, bool) or not (isinstance(budget, int | float) and math.isfinite(budget) and budget > 0.0):
        raise BadInput(f"total = {budget!r} is not allowed", "give the samples of all steps over d, a number > 0")
    settings = [(count, last.samples, last.batch) for count in range(1, most + 1)]
    settings += [(count, budget / count, "fresh") for count in range(1, most + 1)]
    points = []
    with messages_of(progress, "networks") as told:
        for done, (count, samples, batch) in enumerate([(0, 0.0, "fresh"), *settings]):
            if told is not None:
                told(done, len(settings) + 1, f"{count} steps of {samples:g} d samples")
            points.append(_point(_taken(model, count, samples, batch), (dimension, seeds, seed)))
    none, *others = points
    return Steps(model, budget, (none, *others[:most]), (none, *others[most:]))


def _taken(model: Model, count: int, samples: float, batch: str) -> Model:
    """The model after so many steps like its last one, the bulk among them; batch: of those after the first."""
    if count == 0:
        return model.replace(step=None)
    assert model.step is not None
    one = {"samples": samples, "learning_rate": model.step.learning_rate, "bulk": model.step.bulk}
    return model.replace({"step": [one, *[{**one, "batch": batch}] * (count - 1)]})


def _point(model: Model, simulated: tuple[int | None, int, int]) -> StepsPoint:
    count, samples = len(model.steps), model.step.samples if model.step is not None else 0.0
    run, reason = _networks(model, *simulated)
    try:
        result = solve(model if run is None else run.model, dimension=simulated[0])
    except GiantstepError as error:
        return StepsPoint(count, samples, (math.nan,) * model.target.indices, None, error.message, run)
    states = result.steps
    overlaps = _overlaps(states[-1]) if states else (0.0,) * model.target.indices
    measured = None if run is None else _measured(run, states)
    return StepsPoint(count, samples, overlaps, result, reason, run, measured)


def _networks(model: Model, dimension: int | None, seeds: int, seed: int) -> tuple[Simulation | None, str]:
    """Simulated networks, or none and why."""
    if dimension is None or not seeds:
        return None, ""
    try:
        return simulate(model, dimension=dimension, seeds=seeds, seed=seed, what="network"), ""
    except GiantstepError as error:
        return None, error.message


def _overlaps(state: LayerState) -> tuple[float, ...]:
    """Of every theta_i the length of its part in the span of the v_j."""
    return tuple(float(np.linalg.norm(column)) for column in np.array(state.overlaps).T)


def _measured(run: Simulation, states: tuple[LayerState, ...]) -> Array:
    """The same of every network, [seed, index], in the span of as many directions as the theory has."""
    if not states:
        return np.zeros((run.seeds, run.model.target.indices))
    last: MeasuredStep = run.steps[-1]
    sizes, basis = np.linalg.eigh(last.products)
    leading = slice(-states[-1].rank, None)
    along = np.einsum("skj,ski->sji", basis[..., leading], last.overlaps)
    return np.asarray(np.sqrt(np.sum(along**2 / sizes[:, leading, None], axis=1)))
