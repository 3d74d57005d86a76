"""What is said of models whose rows have norms that their law leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.law.equal_norms import caution
from giantstep.spec.model import Model

SPREAD, EQUAL = {"eigenvalues": [4.0, 0.25], "weights": [0.2, 0.8]}, {"eigenvalues": [1.0, 1.0]}


def model(activation: str, **more: Any) -> Model:
    network = {"activation": activation, "width": 0.7, **more.pop("network", {})}
    return Model.from_dict(
        {"network": network, "target": {"link": "relu"}, "fit": {"samples": 2, "ridge": 0.1}, **more}
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (model("tanh(z)+He(2,z)/2", inputs=SPREAD), "with these inputs"),
        (model("tanh", inputs=SPREAD), ""),
        (model("tanh", network={"bias": 0.5}, inputs=SPREAD), "--what srf"),
        (model("relu", inputs=SPREAD, step={"samples": 2.0, "learning_rate": 0.3}), "--what network"),
        (model("relu", inputs=EQUAL), ""),
        (model("relu", network={"initialisation": "gaussian"}), "of Gaussian rows"),
        (model("relu"), ""),
        (
            model(
                "relu",
                network={"initialisation": "gaussian"},
                step={"samples": 2.0, "learning_rate": 1.0, "bulk": "trained"},
            ),
            "",
        ),
    ],
)
def test_norms_that_differ_and_are_felt(given: Model, words: str) -> None:
    assert (words in caution(given)) if words else caution(given) == ""


def test_a_result_tells_it() -> None:
    found = gs.solve(model("tanh(z)+He(2,z)/2", inputs=SPREAD))
    assert "simulate" in found.caution and found.to_dict()["caution"] == found.caution
    assert "see .caution" in str(found) and len(str(found).splitlines()) <= 6
    assert "caution" not in gs.solve(model("tanh", inputs=SPREAD)).to_dict()


@pytest.mark.parametrize("verb", [["curve", "--sweep", "fit.samples=1,2"], ["learned"]])
def test_commands_say_it_beside_their_answers(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.toml"
    path.write_text(
        '[network]\nactivation = "relu"\nwidth = 0.7\n[target]\nlink = "tanh"\n[fit]\nsamples = 2\nridge = 0.1\n'
        "[inputs]\neigenvalues = [4.0, 0.25]\n"
    )
    assert main([verb[0], str(path), *verb[1:]]) == 0
    assert "giantstep: the law takes rows of equal norm" in capsys.readouterr().err


@pytest.mark.parametrize("more", [{"inputs": SPREAD}, {"network": {"initialisation": "gaussian"}}])
def test_simulated_features_show_it(more: dict[str, Any]) -> None:
    """The caution is true: this test ends when the law knows these norms."""
    given = model("tanh(z)+He(2,z)/2", **more)
    found = np.ravel(gs.simulate(given, dimension=150, seeds=12, what="srf").test_error)
    assert gs.solve(given).test_error - found.mean() > 4.0 * found.std(ddof=1) / np.sqrt(len(found))
