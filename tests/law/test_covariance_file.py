"""Structured inputs whose covariance is in a file: the same models as by lists, and what is no covariance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs

SPECTRUM = np.array([3.0, 1.5, 0.4, 0.1])
STEP = {"samples": 2.0, "learning_rate": 1.0}


def model(**inputs: Any) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 0.8},
            "target": {"link": "tanh(2*z)", "noise": 0.1},
            "fit": {"samples": 1.7, "ridge": 0.1},
            "step": STEP,
            "inputs": inputs,
        }
    )


def test_a_list_a_matrix_and_a_model_file_give_the_same_answer(tmp_path: Path) -> None:
    axes, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    np.save(tmp_path / "list.npy", SPECTRUM)
    np.save(tmp_path / "matrix.npy", axes @ np.diag(SPECTRUM[::-1]) @ axes.T)
    target = [1.0, 0.5, 0.2, -0.3]
    wanted = gs.solve(model(eigenvalues=SPECTRUM.tolist(), target=target)).test_error
    for name in ("list.npy", "matrix.npy"):
        found = gs.solve(model(file=str(tmp_path / name), target=target)).test_error
        assert found == pytest.approx(wanted, rel=1e-12)
    text = """
        network = { activation = "tanh", width = 0.8 }
        target = { link = "tanh(2*z)", noise = 0.1 }
        fit = { samples = 1.7, ridge = 0.1 }
        step = { samples = 2.0, learning_rate = 1.0 }
        inputs = { file = "list.npy", target = [1.0, 0.5, 0.2, -0.3] }
    """
    (tmp_path / "model.toml").write_text(text)
    assert gs.solve(tmp_path / "model.toml").test_error == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([1.0, 0.0]), "the eigenvalue 0"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.array([1.0, np.nan]), "not finite"),
        (np.array(["a"]), "type"),
        (np.ones(4001), "up to 4000"),
    ],
)
def test_what_is_no_covariance_is_refused(array: Any, words: str, tmp_path: Path) -> None:
    np.save(tmp_path / "wrong.npy", array)
    with pytest.raises(gs.BadInput, match=words):
        gs.solve(model(file=str(tmp_path / "wrong.npy")))


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "list.npy", SPECTRUM)
    name = str(tmp_path / "list.npy")
    with pytest.raises(gs.BadInput, match="eigenvalues and file"):
        model(file=name, eigenvalues=[1.0])
    with pytest.raises(gs.BadInput, match="2 entries, and there are 4"):
        gs.solve(model(file=name, target=[1.0, 0.5]))
    with pytest.raises(gs.BadInput, match="cannot be read"):
        gs.solve(model(file=str(tmp_path / "missing.npy")))
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(gs.BadInput, match="is no array"):
        gs.solve(model(file=str(tmp_path / "text.npy")))
