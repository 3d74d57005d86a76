"""Penalties so heavy that next to no readout moves: zero outputs, and what is said where few readouts decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import erf

from giantstep.observe.gradient.gradient import gradient
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.solve import solve

BASE: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 0.8},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1},
}
STEP = {"step.samples": 4.0, "step.learning_rate": 1.0}


def model(weight: float, **changes: Any) -> Model:
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return Model.from_dict(BASE).replace({"fit.penalty": {"name": "elastic_net", "l1": weight}, **changed})


@pytest.mark.parametrize("weight", [10.0, 30.0, 1e4])
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_held_readouts_leave_the_labels(weight: float, loss: str) -> None:
    """Without a step forces are Gaussian: of the absolute loss a share of 1e-11 reaches 10, which the error feels."""
    given = model(weight, fit__loss=loss)
    if loss == "absolute" and weight == 10.0:
        with pytest.raises(NotConverged, match="at zero but for a share of 9e-12, and these few would decide the test"):
            solve(given)
        return
    found = solve(given)
    assert found.test_error == pytest.approx(1.0, rel=1e-14) and found.penalty == 0.0
    assert found.free_energy == pytest.approx(found.training_loss, rel=1e-12)
    assert not any(np.any(found.order_parameters[name]) for name in ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2"))


def test_errors_tend_to_those_of_held_readouts() -> None:
    """They feel the share that moves, 1 - test error of the order of it; weights in between are refused."""
    gaps = [1.0 - solve(model(weight)).test_error for weight in (4.0, 5.0, 30.0)]
    assert gaps[0] > 5.0 * gaps[1] > 1e-4 and abs(gaps[2]) < 1e-14


@pytest.mark.parametrize("weight", [6.0, 10.0, 30.0])
def test_few_readouts_that_decide_are_told(weight: float) -> None:
    """Of features with a mean at infinite dimension; no cause was found, and NumPy warned of a division by zero."""
    with pytest.raises(NotConverged, match="these few would decide the overlap with the mean features") as caught:
        solve(model(weight, network__activation="relu", network__width=0.5, **STEP))
    assert "weaken fit.penalty, or give a dimension" in caught.value.hint


def test_a_dimension_holds_features_with_a_mean() -> None:
    found = solve(model(100.0, **STEP), dimension=1000)
    assert found.test_error == pytest.approx(1.0, rel=1e-14)
    lighter = solve(model(12.0, **STEP), dimension=1000)
    assert 0.4 < lighter.test_error < 1.0


def test_an_output_that_is_held_has_no_sign() -> None:
    with pytest.raises(NotConverged, match="these few would decide the sign of the output"):
        solve(model(30.0, fit__loss="logistic"))


def test_a_block_that_is_held_beside_others_is_told() -> None:
    """One of two blocks moves by its mean, the other is left by all but a share that rounding takes."""
    two = {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}
    changes = {"network__activation": "relu", "network__width": 1.0, "network__readout": two, "target__link": "tanh"}
    given = model(8.0, **changes, **{"step.samples": 2.0, "step.learning_rate": 1.0, "target.noise": 0.05})
    with pytest.raises(NotConverged) as caught:
        solve(given, dimension=1000)
    assert caught.value.hint.startswith("weaken fit.penalty: it holds the readouts where they are, all but a share of")


def test_derivatives_of_a_held_output() -> None:
    """All vanish but that of the free energy, samples * E y^2/2 and what a penalty costs at zero, per neuron."""
    found = gradient(model(0.0).replace({"fit.penalty": "30*abs(a)+1"}))
    assert set(found.test_error.values()) == set(found.train_error.values()) == {0.0}
    expected = {"fit.samples": 0.5, "network.width": 1.0, "fit.ridge": 0.0}
    assert found.free_energy == pytest.approx(expected, abs=1e-10)


def test_noise_counts_in_the_training_error() -> None:
    """E y^2 + noise of the square loss; E |y| of labels 1 and -1 with noise of variance 1/4."""
    square = solve(model(30.0, target__noise=0.25))
    assert square.train_error == pytest.approx(1.25, rel=1e-10)
    absolute = solve(model(30.0, target__noise=0.25, fit__loss="absolute"))
    expected = erf(math.sqrt(2.0)) + 0.5 * math.sqrt(2.0 / math.pi) * math.exp(-2.0)
    assert absolute.train_error == pytest.approx(expected, rel=1e-10)
    assert (square.test_error, absolute.test_error) == pytest.approx((1.0, 1.0), rel=1e-14)
