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


def test_all_but_a_few_labels_are_named_too() -> None:
    """gamma = 1 - 1e-9: atan(sqrt(2e-9))/pi of the labels, 1.4e-5, are not what kappa says."""
    found = model("hinge", "erf", (0.5, 1.6, 1.3)).replace({"spike.alignment": 1.0 - 1e-9, "fit.ridge": 0.006})
    with pytest.raises(NotConverged, match="all but a share 1e-05 of the labels"):
        gs.solve(found)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"spike.strength": 0.0, "spike.bulk_variance": 1.0}, "constant on a kink"),
        ({"spike.strength": 40.0, "network.activation": "hard_tanh"}, "saturate"),
    ],
)
def test_outputs_that_stick_to_a_kink(changes: dict[str, object], cause: str) -> None:
    """The refusal says why, whatever else is usual: no separation, no ridge."""
    sticking = {"target.link": "sign(z+1)", "target.flips": 0.29, "fit.samples": 8.6, "fit.ridge": 0.0017}
    found = model("hinge", "relu").replace({**sticking, "network.width": 0.31, **changes})
    with pytest.raises(NotConverged) as caught:
        gs.solve(found)
    assert cause in caught.value.hint


def test_digits_lost_at_the_interpolation_peak() -> None:
    peak = model("absolute", "leaky_relu", (1.0, -1.0)).replace({"target.link": "erf(z)", "spike.alignment": 0.8})
    at = {"network.width": 0.1, "fit.samples": 0.1, "fit.ridge": 1e-8, "target.noise": 0.01, "spike.strength": 5.0}
    with pytest.raises(NotConverged) as caught:
        gs.solve(peak.replace(at))
    assert "fit.samples = network.width" in caught.value.hint


@pytest.mark.parametrize("ridge", [1e-8, 1e-10])
def test_a_training_error_that_vanishes_is_no_rounding(ridge: float) -> None:
    """At a small ridge no example is within the margin; the envelope is far larger than the loss of its prox."""
    changes = {"spike.strength": 0.7, "spike.alignment": 0.8, "fit.samples": 0.3, "fit.ridge": ridge}
    assert gs.solve(model("hinge").replace(changes)).train_error == 0.0
