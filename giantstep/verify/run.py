"""The ladder of checks for one model: each rung reaches the same numbers by another path."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from derive.scalar import scalar_function
from giantstep.law.derivation import is_closed
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.verify.answer import result_checks, simulation_checks
from giantstep.verify.check import Check
from giantstep.verify.coupled_system import changed, has_twin, interpreted_at, kernel_checks, solved_again
from giantstep.verify.few_nodes import twin_checks
from giantstep.verify.functions import derivation_checks, function_checks, step_check
from giantstep.verify.loss import loss_checks
from giantstep.verify.square_loss import halved, solver_checks
from giantstep.verify.stationarity import gradient_checks
from giantstep.verify.trained_bias import bias_checks

__all__ = ["Check", "checks", "verify"]


def verify(model: Model, echo: Callable[[str], object]) -> bool:
    """Run every check of the ladder, print one row each as it is done, and tell whether all hold.

    Rungs: recorded derivation steps; closed forms and kernels against quadrature; the map of the step; of a loss other
    than the square one its proximal map, its averages and the Jacobian; the solution against its interpretive twin;
    residual, free energy and its gradient; quadrature; simulation at d = 300.
    Raises GiantstepError where the model cannot be solved at all.
    """
    echo(f"{'check':<64} {'measured':>9} {'allowed':>9}")
    passed = True
    for check in checks(model):
        echo(check.line())
        passed = passed and check.ok
    echo("all checks hold" if passed else "a check FAILED: the numbers of this model are not to be trusted")
    return passed


def checks(model: Model) -> Iterator[Check]:
    """All checks of a model, from the derivation up to simulation."""
    yield from derivation_checks(model)
    problem = problem_of(model)
    yield from function_checks(scalar_function(model.network.activation), problem.blocks)
    if problem.target is not None:
        yield from function_checks(scalar_function(model.target.link), (problem.target,))
    given = model.step is not None and model.step.bulk == "matrix"  # its own variance, which no simulation draws
    if model.step is not None and not given:
        yield step_check(model, problem)
    yield from _solved(model)
    if not given:
        yield from simulation_checks(model)


def _solved(model: Model) -> Iterator[Check]:
    """The equations and their solution, by the route that the model is solved on."""
    if is_closed(model):
        yield from solver_checks(model)
        yield from result_checks(solve(model), lambda result: halved(model, result))
        return
    yield from loss_checks(model)
    result = solve(model)
    solved = solved_again(model, result)
    light = interpreted_at(model, result, solved)
    yield from kernel_checks(model, light)
    if not solved.system.problem.own_bulk:  # the twin and its gradient interpret the isotropic bulk
        if has_twin(model):
            yield from twin_checks(model, result)
        yield from gradient_checks(model, light)
    if model.network.trains_bias:
        yield from bias_checks(model, result, solved)
    yield from result_checks(result, lambda found: changed(solved, found))
