"""The errors of an output that is the same for every input."""

from __future__ import annotations

import numpy as np

from giantstep.law.label_cells import LabelLaw
from giantstep.spec.expressions import special
from giantstep.spec.loss_functions import convex_loss_of
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved

Array = np.ndarray


def test_error_of(problem: Problem, laws: Resolved, output: float) -> float:
    """The squared error of the mean label that it predicts, or for a loss of the margin the probability of the other
    sign, where both are equally likely a half; against the clean label.
    """
    loss = problem.model.fit.loss
    if loss.form == "margin":
        labels, probability = label_points(laws.table, laws.clean)
        return float(probability @ (0.5 - 0.5 * np.sign(labels * output)))
    if loss.predicts is not None:
        output = float(loss.predicts.mean(np.array(output)))
    mean = float(laws.table[:, 1] @ laws.table[:, 2])
    return max(0.0, square_of_label(laws) - output * (2.0 * mean - output))  # labels that it is leave rounding


def square_of_label(laws: Resolved) -> float:
    """E y^2 of the clean label: the squared error of an output that is zero."""
    columns = laws.table.shape[1]
    directions = laws.clean.directions
    nu = laws.table[:, 2 : min(columns, 3 + directions)]
    return float(laws.table[:, 1] @ ((nu**2).sum(axis=1) + laws.table[:, 3 + directions]))


def mean_loss(problem: Problem, laws: Resolved, output: float) -> float:
    """The average of the loss over the labels, scaled as training errors are."""
    loss = problem.model.fit.loss
    labels, probability = label_points(laws.table, laws.labels)
    values = convex_loss_of(loss.entry, loss.parameters).value(labels, np.array(output))
    return float(loss.entry.error_scale) * float(probability @ values)


def label_points(table: Array, law: LabelLaw) -> tuple[Array, Array]:
    """All labels of the nodes and their probabilities."""
    kappa, weight = table[:, 0], table[:, 1]
    if law.points is not None:
        return law.points.label.ravel(), (weight[:, None] * law.points.weight).ravel()
    gamma, width, _ = law.channel
    ends = np.stack([law.low, law.high]) - gamma * kappa[:, None, None]
    below = special.ndtr(ends / width) if width > 0.0 else (ends > 0.0).astype(float)
    return law.label, weight @ (law.weight * (below[:, 1] - below[:, 0]))
