"""Given rows whose norms differ by order one within a readout value: what is refused, and classes of similar norm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.given_bulk import given_bulk, given_law
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

Array = np.ndarray


def rows(d: int, spread: float) -> Array:
    """Gaussian rows times 1 + spread N(0, 1)."""
    source = np.random.default_rng(0)
    w = source.standard_normal((round(0.8 * d), d)) / np.sqrt(d)
    return np.asarray(w * (1.0 + spread * source.standard_normal((len(w), 1))))


def classes(w: Array, count: int) -> Array:
    """The number of the class of every row, of equal shares."""
    norms = np.linalg.norm(w, axis=1)
    return np.searchsorted(np.quantile(norms, np.arange(1, count) / count), norms)


def model(folder: Path, w: Array, block: Array | None = None, activation: str = "tanh(z)+He(2,z)/2") -> Model:
    """Of given rows with a spike and a target that overlap by 0.8, alike for every way to sort the rows."""
    source, more, readout = np.random.default_rng(1), {}, {"values": [1.0], "fractions": [1.0]}
    v, other = np.linalg.qr(source.standard_normal((w.shape[1], 2)))[0].T
    if block is not None:
        share = np.bincount(block) / len(block)
        more, readout = {"block": block}, {"values": [1.0] * len(share), "fractions": share.tolist()}
    path = folder / "rows.npz"
    np.savez(path, bulk=w, spike=v, target=0.8 * v + 0.6 * other, **more)
    tables: dict[str, Any] = {
        "network": {"activation": activation, "width": len(w) / w.shape[1], "readout": readout},
        "step": {"samples": 3.0, "learning_rate": 1.0, "bulk": "matrix", "matrix": str(path)},
        "target": {"link": "tanh(2*z)+He(2,z)/3"},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
    return Model.from_dict(tables)


def test_unequal_norms_are_refused(tmp_path: Path) -> None:
    """By the law, which leaves out terms of the size of their variance; not by a simulation of these rows."""
    given = model(tmp_path, rows(60, 0.5))
    with pytest.raises(BadInput, match=r"within readout value 1: .* is 0\.\d+, and .* leave out") as found:
        gs.solve(given)
    for verb in (gs.bounds, gs.spectrum):
        with pytest.raises(BadInput, match="vary too much"):
            verb(given)
    assert "20/d = 0.333" in found.value.hint and "[1.0, 1.0, 1.0]" in found.value.hint
    assert gs.simulate(given, dimension=60, seeds=1).test_error.item() > 0.0


def test_norms_that_are_allowed(tmp_path: Path) -> None:
    """Of Gaussian rows, those of classes, and any norms where the activation is linear."""
    wide, block = rows(60, 0.5), classes(rows(60, 0.5), 8)
    assert given_law(model(tmp_path, rows(60, 0.0))).keys() >= {"spectrum", "law_nn"}
    assert given_law(model(tmp_path, wide, block))["member"].shape == (8, 48)
    assert given_law(model(tmp_path, wide, activation="linear")).keys() >= {"spectrum", "law_nn"}


def test_classes_of_one_value_have_norms_of_their_own(tmp_path: Path) -> None:
    """Where they differ by more than those of Gaussian rows do; else they share one."""
    w, block = rows(60, 0.5), classes(rows(60, 0.5), 4)
    squares = np.sum(w**2, axis=1)
    own = [squares[block == b].mean() for b in range(4)]
    assert given_bulk(model(tmp_path, w, block)).variances == pytest.approx(own, rel=1e-14)
    w = rows(60, 0.0)
    shared = given_bulk(model(tmp_path, w, classes(w, 4))).variances
    assert shared == pytest.approx([np.sum(w**2) / len(w)] * 4, rel=1e-14)


@pytest.mark.slow
def test_classes_are_near_the_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both errors within 3 standard errors of features of the same rows; those of one class are off by more than 4."""
    d = 300
    w = rows(d, 0.3)
    given = model(tmp_path, w, classes(w, 10))
    theory, found = gs.solve(given, dimension=d), gs.simulate(given, dimension=d, seeds=24)
    monkeypatch.setattr("giantstep.law.given_bulk._ALIKE", 1e9)
    one = gs.solve(model(tmp_path, w), dimension=d)
    for name in ("test_error", "train_error"):
        value, error = found.mean(name).item(), found.standard_error(name).item()
        assert abs(value - getattr(theory, name)) < 3.0 * error, name
        assert getattr(one, name) > value + 4.0 * error, name
