"""The fit of samples that are drawn with replacement, found from that of all samples."""

from __future__ import annotations

from giantstep.spec.errors import NOT_LOOKED_FOR, NotConverged
from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.merged_blocks import merged
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.resolution import FINE
from giantstep.system.result import Result
from giantstep.system.sample_weights import Weights
from giantstep.system.system_of_problem import coupled_at


def weighted_solution(start: Result, weights: Weights) -> CoupledSystem:
    """The system of fits with weights, its solution in the workspace, from that without. Raises NotConverged."""
    problem, members = merged(problem_of(start.vocabulary, start.dimension, start.bias))
    coarse, fine = (coupled_at(problem._replace(weights=weights), level) for level in FINE)
    outcome = newton(coarse, coarse.unknowns(members.gathered(order_of(problem, start))), most=40)
    if outcome.converged:
        fine.takes(coarse)
        outcome = newton(fine, outcome.x, most=40)
    if not outcome.converged:
        raise NotConverged("the fit of samples with weights is not found from that without", NOT_LOOKED_FOR)
    fine.residual(outcome.x)
    return fine
