"""Labels that mean features give exactly: outputs are the labels, and nothing of the residual is left.

At infinite dimension mean features cost nothing. Where a sum of them is the label, a loss that is least at no residual
has its least value at every sample, and all overlaps but m vanish. Beside that output only the curvature c of the loss
counts, so that m and the responses are those of the square loss at the ridge ridge/c, these divided by c.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from giantstep.law.kind import bulk_kind
from giantstep.spec.errors import NotConverged
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.kernels import loss_kernel
from giantstep.system.loss_at_zero import has_flat_part, loss_constants, pieces_at_zero
from giantstep.system.problem import Problem, Solution
from giantstep.system.result import Result
from giantstep.system.square_loss import solve_direct

Array = np.ndarray
_NOTHING = 1e-24  # of E y^2: what rounding leaves of the square of a residual whose terms cancel by a few digits
_KNOWN = 1e-12  # of the square of a direction of the target, what is beside those of kappa by rounding
_PLACES = 64  # where a link is compared with a constant
_LARGE = 1e15  # a ridge beside which the loss is flat; one over it, that of a kink
_UNFELT = 1e-7  # of a response without data: what such a small ridge leaves of one that vanishes, at the peak too
_EQUAL = 1e-12  # relative: curvatures that differ by rounding


def exact_output(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a model whose mean features give the label; None where they do not, or no other loss tells what
    this one does there. Raises NotConverged where several outputs are the best.
    """
    fit = problem.model.fit
    if fit.loss.form != "residual" or fit.penalty is not None or not _may_be_exact(problem):
        return None
    curvature = _curvature(fit.loss)
    if curvature is None or (found := _of_square_loss(problem, curvature, tolerance)) is None:
        return None
    if curvature == 0.0 and has_flat_part(fit.loss):
        raise NotConverged(
            "the mean features give the label, and outputs within the flat part of the loss about it cost as little: "
            f"at infinite dimension no label, or none that occurs, tells which is the best for {fit.loss}",
            "give a dimension (--dimension), add label noise (target.noise), or take a loss without a flat part",
        )
    least = float(pieces_at_zero(loss_kernel(fit.loss), loss_constants(fit.loss), 0.0)[0][0])
    order = _order(problem, found.order_parameters, curvature)
    return found._replace(
        test_error=0.0,
        train_error=fit.loss.entry.error_scale * least,
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
        "give a dimension (--dimension), add label noise (target.noise), or change the target",
    )


def _may_be_exact(problem: Problem) -> bool:
    """Whether kappa tells all of the label, at infinite dimension and with isotropic rows."""
    parameters, beside = problem.parameters, 1.0 - (np.array(problem.overlaps) ** 2).sum(axis=0)
    if parameters.inverse_dimension > 0.0 or parameters.noise > 0.0 or problem.weights is not None:
        return False
    if bulk_kind(problem.model) != "isotropic":
        return False
    return bool(np.all(beside <= _KNOWN)) or _is_constant(problem.model.target)


def _is_constant(target: Target) -> bool:
    """Whether the label is the same everywhere, as far as some places tell."""
    places = np.random.default_rng(11).standard_normal((target.indices, _PLACES))
    return float(np.ptp(link_values(target.link)(places))) == 0.0


def _of_square_loss(problem: Problem, curvature: float, tolerance: float) -> Solution | None:
    """The solution of the square loss with that curvature where it leaves nothing of the label; None where it does."""
    ridge = _ridge(problem, curvature)
    model = problem.model.replace({"fit.loss": "square"})
    square = problem._replace(model=model).with_features(model=model).with_parameters(ridge=ridge)
    try:
        found = solve_direct(square, tolerance)
    except NotConverged:
        return None
    return found if max(found.test_error, found.train_error) <= _NOTHING * found.signal else None


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
