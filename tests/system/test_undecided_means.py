"""Losses that are linear wherever outputs are, and leave the mean weights undecided where no ridge holds them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from giantstep import Model, NotConverged, solve

#: |y - f| with y = 1 + max(z, 0): features that saturate along the spike, as a large step leaves them, stay below
ABOVE = Model.from_dict(
    {
        "network": {"activation": "erf", "width": 1.37},
        "target": {"link": "relu(z) + 1"},
        "fit": {"samples": 0.42, "ridge": 1.1, "loss": "absolute"},
        "spike": {"strength": 30.0, "alignment": 0.6, "bulk_variance": 1.0},
    }
)


@pytest.mark.usefixtures("in_letters")
@pytest.mark.parametrize("changes", [{}, {"target": {"link": "relu(3*z1/5 - 4*z2/5) + 1"}, "alignment": [0.36, -0.48]}])
def test_what_nothing_decides_is_no_answer(changes: dict[str, object]) -> None:
    """Of one index and of two: the same model, whose objective is the same for all m."""
    data = ABOVE.to_dict()
    data["target"] = changes.get("target", data["target"])
    data["spike"]["alignment"] = changes.get("alignment", data["spike"]["alignment"])
    with pytest.raises(NotConverged, match="nothing decides m"):
        solve(Model.from_dict(data))


def test_a_dimension_decides() -> None:
    """The ridge of any dimension chooses m = 0: outputs then know nothing of the label, and vary by Q1 + Q2 at most."""
    found = solve(ABOVE, dimension=1e5)
    order, square = found.order_parameters, 1.5 + 2.0 / math.sqrt(2.0 * math.pi)
    assert order["m"][0] == pytest.approx(0.0, abs=1e-8)
    assert square < found.test_error < square + order["Q1"][0, 0] + order["Q2"][0]


def test_slopes_that_differ_where_kappa_hardly_occurs_decide_nothing() -> None:
    """A hinge at outputs that come near its kink only where kappa hardly occurs."""
    model = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 0.32, "bias": -0.133},
            "target": {"link": "sign"},
            "fit": {"samples": 0.494, "ridge": 3.8, "loss": "hinge"},
            "spike": {"strength": 0.0, "alignment": -0.7575, "bulk_variance": 1.0},
        }
    )
    with pytest.raises(NotConverged, match="nothing decides m"):
        solve(model)


#: labels of which the spike knows nothing, and a ridge that keeps nearly all outputs below the kink
LINEAR = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0, "readout": {"values": [1.0, -0.5]}},
        "spike": {"strength": 1.0, "alignment": 0.0, "bulk_variance": 1.2},
        "target": {"link": "sign(abs(z) - 1)"},
        "fit": {"samples": 2.0, "ridge": 10.0, "loss": "hinge"},
    }
)


@pytest.mark.parametrize(
    ("activation", "link"),
    [("tanh", "sign(abs(z) - 1)"), ("relu", "sign"), ("relu", "sign((z1+z2)*(z1-z2))")],
)
def test_means_that_vanish_by_symmetry_are_known(activation: str, link: str) -> None:
    """Of mirrored inputs, one index of the other sign, two that are exchanged: m is zero as at every dimension."""
    indices = max((int(digit) for digit in "123" if f"z{digit}" in link), default=1)
    spike = {"spike.alignment": [0.0] * indices if indices > 1 else 0.0}
    model = LINEAR.replace({"network.activation": activation, "target.link": link, **spike})
    found, held = solve(model), solve(model, dimension=1000)
    assert np.all(found.order_parameters["m"] == 0.0)
    for told in ("test_error", "train_error", "free_energy"):
        assert getattr(found, told) == pytest.approx(getattr(held, told), rel=1e-10)
    assert found.order_parameters["Q2"] == pytest.approx(held.order_parameters["Q2"], rel=1e-8)


def test_means_that_nothing_decides_are_no_answer_where_their_equations_hold() -> None:
    """Both labels equally likely at every kappa, by no symmetry: every m solves the equations."""
    median = "sign(abs(z) - 0.6744897501960817)"
    model = LINEAR.replace(
        {"fit.ridge": 12.0, "network.activation": "relu", "network.readout": {"values": [1.0]}, "target.link": median}
    )
    with pytest.raises(NotConverged, match="nothing decides m"):
        solve(model)


def test_signs_that_a_channel_draws_are_those_of_noise_inside_the_link() -> None:
    """m vanishes by symmetry in both; the channel was refused: "nothing decides m"."""
    given = {
        "network": {"activation": "sigmoid", "width": 2.6, "readout": {"values": [1.0, 0.2, -0.7]}},
        "fit": {"samples": 1.8, "ridge": 15.5, "loss": {"name": "smoothed_hinge", "delta": 0.5}},
    }
    targets = {"link": "sign", "probit": 0.25}, {"link": "2*z", "channel": "probit"}
    inside, drawn = (gs.solve(gs.Model.from_dict({**given, "target": target})) for target in targets)
    assert drawn.test_error == pytest.approx(inside.test_error, rel=1e-9)
    assert not drawn.order_parameters["m"].any()
