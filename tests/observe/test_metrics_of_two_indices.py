"""Metrics of labels that vary with two indices, on lines across the plane of the label."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.observe.metric_average import Given, Resolution
from giantstep.observe.output_law import Output
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of

TWO = gs.model("relu", link="z1 + z1*z2", readout=[1.0, -0.5], step_samples=3.0, learning_rate=1.0, samples=2.0)
SPIKE = {"strength": 1.0, "bulk_variance": 1.2, "alignment": [0.6, 0.3], "loadings": [[1.0, 0.0], [0.4, 1.0]]}


@pytest.mark.parametrize(
    ("model", "text"),
    [
        pytest.param(TWO, "abs(y - f) < 0.8", id="a polynomial"),
        pytest.param(TWO.replace({"target.link": "exp(z1/3)*tanh(z2)"}), "max(y - f, 0)", id="one that grows"),
        pytest.param(TWO.replace({"target.probit": 0.2}), "abs(y - f) < 0.8", id="probit"),
        pytest.param(
            TWO.replace({"step": None, "spike": SPIKE | {"alignment": [[0.6, 0.1], [0.3, -0.4]]}}),
            "abs(y - f) < 0.8",
            id="two directions",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_labels_that_vary_with_two_indices(model: gs.Model, text: str) -> None:
    """Given kappa the output is Gaussian at each label: its probability of values between two ends, or its mean beyond
    one, on a trapezoid of t in steps of 1/40, which is exact but for rounding. A rule of panels is allowed 1e-11.
    """
    problem = problem_of(model)
    law = Output(problem, order_of(problem, gs.solve(model)))
    kappa = np.linspace(-1.3, 1.1, 3 * problem.rank).reshape(-1, problem.rank)
    gamma, target = np.array(problem.overlaps), model.target
    axis = np.arange(-360, 361) / 40.0
    t = np.stack([each.ravel() for each in np.meshgrid(axis, axis)])
    weight = np.exp(-0.5 * (t**2).sum(axis=0)) / (2.0 * math.pi * 40.0**2)
    of_z = np.eye(2) - gamma.T @ gamma
    lower = np.linalg.cholesky(of_z + target.probit * np.eye(2))
    told = np.linalg.solve(lower, of_z)  # of z without noise by t'
    link = {
        "z1 + z1*z2": lambda z: z[0] + z[0] * z[1],
        "exp(z1/3)*tanh(z2)": lambda z: np.exp(z[0] / 3) * np.tanh(z[1]),
    }
    for at, found in zip(kappa, Given.of(law, text).at(kappa, Resolution(6.0, 0).on_lines()), strict=True):
        mean, slope, variance = (each[0] for each in law.of(at[None]))
        along = told @ np.linalg.solve(np.linalg.cholesky(of_z).T, slope)
        spread = math.sqrt(variance + slope @ slope - along @ along)
        label = link[target.link]((at @ gamma)[:, None] + lower @ t)
        expected = weight @ _given_the_label(text, label, mean + along @ t, spread)
        assert found == pytest.approx(expected, rel=0.0, abs=2e-11 * max(1.0, abs(expected)))


def _given_the_label(text: str, y: np.ndarray, centre: np.ndarray, spread: float) -> np.ndarray:
    """The mean of a metric over a Gaussian output."""
    if text == "max(y - f, 0)":
        u = (y - centre) / spread
        return (y - centre) * ndtr(u) + spread * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    return np.asarray(ndtr((y + 0.8 - centre) / spread) - ndtr((y - 0.8 - centre) / spread))
