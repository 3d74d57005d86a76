"""Labels that mean features give exactly: outputs are the labels, and nothing of the residual is left.

At infinite dimension mean features cost nothing. Where a sum of them is the label, a loss that is least at no residual
has its least value at every sample, and all overlaps but m vanish. Beside that output only the curvature c of the loss
counts, so that m and the responses are those of the square loss at the ridge ridge/c, these divided by c.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from giantstep.law.kind import bulk_kind
from giantstep.spec.errors import NotConverged
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.link import link_values
from giantstep.system.constant_output import square_of_label
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.discretisation import resolved
from giantstep.system.evidence import ROUNDING, leaves_nothing
from giantstep.system.kernels import loss_kernel
from giantstep.system.loss_at_zero import has_flat_part, loss_constants, pieces_at_zero
from giantstep.system.problem import Problem, Solution
from giantstep.system.readout_law import holds_at_zero
from giantstep.system.resolution import FINE
from giantstep.system.resolved import Resolved
from giantstep.system.result import Result
from giantstep.system.span import ROUNDING as OF_FEATURES
from giantstep.system.square_loss import solve_direct

Array = np.ndarray
_KNOWN = 1e-12  # of the square of a direction of the target, what is beside those of kappa by rounding
_PLACES = 64  # where a link is compared with a constant
_LARGE = 1e15  # a ridge beside which the loss is flat; one over it, that of a kink
_UNFELT = 1e-7  # of a response without data: what such a small ridge leaves of one that vanishes, at the peak too
_SLIGHT, _IN_PROPORTION = 1e-12, 1e-8  # noise, of E y^2; what may be left of the error beside its part, relative
_ELSE = "give a dimension (--dimension), add label noise (target.noise), or change the target"
_EQUAL = 1e-12  # relative: curvatures that differ by rounding


def exact_output(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a model whose mean features give the label; None where they do not, or no other loss tells what
    this one does there. Raises NotConverged where several outputs are the best.
    """
    fit = problem.model.fit
    penalty = fit.penalty
    if fit.loss.form != "residual" or penalty is not None and not holds_at_zero(penalty) or not _may_be_exact(problem):
        return None
    curvature = _curvature(fit.loss)
    if curvature is None or (found := _of_square_loss(problem, curvature, tolerance)) is None:
        return None
    if penalty is not None:
        raise NotConverged(
            f"the mean features give the label: at infinite dimension no force is left on the readouts, all of which "
            f"fit.penalty = {penalty} holds at zero",
            _ELSE,
        )
    if curvature == 0.0 and has_flat_part(fit.loss):
        raise NotConverged(
            "the mean features give the label, and outputs within the flat part of the loss about it cost as little: "
            f"at infinite dimension no label, or none that occurs, tells which is the best for {fit.loss}",
            "give a dimension (--dimension), add label noise (target.noise), or take a loss without a flat part",
        )
    return _with_nothing_left(problem, found, curvature)


def exact_square(problem: Problem, found: Solution) -> Solution:
    """A solution of the square loss that leaves nothing of the label; where mean features give it, without the rounding
    of its overlaps, which may be negative.
    """
    return _with_nothing_left(problem, found, 1.0) if _may_be_exact(problem) else found


def _with_nothing_left(problem: Problem, found: Solution, curvature: float) -> Solution:
    loss = problem.model.fit.loss
    least = float(pieces_at_zero(loss_kernel(loss), loss_constants(loss), 0.0)[0][0])
    order = _order(problem, found.order_parameters, curvature)
    return found._replace(
        test_error=0.0,
        train_error=loss.entry.error_scale * least,
        free_energy=problem.parameters.samples * least,
        order_parameters=order,
        quadrature_error=0.0,
        found=None,
    )


def is_exact(result: Result) -> bool:
    """Whether the output of a result is the label: one that a kink of the loss holds elsewhere has an error."""
    order = result.order_parameters
    return result.test_error == 0.0 and bool(order["m"].any()) and not order["Q2"].any()


def nothing_left(what: str) -> NotConverged:
    """What is said of an observable there."""
    return NotConverged(
        f"the mean features give the label: at infinite dimension nothing is left of the error {what}",
        _ELSE,
    )


