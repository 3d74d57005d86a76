"""Outputs that keep all labels but the rarest in the flat part of a loss: known to exist before anything is solved.

At infinite dimension the mean features are restrained by nothing, so that the loss at any combination of them bounds
the free energy from above. Which combination keeps all labels within a distance of the centre of their law in the flat
part is a linear programme.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.system.loss_at_zero import flat_part
from giantstep.system.problem import Problem
from giantstep.system.rare_labels import NEVER, UNSEEN, of_rare_labels, response_without_data

Array = np.ndarray
_PLACES = 401, 1601  # along kappa, and of the label beside it: more where the first do not tell
_EXCESS = 1e4  # bounds how far labels beyond are outside, squared, and how much rarer one is than its Gaussian


def flat_everywhere(problem: Problem) -> NotConverged | None:
    """What is said of a model that labels decide on which no data set holds; None where this does not tell."""
    fit, target = problem.model.fit, problem.model.target
    if target.indices > 1 or problem.loadings is not None or problem.parameters.inverse_dimension > 0.0:
        return None
    if fit.loss.form != "residual" or fit.penalty is not None or target.flips or target.channel is not None:
        return None
    if (flat := flat_part(fit.loss)) is None:
        return None
    return of_rare_labels(problem) if _keeps(problem, *flat) else None


def _keeps(problem: Problem, low: float, high: float) -> bool:
    """Whether some combination of the mean features is from ``low`` to ``high`` above all labels but the rarest."""
    seldom = -math.log(UNSEEN) + math.log((1.0 + response_without_data(problem)) * _EXCESS)
    for places in _PLACES:
        margin, between = _margin(problem, (low, high), np.linspace(-1.0, 1.0, places) * math.sqrt(2.0 * seldom))
        if not 0.0 < margin <= between:
            break
    return margin > between


def _margin(problem: Problem, flat: tuple[float, float], kappa: Array) -> tuple[float, float]:
    """How far inside the flat part of the loss an output is at some places of kappa, and what it may be less between
    these.
    """
    least, largest, between = _labels(problem, kappa)
    features = np.stack([term.coefficients(kappa)[0] for term in problem.blocks], axis=1)
    features = features[:, np.abs(features).max(axis=0) > NEVER]
    if not features.size or not np.all(np.isfinite(features)):
        return -math.inf, 0.0
    features /= np.abs(features).max(axis=0)
    low, high = flat
    output = features @ _middle(features, largest + low, least + high)
    margin = np.min(np.minimum(output - largest - low, least + high - output))
    return float(margin), between + float(np.abs(np.diff(output)).max())


def _labels(problem: Problem, kappa: Array) -> tuple[Array, Array, float]:
    """The least label at each kappa within the ball that kappa ends at, the largest, and what labels may differ by from
    those of the places that are looked at.
    """
    target, gamma = problem.model.target, problem.overlaps[0][0]
    width = math.sqrt(max(0.0, 1.0 - gamma * gamma + target.probit))
    radius = np.sqrt(np.maximum(kappa[-1] ** 2 - kappa**2, 0.0))[:, None]
    share = np.linspace(-1.0, 1.0, len(kappa))
    index = gamma * kappa[:, None] + width * radius * share
    label, noise = link_values(target.link)(index[None]), math.sqrt(target.noise)
    away = noise * radius * np.sqrt(1.0 - share * share)
    every = np.unique(index)
    steep = np.abs(np.diff(link_values(target.link)(every[None])))
    step = (abs(gamma) + width) * kappa[-1] * (share[1] - share[0])
    near = np.searchsorted(every, every + step, "right") - 1  # a label may be that of an index that far away
    passed = np.cumsum(np.append(0.0, steep))
    between = float((passed[near] - passed).max()) + noise * kappa[-1] * (share[1] - share[0])
    return (label - away).min(axis=1), (label + away).max(axis=1), between


def _middle(features: Array, least: Array, largest: Array) -> Array:
    """Coefficients of an output that is as far inside two bounds as can be; zeros where that is not found."""
    from scipy.optimize import linprog  # loads slowly, and few models need it

    far = np.ones((len(features), 1))
    above = np.block([[-features, far], [features, far]])
    count = features.shape[1]
    goal, bounds = np.append(np.zeros(count), -1.0), (None, None)
    found = linprog(goal, A_ub=above, b_ub=np.concatenate([-least, largest]), bounds=bounds)
    return np.asarray(found.x[:count]) if found.status == 0 else np.zeros(count)
