"""Where a loss is flat or has a kink: at zero output, at one that does not vary, and what to say of it."""

from __future__ import annotations

import math
from functools import lru_cache
from types import ModuleType

import numpy as np

from giantstep.law.channel import labels_given, step_of_counts
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.kernels import loss_kernel
from giantstep.system.problem import Problem

Array = np.ndarray
_FAR = 38.0  # standard deviations: the Gaussian weight beyond underflows
_STEPS = 4000  # of the index, over which the probability is summed; of
_STEPS_WITH_NOISE = (500, 160)  # the index and the label noise, whose law is smooth
_SEVERAL = 40_000  # points of a link of several indices
_RARE, _FEW = 1e-6, 20
_ACROSS, _SATURATED = np.linspace(-3.0, 3.0, 13), 1e-13  # kappa; variance of features, relative to the largest
_SMALL_RIDGE = 1e-3
# shares of usual kappa: at most where features bend, at least where they are linear; of the largest slope, squared
_BENT, _STRAIGHT, _FELT = 0.2, 0.4, 1e-3
_OCCURRING, _AFFORDABLE = np.linspace(-6.0, 6.0, 121), 2  # of an index; refinements of counts that can be afforded
_EQUAL = 1e-12  # relative difference of slopes that rounding makes
_PROBED = (1.0, -1.0, 0.37)  # labels at which a loss is looked at for flat pieces


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


def rare_hint(problem: Problem) -> str:
    """What to try where next to no label feels the loss at zero output; empty elsewhere."""
    fit, target = problem.model.fit, problem.model.target
    felt = 1.0 if fit.loss.key == "square" else probability_felt(fit.loss, target)
    if felt >= _RARE:
        return ""
    return (
        "lower the width of the flat part of the loss, or raise target.noise: at f = 0 a share "
        f"{felt:.1g} of the labels feels it, whose averages have fewer digits than all others"
    )


def saturated_hint(problem: Problem) -> str:
    """What to try where outputs without variance may lie on a kink of the loss; empty elsewhere."""
    if problem.loadings is not None or not has_jumps(problem.model.fit.loss):
        return ""
    if not _saturates(problem):
        return ""
    return (
        "the features saturate along the spike, and their outputs may lie on a kink of the loss: lower the learning "
        "rate or the spike's strength, or smooth the loss (smoothed_hinge, huber)"
    )


def cancelling_hint(problem: Problem) -> str:
    """What to try where the responses of blocks cancel: those of features that are linear at most kappa, where they
    differ by factors, are large beside a small ridge, and their sum is not. Empty elsewhere.
    """
    if len(problem.blocks) < 2 or problem.parameters.ridge > _SMALL_RIDGE:
        return ""
    slopes, rests = np.array([term.coefficients(_ACROSS)[1:3] for term in problem.blocks]).swapaxes(0, 1)
    bent = np.max(rests, axis=0) > _SATURATED * np.max(slopes**2)  # at each kappa
    straight = ~bent & (np.min(slopes**2, axis=0) > _FELT * np.max(slopes**2))  # others are constant there
    if np.mean(bent) > _BENT or np.mean(straight) < _STRAIGHT:
        return ""
    where = "" if not np.any(bent) else " at most kappa, beside a strong spike"
    return (
        f"raise fit.ridge, or give the neurons one readout value: the features are linear{where}, and beside a small "
        "ridge the responses of several blocks cancel to rounding"
    )


def counts_hint(problem: Problem) -> str:
    """What to try where a loss turns between two of the counts that are averaged over; empty elsewhere."""
    target, loss = problem.model.target, loss_kernel(problem.model.fit.loss)
    if target.channel is None or target.channel.values or target.indices > 1 or loss.FORM != "residual":
        return ""
    largest = float(np.max(link_values(target.link)(_OCCURRING[None])))
    step = step_of_counts(largest, _AFFORDABLE)
    if step < 2 or loss.SMOOTH and step * loss.STEEPNESS < 1.0:
        return ""
    return (
        f"take a link of smaller values, or the square loss: counts of means up to {math.exp(largest):.0f} occur, of "
        f"which every {step}th is averaged over, and the loss turns between two of these"
    )


def vanishing_hint(problem: Problem) -> str:
    """What to try where signs of outputs that all but vanish may be lost: those of features that saturate, whose ratios
    no digits are left of. Empty elsewhere.
    """
    if problem.loadings is not None or problem.model.fit.loss.form != "margin" or not _saturates(problem):
        return ""
    lower = "the spike's strength" if problem.model.step is None else "the learning rate"
    return f"the features saturate along the spike, where rounding hides the sign of an output: lower {lower}"


def _saturates(problem: Problem) -> bool:
    """Whether the features have next to no variance beside kappa at some kappa."""
    varying = np.sum([term.coefficients(_ACROSS)[1:] ** [[2], [1]] for term in problem.blocks], axis=(0, 1))
    return bool(varying.min() <= _SATURATED * varying.max())


