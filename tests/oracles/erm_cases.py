"""Training sets and losses that the tests of empirical risk minimisation share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantstep.simulate.convex import ConvexLoss, Labelled
from giantstep.simulate.erm import Minimum, designs, minimise
from giantstep.simulate.newton import Design
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.loss_functions import convex_loss

Array = NDArray[np.float64]

#: Every kind: smooth, with a kinked slope, piecewise linear with one and two kinks, curved with a kink, "general".
LOSSES = (
    "logistic",
    "exponential",
    "probit",
    "squared_hinge",
    "smoothed_hinge",
    "huber",
    "log_cosh",
    "hinge",
    "absolute",
    "quantile",
    "epsilon_insensitive",
    "poisson",
    "binomial",
    "max(0,1-y*f)+0.1*(1-y*f)**2",
    "log(cosh(y-f))+0.3*abs(y-f)",
    "f**2/2-y*f+relu(f-0.5)",
)


def loss_of(name: str, **parameters: float) -> ConvexLoss:
    fit = FitLoss(name, tuple(parameters.items()))
    return convex_loss(fit.name, fit.parameters)


def training_set(loss: ConvexLoss, count: int, width: int, seed: int = 0) -> tuple[Array, Array]:
    """Features of a spiked first layer, [n, p], and noisy labels: +-1 for a loss of the margin."""
    generator = np.random.default_rng(seed)
    inputs, rows = generator.standard_normal((count, 40)), generator.standard_normal((width, 40)) / np.sqrt(40)
    rows[:, 0] += 0.8
    z = inputs[:, 0] + 0.5 * inputs[:, 1]
    if loss.form == "margin":
        labels = np.sign(z) * np.where(generator.random(count) < 0.1, -1.0, 1.0)
    else:
        labels = np.tanh(2.0 * z) + 0.3 * generator.standard_normal(count)
    return np.tanh(inputs @ rows.T + 0.2), labels


def fit(loss: ConvexLoss, features: Array, labels: Array, ridge: float) -> tuple[Design, Minimum]:
    ((_, design),) = designs(features, (len(labels),))
    return design, minimise(design, Labelled(loss, labels), ridge)
