"""Losses that are flat around every label at zero output: the readout is zero, and its errors are exact.

Where no label pulls the output away from zero, g = h = 0: the ridge alone is left of the equations, so that
``V2 = fraction/ridge``, ``V1 = diag(V2)`` and all overlaps vanish.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.spec.errors import BadInput, NotConverged
from giantstep.system.constant_output import label_points, mean_loss, square_of_label, test_error_of
from giantstep.system.discretisation import resolved
from giantstep.system.kernels import loss_kernel
from giantstep.system.loss_at_zero import loss_constants, pieces_at_zero, probability_felt
from giantstep.system.problem import Problem, Solution
from giantstep.system.resolution import FINE, refined
from giantstep.system.resolved import Resolved
from giantstep.system.vanishing_means import is_mirrored

Array = np.ndarray
_HOPELESS = 1e-15  # a share of labels whose effect is lost in rounding, but for that of a small ridge
_OFTEN = 0.5  # a share of labels that moves the readout, however little
_REFINED = 5
_FURTHEST = 10.0  # standard deviations: how far out labels of such a share may be
_STEEPEST = 1.0  # slope of a loss that is flat about zero, and room for how far a label may be beyond the flat part
_BESIDE = 1e-2  # of the tolerance, what the readout may do to the test error where the equations tell more
_AT_MOST = 0.5  # the same where they do not: the rest is left to the nodes


def zero_readout(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a model whose loss no label feels at zero output; None where some do.

    tolerance: of the test error, relative, by the nodes of kappa and of the label. Labels felt with a probability so
    small that rounding hides it count as none, where what they may do is within the tolerance. Raises NotConverged
    where it is not, and BadInput for a loss of the margin, whose test error is the sign of an output that is zero. The
    test error is what it is without a readout, and the error of that is part of its quadrature error; overlaps that
    small are reported as zero.
    """
    model, ridge = problem.model, problem.parameters.ridge
    felt = probability_felt(model.fit.loss, model.target)
    if felt >= _OFTEN:
        return None
    moved = _moved(problem, felt)
    if moved > _BESIDE * tolerance:
        if felt >= _HOPELESS:
            return None
        if moved > _AT_MOST * tolerance:
            raise _too_few(problem, felt, moved)
    if model.fit.loss.form == "margin":
        raise BadInput(
            f"fit.loss = {model.fit.loss.name!r} is flat around f = 0: the readout stays zero, and its output has no "
            "sign",
            "use a loss that falls at y*f = 0, such as hinge or logistic",
        )
    for times in range(_REFINED):
        coarse, fine = (resolved(problem, refined(level, times)) for level in FINE)
        rough, test = (test_error_of(problem, laws, 0.0) for laws in (coarse, fine))
        error = abs(rough / test - 1.0) + moved if test > 0.0 else 0.0
        if error <= tolerance:
            break
    train = _mean_loss(problem, fine)
    blocks = len(problem.fraction)
    response, nothing = problem.fraction / ridge, np.zeros(blocks)
    order = {
        "m": nothing,
        "zeta": np.zeros((blocks, problem.rank)),
        "psi": np.zeros((blocks, model.target.indices)),
        "Q1": np.zeros((blocks, blocks)),
        "Q2": nothing,
        "V1": np.diag(response),
        "V2": response,
        **({"norm": nothing} if problem.norms_vary else {}),
    }
    residual = float(np.max(np.abs(response * ridge / problem.fraction - 1.0)))
    energy = model.fit.samples * train
    signal = square_of_label(fine) + problem.parameters.noise
    return Solution(test, train, energy, order, residual, 0, error, len(fine.table), signal)


def _too_few(problem: Problem, felt: float, moved: float) -> NotConverged:
    few = (
        f"fit.loss = {problem.model.fit.loss} is flat at f = 0 for all but a share {felt:.1g} of the labels, fewer "
        "than any data set holds"
    )
    if moved == math.inf:
        return NotConverged(
            f"{few}, and at infinite dimension nothing but these decides on the mean features",
            "give a dimension (--dimension), where the ridge keeps the readout at zero, or lower the width of the flat "
            "part of the loss, or raise target.noise",
        )
    return NotConverged(
        f"{few}: the readout all but vanishes, below what double precision resolves",
        "lower the width of the flat part of the loss, or raise target.noise",
    )


def _moved(problem: Problem, felt: float) -> float:
    """How much a share ``felt`` of the labels may change the test error, relative.

    A label pulls by its slope g at most, and no further than to the edge of the flat part, to which V g takes its own
    output: beside the root of V at its kappa, g is at most that of the slope times the distance. The pull is felt by
    the output elsewhere with the root of V there, the mean features with their response d in it.
    """
    if felt == 0.0:
        return 0.0
    model, (*_, ridge, noise, inverse_dimension) = problem.model, problem.parameters
    laws, blocks = resolved(problem, FINE[-1]), len(problem.fraction)
    size = np.sqrt(square_of_label(laws) + noise)
    if size == 0.0:
        return math.inf
    mu0, mu1, mu2_sq = (laws.table[:, laws.table.shape[1] + n * blocks :][:, :blocks] for n in (-3, -2, -1))
    mean = np.zeros(blocks) if is_mirrored(problem) else laws.table[:, 1] @ mu0**2
    if inverse_dimension == 0.0 and mean.any():
        return math.inf  # nothing but these labels decides on the mean features
    pulled = laws.table[:, 1] @ (mu1**2 + mu2_sq) + mean / max(inverse_dimension, 1e-300)
    response = np.sqrt(float(pulled @ problem.fraction) / ridge)
    change = model.fit.samples * felt * _FURTHEST * np.sqrt(_STEEPEST * max(size, 1.0)) * response
    return float((2.0 + change / size) * change / size)


def _mean_loss(problem: Problem, laws: Resolved) -> float:
    """E loss(y, 0); of a loss of the residual its value on the flat part: labels beyond that count as none."""
    loss, constants = loss_kernel(problem.model.fit.loss), loss_constants(problem.model.fit.loss)
    if loss.FORM != "residual":
        return mean_loss(problem, laws, 0.0)
    labels, probability = label_points(laws.table, laws.labels)
    value, *_ = pieces_at_zero(loss, constants, float(labels[np.argmax(probability)]))[0]
    return float(problem.model.fit.loss.entry.error_scale) * value
