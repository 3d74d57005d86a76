"""Labels that the mean features separate: no finite solution at infinite dimension, and the refusal says so."""

from __future__ import annotations

import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged


def model(loss: str, activation: str = "tanh", values: tuple[float, ...] = (1.0,)) -> gs.Model:
    """The sign of the direction of the spike."""
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "readout": readout},
            "spike": {"strength": 1.5, "alignment": 1.0, "bulk_variance": 1.2},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
def test_the_cause_is_named(loss: str, values: tuple[float, ...]) -> None:
    with pytest.raises(NotConverged, match="separate the labels") as caught:
        gs.solve(model(loss, values=values))
    assert "dimension" in caught.value.hint
    assert 0.0 < gs.solve(model(loss, values=values), dimension=1000).test_error < 0.05


def test_features_of_one_sign_separate_nothing() -> None:
    assert 0.0 < gs.solve(model("logistic", "relu")).test_error < 0.5
    assert 0.0 < gs.solve(model("logistic").replace({"target.flips": 0.1})).test_error < 0.5
