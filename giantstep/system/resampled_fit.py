"""A fit found again near a result, where its quadrature settles: the same, or that of samples with weights."""

from __future__ import annotations

from giantstep.spec.errors import NotConverged
from giantstep.system.causes import settling_hint
from giantstep.system.coupled_solver import coupled_solution
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.merged_blocks import merged
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.system.sample_weights import Weights
from giantstep.system.solve import of_distinct

_TOLERANCE = 1e-10  # change of the test error between two resolutions that is worked for, where the result has it
_ALLOWED = 1e-7  # that is allowed
_FEW = 12  # steps of Newton's method


def settled_system(start: Result, weights: Weights | None = None) -> CoupledSystem:
    """The system with the solution in its workspace; weights: of the samples. Raises NotConverged."""
    problem, members = merged(problem_of(start.vocabulary, start.dimension, start.bias))
    tolerance, near = max(_TOLERANCE, start.quadrature_error), of_distinct(start, members)
    found = coupled_solution(problem._replace(weights=weights), tolerance, near)
    system, x, error = found.system, found.x, found.error
    if not error <= max(_ALLOWED, start.quadrature_error):
        words = f"the test error of a fit that is found again changes by {error:.1e} (relative) between resolutions"
        raise NotConverged(words, settling_hint(problem))
    outcome = newton(system, x, most=_FEW)  # a solve stops where its answer is settled
    system.residual(outcome.x if outcome.converged else x)
    return system
