"""Outputs that a kink of the loss holds: the same for every input, with all other overlaps zero, and exact errors.

Labels of a positive probability have a kink at that output. A readout of any other features, however small, costs more
there than it gains from the other labels: the response of the output vanishes with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.spec.errors import BadInput
from giantstep.spec.loss_functions import convex_loss_of
from giantstep.system.constant_output import label_points, mean_loss, test_error_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved
from giantstep.system.first_solution import COARSE, PATH, sharpened, starts
from giantstep.system.kernels import loss_kernel
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, Solution
from giantstep.system.resolution import FINE, leading, refined
from giantstep.system.saturated_outputs import remaining
from giantstep.system.separation import ROUNDING, separable
from giantstep.system.solved_pair import TO_THE_LAST
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_BLURS = 1e5, 1e9  # one over two blurs of the output, which one that is held follows
_FOLLOWS = 0.01  # relative difference of their ratio and that of the responses
_ON_A_KINK = 1e-4  # distance of the output from a kink at the smaller blur, relative to its size
_LIKELY = 1e-3  # probability of a label that can hold an output
_AGREE = 0.1  # share by which probabilities on both may differ: those of single nodes do by more
_REFINED = 5
_BESIDE, _OUTWEIGHS = 1e-6, 0.1  # a step away from a kink; of both slopes of a mean loss there, what each has


def held_readout(problem: Problem, tolerance: float) -> Solution | None:
    """The solution of a model whose output a kink of the loss holds; None where none does.

    Its overlaps are those of outputs with a little more variance and response, which are followed as both vanish.
    Raises BadInput for a loss of the margin that holds the output at zero, which has no sign.
    """
    if loss_kernel(problem.model.fit.loss).SMOOTH or problem.loadings is not None or separable(problem, ROUNDING):
        return None
    system = coupled_at(problem, PATH)
    found = [sharpened(problem, starts(problem, system, None), last) for last in _BLURS]
    if not all(outcome.converged for outcome, _ in found):
        return None
    responses, residuals = [], []
    for outcome, blurred in found:
        last = coupled_at(blurred, FINE[1])
        residuals.append(remaining(last, newton(last, outcome.x, settled=TO_THE_LAST).x))
        responses.append(float(last.table[:, 1] @ last.view("V")) - blurred.blur[0])
    if abs(responses[0] / responses[1] * _BLURS[0] / _BLURS[1] - 1.0) > _FOLLOWS:
        return None
    level = _kink_near(last)
    if level is None or level != 0.0 and problem.parameters.inverse_dimension > 0.0:
        return None
    # of the smaller blur the responses are known, which is all that it is asked for; rounding takes the other digits
    return _solution(problem, last, level, tolerance)._replace(residual=residuals[0])


def may_be_held(problem: Problem) -> bool:
    """Whether a constant output on a kink of the loss is such that the labels with that kink outweigh all others by
    far, as a held one does; decided by the loss alone.
    """
    if loss_kernel(problem.model.fit.loss).SMOOTH or problem.loadings is not None:
        return False
    system, fit = coupled_at(problem, leading(problem, COARSE)), problem.model.fit.loss
    labels, probability = label_points(system.table, system.labels)
    if not np.any(system.kappa < 0.0):  # half of the nodes, of labels that are odd
        labels, probability = np.concatenate([labels, -labels]), 0.5 * np.concatenate([probability, probability])
    loss = convex_loss_of(fit.entry, fit.parameters)
    for kink in _kinks(system):
        here, *beside = (probability @ loss.value(labels, np.array(kink + step)) for step in (0.0, -_BESIDE, _BESIDE))
        if min(beside) - here > _OUTWEIGHS * (sum(beside) - 2.0 * here):
            return True
    return False


def _kink_near(system: CoupledSystem) -> float | None:
    """The output that is held: a kink at one of the labels, where the mean of the output is the same everywhere."""
    mean, kinks = system.view("mean"), _kinks(system)
    if not kinks:
        return None
    nearest = min(kinks, key=lambda kink: float(np.max(np.abs(mean - kink))))
    return nearest if np.max(np.abs(mean - nearest)) < _ON_A_KINK * max(1.0, abs(nearest)) else None


def _kinks(system: CoupledSystem) -> list[float]:
    """Outputs on kinks of the loss at labels that are likely."""
    loss, constants = system.loss, system.constants
    kinks: list[float] = []
    for y in _likely(system.problem, system.level):
        start, count = loss.cell(y)
        edges = np.array([loss.edge(k, y, constants) for k in range(start, start + count - 1)])
        kinks += list(edges + y if loss.FORM == "residual" else edges / y if loss.FORM == "margin" else edges)
    return kinks


def _likely(problem: Problem, level: Level) -> list[float]:
    """Labels of a positive probability: values at nodes that have the same at other nodes."""
    found = []
    for each in (level, replace(level, order=level.order + 1, labels=level.labels + 1)):
        laws = resolved(problem, each)
        labels, probability = label_points(laws.table, laws.labels)
        values, place = np.unique(labels, return_inverse=True)
        found.append((values, np.bincount(place, probability)))
    (values, share), (others, finer) = found
    both, here, there = np.intersect1d(values, others, return_indices=True)
    share, finer = share[here], finer[there]
    likely: list[float] = both[(share > _LIKELY) & (np.abs(finer - share) < _AGREE * share)].tolist()
    return likely


def _solution(problem: Problem, system: CoupledSystem, output: float, tolerance: float) -> Solution:
    """What is reported of an output that is held; system: the last one, whose m are all but those."""
    model = problem.model
    if model.fit.loss.form == "margin" and output == 0.0:
        raise BadInput(
            f"fit.loss = {model.fit.loss.name!r} holds the output at f = 0, which has no sign",
            "use a loss without a kink at y*f = 0, such as hinge or logistic",
        )
    for times in range(_REFINED):
        coarse, fine = (resolved(problem, refined(level, times)) for level in FINE)
        test, train = (f(problem, fine, output) for f in (test_error_of, mean_loss))
        error = abs(test_error_of(problem, coarse, output) - test) / test if test > 0.0 else 0.0
        if error <= tolerance:
            break
    found = system.order_parameters()
    scale = 0.0 if output == 0.0 else output / float(system.table[:, 1] @ system.view("mean"))
    order = {name: np.zeros_like(values) for name, values in found.items()} | {"m": found["m"] * scale}
    energy = model.fit.samples * train / model.fit.loss.entry.error_scale
    signal = system.signal()
    return Solution(test, train, energy, order, 0.0, 0, error, len(fine.table), signal)
