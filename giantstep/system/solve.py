"""Solving one model, and the evidence for what is reported. The map of a solve, with the files of each function:

problem_of (problem)        terms of kappa and numbers of the equations, by the laws of the model (giantstep/law)
merged (merged_blocks)      blocks that are one up to a sign become one; ``parted`` tells them apart in the answer
solve_direct (square_loss)  the square loss, isotropic rows: nodes of kappa with two moments of any label
                            (square_tables), then the generated solver, block by block, at two resolutions until the
                            test error has settled
solve_coupled (coupled_solver)       everything else
    coupled_at (system_of_problem)   the equations at one resolution, with the rows that the model asks for; of linear
                                     features beside a small ridge in many digits (linear_features)
        resolved (discretisation)    their nodes of kappa, and the law of the label there
    newton (newton)                  from the square loss that it is like (square_start), or by continuation from an
                                     easier system, then at two finer resolutions, until these agree on the test error
        without_floor (saturated_outputs)    where a kink of the loss holds outputs of saturated features
solve_with_bias (trained_bias)       around it: the bias at which the free energy is stationary
zero_readout (zero_readout)          in its place: a loss that no label feels at zero output
exact_output (exact_output) in its place: labels that mean features give exactly
held_by_penalty (held_by_penalty)    where it fails: a penalty that holds all readouts at zero
held_readout (held_readout)          the same: an output that a kink of the loss holds
decided_by_rare_labels (rare_labels), decided_by_far_labels (far_labels), flat_everywhere (flat_everywhere)
                            and what is said where labels decide that no data set holds
conditions (evidence)       what the solution must show; a Result (result), or NotConverged with a diagnosis
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from giantstep.spec.counts import checked_dimension, checked_tolerance
from giantstep.spec.errors import NotConverged
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.validate import wrong
from giantstep.system.evidence import OTHERS, RESIDUAL, conditions, leaves_nothing, others_allowed
from giantstep.system.first_compilation import compile_first
from giantstep.system.merged_blocks import Members, merged, parted
from giantstep.system.problem import Features, Problem, Solution, problem_of
from giantstep.system.result import Result, reported
from giantstep.system.span import span_of
from giantstep.system.square_loss import Points, rounding_hint, solve_direct
from giantstep.system.tolerated import tolerated

if TYPE_CHECKING:
    from giantstep.system.coupled_system import CoupledSystem

__all__ = ["RESIDUAL", "Problem", "problem_of", "solve"]

_ROUNDED = 10.0  # what two orders of quadrature, whose rounding differs, may both be off by, over their difference


@takes_model
def solve(
    model: Model, *, dimension: int | None = None, tolerance: float = 1e-10, start: Result | None = None
) -> Result:
    """Solve the saddle-point equations of a model.

    ``dimension``: include the leading finite-size correction (docs/theory.md, section 6), for the ratios that are
    given: ``curve`` and ``simulate`` have whole numbers of neurons and samples; ``tolerance``: relative error of the
    test error allowed by quadrature; ``start``: the solution of a similar model, which may save time. Raises
    BadInput, or NotConverged with a diagnosis; never returns a number that was not verified.
    Source: [CUI24] Result 3.3, App. C.
    """
    dimension, tolerance = checked_dimension(dimension), checked_tolerance(tolerance)
    if start is not None and not isinstance(start, Result):
        raise wrong("start", start, "a result of gs.solve, or None")
    if model.network.readout.continuous:
        from giantstep.system.continuous_readout import solve_continuous  # a vocabulary starts sooner without

        return solve_continuous(model, tolerance, lambda one, before: _solved(one, dimension, tolerance, before), start)
    return _solved(model, dimension, tolerance, start)


def solve_and_keep(
    model: Model, dimension: int | None, tolerance: float
) -> tuple[Result, Points | CoupledSystem | None]:
    """The same with the system that it was found on, or the points of the square loss; None where these are gone."""
    if model.network.readout.continuous:
        return solve(model, dimension=dimension, tolerance=tolerance), None
    result, found = _found(model, dimension, tolerance, None)
    return result, found.found


def _solved(model: Model, dimension: int | None, tolerance: float, start: Result | None) -> Result:
    """The solution of a model whose readout takes finitely many values."""
    return _found(model, dimension, tolerance, start)[0]


def _found(model: Model, dimension: int | None, tolerance: float, start: Result | None) -> tuple[Result, Solution]:
    begun = time.perf_counter()
    problem = problem_of(model, dimension, intermediate=True)
    bias, found = _solution(problem, dimension, tolerance, start)
    endless = (
        dimension is None and model.network.readout.density is not None
    )  # many means, which only a dimension holds
    variance, added = (None, None) if endless else _of_mean_output(found)
    result = Result(
        model,
        found.test_error,
        found.train_error,
        reported(found.order_parameters, problem.spike),
        problem.told_spike,
        found.free_energy,
        found.residual,
        found.iterations,
        found.quadrature_error,
        time.perf_counter() - begun,
        dimension,
        found.nodes,
        bias,
        penalty=found.penalty,
        spanned=found.order_parameters.get("spanned"),
        signs=found.signs,
        mean_output_variance=variance,
        mean_output_error=added,
    )
    for name, holds in conditions(problem, found, problem.parameters, tolerance).items():
        if not holds:
            raise _diagnosis(name, problem, found, result, tolerance)
    return result, found


def _of_mean_output(found: Solution) -> tuple[float | None, float | None]:
    """(variance, what it adds to the test error) of a mean output that varies; None where no system has the solution,
    or that of the square loss has.
    """
    if found.found is None or isinstance(found.found, Points):
        return None, None
    from giantstep.system import mean_output  # the square loss starts sooner without

    means = mean_output.means_of(found.found)
    added = mean_output.added_error(found.found, means, found.test_error, found.signs)
    return mean_output.variance_of_mean(means), added


def vocabulary_of(model: Model, dimension: int | None = None, tolerance: float = 1e-10) -> Model:
    """The model; in the place of a density of readout values the nodes at which its test error has settled."""
    if not model.network.readout.continuous:
        return model
    return solve(model, dimension=dimension, tolerance=tolerance).vocabulary


@lru_cache(maxsize=256)
def _compiled(features: Features, penalty: FitPenalty | None) -> None:
    model = features.model  # which has none
    compile_first(model if penalty is None else replace(model, fit=replace(model.fit, penalty=penalty)))


def _solution(whole: Problem, dimension: int | None, tolerance: float, start: Result | None) -> tuple[float, Solution]:
    """(bias, solution) by the route that the model needs."""
    network = whole.model.network
    problem, members = merged(whole, opposite=not network.trains_bias)
    bias = network.initial_bias
    if not whole.closed:
        from giantstep.system.label_cost import require_affordable  # the square loss starts sooner without

        require_affordable(problem)
    _compiled(whole.features, whole.model.fit.penalty)
    if whole.closed:
        found = _exact_square(problem, solve_direct(problem, tolerance))
    elif (told := _zero_readout(problem, tolerance) or _exact_output(problem, tolerance)) is not None:
        found = told
    elif network.trains_bias:
        from giantstep.system.trained_bias import solve_with_bias  # the square loss starts sooner without

        bias, found = solve_with_bias(whole.model, dimension, tolerance, start)
    else:
        found = _solve_coupled(problem, tolerance, of_distinct(start, members))
    if (span := span_of(problem)) is not None and span.rounded:
        found = found._replace(quadrature_error=_ROUNDED * found.quadrature_error)
    return bias, _along_given(whole, parted(found, members, whole.fraction))


def of_distinct(start: Result | None, members: Members) -> Result | None:
    """A start for the distinct blocks, from one for all of them."""
    if start is None or len(members.block) != len(start.order_parameters["Q2"]) or members.count == len(members.block):
        return start
    return replace(start, order_parameters=members.gathered(start.order_parameters))


def _solve_coupled(problem: Problem, tolerance: float, start: Result | None) -> Solution:
    """By starts near a solution; where m is told by a symmetry or by nothing; as an output that a kink of the loss
    holds; by paths from easier models, which take longest.
    """
    from giantstep.system.coupled_solver import solve_coupled  # the square loss starts sooner without
    from giantstep.system.far_labels import decided_by_far_labels  # the same
    from giantstep.system.held_means import with_held_means  # the same
    from giantstep.system.stalled import NotSoon  # the same

    if (far := decided_by_far_labels(problem)) is not None:
        raise far
    held, sought = None, False
    try:
        near = solve_coupled(problem, tolerance, start, patient=False)
    except NotSoon:
        if (found := _held_by_penalty(problem, tolerance)) is not None:
            return found
        if (found := with_held_means(problem, tolerance)) is not None:
            return found
        from giantstep.system.held_readout import held_readout, may_be_held  # which few models need

        if sought := may_be_held(problem):
            held = held_readout(problem, tolerance)
        if held is not None:
            return held
        from giantstep.system.flat_everywhere import flat_everywhere  # the same

        if (few := flat_everywhere(problem)) is not None:
            raise few from None
    except NotConverged:
        if (found := _held_by_penalty(problem, tolerance)) is not None:
            return found
        found = with_held_means(problem, tolerance) or _by_few(problem, tolerance, sought)
        if found is not None:
            return found
        raise
    else:
        held = None if near.residual <= RESIDUAL else _held_by_penalty(problem, tolerance)
        return near if held is None else held
    try:
        return solve_coupled(problem, tolerance, start)
    except NotConverged:
        if (found := _by_few(problem, tolerance, sought)) is not None:
            return found
        raise


def _held_by_penalty(problem: Problem, tolerance: float) -> Solution | None:
    if problem.model.fit.penalty is None:
        return None
    from giantstep.system.held_by_penalty import held_by_penalty  # which few models need

    return held_by_penalty(problem, tolerance)


def _by_few(problem: Problem, tolerance: float, sought: bool) -> Solution | None:
    """An output that a kink of the loss holds, where that was not ``sought``; None without one. Raises NotConverged
    where labels decide that no data set holds.
    """
    from giantstep.system.held_readout import held_readout  # which few models need

    held = None if sought else held_readout(problem, tolerance)
    if held is not None:
        return held
    from giantstep.system.flat_everywhere import flat_everywhere  # the same
    from giantstep.system.rare_labels import decided_by_rare_labels  # the same

    if (few := flat_everywhere(problem) or decided_by_rare_labels(problem)) is not None:
        raise few from None
    return None


def _along_given(problem: Problem, found: Solution) -> Solution:
    """The solution along the directions of the spike, and in the letters of the link, as they were given."""
    order = problem.outward(found.order_parameters)
    return found if order is found.order_parameters else found._replace(order_parameters=order)


def _zero_readout(problem: Problem, tolerance: float) -> Solution | None:
    if problem.model.fit.loss.key == "square" or problem.model.fit.penalty is not None:
        return None
    from giantstep.system.zero_readout import zero_readout  # the square loss starts sooner without

    return zero_readout(problem, tolerance)


def _exact_output(problem: Problem, tolerance: float) -> Solution | None:
    from giantstep.system.exact_output import exact_output  # the square loss starts sooner without

    return exact_output(problem, tolerance)


def _exact_square(problem: Problem, found: Solution) -> Solution:
    if not leaves_nothing(found):
        return found
    from giantstep.system.exact_output import exact_square  # the square loss starts sooner without

    return exact_square(problem, found)


def _of_few_labels(problem: Problem, result: Result) -> NotConverged | None:
    """What is said where labels decide of which no data set holds one."""
    if problem.model.fit.loss.key == "square":
        return None
    from giantstep.system.rare_labels import decided_by_few  # the square loss starts sooner without

    return decided_by_few(problem, result.free_energy)


def _penalty_hint(problem: Problem, result: Result) -> str:
    """Whether a penalty holds nearly all readouts."""
    penalty, order = problem.model.fit.penalty, result.order_parameters
    if penalty is None:
        return ""
    from giantstep.system.readout_law import Proximal, held_hint  # the square loss starts sooner without

    of_readouts = (order[f"prox_{name}"] for name in ("width", "variance", "mean"))
    return held_hint(Proximal(penalty, len(order["Q2"])).at(*of_readouts))


def _diagnosis(name: str, problem: Problem, found: Solution, result: Result, tolerance: float) -> NotConverged:
    """Why a solution is not reported, by the condition that fails."""
    from giantstep.system.causes import prediction_hint, settling_hint  # what is solved starts sooner without
    from giantstep.system.far_labels import seldom_hint, too_far_out  # the same
    from giantstep.system.loss_at_zero import saturated_hint, vanishing_hint  # the same
    from giantstep.system.separation import separable, separated  # the same

    if separable(problem):  # the cause, whichever condition shows it
        return separated(problem)
    if (few := _of_few_labels(problem, result)) is not None:
        return few
    if name == "finite":
        hint = vanishing_hint(problem) or _lost_hint(problem)
        return NotConverged(f"the solution is not finite: test error {result.test_error}", hint)
    if name == "residual":
        return NotConverged(
            f"the equations are satisfied only to {result.residual:.1e} (relative), {RESIDUAL:.0e} is required",
            _penalty_hint(problem, result) or saturated_hint(problem) or _lost_hint(problem),
        )
    if name == "quadrature":
        return NotConverged(
            f"the test error changes by {result.quadrature_error:.1e} (relative) between orders of quadrature, "
            f"{tolerance:.0e} is asked",
            tolerated(
                result.quadrature_error,
                prediction_hint(problem, found) or seldom_hint(problem) or settling_hint(problem),
            ),
        )
    if name == "others":
        return NotConverged(
            f"the training error and the free energy change by {found.others_error:.1e} (relative) between orders of "
            f"quadrature, {others_allowed(tolerance):.0e} is allowed at this tolerance of the test error",
            tolerated(found.others_error / OTHERS, settling_hint(problem)),
        )
    if name == "ends":
        said = too_far_out(problem, found.share_beyond)
        return NotConverged(said.message, tolerated(found.share_beyond, said.hint))
    if name == "energy":
        return NotConverged(
            f"the free energy {result.free_energy:.12g} and the training loss {result.training_loss:.12g} differ: "
            "rounding has taken over",
            seldom_hint(problem) or _lost_hint(problem),
        )
    return NotConverged("the solution is not feasible: an overlap Q or a response V is negative", _lost_hint(problem))


def _lost_hint(problem: Problem) -> str:
    """What to try where digits of a solution are lost."""
    from giantstep.system.loss_at_zero import cancelling_hint  # what is solved starts sooner without

    return cancelling_hint(problem) or rounding_hint(problem)
