"""``giantstep compare``: both laws of the bulk against the simulated network."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import giantstep
from giantstep.cli.main import main
from giantstep.draw.compare import draw_compare
from giantstep.observe.compare import ERRORS, Comparison, compare
from giantstep.observe.few_seeds import normal_score
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

PLAIN = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 0.5, "learning_rate": 3.0},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)
VOCABULARY = {"values": [1.0, -0.6], "fractions": [0.6, 0.4]}
# large learning rates, few samples in the step: where the isotropic law is off by 5 to 10 percent
SETTINGS: dict[str, dict[str, Any]] = {
    "square, sign": {},
    "logistic, sign": {"fit.loss": "logistic"},
    "vocabulary": {"network.readout": VOCABULARY, "step.samples": 0.4, "step.learning_rate": 4.0},
    "narrow network": {"network.width": 0.5, "step.samples": 0.3, "step.learning_rate": 1.5},
    "huber, noise": {"fit.loss": "huber", "target.link": "tanh(2*z)", "target.noise": 0.3},
    "erf, small ridge": {"network.activation": "erf", "step.samples": 0.25, "fit.ridge": 0.01, "fit.samples": 3.0},
}


@lru_cache(maxsize=1)
def compared() -> Comparison:
    return compare(PLAIN, dimension=300, seeds=40)


def test_the_trained_law_holds_and_the_isotropic_one_is_rejected() -> None:
    found = compared()
    assert getattr(giantstep, "compare") is compare  # noqa: B009
    assert found.simulation.what == "network" and found.simulation.seeds == 40
    assert all(abs(found.score("trained", error).score) < 4.0 for error in ERRORS)
    assert max(abs(found.score("isotropic", error).score) for error in ERRORS) > 4.0
    assert found.results["isotropic"].dimension == 300


def test_scores_are_those_of_the_means() -> None:
    found = compared()
    score, simulation = found.score("isotropic"), found.simulation
    expected = (simulation.mean().item() - found.results["isotropic"].test_error) / simulation.standard_error().item()
    assert score.z == pytest.approx(expected, rel=1e-12)
    for z, seeds in ((2.0, 5), (-3.0, 12), (0.5, 40)):
        probability = stats.t.cdf(z, seeds - 1)
        assert stats.norm.cdf(normal_score(z, seeds)) == pytest.approx(probability, rel=1e-9)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.toml"
    path.write_text(PLAIN.to_toml(), encoding="utf-8")
    size = ["--dimension", "60", "--seeds", "3"]
    assert main(["compare", str(path), *size]) == 0
    table = capsys.readouterr().out
    assert table.count("isotropic") == 2 and table.count("trained") == 2 and "d = 60, 3 networks" in table
    picture = tmp_path / "networks.png"
    assert main(["compare", str(path), *size, "--json", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(capsys.readouterr().out)
    assert set(found["laws"]) == {"isotropic", "trained"} and found["seeds"] == 3 and not found["refused"]
    assert set(found["laws"]["trained"]["test_error"]) == {"predicted", "z", "score"}
    path.write_text(PLAIN.replace({"step": None}).to_toml(), encoding="utf-8")
    assert main(["compare", str(path), *size]) == 0
    text = capsys.readouterr().out
    assert "trained: " in text and text.count("isotropic") == 2
    assert main(["compare", str(path), "--dimension", "60", "--seeds", "1"]) == 2


def test_the_picture_shows_networks_and_laws() -> None:
    found, axes = compared(), Figure().subplots()
    draw_compare(axes, found, "train_error")
    lines = {str(line.get_label()): line.get_ydata() for line in axes.get_lines()}
    assert lines["networks"] == pytest.approx(found.simulation.train_error.ravel())
    for law in found.results:
        assert lines[f"{law} law"] == pytest.approx([found.score(law, "train_error").predicted] * 2)
    numbers = sorted(axes.texts, key=lambda text: text.xy[1])
    assert [text.get_va() for text in numbers] == ["top", "bottom"]  # lines may lie close together


def test_a_trained_bulk_without_a_step_is_void() -> None:
    found = compare(PLAIN.replace({"step": None}), dimension=60, seeds=3)
    assert set(found.results) == {"isotropic"} and "takes none" in found.refused["trained"]
    with pytest.raises(BadInput, match="seeds"):
        compare(PLAIN, dimension=60, seeds=1)


@pytest.mark.slow
def test_six_settings_at_large_dimension() -> None:
    """At d = 1500, 8 networks each: |z| < 4 for the trained law; the isotropic one is rejected in at least three."""
    rejected = 0
    for name, changes in SETTINGS.items():
        found = compare(PLAIN.replace(changes), dimension=1500, seeds=8)
        scores = {law: [found.score(law, error) for error in ERRORS] for law in found.results}
        print(
            name,
            {law: [(s.predicted, round(s.z, 2), round(s.score, 2)) for s in all_] for law, all_ in scores.items()},
        )
        assert all(abs(score.score) < 4.0 for score in scores["trained"]), name
        rejected += max(abs(score.z) for score in scores["isotropic"]) > 4.0
    assert rejected >= 3


def test_a_given_bulk_has_no_laws_to_compare(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.random.default_rng(0).standard_normal((30, 30)) / np.sqrt(30.0))
    given = PLAIN.replace({"step": {**PLAIN.to_dict()["step"], "bulk": "matrix", "matrix": str(tmp_path / "w.npy")}})
    with pytest.raises(BadInput, match="gives the bulk itself") as refused:
        compare(given, dimension=30, seeds=2)
    assert "step.bulk = trained" in refused.value.hint
