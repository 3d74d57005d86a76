"""Optimal tuning: the parameters of a model at which the test error, or a metric, is least.

A grid in the logarithms finds where to look; a quasi-Newton method within bounds, with the gradient of implicit
differentiation (``giantstep.gradient``) or, of a metric, of differences, refines its best local minima; the optimum is
a certified solution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import minimize

from giantstep.observe.gradient.parameter_directions import check_key, keys_for
from giantstep.observe.objective import Accuracy, MetricObjective, Objective, Point, objective_of
from giantstep.spec.arguments import checked_names, checked_range, checked_table
from giantstep.spec.bars import GivenProgress, Progress, progress_of
from giantstep.spec.counts import checked_dimension, checked_tolerance
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number, numbers
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "fit.ridge": (1e-6, 1e4),
        "step.learning_rate": (1e-3, 1e3),
        "fit.samples": (0.05, 50.0),
        "network.width": (0.05, 50.0),
        "spike.strength": (1e-3, 1e2),
        "spike.bulk_variance": (1e-2, 1e3),
        "fit.penalty.l1": (1e-4, 10.0),
        "fit.penalty.bound": (1e-2, 1e2),
        "fit.penalty.steepness": (1e-3, 1e2),
    }
)
MOST_KEYS = 3
_POINTS = (25, 9, 6)  # of the grid in each direction, by the number of keys
_REFINED = 2  # local minima of the grid that are refined
_EDGE = 1e-6  # of the logarithm of a range
_GRID_TOLERANCE = 1e-6  # of the errors on the grid, which are compared only
_STEPS = 60


@dataclass(frozen=True, repr=False, eq=False)
class Tuned(Pictured):
    """The optimum: values of the keys, the model and its certified solution.

    value: of the objective, the test error or the metric (name and expression). gradient: d value/d log key; at_edge:
    the keys at an end of their range beyond which it still falls; gradient_norm: largest of the gradient over the keys
    that are not, relative to the value; before: value of the model as given, None where it could not be solved; solves:
    number of points that were tried; flat: the keys along whose range it varies by less than 1e-6 of it everywhere on
    the grid, of which any value is as good.
    """

    values: Mapping[str, float]
    model: Model
    result: Result
    gradient: Mapping[str, float]
    gradient_norm: float
    at_edge: tuple[str, ...]
    before: float | None
    solves: int
    value: float
    metric: tuple[str, str] | None = None
    flat: tuple[str, ...] = ()

    @property
    def test_error(self) -> float:
        """The test error at the optimum, the least one where no metric is tuned."""
        return self.result.test_error

    @property
    def objective(self) -> str:
        """What is least, in words."""
        return "test error" if self.metric is None else self.metric[0]

    def summary(self) -> list[Row]:
        """The optimum, what it was before, the model at it."""
        before = "" if self.before is None else f", {self.before:.6g} before"
        edge = [("at the edge", ", ".join(self.at_edge))] if self.at_edge else []
        return [
            ("best values", numbers(self.values)),
            (self.objective, f"{number(self.value)}{before}"),
            ("gradient norm", f"{self.gradient_norm:.1e}"),
            *edge,
            *([("does not depend on", f"{', '.join(self.flat)} (to {_GRID_TOLERANCE:.0e})")] if self.flat else []),
            ("model", outline(self.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``tune --json``."""
        return {
            "values": dict(self.values),
            "test_error": self.test_error,
            "metric": None if self.metric is None else dict([self.metric]),
            "value": self.value,
            "gradient": dict(self.gradient),
            "gradient_norm": self.gradient_norm,
            "at_edge": list(self.at_edge),
            "flat": list(self.flat),
            "before": self.before,
            "solves": self.solves,
            "solution": self.result.to_dict(),
        }


