"""Mean features whose weight m multiplies nothing, or is zero by symmetry."""

from __future__ import annotations

import pytest

import giantstep as gs


@pytest.mark.parametrize("times", [0.1, 1.0, 2.0])
def test_quantile_loss_at_the_peak(times: float) -> None:
    """Steps of least length left m at 1e-26, which was all of its equation: refused as satisfied to 1.

    The loss times a number with the ridge times the same has the same readout.
    """
    fit = {"samples": 0.18, "ridge": 1e-8 * times, "loss": {"name": "quantile", "tau": 0.51}}
    data = {
        "network": {"activation": "linear", "width": 0.18, "readout": {"values": [1.5, 1.49], "fractions": [0.4, 0.6]}},
        "target": {"link": "relu"},
        "fit": fit,
    }
    found = gs.solve(gs.Model.from_dict(data), dimension=1000)
    assert not found.order_parameters["m"].any()
    own = {**fit, "ridge": 3.0 * 1e-8 * times, "loss": "3*max(0.51*(y-f),-0.49*(y-f))"}
    other = gs.solve(gs.Model.from_dict({**data, "fit": own}), dimension=1000)
    error = other.quadrature_error + found.quadrature_error + 1e-10
    assert found.test_error == pytest.approx(other.test_error, rel=10.0 * error)


@pytest.mark.parametrize("loss", ["square", "quantile"])
@pytest.mark.parametrize("values", [[1.1], [1.1, 1.10001]])
def test_means_beyond_double_precision_that_no_label_tells(values: list[float], loss: str) -> None:
    """Odd features have no mean weight on an even label at any dimension, however small their means are, here 1e-270
    of them: at infinite dimension they were refused as lost in rounding.
    """
    data = {
        "network": {"activation": "sin(5*z)", "width": 0.4, "readout": {"values": values}},
        "target": {"link": "cos"},
        "fit": {"samples": 0.3, "ridge": 0.01, "loss": loss},
        "spike": {"strength": 1.0, "alignment": 0.6, "bulk_variance": 50.0},
    }
    found = gs.solve(gs.Model.from_dict(data))
    assert not found.order_parameters["m"].any()
    for dimension in (10, 1000):
        other = gs.solve(gs.Model.from_dict(data), dimension=dimension)
        assert (found.test_error, found.train_error) == pytest.approx((other.test_error, other.train_error), rel=1e-9)