def _may_be_exact(problem: Problem) -> bool:
    """Whether kappa tells all of the label, at infinite dimension."""
    parameters, beside = problem.parameters, 1.0 - (np.array(problem.overlaps) ** 2).sum(axis=0)
    if parameters.inverse_dimension > 0.0 or parameters.noise > 0.0 or problem.weights is not None:
        return False
    return bool(np.all(beside <= _KNOWN)) or _is_constant(problem.model.target.link, problem.model.target.indices)


@lru_cache(maxsize=64)
def _is_constant(link: str, indices: int) -> bool:
    """Whether the label is the same everywhere, as far as some places tell."""
    places = np.random.default_rng(11).standard_normal((indices, _PLACES))
    return float(np.ptp(link_values(link)(places))) == 0.0


def _of_square_loss(problem: Problem, curvature: float, tolerance: float) -> Solution | None:
    """The solution of the square loss with that curvature where it leaves nothing of the label; None where it does."""
    ridge = _ridge(problem, curvature)
    model = problem.model.replace({"fit.loss": "square", "fit.penalty": None})
    square = problem._replace(model=model).with_features(model=model).with_parameters(ridge=ridge)
    try:
        if bulk_kind(model) != "isotropic":
            return _of_noise(square, tolerance)
        found = solve_direct(square, tolerance)
    except NotConverged:
        return None
    return found if leaves_nothing(found) else None


def _of_noise(square: Problem, tolerance: float) -> Solution | None:
    """The solution with label noise where errors are in proportion to it, so that nothing is left without; None where
    they are not. Noise leaves m and the responses as they are. Raises NotConverged.
    """
    laws = resolved(square, FINE[-1])
    signal = square_of_label(laws)
    size = _SLIGHT * signal
    found, more = (solve_coupled(_with_noise(square, noise), tolerance) for noise in (size, 2.0 * size))
    left = abs(2.0 * found.test_error - more.test_error)
    rounding = min(_rounding_of_output(laws, found.order_parameters["m"]), ROUNDING * signal)
    return found if left <= max(_IN_PROPORTION * found.test_error, rounding) <= size else None


def _rounding_of_output(laws: Resolved, m: Array) -> float:
    """The square of what rounding of mean features is in an output that they cancel in, as those of weak spikes do."""
    weight, mu0 = laws.table[:, 1], laws.table[:, -3 * len(m) : -2 * len(m)]
    return float(OF_FEATURES * (abs(m) @ np.sqrt(weight @ mu0**2))) ** 2


def _with_noise(problem: Problem, noise: float) -> Problem:
    model = problem.model.replace({"target.noise": noise})
    return problem._replace(model=model).with_features(model=model).with_parameters(noise=noise)


def _ridge(problem: Problem, curvature: float) -> float:
    """That of a square loss of curvature 1 for one of another, which may be nothing or without bound."""
    if 0.0 < curvature < math.inf:
        return float(problem.parameters.ridge / curvature)
    return 1.0 / _LARGE if curvature else _LARGE


def _curvature(fit_loss: FitLoss) -> float | None:
    """That of the loss where there is no residual, without bound at a kink; None where its least value is elsewhere, or
    it has another curvature on either side.
    """
    pieces = pieces_at_zero(loss_kernel(fit_loss), loss_constants(fit_loss), 0.0)
    (_, left, of_left), (_, right, of_right) = pieces[0], pieces[-1]
    if left < -_EQUAL and right > _EQUAL:
        return math.inf
    if max(abs(left), abs(right)) > _EQUAL or abs(of_left - of_right) > _EQUAL * max(of_left, of_right):
        return None
    return float(of_left)


def _order(problem: Problem, found: Mapping[str, Array], curvature: float) -> dict[str, Array]:
    """Order parameters from those of the square loss."""
    ridge = problem.parameters.ridge
    order = {name: np.zeros_like(values) for name, values in found.items()} | {"m": found["m"]}
    responses = {name: _ridge(problem, curvature) / ridge * found[name] for name in ("V1", "V2")}
    if np.all(responses["V2"] <= _UNFELT * problem.fraction / ridge):
        return order
    return order | responses