@takes_model
def tune(
    model: Model,
    over: Sequence[str] | str = "fit.ridge",
    *,
    metric: str | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    progress: GivenProgress = None,
) -> Tuned:
    """The values of the keys ``over`` (one to three) with the least test error, or the least metric, within ranges.

    metric: the name of one of [metrics], or an expression in y and f that is averaged over fresh samples, as "y*f < 0".
    Keys: those of ``gradient``, "fit.ridge", "step.learning_rate" and others; ranges: key -> (low, high), by default
    those of ``RANGES``. progress(stage, done, total) follows the grid, then the minima on it that are refined;
    "auto": a bar. Raises BadInput for a key that cannot be tuned or an empty range, NotConverged where nothing
    could be solved.
    """
    keys = checked_names("over", over, '["fit.ridge", "network.width"]')
    dimension, tolerance = checked_dimension(dimension), checked_tolerance(tolerance)
    ranges = checked_table("ranges", {} if ranges is None else ranges, '{"fit.ridge": (0.01, 100.0)}')
    if not 1 <= len(keys) <= MOST_KEYS:
        raise BadInput(f"{len(keys)} keys cannot be tuned together", f"give one to {MOST_KEYS} of {_names(model)}")
    for key in keys:
        check_key(model, key)
    objective = objective_of(model, metric)
    search = _Search(model, keys, _bounds(keys, ranges), Accuracy(dimension, tolerance), objective)
    with progress_of(progress) as told:
        search.told = told
        before = search.value_of(model)
        points = search.refined_points(search.starts(before))
    best = min(points, key=lambda found: found.value, default=None)
    if best is None:
        raise search.unrefined()
    return search.report(best, before)


def _names(model: Model) -> str:
    return ", ".join(keys_for(model))


def is_at_edge(key: str, value: float) -> bool:
    """Whether a value is an end of the range in which a key is tuned unless another one is given."""
    return any(abs(math.log(value / end)) <= _EDGE * math.log(RANGES[key][1] / RANGES[key][0]) for end in RANGES[key])


def _bounds(keys: Sequence[str], ranges: Mapping[str, tuple[float, float]]) -> Array:
    """Logarithms of the ends of every range, [keys, 2]."""
    for key in ranges:
        if key not in keys:
            raise BadInput(f"a range is given for {key!r}, which is not tuned", f"tuned are {', '.join(keys)}")
    found = []
    for key in keys:
        low, high = checked_range(f"the range of {key}", ranges.get(key, RANGES[key]))
        found.append((math.log(low), math.log(high)))
    return np.array(found)


