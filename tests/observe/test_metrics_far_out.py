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


def phi(x: float) -> float:
    """The probability that a standard normal variable is above."""
    return 0.5 * math.erfc(x / math.sqrt(2.0))


def learned_from(link: str, noise: float = 0.0, **spike: float) -> gs.Model:
    """Spiked features of a strength of one, or plain ones."""
    spiked = {"spike": {"strength": 1.0, "bulk_variance": 1.1, **spike}} if spike else {}
    return gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 0.8},
            "target": {"link": link, "noise": noise},
            "fit": {"samples": 2.0, "ridge": 0.05},
            **spiked,
        }
    )


def test_noise_is_in_labels_beyond_a_far_threshold() -> None:
    """Metrics that are constant at ordinary labels were taken for functions of y - f: 0.0478 and 0.0255."""
    spread, metrics = math.sqrt(13.0), {"rare": "y > 5", "excess": "max(0, y - 6)", "one": "(y > 5)*(abs(f) < 1e3)"}
    found = gs.metrics(learned_from("3*z", 4.0, alignment=0.8), metrics).values
    far = 6.0 / spread
    excess = spread * (math.exp(-0.5 * far * far) / math.sqrt(2.0 * math.pi) - far * phi(far))
    assert found["rare"] == pytest.approx(phi(5.0 / spread), rel=1e-11)
    assert found["one"] == pytest.approx(phi(5.0 / spread), rel=1e-11)
    assert found["excess"] == pytest.approx(excess, rel=1e-11)


@pytest.mark.parametrize("spike", [{}, {"alignment": 0.3}, {"alignment": 0.8}])
def test_powers_of_labels_that_far_places_decide(spike: dict[str, float]) -> None:
    """E exp(p z) comes from about z = p; the label ended at 9, and a sixteenth of E y^8 was lost."""
    found = gs.metrics(learned_from("exp(z)", **spike), {f"power_{p}": f"y**{p}" for p in (2, 5, 8)})
    for p in (2, 5, 8):
        right, told = math.exp(0.5 * p * p), found.errors[f"power_{p}"]
        assert found.values[f"power_{p}"] == pytest.approx(right, rel=1e-15, abs=2.0 * told)
        assert told < 2e-11 * right
