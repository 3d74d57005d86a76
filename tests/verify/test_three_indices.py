"""Averages over labels of three directions at random places: their error is the one that is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Model
from giantstep.system.solve import solve
from giantstep.verify import conditional_law, drawn_lines
from giantstep.verify.certificate import certificate
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.output_averages import loss_averages
from giantstep.verify.output_law import Output

Array = np.ndarray
KAPPA = np.array([-1.3, 0.2, 1.1])
DRAWS = 8
NAMES = ("avg_l", "avg_g", "avg_gg", "avg_h")
MODEL = Model.from_dict(
    {
        "network": {"activation": "gelu", "width": 1.0},
        "spike": {"strength": 1.5, "alignment": [0.6, 0.4, 0.1], "bulk_variance": 1.2},
        "target": {"link": "abs(z1) + z2*z3"},
        "fit": {"samples": 1.5, "ridge": 0.1},
    }
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few lines, which are fast; the error that is told knows."""
    monkeypatch.setattr(drawn_lines, "_LINES", 400)


@pytest.mark.usefixtures("few")
def test_draws_scatter_about_what_two_directions_give(monkeypatch: pytest.MonkeyPatch) -> None:
    law, loss = LabelLaw("relu(z1 + z2) + z3", np.array([[0.5, 0.3, -0.4]]), 0.1, 0.0), FitLoss("huber")
    size = np.array([1.0, 0.7, 0.3])
    output = Output(np.array([-0.4, 0.3, 0.9]), np.outer([0.4, -0.2, 0.3], size), 0.2 * size, 2.0 * size)
    wanted = in_rows(loss_averages(law, loss, 0.0, KAPPA, output))
    monkeypatch.setattr(conditional_law, "known_directions", lambda text: (text, np.eye(3)))
    drawn = [in_rows(loss_averages(replace(law, draw=draw), loss, 0.0, KAPPA, output)) for draw in range(DRAWS)]
    error = np.std(drawn, axis=0, ddof=1) / np.sqrt(DRAWS)
    assert np.all(np.abs(np.mean(drawn, axis=0) - wanted) <= 5.4 * error + 1e-9)  # one of 1e4: t with 7 degrees
    assert np.max(error) < 2e-3


def in_rows(found: dict[str, Array]) -> Array:
    return np.array([*(found[name] for name in NAMES), *found["avg_tg"]])


@pytest.mark.usefixtures("few")
def test_an_answer_holds_to_what_is_told_and_a_wrong_one_does_not() -> None:
    found = certificate(result := solve(MODEL))
    assert found.holds and not found.unsettled, found
    assert found.by_chance and found.allowed("train_error") < 1e-3
    other = certificate(replace(solve(MODEL.replace({"target.link": "abs(z1) + 0.9*z2*z3"})), model=MODEL))
    assert not other.holds and not other.unsettled, other
    wrong = certificate(replace(result, train_error=1.01 * result.train_error))
    assert not wrong.holds and wrong.errors["train_error"] > wrong.allowed("train_error")
