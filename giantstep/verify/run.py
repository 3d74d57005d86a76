"""All checks of one model: each reaches the same numbers by another path."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from derive.scalar import scalar_function
from giantstep.law.intermediate_steps import at_strength
from giantstep.law.kind import is_closed
from giantstep.law.known_indices import in_known
from giantstep.spec.arguments import checked_call
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.errors import GiantstepError
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.system.evidence import ROUNDING
from giantstep.system.exact_output import is_exact
from giantstep.system.problem import problem_of
from giantstep.system.saturated_outputs import rests_on_floor
from giantstep.system.solve import solve, vocabulary_of
from giantstep.verify.answer import LABEL_IS_OUTPUT, apart, result_checks
from giantstep.verify.certificate import certificate_checks
from giantstep.verify.check import Check
from giantstep.verify.coupled_system import finer_error, kernel_checks, solved_again
from giantstep.verify.derivation_steps import derivation_checks
from giantstep.verify.functions import function_checks, step_check
from giantstep.verify.further_steps import further_step_checks
from giantstep.verify.interpreter import HELD
from giantstep.verify.loss import loss_checks
from giantstep.verify.simulation import DIMENSION, SEEDS, simulation_checks
from giantstep.verify.solver_equations import on_halved_panels, solver_checks
from giantstep.verify.structured_inputs import input_checks
from giantstep.verify.trained_bias import bias_checks

_MEASURED = (
    "measured: by how much two ways to the same numbers differ, relative to the size of these; allowed: what rounding, "
    "quadrature or chance explains (for steps of the derivation in units of that: 1)"
)
_SAME = 1e-9  # relative change of a test error beside which it is told as it was found

__all__ = ["Check", "checks", "verify"]


@takes_model
def verify(
    model: Model, echo: Callable[[str], object] = print, *, dimension: int = DIMENSION, seeds: int = SEEDS
) -> bool:
    """Run every check, print one row each as it is done, and tell whether none failed.

    Checks: recorded derivation steps; closed forms and kernels against quadrature; the map of the step; of a loss its
    proximal map, its averages and the Jacobian; the reported solution by a second quadrature and the reference
    interpreter; residual, free energy and its gradient; simulation at ``dimension`` with ``seeds`` seeds. A check that
    cannot tell is shown as undecided, with what it would need; it is no failure. Raises GiantstepError where the model
    cannot be solved at all, BadInput for counts that are none.
    """
    checked_count("dimension", dimension, 2)
    checked_seeds(seeds)
    checked_call("echo", echo, "print")
    echo(f"{'check':<64} {'measured':>9} {'allowed':>9}")
    done = []
    try:
        for check in checks(model, dimension, seeds):
            echo(check.line())
            done.append(check)
    except GiantstepError:
        echo(_MEASURED)
        echo(f"{len(done)} checks were made: {_verdict(done)}. The others need a solution:")
        raise
    echo(_MEASURED)
    echo(_verdict(done))
    return all(check.outcome != "FAILED" for check in done)


def _verdict(done: list[Check]) -> str:
    failed = [check for check in done if check.outcome == "FAILED"]
    undecided = sum(check.outcome == "undecided" for check in done)
    if not failed:
        return "all checks hold" + (f"; {undecided} undecided, see the rows" if undecided else "")
    small = ", or d is too small for the limit" if all(check.simulated for check in failed) else ""
    return f"{len(failed)} of {len(done)} checks FAILED: the numbers of this model are not to be trusted{small}"


def checks(model: Model, dimension: int = DIMENSION, seeds: int = SEEDS) -> Iterator[Check]:
    """All checks of a model, from the derivation up to simulation."""
    yield from exact_checks(model)
    yield from simulation_checks(model, dimension, seeds)


def exact_checks(model: Model) -> Iterator[Check]:
    """The checks without simulation: no chance in them."""
    yield from derivation_checks(model)
    model = vocabulary_of(model)
    yield from law_checks(in_known(model))
    yield from solution_checks(model)


def law_checks(model: Model) -> Iterator[Check]:
    """Those of the numbers that the equations are made of: functions given kappa, and what steps leave."""
    problem = problem_of(model, intermediate=True)
    yield from function_checks(scalar_function(model.network.activation), problem.blocks, "the activation")
    if problem.link is not None:
        yield from function_checks(scalar_function(model.target.mean_link), (problem.link,), "the link")
    if model.bulk == "inputs":
        yield from input_checks(model)
    elif model.step is not None and model.bulk != "matrix":  # rows that are given have variances of their own
        giant = at_strength(model, 1)  # a step below the giant one is the same map at another rate
        first = replace(giant, step=giant.steps[0], earlier_steps=())
        if first.network.readout.biases is None:
            yield step_check(first, problem_of(first))
        yield from further_step_checks(giant)


def solution_checks(told: Model) -> Iterator[Check]:
    """Those of the equations and their solution, by the route that the model is solved on: in the directions that the
    link knows, the certificate in the letters that it is told in.
    """
    model = in_known(told)
    result = solve(model)
    if is_closed(model):
        yield from solver_checks(model, result)
        yield from certificate_checks(solve(told))
        yield from result_checks(result, *on_halved_panels(model, result))
        return
    yield from loss_checks(model)
    if is_exact(result) or not result.order_parameters["V2"].any():
        why = LABEL_IS_OUTPUT if is_exact(result) else f"{HELD}; simulation compares the errors"
        yield Check("equations at the solution", math.nan, math.nan, why)
        return
    solved = solved_again(model, result)
    finer, signal = finer_error(solved), solved.system.signal()
    if rests_on_floor(solved.system) and apart(finer, result.test_error, ROUNDING * signal) > _SAME:
        why = "a kink of the loss holds outputs without variance: what is reported of them is extrapolated"
        yield Check("equations at the solution", math.nan, math.nan, why)
        return
    yield from kernel_checks(model, solved)
    yield from certificate_checks(solve(told))
    if model.network.trains_bias:
        yield from bias_checks(model, result, solved)
    yield from result_checks(result, finer, signal)
