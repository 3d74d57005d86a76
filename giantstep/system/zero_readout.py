"""Losses that are flat around every label at zero output: the readout is zero, and its errors are exact.

Where no label pulls the output away from zero, g = h = 0: the ridge alone is left of the equations, so that
``V2 = fraction/ridge``, ``V1 = diag(V2)`` and all overlaps vanish.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

import numpy as np

from giantstep.law.labels import Points
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.coupled_solver import FINE, refined
from giantstep.system.discretisation import Resolved, resolved
from giantstep.system.loss_kernels import loss_kernel
from giantstep.system.problem import Problem, Solution

Array = np.ndarray
_FAR = 38.0  # standard deviations: the Gaussian weight beyond underflows
_STEPS = 4000  # of the index, and
_NOISE_STEPS = 160  # of the label noise, over which the probability is summed
_SEVERAL = 40_000  # points of a link of several indices
_ROUNDING = 1e-14
_RARE, _FEW = 1e-6, 20
_HOPELESS = 1e-15  # a share of labels whose effect is lost in rounding, but for that of a small ridge
_REFINED = 5
_PROBED = (1.0, -1.0, 0.37)  # labels at which a loss is looked at for flat pieces


def zero_readout(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a model whose loss no label feels at zero output; None where some do.

    tolerance: of the test error, relative, by the nodes of kappa and of the label. Labels felt with a probability so
    small that rounding hides it count as none. Raises NotConverged for one a little larger, and BadInput for a loss of
    the margin, whose test error is the sign of an output that is zero.
    """
    model, ridge = problem.model, float(problem.parameters[2])
    felt = probability_felt(model.fit.loss, model.target)
    if felt > (_ROUNDING * min(1.0, ridge)) ** 2 / (1.0 + model.fit.samples):
        if felt < _HOPELESS:
            raise NotConverged(
                f"fit.loss = {model.fit.loss} is flat at f = 0 for all but a share {felt:.1g} of the labels: the "
                "readout all but vanishes, below what double precision resolves",
                "lower the width of the flat part of the loss, or raise target.noise",
            )
        return None
    if model.fit.loss.form == "margin":
        raise BadInput(
            f"fit.loss = {model.fit.loss.name!r} is flat around f = 0: the readout stays zero, and its output has no "
            "sign",
            "use a loss that falls at y*f = 0, such as hinge or logistic",
        )
    for times in range(_REFINED):
        coarse, fine = (resolved(problem, refined(level, times)) for level in FINE)
        signal = _signal(fine)
        error = abs(_signal(coarse) / signal - 1.0) if signal > 0.0 else 0.0
        if error <= tolerance:
            break
    train = _mean_loss(problem, fine)
    blocks = len(problem.fraction)
    response, nothing = problem.fraction / ridge, np.zeros(blocks)
    psi = nothing if model.target.indices == 1 else np.zeros((blocks, model.target.indices))
    along = nothing if problem.rank == 1 else np.zeros((blocks, problem.rank))
    order = {
        "m": nothing, "zeta": along, "psi": psi, "Q1": np.zeros((blocks, blocks)), "Q2": nothing,
        "V1": np.diag(response), "V2": response,
    }  # fmt: skip
    residual = float(np.max(np.abs(response * ridge / problem.fraction - 1.0)))
    noise = float(problem.parameters[3])
    energy = model.fit.samples * train
    return Solution(signal, train, energy, order, residual, 0, error, len(fine.table), signal + noise)


def remark(problem: Problem) -> str:
    """Why the equations are hard where the loss is flat for almost all labels at zero output, or has a kink there."""
    if problem.model.fit.loss.key == "square":
        return ""
    felt = probability_felt(problem.model.fit.loss, problem.model.target)
    if felt < _RARE:
        return f": at f = 0 it is flat for all but a share {felt:.1g} of the labels, and the readout all but vanishes"
    if _share_on_kinks(problem.model.fit.loss, problem.model.target) > 0.0:
        return ": at f = 0, labels of a positive probability lie exactly on a kink of it"
    return ""


def _share_on_kinks(fit_loss: FitLoss, target: Target) -> float:
    """The probability that a label that is one of a few numbers has a kink of the loss at zero output."""
    loss, constants = loss_kernel(fit_loss), _constants(fit_loss)
    labels, weight = _labels(target)
    distinct, place = np.unique(labels, return_inverse=True)
    if len(distinct) > _FEW:
        return 0.0
    kinked = np.array([len(_pieces_at_zero(loss, constants, y)) > 1 for y in distinct.tolist()])
    return float(weight @ kinked[place])


