"""The coupled system of fits whose samples have random weights: resampled with replacement, for instance.

A sample of weight w has the loss w l, and ``min_x (x - omega)^2/(2V) + w l`` is w times the envelope of l at the
response w V. All averages over label and output are then those of the loss itself at other responses, times a power of
the weight: one for each factor g or h, and one for the envelope and the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, factorial
from typing import Any, NamedTuple, cast

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.merged_blocks import merged
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.resolution import FINE
from giantstep.system.result import Result

Array = np.ndarray
_TAIL = 1e-13  # of the probability of weights that are left out


class Weights(NamedTuple):
    """Weights of a sample and their probabilities."""

    values: Array
    chances: Array


def poisson() -> Weights:
    """How often a sample is drawn in n draws with replacement from n, for large n."""
    values, chances = [0.0], [exp(-1.0)]
    while 1.0 - sum(chances) > _TAIL:
        values.append(values[-1] + 1.0)
        chances.append(exp(-1.0) / factorial(len(values) - 1))
    return Weights(np.array(values), np.array(chances))


ALWAYS = Weights(np.ones(1), np.ones(1))


class WeightedSystem(CoupledSystem):
    """The equations of a fit with weights, at one level of quadrature."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None, weights: Weights = ALWAYS) -> None:
        self.weights = weights
        super().__init__(problem, level, laws)

    def _averaging(self) -> tuple[Callable[..., object], Sequence[object]]:
        average, given = super()._averaging()
        rule, labels, fields, scratch, out = cast("tuple[Any, ...]", given)
        powers = np.array([_power(name) for name in self.kernel.AVERAGES])
        positive = self.weights.values > 0.0
        pairs = list(zip(self.weights.values[positive], self.weights.chances[positive], strict=True))

        def weighted() -> None:
            total = np.zeros_like(out)
            for weight, chance in pairs:
                average(rule, labels, fields._replace(V=weight * fields.V), scratch, out)
                total += (chance * weight**powers)[:, None] * out
            out[...] = total

        return weighted, ()


def _power(name: str) -> int:
    """Of the weight in an average: of M and l one, of a monomial one for each factor g and h."""
    monomial = name.removeprefix("avg_")
    return 1 if monomial in ("M", "l") else monomial.count("g") + monomial.count("h")


def weighted_solution(start: Result, weights: Weights) -> WeightedSystem:
    """The system of fits with weights, its solution in the workspace, from that without. Raises NotConverged."""
    problem, members = merged(problem_of(start.vocabulary, start.dimension, start.bias))
    order = members.gathered(order_of(problem, start))
    x: Array | None = None
    for level in FINE:
        system = WeightedSystem(problem, level, weights=weights)
        outcome = newton(system, system.unknowns(order) if x is None else x, most=40)
        if not outcome.converged:
            raise NotConverged("the fit of samples with weights is not found from that without", "raise fit.ridge")
        x = outcome.x
        system.residual(x)
    return system
