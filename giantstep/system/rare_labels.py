"""Losses that next to no label feels at the best output: what decides on the mean features at infinite dimension.

The envelope of a label that is felt by r is r^2/(2 V) at least where r < V, so that the free energy tells how many
are. Noise of the labels adds to it, as the loss is convex: what is found with a noise is a bound of what there is
without. The noise is lowered from one with which many labels are felt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.discretisation import resolved
from giantstep.system.first_solution import starts
from giantstep.system.loss_at_zero import has_flat_part, probability_felt
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE
from giantstep.system.settling import cutting
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_SELDOM, _OFTEN = 1e-2, 0.1  # probabilities that a label is felt at f = 0: of models that are looked at, of the first
UNSEEN = 1e-13  # a share of labels of which no data set holds one
NEVER = 1e-290  # the least size of what is told
_LOWERED, _SHORTEST, _LITTLE = 3.0, 1.01, 1e-4  # factor of the noise, least one; the last noise beside the first


def decided_by_rare_labels(problem: Problem) -> NotConverged | None:
    """What is said of a model that labels decide on which no data set holds; None where none such is found."""
    fit = problem.model.fit
    if fit.loss.form != "residual" or problem.parameters.inverse_dimension > 0.0 or problem.loadings is not None:
        return None
    if not seldom_felt(problem):
        return None
    for noisier, x in _with_less_and_less_noise(problem):
        system = coupled_at(noisier, FINE[1])
        system.residual(x)
        few = decided_by_few(problem, float(system.averaged()[2]))
        if few is not None:
            return few
    return None


def decided_by_few(problem: Problem, energy: float) -> NotConverged | None:
    """The same by the free energy of a solution, or by a bound of it: of labels that are felt by a distance of one,
    beside the response without data, which is the largest.
    """
    fit, (samples, *_, inverse_dimension) = problem.model.fit, problem.parameters
    if inverse_dimension > 0.0 or not has_flat_part(fit.loss):
        return None
    if not 2.0 * energy / samples * (1.0 + response_without_data(problem)) < UNSEEN:
        return None
    return of_rare_labels(problem)


def seldom_felt(problem: Problem) -> bool:
    """Whether so few labels are felt at zero output that rare ones may decide."""
    return probability_felt(problem.model.fit.loss, problem.model.target) <= _SELDOM


def of_rare_labels(problem: Problem) -> NotConverged:
    """What is said of a model that they decide on."""
    fit = problem.model.fit
    smooth = "target.flips or target.probit" if fit.loss.form == "margin" else "target.noise"
    return NotConverged(
        f"at the best output the loss {fit.loss} is flat but for labels so rare, by the free energy a share below "
        f"{UNSEEN:.0e}, that no data set holds one, and at infinite dimension nothing but these decides on the mean "
        "features",
        f"give a dimension (--dimension), lower the width of the flat part of the loss, or raise {smooth}",
    )


def response_without_data(problem: Problem) -> float:
    table, blocks = resolved(problem, FINE[1]).table, len(problem.fraction)
    squares = table[:, -2 * blocks : -blocks] ** 2 + table[:, -blocks:]  # of mu1 and mu2
    response: float = table[:, 1] @ (squares @ problem.fraction) / problem.parameters.ridge
    return response


def _with_less_and_less_noise(problem: Problem) -> Iterator[tuple[Problem, Array]]:
    """Problems with more noise than a given one, and their unknowns."""
    system, loss = coupled_at(problem, FINE[0]), problem.model.fit.loss
    noise = system.signal()
    while probability_felt(loss, _noisier(problem, noise).model.target) < _OFTEN:
        noise *= _LOWERED
    last, factor = _LITTLE * noise, _LOWERED
    x = next(starts(_noisier(problem, noise), system, None))
    while noise > last and factor > _SHORTEST:
        noisier = _noisier(problem, noise)
        outcome = cutting(noisier, x)
        if outcome.converged:
            x = outcome.x
            yield noisier, x
        else:
            noise, factor = noise * factor, math.sqrt(factor)
        noise /= factor


def _noisier(problem: Problem, noise: float) -> Problem:
    total = problem.parameters.noise + noise
    model = problem.model.replace({"target.noise": total})
    return problem._replace(model=model).with_features(model=model).with_parameters(noise=total)
