"""The spectrum against simulated eigenvalues: distance, edges, outliers; the command."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.spectrum.measure import Bulk
from giantstep.observe.spectrum.simulated import Eigenvalues, simulated_eigenvalues

TRACY_WIDOM = (-1.2065335745820, 1.268034)  # mean and standard deviation, beta = 1


def model(
    activation: str,
    strength: float,
    width: float,
    samples: float,
    values: tuple[float, ...] = (1.0,),
    fractions: tuple[float, ...] = (1.0,),
) -> gs.Model:
    network = gs.Network(activation, width=width, readout=gs.Readout(values, fractions))
    return gs.Model(network, gs.Target("sign"), gs.Fit(samples, 0.1), spike=gs.Spike(strength, 0.5, 1.3))


CASES = {
    "tanh, n = 2 p": model("tanh", 1.0, 1.0, 2.0),
    "relu, n = p/2, two blocks": model("relu", 1.0, 1.0, 0.5, (1.0, -1.0), (0.5, 0.5)),
    "sign, n = 4 p, three blocks": model("sign", 2.0, 0.5, 2.0, (1.0, -0.6, 0.2), (0.4, 0.4, 0.2)),
    "linear, p = 2 d": model("linear", 1.5, 2.0, 3.0),
}


@lru_cache(maxsize=8)
def compared(name: str, dimension: int, seeds: int) -> tuple[gs.Spectrum, Eigenvalues]:
    simulated = simulated_eigenvalues(CASES[name], dimension=dimension, seeds=seeds)
    return gs.spectrum(simulated.model, dimension=dimension), simulated


def bound(simulated: Eigenvalues) -> float:
    """Of the Kolmogorov distance: counts of eigenvalues are rigid, off by a few of p, outliers among them."""
    return 5.0 / simulated.values.shape[1]


@pytest.mark.parametrize("name", CASES)
def test_simulated_eigenvalues_follow_the_density(name: str) -> None:
    theory, simulated = compared(name, 500, 4)
    assert simulated.distance(theory) < bound(simulated)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_distance_shrinks_with_the_dimension(name: str) -> None:
    theory, simulated = compared(name, 2000, 2)
    assert simulated.distance(theory) < min(0.01, bound(simulated))


def edge_scale(part: Bulk, size: int) -> float:
    """Scale (c size)^(-2/3) of the largest of ``size`` eigenvalues: the density is c sqrt(edge - x)/pi."""
    edge = part.coordinate.high
    x = edge * (1.0 - np.array([1e-4, 4e-4]))
    (c, _) = math.pi * part.density(x) / np.sqrt(edge - x)
    return float((c * size) ** (-2.0 / 3.0))


@pytest.mark.parametrize("name", CASES)
def test_the_largest_bulk_eigenvalue_is_tracy_widom_at_the_edge(name: str) -> None:
    theory, simulated = compared(name, 500, 4)
    part, count = theory.bulks[-1], len(theory.outliers)
    top = simulated.values[:, -1 - count]
    scaled = (top - part.high.x) / edge_scale(part, simulated.values.shape[1])
    # corrections to the law are relative p^(-1/3): a tenth; the tail of the law is wide
    error = TRACY_WIDOM[1] / math.sqrt(len(top))
    assert abs(scaled.mean() - TRACY_WIDOM[0]) < 4.0 * error


@pytest.mark.parametrize("name", CASES)
def test_outliers_are_where_the_theory_puts_them(name: str) -> None:
    theory, simulated = compared(name, 500, 4)
    count = len(theory.outliers)
    if name != "linear, p = 2 d":
        assert count
    mean, error = simulated.largest(count)
    # relative 1/sqrt(d) per seed at least, and corrections of relative order 1/d for each eigenvalue of the bulk
    assert np.all(np.abs(mean - theory.outliers) < 4.0 * np.hypot(error, 0.01 * theory.outliers))


def test_outliers_grow_as_predicted() -> None:
    name = "relu, n = p/2, two blocks"
    limit = gs.spectrum(CASES[name])
    for dimension in (10_000, 1_000_000):
        found = gs.spectrum(CASES[name], dimension=dimension)
        grown = found.outliers[: len(limit.growing)] / dimension
        np.testing.assert_allclose(grown, limit.growing, rtol=20.0 / dimension / limit.growing.min())


def test_the_command_prints_draws_and_simulates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.toml"
    file.write_text(CASES["tanh, n = 2 p"].to_toml(), encoding="utf-8")
    picture = tmp_path / "spectrum.png"
    wanted = ["--simulate", "--dimension", "60", "--seeds", "2", "--plot", str(picture)]
    assert main(["spectrum", str(file), *wanted]) == 0
    out = capsys.readouterr().out
    assert "Kolmogorov distance" in out
    assert "outliers over d" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["spectrum", str(file), *wanted[:5], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total_mass"] == pytest.approx(1.0, abs=1e-6)
    assert found["simulation"]["dimension"] == 60
    (part,) = found["intervals"]
    area = trapezoid(part["density"], part["x"])
    assert area == pytest.approx(1.0, abs=0.01)


def test_what_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.toml"
    file.write_text(CASES["tanh, n = 2 p"].to_toml(), encoding="utf-8")
    for more, words in (
        (["--simulate"], "--dimension"),
        (["--plot", "a.txt"], "a.txt"),
        (["--simulate", "--dimension", "100", "--seeds", "0"], "seeds"),
        (["--dimension", "0"], "dimension"),
    ):
        assert main(["spectrum", str(file), *more]) == 2
        assert words in capsys.readouterr().err


def test_the_support_of_fast_growing_features_fades_out() -> None:
    # mu1(kappa) grows with kappa: samples far out have large features, and no eigenvalue bounds the others
    theory = gs.spectrum(model("cubic", 3.0, 1.5, 0.2))
    assert theory.bulks[-1].high.kind == "tail"
    assert theory.total == pytest.approx(1.0, abs=1e-6)
