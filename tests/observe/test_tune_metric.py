"""Tuning by a metric: against grids of the metric, the test error as one, the command and what is refused."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main

SIGN = gs.Model.from_toml("examples/tanh_sign.toml").replace({"metrics.wrong": "y*f < 0"})
NOISY = gs.model("tanh", link="tanh", noise=0.2, samples=1.5, ridge=1.0)
RANGE = {"fit.ridge": (1e-2, 1e2)}


@lru_cache(maxsize=1)
def tuned() -> gs.Tuned:
    return gs.tune(SIGN, metric="wrong", ranges={"fit.ridge": (1.0, 10.0)})


def test_no_ridge_of_a_grid_does_better() -> None:
    """Averages are right to 1e-10; the best squared error is at another ridge, and worse."""
    found = gs.tune(SIGN, metric="wrong", ranges=RANGE)
    best = found.values["fit.ridge"]
    for ridge in [*np.geomspace(*RANGE["fit.ridge"], 9), *(best * np.exp([-0.02, 0.02]))]:
        there = gs.metrics(SIGN.replace({"fit.ridge": float(ridge)}))
        assert found.value <= there.values["wrong"] + 1e-10
    assert found.value == pytest.approx(gs.metrics(found.model).values["wrong"], abs=1e-10)
    assert found.before == pytest.approx(gs.metrics(SIGN).values["wrong"], rel=1e-5)
    squared = gs.tune(SIGN, ranges=RANGE)
    assert best > 1.05 * squared.values["fit.ridge"] and found.test_error > squared.test_error
    assert found.gradient_norm < 1e-7 and not found.at_edge


def test_the_squared_error_as_a_metric_is_the_test_error() -> None:
    """E (y - f)^2 is the test error and the noise. Slopes differ by their error, 1e-8 of the value."""
    by_metric, exact = gs.tune(NOISY, metric="(y-f)**2"), gs.tune(NOISY)
    assert by_metric.metric == ("metric", "(y-f)**2") and exact.metric is None
    assert by_metric.value == pytest.approx(exact.value + 0.2, rel=1e-10)
    x = np.log([exact.values["fit.ridge"] * factor for factor in (0.98, 1.0, 1.02)])
    error = [gs.solve(NOISY.replace({"fit.ridge": float(np.exp(at))})).test_error for at in x]
    bend = 2.0 * np.polyfit(x - x[1], error, 2)[0]
    moved = abs(np.log(by_metric.values["fit.ridge"] / exact.values["fit.ridge"]))
    assert moved < 3e-8 * by_metric.value / bend


def test_two_keys() -> None:
    ranges = {"fit.ridge": (0.3, 10.0), "step.learning_rate": (0.5, 8.0)}
    found = gs.tune(SIGN, list(ranges), metric="y*f < 0", ranges=ranges)
    center = np.log([found.values[key] for key in ranges])
    for angle in np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False):
        ridge, rate = np.exp(center + 0.05 * np.array([np.cos(angle), np.sin(angle)]))
        there = SIGN.replace({"fit.ridge": float(ridge), "step.learning_rate": float(rate)})
        assert gs.metrics(there).values["wrong"] > found.value


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.toml"
    path.write_text(SIGN.to_toml())
    command = ["tune", str(path), "--metric", "wrong", "--range", "fit.ridge=1:10"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == {"wrong": "y*f < 0"}
    assert found["value"] == tuned().value
    monkeypatch.setattr(gs, "tune", lambda *_, **__: tuned())  # what it finds again
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("wrong ") and "d wrong/d log" in printed and "test error" in printed


def test_a_picture_is_of_the_metric() -> None:
    found = tuned()
    axes = found.plot()
    curve = np.asarray(axes.lines[0].get_ydata(), dtype=float)
    assert axes.get_ylabel() == "wrong" and curve.min() == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize(
    ("metric", "words"),
    [("worng", "did you mean 'wrong'"), ("y*q", "metrics.metric"), ("", "no text"), ("log(f)", "not finite")],
)
def test_what_is_refused(metric: str, words: str) -> None:
    with pytest.raises(gs.BadInput) as raised:
        gs.tune(SIGN, metric=metric)
    assert words in f"{raised.value.message}; {raised.value.hint}"
