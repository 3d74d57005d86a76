"""A model in a few words."""

from __future__ import annotations

from giantstep.spec.model import Model
from giantstep.spec.outline import outline


def test_metrics_have_the_names_that_the_user_gave() -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0},
            "target": {"link": "z", "channel": "logit"},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
            "metrics": {"wrong": "y*f < 0"},
        }
    )
    assert "wrong=y*f < 0" in outline(model)
