"""Losses of the margin whose labels the mean features separate, at infinite dimension.

There is no finite solution where they separate all of them, and one that is out of reach where they do all but a few.
"""

from __future__ import annotations

import numpy as np

from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import table
from giantstep.spec.errors import NotConverged
from giantstep.system.problem import Problem
from giantstep.system.span import span_of

Array = np.ndarray
_BEYOND = 6.0  # kappa that hardly occurs
ROUNDING = 1e-12  # of a probability
_FEW = 1e-3  # labels of such a share are not worth the name of a restraint


def separable(problem: Problem, few: float = _FEW) -> bool:
    """Whether a combination of the mean features has the sign of the likelier label at every kappa, the other one being
    rarer than ``few``, at infinite dimension, where the ridge does not restrain m.
    """
    target, law = problem.link, problem.model.target
    if (
        problem.model.fit.loss.form != "margin"
        or problem.parameters.inverse_dimension > 0.0
        or problem.loadings is not None
    ):
        return False
    if target is None or not law.deterministic or left_over(problem) > few:
        return False
    blocks, span = len(problem.blocks), span_of(problem)
    rows = table(problem.blocks, target, ORDERS[0])
    rows = rows if span is None else span.columns(rows)  # features that are all but the same differ in these
    near = rows[np.abs(rows[:, 0]) < _BEYOND]
    features = np.sign(near[:, 2, None]) * near[:, -3 * blocks : -2 * blocks]
    size = np.abs(features).max(axis=0)
    return _one_side(features[:, size > 0.0] / size[size > 0.0])


def left_over(problem: Problem) -> float:
    """The probability of the less likely label at its kappa."""
    rows = table(problem.blocks, problem.link, ORDERS[1])
    return float(rows[:, 1] @ np.maximum(0.0, 0.5 * (1.0 - np.abs(rows[:, 2]))))


def _one_side(points: Array) -> bool:
    """Whether some c has points @ c > 0 at every point [N, K] but those where all features underflow."""
    points = points[np.any(points != 0.0, axis=1)]
    if points.shape[1] < 2:
        return bool(points.size) and bool(np.all(points > 0.0) or np.all(points < 0.0))
    from scipy.optimize import linprog  # loads slowly, and is asked for a diagnosis only

    points = points / np.abs(points).max(axis=1, keepdims=True)
    found = linprog(np.zeros(points.shape[1]), A_ub=-points, b_ub=-np.ones(len(points)), bounds=(None, None))
    return bool(found.status == 0)


def separated(problem: Problem) -> NotConverged:
    """What is said of such a model."""
    few = left_over(problem)
    most = f"all but a share {few:.0e} of " if few > ROUNDING else ""
    return NotConverged(
        f"the mean features separate {most}the labels, and at infinite dimension the ridge does not restrain them: "
        + (
            "the readout grows without bound, and the test error tends to 0"
            if not most
            else "the readout all but diverges"
        ),
        "give a dimension (--dimension), or label noise (target.flips or target.probit)",
    )
