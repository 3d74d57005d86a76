"""Losses that are linear wherever outputs are, and leave the mean weights undecided where no ridge holds them."""

from __future__ import annotations

import math

import pytest

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
            "fit": {"samples": 0.494, "ridge": 3.64, "loss": "hinge"},
            "spike": {"strength": 0.0, "alignment": -0.7575, "bulk_variance": 1.0},
        }
    )
    with pytest.raises(NotConverged, match="nothing decides m"):
        solve(model)
