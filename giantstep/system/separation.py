"""Losses of the margin whose labels the mean features separate: at infinite dimension there is no finite solution."""

from __future__ import annotations

import numpy as np

from giantstep.quadrature.panels import ORDERS, table
from giantstep.spec.errors import NotConverged
from giantstep.system.problem import Problem

Array = np.ndarray
_BEYOND = 6.0  # kappa that hardly occurs


def separable(problem: Problem) -> bool:
    """Whether a combination of the mean features has the sign of the label at every kappa.

    For a label that is a function of kappa, at infinite dimension, where the ridge does not restrain m.
    """
    target, law = problem.target, problem.model.target
    if problem.model.fit.loss.form != "margin" or problem.parameters[4] > 0.0 or problem.loadings is not None:
        return False
    if target is None or target.variance > 0.0 or law.flips > 0.0 or law.probit > 0.0:
        return False
    blocks = len(problem.blocks)
    rows = table(problem.blocks, target, ORDERS[0])
    near = rows[np.abs(rows[:, 0]) < _BEYOND]
    features = np.sign(near[:, 2, None]) * near[:, -3 * blocks : -2 * blocks]
    size = np.abs(features).max(axis=0)
    return _one_side(features[:, size > 0.0] / size[size > 0.0])


def _one_side(points: Array) -> bool:
    """Whether some c has points @ c > 0 at every point [N, K]."""
    if points.shape[1] < 2:
        return bool(points.size) and bool(np.all(points > 0.0) or np.all(points < 0.0))
    from scipy.optimize import linprog  # loads slowly, and is asked for a diagnosis only

    points = points / np.abs(points).max(axis=1, keepdims=True)
    found = linprog(np.zeros(points.shape[1]), A_ub=-points, b_ub=-np.ones(len(points)), bounds=(None, None))
    return bool(found.status == 0)


def separated() -> NotConverged:
    """What is said of such a model."""
    return NotConverged(
        "the mean features separate the labels, and at infinite dimension the ridge does not restrain them: "
        "the readout grows without bound, and the test error tends to 0",
        "give a dimension (--dimension), or label noise (target.flips or target.probit)",
    )
