"""A parameter of a model that a solution is differentiated in."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.spec.model import Model
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem, problem_of

Rates = tuple[float, float, float]  # of test error, training error, free energy


@dataclass(frozen=True)
class Parameter:
    """A key of a model that is solved at a dimension, or in the limit."""

    model: Model
    key: str
    dimension: int | None

    @property
    def value(self) -> float:
        """Its value."""
        table, _, field = self.key.partition(".")
        return float(getattr(getattr(self.model, table), field))

    @property
    def unit(self) -> float:
        """Its size, one where it vanishes."""
        return abs(self.value) or 1.0

    def problem(self, change: float, bias: float) -> Problem:
        """The problem where it has another value, by ``change`` units. Raises BadInput where that is impossible."""
        moved = self.model.replace({self.key: self.value + change * self.unit})
        problem = problem_of(moved, self.dimension, bias, powers=True)
        return merged(problem, opposite=not moved.network.trains_bias)[0]
