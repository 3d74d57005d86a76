"""Metrics that grow so fast with kappa that its far tail counts: against closed forms of quadratic features."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.output_law import Output
from giantstep.spec.errors import NotConverged
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of


def solved(strength: float) -> gs.Result:
    given = {
        "network": {"activation": "He(2,z)", "width": 0.8},
        "spike": {"strength": strength, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "tanh(z)+z**2/3"},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": "huber"},
    }
    return gs.solve(gs.Model.from_dict(given))


def exponent(result: gs.Result, factor: float) -> np.ndarray:
    """Powers 0, 1, 2 of kappa in log E[exp(factor f) | kappa], which is quadratic: the output is Gaussian there."""
    kappa = np.array([0.0, 1.0, -1.0])
    output = Output(problem_of(result.vocabulary, result.dimension), order_of(problem_of(result.vocabulary), result))
    mean, slope, variance = output.of(kappa[:, None])
    log = factor * mean + 0.5 * factor**2 * ((slope**2).sum(axis=1) + variance)
    return np.array([log[0], 0.5 * (log[1] - log[2]), 0.5 * (log[1] + log[2]) - log[0]])


@pytest.mark.parametrize(("strength", "factor"), [(1.5, 1.0), (0.3, 2.0), (0.5, 1.0)])
def test_the_exponential_of_quadratic_features(strength: float, factor: float) -> None:
    """kappa ended at 11: at a strength of 1.5 the average was off by 8e-6 and told to 1e-14."""
    result = solved(strength)
    constant, linear, square = exponent(result, factor)
    left = 1.0 - 2.0 * square
    right = math.exp(constant + 0.5 * linear**2 / left) / math.sqrt(left)
    found = gs.metrics(result.model, {"grown": f"exp({factor:g}*f)"})
    assert found.values["grown"] == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("strength", [0.5, 1.5])
def test_an_infinite_mean_is_told(strength: float) -> None:
    """Numbers were told, 5875.66 and 1.2e33."""
    result = solved(strength)
    assert exponent(result, 2.0)[2] > 0.5
    with pytest.raises(NotConverged, match="does not settle") as told:
        gs.metrics(result.model, {"grown": "exp(2*f)"})
    assert "it may have no mean" in str(told.value)
