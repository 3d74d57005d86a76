"""Derivatives of training errors that are next to nothing, and of readouts that are zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantstep.observe.gradient.gradient import gradient
from giantstep.spec.model import Model
from giantstep.system.solve import solve

STEP = 4e-3  # of a logarithm, of five-point differences


def model(activation: str, link: str, loss: Any, noise: float = 0.0, width: float = 1.0, **fit: float) -> Model:
    return Model.from_dict(
        {
            "network": {"activation": activation, "width": width},
            "target": {"link": link, "noise": noise},
            "fit": {"loss": loss, **fit},
        }
    )


def test_a_small_training_error_has_the_digits_that_are_told() -> None:
    """Its derivative was 4e-8 off, told with an error of 8e-10: held against the free energy, which is far larger."""
    few = model("softplus", "abs", {"name": "huber", "delta": 0.3}, width=1.969, samples=0.1038, ridge=0.000283)
    few = few.replace({"step": {"samples": 0.598, "learning_rate": 3.121}})
    found = gradient(few, dimension=200)
    assert found.result.train_error < 1e-2 * found.result.free_energy / few.fit.samples

    def train(share: float) -> float:
        moved = few.replace({"fit.ridge": few.fit.ridge * np.exp(share * STEP)})
        return solve(moved, dimension=200, tolerance=1e-12).train_error

    difference = (train(-2.0) - 8.0 * train(-1.0) + 8.0 * train(1.0) - train(2.0)) / (12.0 * STEP)
    told = few.fit.ridge * found.train_error["fit.ridge"]
    allowed = found.error + STEP**4 + 1e-9  # of differences: their order, and the digits of solutions
    assert told == pytest.approx(difference, rel=allowed, abs=0.0)


def test_a_training_error_that_is_zero_stays_so() -> None:
    """Kinks hold all samples: what rounding makes of its derivatives was told with an error of 1e-15."""
    held = model("relu", "abs", "absolute", noise=0.787, width=0.583, samples=0.0501, ridge=4.35e-5)
    found = gradient(held)
    assert found.result.train_error < 1e-20
    assert set(found.train_error.values()) == {0.0}
    assert found.free_energy["fit.ridge"] > 0.0


def test_a_readout_that_a_kink_holds_at_zero_stays_there() -> None:
    """The free energy is then samples times the error of no output; it was refused."""
    zero = model("softplus", "sign(abs(z)-1)", "hinge", width=0.909, samples=16.4035, ridge=0.119)
    found = gradient(zero)
    assert np.all(np.asarray(found.result.order_parameters["Q2"]) == 0.0)
    more = solve(zero.replace({"fit.samples": 17.0}))
    slope = (more.free_energy - found.result.free_energy) / (17.0 - zero.fit.samples)
    assert found.free_energy["fit.samples"] == pytest.approx(slope, rel=1e-9)
    assert found.free_energy["fit.ridge"] == 0.0
    assert set(found.test_error.values()) == {0.0}


@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
def test_means_that_a_symmetry_holds_at_zero_stay_there(values: tuple[float, ...]) -> None:
    """Outputs reach the kink of the loss with a probability of 1e-282, so that m had no equation: solved to 1e282."""
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    still = model("cos", "sign", "hinge", width=0.8, samples=2.0, ridge=10.0).replace(
        {"network.readout": readout, "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2}}
    )
    found, at_a_dimension = gradient(still), gradient(still, dimension=300)
    for told in ("train_error", "free_energy"):
        assert getattr(found, told) == pytest.approx(getattr(at_a_dimension, told), rel=1e-9, abs=1e-14)
    assert max(map(abs, found.test_error.values())) < 1e-14
    more, less = (solve(still.replace({"fit.ridge": 10.0 + step})).free_energy for step in (1e-2, -1e-2))
    assert found.free_energy["fit.ridge"] == pytest.approx((more - less) / 2e-2, rel=1e-5)
