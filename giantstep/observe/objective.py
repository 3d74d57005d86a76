"""What tuning makes least: the test error with its exact gradient, or a metric with differences of solutions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from derive.language.grammar import did_you_mean, shorten
from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.metrics import metrics_of
from giantstep.spec.errors import BadInput
from giantstep.spec.metrics import Metrics
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

OWN = "metric"  # the name of a metric that is given as an expression
#: Steps of a difference in the logarithm of a key, and their weights: the error is 1e-8 of the derivatives that follow,
#: and as much of rounding, a metric being known to 1e-10.
_STEP, _WEIGHTS = 0.02, {-2: 1.0 / 12.0, -1: -2.0 / 3.0, 1: 2.0 / 3.0, 2: -1.0 / 12.0}


@dataclass(frozen=True)
class Accuracy:
    """The dimension and the tolerance of solutions."""

    dimension: int | None
    tolerance: float


@dataclass(frozen=True)
class Point:
    """A solution, the objective there, and its derivatives in the logarithms of the keys."""

    result: Result
    value: float
    slopes: Mapping[str, float]


class Objective(Protocol):
    """What is made least, a function of a solution."""

    @property
    def name(self) -> str:
        """The words for it."""
        ...

    def value(self, result: Result) -> float:
        """The objective at a solution. Raises NotConverged."""
        ...

    def point(self, model: Model, keys: Sequence[str], accuracy: Accuracy, start: Result | None) -> Point:
        """The solution of a model, the objective and its derivatives. Raises BadInput, NotConverged."""
        ...


class TestError:
    """The test error; its derivatives are exact."""

    name = "test error"

    def value(self, result: Result) -> float:
        """The test error of a solution."""
        return result.test_error

    def point(self, model: Model, keys: Sequence[str], accuracy: Accuracy, start: Result | None) -> Point:
        """Solution, test error and derivatives. Raises BadInput, NotConverged."""
        found = gradient(model, keys, dimension=accuracy.dimension, tolerance=accuracy.tolerance, start=start)
        solved = found.result.model
        slopes = {key: solved.number_at(key) * found.test_error[key] for key in keys}
        return Point(found.result, found.result.test_error, slopes)


@dataclass(frozen=True)
class MetricObjective:
    """The average of an expression in label and output; its derivatives are differences of solutions."""

    metrics: Metrics

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metrics.entries[0][0]

    def value(self, result: Result) -> float:
        """The average at a solution. Raises NotConverged."""
        return metrics_of(result, self.metrics).values[self.name]

    def point(self, model: Model, keys: Sequence[str], accuracy: Accuracy, start: Result | None) -> Point:
        """Solution, average and derivatives. Raises BadInput, NotConverged."""
        result = self._solved(model, accuracy, start)
        slopes = {key: self._slope(model, key, accuracy, result) for key in keys}
        return Point(result, self.value(result), slopes)

    def _slope(self, model: Model, key: str, accuracy: Accuracy, start: Result) -> float:
        here = model.number_at(key)
        moved = {step: model.replace({key: here * math.exp(step * _STEP)}) for step in _WEIGHTS}
        values = {step: self.value(self._solved(each, accuracy, start)) for step, each in moved.items()}
        return sum(_WEIGHTS[step] * values[step] for step in _WEIGHTS) / _STEP

    def _solved(self, model: Model, accuracy: Accuracy, start: Result | None) -> Result:
        return solve(model, dimension=accuracy.dimension, tolerance=accuracy.tolerance, start=start)


def objective_of(model: Model, metric: str | None) -> Objective:
    """The test error, or a metric: the name of one of the model, or an expression in y and f. Raises BadInput."""
    if metric is None:
        return TestError()
    if not isinstance(metric, str) or not metric.strip():
        raise BadInput(
            f"metric = {shorten(metric)} is no text", "give a name of [metrics], or an expression in y and f"
        )
    text = metric.strip()
    named = {} if model.metrics is None else model.metrics.to_dict()
    if text in named:
        return MetricObjective(Metrics(((text, named[text]),)))
    if text.isidentifier() and text not in ("y", "f"):
        names = f"those of the model are {', '.join(named)}" if named else "the model has no [metrics]"
        raise BadInput(
            f"metric = {shorten(text)} is not known: {names}",
            f'{did_you_mean(text, tuple(named))}give one of them, or an expression in y and f, as "y*f < 0"',
        )
    return MetricObjective(Metrics(((OWN, text),)))
