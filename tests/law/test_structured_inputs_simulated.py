"""Networks on structured inputs, without a step and after one: theory and simulation at growing dimensions.

Every score is (mean over networks - theory at that dimension) over the standard error of the mean, seeds fixed.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import giantstep as gs

ERRORS = ("test_error", "train_error")
STEP = {"samples": 2.0, "learning_rate": 1.0}
POWER = {"capacity": 0.45, "modes": 60, "source": 0.8}
LUMPS = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}
TWO = {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}
NETWORKS: dict[str, dict[str, Any]] = {
    "random features": {"inputs": POWER},
    "random features of relu": {"inputs": LUMPS, "network": {"activation": "relu"}, "target": {"link": "relu"}},
    "one step": {"inputs": POWER, "step": STEP},
    "two values of relu": {
        "inputs": LUMPS,
        "step": STEP,
        "network": {"activation": "relu", "readout": TWO},
        "target": {"link": "relu"},
    },
}
PRECISE = 0.03  # of an error: the standard error of its mean, so that a score tells of a few percent


def model(name: str) -> gs.Model:
    tables = {
        "network": {"activation": "tanh", "width": 0.8},
        "target": {"link": "tanh(2*z)", "noise": 0.1},
        "fit": {"samples": 1.7, "ridge": 0.1},
    }
    given = NETWORKS[name]
    return gs.Model.from_dict({key: {**tables.get(key, {}), **given.get(key, {})} for key in {*tables, *given}})


def simulated(name: str, dimension: int, seeds: int) -> tuple[gs.Model, list[float], list[float]]:
    """The model at the ratios of the simulation, means over the networks and their standard errors."""
    found = gs.simulate(model(name), dimension=dimension, seeds=seeds, what="network")
    means, spread = ([float(of(e).item()) for e in ERRORS] for of in (found.mean, found.standard_error))
    return found.model, means, spread


def scores(name: str, dimension: int, seeds: int, precise: float = PRECISE) -> list[float]:
    given, means, spread = simulated(name, dimension, seeds)
    theory = gs.solve(given, dimension=dimension)
    wanted = [getattr(theory, e) for e in ERRORS]
    assert all(s < precise * w for s, w in zip(spread, wanted, strict=True)), (spread, wanted)
    return [(m - w) / s for m, w, s in zip(means, wanted, spread, strict=True)]


def test_networks_of_a_small_dimension() -> None:
    found = scores("two values of relu", 100, 24, 0.06)
    assert max(map(abs, found)) < 4.0, found


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_two_dimensions(name: str) -> None:
    for dimension, seeds in ((400, 60), (1000, 24)):
        found = scores(name, dimension, seeds)
        assert max(map(abs, found)) < 4.0, (dimension, found)


@pytest.mark.slow
def test_the_gap_to_the_limit_shrinks() -> None:
    """As 1/d: what is missing at d = 50 foretells what is missing at d = 400 and 1000."""
    name, gaps, spread = "two values of relu", dict[int, float](), dict[int, float]()
    for dimension, seeds in ((50, 600), (400, 60), (1000, 24)):
        given, means, errors = simulated(name, dimension, seeds)
        gaps[dimension], spread[dimension] = means[0] - gs.solve(given).test_error, errors[0]
    assert gaps[50] > 5.0 * spread[50]
    for dimension in (400, 1000):
        share = 50 / dimension
        score = (gaps[dimension] - share * gaps[50]) / math.hypot(spread[dimension], share * spread[50])
        assert abs(score) < 4.0, (dimension, score)