def _signal(laws: Resolved) -> float:
    """E y^2 of the clean label: the test error of an output that is zero."""
    columns = laws.table.shape[1]
    directions = laws.clean.directions
    nu = laws.table[:, 2 : min(columns, 3 + directions)]
    return float(laws.table[:, 1] @ ((nu**2).sum(axis=1) + laws.table[:, 3 + directions]))


def _mean_loss(problem: Problem, laws: Resolved) -> float:
    """E loss(y, 0): the least value of a loss of the residual, else the average over the labels."""
    model = problem.model
    loss, constants = loss_kernel(model.fit.loss), _constants(model.fit.loss)
    law = laws.labels
    if isinstance(law, Points) and loss.FORM == "general":
        labels, weight = law.label, laws.table[:, 1][:, None] * law.weight
    else:
        labels = np.array(law.label).ravel()[:1]
        weight = np.ones(1)
    values = np.array([_pieces_at_zero(loss, constants, y)[0][0] for y in labels.ravel().tolist()])
    scale = float(model.fit.loss.entry.error_scale)
    return scale * float(weight.ravel() @ values)


@lru_cache(maxsize=256)
def probability_felt(fit_loss: FitLoss, target: Target) -> float:
    """The probability that a label has a slope of the loss at zero output."""
    loss, constants = loss_kernel(fit_loss), _constants(fit_loss)
    if not any(_is_flat(loss, constants, k, y) for y in _PROBED for k in _pieces_of(loss, y)):
        return 1.0
    labels, weight = _labels(target)
    distinct, place = np.unique(labels, return_inverse=True)
    felt = np.array([_felt(loss, constants, y) for y in distinct.tolist()])
    return float(weight @ felt[place])


def _labels(target: Target) -> tuple[Array, Array]:
    """Labels and weights: sums over a fine grid far out, of one index with its noise; probes of several."""
    values = link_values(target.link)
    scale = np.sqrt(1.0 + target.probit)
    if target.indices == 1:
        z, weight = _grid(_STEPS)
        labels = values(scale * z[None])
    else:
        source = np.random.default_rng(4)
        points = source.standard_normal((target.indices, _SEVERAL)) * np.where(source.random(_SEVERAL) < 0.5, 1.0, 8.0)
        labels, weight = values(scale * points), np.full(_SEVERAL, 1.0 / _SEVERAL)
    if target.flips:
        labels, weight = np.concatenate([labels, -labels]), np.concatenate([weight, weight])
    if target.noise:
        noise, density = _grid(_NOISE_STEPS)
        labels = (labels[:, None] + np.sqrt(target.noise) * noise).ravel()
        weight = (weight[:, None] * density).ravel()
    return labels, weight


def _grid(steps: int) -> tuple[Array, Array]:
    """Places between the ends, off the origin, with Gaussian weights."""
    step = 2.0 * _FAR / steps
    z = -_FAR + step * (np.arange(steps) + 0.4142)
    return z, step * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)


def _felt(loss: ModuleType, constants: Array, y: float) -> bool:
    """Whether the output moves from zero: at the edge of a flat part it does not."""
    return all(slope != 0.0 or curvature != 0.0 for _, slope, curvature in _pieces_at_zero(loss, constants, y))


def _pieces_at_zero(loss: ModuleType, constants: Array, y: float) -> list[tuple[float, float, float]]:
    """Value, slope and curvature of the loss at f = 0: of one piece, or of both where that is a kink."""
    u = -y if loss.FORM == "residual" else 0.0
    start, count = loss.cell(y)
    edges = [loss.edge(k, y, constants) for k in range(start, start + count - 1)]
    first, last = sum(edge < u for edge in edges), sum(edge <= u for edge in edges)
    return [loss.piece(k, u, y, constants) for k in range(start + first, start + last + 1)]


def _pieces_of(loss: ModuleType, y: float) -> range:
    """The pieces of the loss that hold at a label."""
    start, count = loss.cell(y)
    return range(start, start + count)


def _is_flat(loss: ModuleType, constants: Array, k: int, y: float) -> bool:
    """Whether piece k has no slope, as far as three points tell."""
    start, count = loss.cell(y)
    low = loss.edge(k - 1, y, constants) if k > start else None
    high = loss.edge(k, y, constants) if k < start + count - 1 else None
    left = low if low is not None else (high or 0.0) - 1.0
    right = high if high is not None else left + 2.0
    places = (left + (right - left) * share for share in (0.21, 0.5, 0.83))
    return all(loss.piece(k, u, y, constants)[1] == 0.0 for u in places)


def _constants(fit_loss: FitLoss) -> Array:
    return np.array(fit_loss.values, dtype=float)