@lru_cache(maxsize=256)
def has_jumps(fit_loss: FitLoss) -> bool:
    """Whether the slope of a loss jumps, as that of huber and squared_hinge does not."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)
    if loss.SMOOTH or loss.FORM == "general":
        return not loss.SMOOTH
    edges = [loss.edge(k, 0.0, constants) for k in range(loss.COUNT - 1)]
    slopes = [[loss.piece(k + side, edge, 0.0, constants)[1] for side in (0, 1)] for k, edge in enumerate(edges)]
    return any(abs(left - right) > _EQUAL * max(abs(left), abs(right)) for left, right in slopes)


def constant_hint(problem: Problem) -> str:
    """What to try where the mean features are constants, and so may be the best output; empty elsewhere.

    On a kink of the loss, labels of one kind hold it against all that those of the other kind ask of the remaining
    features: V and all overlaps vanish.
    """
    if problem.link is None or problem.loadings is not None or loss_kernel(problem.model.fit.loss).SMOOTH:
        return ""
    if problem.link.variance > 0.0 or any(term.scale != 0.0 for term in problem.blocks):
        return ""
    return (
        "the best output may be a constant on a kink of the loss, from which nothing moves it: give the spike a "
        "strength, lower fit.samples, or smooth the loss (smoothed_hinge, huber)"
    )


def _share_on_kinks(fit_loss: FitLoss, target: Target) -> float:
    """The probability that a label that is one of a few numbers has a kink of the loss at zero output."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)
    labels, weight = _labels(target)
    distinct, place = np.unique(labels, return_inverse=True)
    if len(distinct) > _FEW:
        return 0.0
    kinked = np.array([len(pieces_at_zero(loss, constants, y)) > 1 for y in distinct.tolist()])
    return float(weight @ kinked[place])


@lru_cache(maxsize=256)
def probability_felt(fit_loss: FitLoss, target: Target) -> float:
    """The probability that a label has a slope of the loss at zero output."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)
    if not has_flat_part(fit_loss):
        return 1.0
    labels, weight = _labels(target)
    if loss.FORM == "residual":
        return float(weight @ _felt_of_residual(loss, constants, -labels))
    distinct, place = np.unique(labels, return_inverse=True)
    felt = np.array([_felt(loss, constants, y) for y in distinct.tolist()])
    return float(weight @ felt[place])


@lru_cache(maxsize=256)
def has_flat_part(fit_loss: FitLoss) -> bool:
    """Whether a loss has no slope on a part of the outputs."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)
    return any(_is_flat(loss, constants, k, y) for y in _PROBED for k in _pieces_of(loss, y))


def flat_part(fit_loss: FitLoss) -> tuple[float, float] | None:
    """The residuals between which a loss of the residual has no slope; None where it has one everywhere."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)
    flat = [k for k in _pieces_of(loss, 0.0) if _is_flat(loss, constants, k, 0.0)]
    if not flat:
        return None
    low, high = flat[0] - 1, flat[-1]  # the edges there
    first = loss.edge(low, 0.0, constants) if flat[0] > 0 else -math.inf
    return first, loss.edge(high, 0.0, constants) if high < loss.COUNT - 1 else math.inf


def _labels(target: Target) -> tuple[Array, Array]:
    """Labels and weights: sums over a fine grid far out, of one index with its noise; probes of several."""
    values = link_values(target.link)
    scale = np.sqrt(1.0 + target.probit)
    if target.indices == 1:
        z, weight = _grid(_STEPS_WITH_NOISE[0] if target.noise else _STEPS)
        labels = values(scale * z[None])
    else:
        source = np.random.default_rng(4)
        points = source.standard_normal((target.indices, _SEVERAL)) * np.where(source.random(_SEVERAL) < 0.5, 1.0, 8.0)
        labels, weight = values(scale * points), np.full(_SEVERAL, 1.0 / _SEVERAL)
    if target.channel is not None:
        labels, share = labels_given(target.channel, labels)
        labels, weight = labels.ravel(), (share * weight).ravel()
    if target.flips:
        labels, weight = np.concatenate([labels, -labels]), np.concatenate([weight, weight])
    if target.noise:
        noise, density = _grid(_STEPS_WITH_NOISE[1])
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
    return all(slope != 0.0 or curvature != 0.0 for _, slope, curvature in pieces_at_zero(loss, constants, y))


def _felt_of_residual(loss: ModuleType, constants: Array, u: Array) -> Array:
    """The same at many residuals: the pieces are those of any label."""
    pieces = _pieces_of(loss, 0.0)
    flat = np.array([_is_flat(loss, constants, k, 0.0) for k in pieces])
    edges = [loss.edge(k, 0.0, constants) for k in pieces[:-1]]
    unfelt: Array = flat[np.searchsorted(edges, u, "left")] | flat[np.searchsorted(edges, u, "right")]
    return ~unfelt


def pieces_at_zero(loss: ModuleType, constants: Array, y: float) -> list[tuple[float, float, float]]:
    """Value, slope and curvature in u of the loss at f = 0: of one piece, or of both where that is a kink."""
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


def loss_constants(fit_loss: FitLoss) -> Array:
    """The parameters of a loss, as its kernels take them."""
    return np.array(fit_loss.values, dtype=float)
