"""Penalties with a kink at zero that hold all but next to none of the readouts there, as a heavy lasso does.

A readout is held where no force reaches the slope of the penalty. At zero output forces are those of a fit with a
large ridge and no penalty; what moves under them is so little that it does not change them.
"""

from __future__ import annotations

import math

import numpy as np

from generated import penalty as law
from giantstep.spec.errors import NotConverged
from giantstep.spec.loss_functions import convex_loss_of
from giantstep.system.constant_output import square_of_label, test_error_of
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.discretisation import resolved
from giantstep.system.problem import Problem, Solution
from giantstep.system.readout_law import Proximal, Readouts, holds_at_zero
from giantstep.system.resolution import FINE, refined
from giantstep.system.resolved import Resolved
from giantstep.system.square_loss import solve_direct

Array = np.ndarray
_LARGE = 1e6  # over what all samples pull by: a ridge at which forces are those at zero output, to its inverse
_LARGEST = 1e11  # beyond which rounding hides what it is added to
_MOVING = 1e-5  # the share of readouts from which on the equations are told by them
_ROUNDING = 1e-15  # of a share
_NOTHING = 1e-12  # of E y^2: the mean square of what features without a mean leave
_AT_MOST = 0.5  # of the tolerance, what the readouts that move may do to the test error
_REFINED = 5


def held_by_penalty(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a fit whose penalty holds all readouts at zero; None where more than next to none of them move.

    tolerance: of the test error, relative. Raises NotConverged where those that move, however few, decide: the test
    error, the sign of the output, or m at infinite dimension.
    """
    penalty = problem.model.fit.penalty
    if penalty is None or not holds_at_zero(penalty):
        return None
    samples, _, _, _, inverse = problem.parameters
    ridge = min(_LARGE * max(1.0, samples / (inverse or 1.0)), _LARGEST)
    try:
        found, larger = (_without_penalty(problem, each, tolerance) for each in (ridge, 2.0 * ridge))
    except NotConverged:
        return None
    linear, readouts = _at_zero_output(problem, found, ridge)
    share = float(np.max(readouts.moving))
    if not (share < _MOVING and _are_small(readouts)):
        return None
    if problem.parameters.inverse_dimension == 0.0 and _has_mean(problem, found):
        raise _decided(
            problem,
            share,
            "the overlap with the mean features (m)",
            "or give a dimension (--dimension), at which these pull more",
        )
    if problem.model.fit.loss.form == "margin":
        raise _decided(problem, share, "the sign of the output")
    few = np.maximum(readouts.moving, _ROUNDING)
    for times in range(_REFINED):
        coarse, fine = (resolved(problem, refined(level, times)) for level in FINE)
        rough, test = (test_error_of(problem, laws, 0.0) for laws in (coarse, fine))
        moved = abs(found.test_error - test) * float(np.max(readouts.width * few / linear))
        moved += _square_of_output(problem, few * readouts.variance)
        error = (abs(rough - test) + moved) / test if test > 0.0 else math.inf
        if error <= tolerance:
            break
    if not moved <= _AT_MOST * tolerance * test:
        raise _decided(problem, share, "the test error")
    train = 2.0 * larger.train_error - found.train_error
    if not abs(train - found.train_error) <= math.sqrt(tolerance) * abs(train):  # it is bent by the square of that
        return None
    return _solution(problem, readouts, (test, train, error), fine)


def _without_penalty(problem: Problem, ridge: float, tolerance: float) -> Solution:
    model = problem.model.replace({"fit.penalty": None})
    free = problem._replace(model=model).with_parameters(ridge=ridge)
    return solve_direct(free, tolerance) if free.closed else solve_coupled(free, tolerance)


def _at_zero_output(problem: Problem, found: Solution, large: float) -> tuple[Array, Readouts]:
    """The response [K] of a readout at the large ridge, and the law of the readouts under the same forces."""
    penalty, order = problem.model.fit.penalty, found.order_parameters
    _, beta, ridge, _, inverse = problem.parameters
    assert penalty is not None
    share, blocks = problem.fraction, len(problem.fraction)
    linear = order["V2"] / share
    width = 1.0 / (1.0 / linear - large + ridge)
    readout = order["m"] / law.overlap(beta, share, inverse, 1.0) if inverse > 0.0 else np.zeros(blocks)
    variance = np.maximum(order["Q2"] / share - readout**2, 0.0)
    moved = width / linear
    return linear, Proximal(penalty, blocks).at(width, variance * moved**2, readout * moved)


def _are_small(readouts: Readouts) -> bool:
    """Whether readouts are beside zero, and not on another kink of the penalty."""
    _, square, _ = law.readouts(1.0, 1.0, *readouts.of("avg_g", "avg_h", "avg_gg"))
    return bool(np.all(square <= _MOVING * (readouts.variance + readouts.mean**2)))


def _has_mean(problem: Problem, found: Solution) -> bool:
    """Whether the mean features have a part in the output however large the ridge is, as at infinite dimension."""
    table, blocks = resolved(problem, FINE[-1]).table, len(problem.fraction)
    mean = table[:, -3 * blocks : -2 * blocks] @ found.order_parameters["m"]
    return bool(table[:, 1] @ mean**2 > _NOTHING * found.signal)


def _square_of_output(problem: Problem, norm: Array) -> float:
    """What readouts of mean squares [K] add to the mean square of the output, where these point nowhere."""
    table, blocks = resolved(problem, FINE[-1]).table, len(problem.fraction)
    mu1, mu2_square = table[:, -2 * blocks : -blocks], table[:, -blocks:]
    return float(table[:, 1] @ (mu1**2 + mu2_square) @ (problem.fraction * norm))


def _solution(problem: Problem, readouts: Readouts, errors: tuple[float, float, float], laws: Resolved) -> Solution:
    """errors: of test and training, and that of quadrature."""
    model, blocks, nothing = problem.model, len(problem.fraction), np.zeros(len(problem.fraction))
    test, train, error = errors
    order = {
        **dict.fromkeys(("m", "Q2", "V2"), nothing),
        **dict.fromkeys(("Q1", "V1"), np.zeros((blocks, blocks))),
        "zeta": np.zeros((blocks, problem.rank)),
        "psi": np.zeros((blocks, model.target.indices)),
        "prox_width": readouts.width,
        "prox_variance": readouts.variance,
        "prox_mean": readouts.mean,
    }
    penalty = problem.parameters.width * _penalty_of_nothing(problem)
    energy = model.fit.samples * train / model.fit.loss.entry.error_scale + penalty
    signal = square_of_label(laws) + problem.parameters.noise
    return Solution(test, train, energy, order, 0.0, 0, error, len(laws.table), signal, penalty)


def _penalty_of_nothing(problem: Problem) -> float:
    penalty = problem.model.fit.penalty
    assert penalty is not None
    return float(convex_loss_of(penalty.entry.loss, penalty.parameters).value(np.zeros(1), np.zeros(()))[0])


def _decided(problem: Problem, share: float, what: str, other: str = "") -> NotConverged:
    moving = f"a share of {share:.0e}" if share > _ROUNDING else f"a share below {_ROUNDING:.0e}"
    return NotConverged(
        f"fit.penalty = {problem.model.fit.penalty} holds all readouts at zero but for {moving}, and these few would "
        f"decide {what}",
        f"weaken fit.penalty{', ' * bool(other)}{other}",
    )
