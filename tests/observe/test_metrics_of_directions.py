"""Metrics beside a spike of several directions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.observe.output_law import Output
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of


def test_outputs_that_turn_faster_than_features_have_finer_nodes() -> None:
    """After two steps, on the first nodes 5e-7 off: kappa and t on grids, whose error is what half of them differ by.

    The output is averaged in closed form.
    """
    readout = {"values": [1.0, -0.5], "fractions": [0.3, 0.7], "biases": [0.0, 0.4]}
    steps = [{"samples": 4.62, "learning_rate": 0.92}, {"samples": 4.51, "learning_rate": 1.09}]
    model = gs.Model.from_dict(
        {
            "network": {"activation": "hard_tanh", "width": 1.173, "readout": readout},
            "target": {"link": "tanh(2*z)"},
            "fit": {"samples": 2.92, "ridge": 0.2647},
            "step": steps,
        }
    )
    found = gs.metrics(model, {"distance": "abs(y-f)"})
    problem = problem_of(model)
    law, gamma = Output(problem, order_of(problem, found.result)), np.array(problem.overlaps)[:, 0]

    def average(step: float) -> float:
        normals = np.arange(-7.0, 7.0 + step, step)
        kappa = np.stack([each.ravel() for each in np.meshgrid(normals, normals)], axis=1)
        mean, slope, variance = law.of(kappa)
        t, total = np.arange(-7.0, 7.0, 0.5 * step), 0.0
        for place in t:
            y = np.tanh(2.0 * (kappa @ gamma + math.sqrt(1.0 - gamma @ gamma) * place))
            apart, spread = y - mean - slope[:, 0] * place, np.sqrt(variance)
            distance = spread * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * (apart / spread) ** 2)
            distance += apart * (2.0 * ndtr(apart / spread) - 1.0)
            total += math.exp(-0.5 * place**2) * (np.exp(-0.5 * (kappa**2).sum(axis=1)) @ distance)
        return float(total) * 0.5 * step**3 / (2.0 * math.pi) ** 1.5

    fine, coarse = average(0.2), average(0.4)
    assert abs(fine - coarse) < 1e-6  # of the coarse one: trapezoids square it
    assert found.values["distance"] == pytest.approx(fine, rel=1e-9, abs=0.0)