@dataclass
class _Search:
    """Solutions at points of the logarithms, each started from the last."""

    model: Model
    keys: tuple[str, ...]
    bounds: Array
    accuracy: Accuracy
    objective: Objective
    solves: int = 0
    last: Result | None = None
    refusal: BadInput | NotConverged | None = None  # the first one
    seen: list[Point] = field(default_factory=list)
    told: Progress | None = None
    flat: tuple[str, ...] = ()

    def tell(self, stage: str, done: int, total: int) -> None:
        """Say how far it has come, where somebody listens."""
        if self.told is not None:
            self.told(stage, done, total)

    def refined_points(self, starts: Sequence[Array]) -> list[Point]:
        """What the searches from some starts find."""
        found = []
        for done, start in enumerate(starts):
            self.tell("minima refined", done, len(starts))
            found.append(self.refined(start))
        return [point for point in found if point is not None]

    def at(self, logs: Array) -> Model:
        """The model at a point."""
        return self.model.replace({key: math.exp(x) for key, x in zip(self.keys, logs, strict=True)})

    def value_of(self, model: Model) -> float | None:
        """Its objective; None where it is not solved."""
        self.solves += 1
        try:
            self.last = solve(model, dimension=self.accuracy.dimension, tolerance=_GRID_TOLERANCE, start=self.last)
            return self.objective.value(self.last)
        except (BadInput, NotConverged) as error:
            self.refusal = self.refusal or error
            return None

    def starts(self, before: float | None) -> list[Array]:
        """The best local minima of the grid, and the model as it is where that is better: ``before`` is its objective.

        Raises NotConverged where nothing is solved on the grid.
        """
        points = _POINTS[len(self.keys) - 1]
        axes = [np.linspace(low, high, points) for low, high in self.bounds]
        errors = np.full((points,) * len(axes), np.inf)
        for done, place in enumerate(_snake(errors.shape)):
            self.tell(f"points over {' and '.join(self.keys)}", done, errors.size)
            try:
                value = self.value_of(self.at(np.array([axis[i] for axis, i in zip(axes, place, strict=True)])))
            except BadInput as error:
                self.refusal = self.refusal or error
                continue
            errors[place] = math.inf if value is None else value
        self.flat = tuple(key for axis, key in enumerate(self.keys) if _is_flat(errors, axis))
        local = [place for place in np.ndindex(errors.shape) if _is_least(errors, place)]
        if not local:
            raise self._nothing()
        local.sort(key=lambda place: float(errors[place]))
        found = [np.array([axis[i] for axis, i in zip(axes, place, strict=True)]) for place in local[:_REFINED]]
        return [*found, *self._given()] if before is not None and before < errors.min() else found

    def _given(self) -> list[Array]:
        """The model as it is, where it lies within the ranges."""
        values = np.array([self.model.number_at(key) for key in self.keys])
        if not np.all(values > 0.0):
            return []
        logs, (low, high) = np.log(values), self.bounds.T
        return [logs] if np.all((logs >= low) & (logs <= high)) else []

    def _nothing(self) -> BadInput | NotConverged:
        """Why nothing is solved on the grid: the first refusal, of its kind."""
        assert self.refusal is not None
        told = f"nothing could be solved on a grid over {', '.join(self.keys)}: {self.refusal.message}"
        return type(self.refusal)(told, self.refusal.hint)

    def unrefined(self) -> NotConverged:
        """Why no minimum of the grid is reported, whose points are solved to fewer digits."""
        told = f"no minimum over {', '.join(self.keys)} could be refined"
        if self.refusal is None:
            return NotConverged(told, "narrow the range around values that are solved")
        return NotConverged(f"{told}: {self.refusal.message}", self.refusal.hint)

    def refined(self, start: Array) -> Point | None:
        """The best certified point of a quasi-Newton search from a start; None where there is none."""
        self.seen = []
        minimize(
            self._value,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=list(map(tuple, self.bounds)),
            options={"maxiter": _STEPS, "ftol": 1e-16, "gtol": 1e-12},
        )
        return min(self.seen, key=lambda found: (found.value, self._norm(found)), default=None)

    def _value(self, logs: Array) -> tuple[float, Array]:
        """The objective and its gradient in the logarithms; where nothing is found, a wall that points back."""
        self.solves += 1
        try:
            found = self.objective.point(self.at(logs), self.keys, self.accuracy, self.last)
        except (BadInput, NotConverged) as error:
            self.refusal = self.refusal or error
            worst = max((abs(each.value) for each in self.seen), default=1.0)
            return 10.0 * worst + 1.0, np.zeros(len(self.keys))
        self.last = found.result
        self.seen.append(found)
        return found.value, np.array([found.slopes[key] for key in self.keys])

    def _edges(self, found: Point) -> tuple[str, ...]:
        """Keys at an end of their range that the objective pushes against."""
        at = []
        for key, (low, high) in zip(self.keys, self.bounds, strict=True):
            slope = found.slopes[key]
            x, near = math.log(found.result.model.number_at(key)), _EDGE * (high - low)
            if x - low <= near and slope > 0.0 or high - x <= near and slope < 0.0:
                at.append(key)
        return tuple(at)

    def _norm(self, found: Point) -> float:
        edges = self._edges(found)
        free = [abs(slope) for key, slope in found.slopes.items() if key not in edges]
        return max(free, default=0.0) / max(abs(found.value), 1e-300)

    def report(self, best: Point, before: float | None) -> Tuned:
        """What is returned of the best point."""
        model = best.result.model
        values = {key: model.number_at(key) for key in self.keys}
        metric = self.objective.metrics.entries[0] if isinstance(self.objective, MetricObjective) else None
        return Tuned(
            values,
            model,
            best.result,
            dict(best.slopes),
            self._norm(best),
            self._edges(best),
            before,
            self.solves,
            best.value,
            metric,
            self.flat,
        )


def _snake(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All places of a grid; along the last axis to and fro, so that a place is next to the one before."""
    found = []
    for line, first in enumerate(product(*(range(n) for n in shape[:-1]))):
        last = range(shape[-1]) if line % 2 == 0 else reversed(range(shape[-1]))
        found += [(*first, i) for i in last]
    return found


def _is_flat(errors: Array, axis: int) -> bool:
    """Whether errors that are all known hardly vary along an axis."""
    if not np.isfinite(errors).all():
        return False
    return bool(np.all(np.ptp(errors, axis) <= _GRID_TOLERANCE * np.abs(errors).max(axis)))


def _is_least(errors: Array, place: tuple[int, ...]) -> bool:
    """Whether no neighbour along an axis has a smaller error."""
    value = errors[place]
    for axis, i in enumerate(place):
        for j in (i - 1, i + 1):
            if 0 <= j < errors.shape[axis] and errors[(*place[:axis], j, *place[axis + 1 :])] < value:
                return False
    return bool(np.isfinite(value))
