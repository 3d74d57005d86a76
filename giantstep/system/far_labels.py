"""Labels far out that a loss feels more than as their squares: whether nodes end where nothing is felt any more.

Nodes of kappa and of the label end where squares of labels do. A loss that grows faster feels labels beyond, wherever
the features hardly vary and no output can follow: the envelope is then the loss itself, ``(y - f)**4`` or ``cosh``, up
to r^2/(2 V) with a V that vanishes as kappa grows.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaincc

from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields
from giantstep.law.kinds_of_labels import Points
from giantstep.spec.errors import NotConverged
from giantstep.spec.fit_loss import FitLoss
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import loss_kernel
from giantstep.system.loss_at_zero import loss_constants, pieces_at_zero
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE
from giantstep.system.square_start import unknowns_without_data
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_FAR, _FARTHER, _FASTER = 1e2, 1e4, 2.0  # labels at which a loss is looked at; growth beside that of a square
_DECIDE = 1e-3  # a share without data from which on labels far out decide with data, too
_SELDOM = (4.0, 0.5), (7.0, 1e-3)  # deviations beyond which few samples lie, and shares of those that are too large

_SLOWER = (
    "take a loss that grows no faster than the square, or a link that grows more slowly; where the features saturate, "
    "so that outputs cannot follow, lower the learning rate or the spike's strength"
)


@lru_cache(maxsize=256)
def outgrows_squares(fit_loss: FitLoss) -> bool:
    """Whether a loss at zero output grows faster than the square of the label, on one side at least."""
    loss, constants = loss_kernel(fit_loss), loss_constants(fit_loss)

    def at(y: float) -> float:
        return max(abs(value) for value, *_ in pieces_at_zero(loss, constants, y))

    return any(not at(sign * _FARTHER) <= _FASTER * (_FARTHER / _FAR) ** 2 * at(sign * _FAR) for sign in (1.0, -1.0))


def share_beyond(system: CoupledSystem) -> float:
    """About the share of labels beyond the nodes in the free energy and in the variance of the readout, the larger of
    both, at the last x of a system: what is there at the last nodes, carried on. Not a number without an average.

    Zero of losses that feel labels as their squares at most, whose nodes end where these do, and of a spike of several
    directions, whose nodes are not looked at.
    """
    labels = system.labels
    if system.problem.rank > 1 or not isinstance(labels, Points) or not outgrows_squares(system.problem.model.fit.loss):
        return 0.0
    weight, t = system.table[:, 1], np.sqrt((labels.t**2).sum(axis=2))
    last = np.max(t, where=labels.weight > 0.0, initial=0.0)
    of_all, one, two = (
        np.abs(_felt(system, labels, np.where(counts, labels.weight, 0.0)))
        for counts in (True, t > last - 1, t > last - 2)
    )
    with np.errstate(all="ignore"):
        along_t = np.where((two @ weight == 0.0) | (last < 2.0), 0.0, (one @ weight) ** 2 / (two @ weight))
        beyond = along_t + np.array([_tail(system.kappa, felt) for felt in of_all])
        return float(np.max(beyond / (of_all @ weight)))


def _tail(kappa: Array, felt: Array) -> float:
    """What is beyond the nodes of kappa [N] of a positive function with the Gaussian weight, which falls there as
    between the last two of them; nodes of one sign stand for both.
    """
    found = 0.0
    for sign in (1.0, -1.0):
        outward = np.argsort(sign * kappa)[-2:]
        if not sign * kappa[outward[0]] > 0.0:
            continue
        far, size = np.abs(kappa[outward]), felt[outward]
        if size[1] > 0.0:
            density = size * np.exp(-0.5 * far**2) / math.sqrt(2.0 * math.pi)
            rate = math.log(density[0] / density[1]) / (far[1] - far[0])
            found += density[1] / rate if rate > 0.0 else math.inf
    return found if kappa.min() < 0.0 < kappa.max() else 2.0 * found


def decided_by_far_labels(problem: Problem) -> NotConverged | None:
    """What is said of a model in which labels of which no data set holds one decide; None elsewhere.

    It is looked at without data, where the response V is largest and the envelope of a label is least.
    """
    if not outgrows_squares(problem.model.fit.loss):
        return None
    share = share_beyond(_without_data(problem))
    return None if share <= _DECIDE else too_far_out(problem, share)


def seldom_hint(problem: Problem) -> str:
    """What to change where too much of what the equations average, without data, is from labels that few samples have,
    as the loss grows faster than the square; empty elsewhere.
    """
    if problem.rank > 1 or not outgrows_squares(problem.model.fit.loss):
        return ""
    system = _without_data(problem)
    labels, weight = system.labels, system.table[:, 1]
    if not isinstance(labels, Points):
        return ""
    away = system.kappa[:, None] ** 2 + (labels.t**2).sum(axis=2)
    of_all = _felt(system, labels, labels.weight) @ weight
    for reach, most in _SELDOM:
        of_few = _felt(system, labels, np.where(away > reach**2, labels.weight, 0.0)) @ weight
        if (share := float(np.max(of_few / of_all))) > most:
            samples = 1.0 / gammaincc(0.5 * (1 + labels.t.shape[2]), 0.5 * reach**2)
            return (
                f"{_SLOWER}: one of {samples:.0e} samples is further out than {reach:g} deviations, and {share:.1%} "
                f"of what the equations average is from those, as the loss grows faster than the square"
            )
    return ""


def _without_data(problem: Problem) -> CoupledSystem:
    """A system whose averages are those without data, where the response V is largest."""
    system = coupled_at(problem, FINE[0])
    system.evaluate(unknowns_without_data(problem, system))
    return system


def too_far_out(problem: Problem, share: float) -> NotConverged:
    """What is said where labels beyond the nodes make up so large a share; not a number where they have no average."""
    fit, link = problem.model.fit, problem.model.target.link
    part = f"make up a share {share:.0e} of" if share >= 0.0 else "leave no digits of"
    return NotConverged(
        f"the loss {fit.loss} grows faster than the square, and labels of {link!r} so far out that no data set holds "
        f"one {part} what the equations average",
        _SLOWER,
    )


def _felt(system: CoupledSystem, labels: Points, weight: Array) -> Array:
    """The averages M, and (mu1^2 + mu2^2) g^2 of all blocks, at nodes of kappa [2, N], with weights of the labels."""
    kernel, _ = system.at.labels
    fields = Fields(system.view("V"), system.view("mean"), system.slopes, system.view("Delta"))
    out = np.empty_like(system.averages)
    kernel(system.rule, LabelNodes(weight, labels.t, labels.label, labels.rest), fields, system.scratch, out)
    blocks, names = system.blocks, system.kernel.AVERAGES
    mu1, mu2sq = system.feature_table[:, -2 * blocks : -blocks], system.feature_table[:, -blocks:]
    return np.array([out[names.index("avg_M")], (mu1**2 + mu2sq).sum(axis=1) * out[names.index("avg_gg")]])
