"""The spectrum of rows that are not isotropic: limits in which they are, the resolvent itself, and simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.spectrum.rows import Hats, PointRows, TrainedRows, rows_of
from giantstep.observe.spectrum.simulated import simulated_eigenvalues
from giantstep.spec.errors import NotConverged
from giantstep.system.bulk_system import bulk_arrays
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem, problem_of

LARGE = {"samples": 1.0, "learning_rate": 3.0}
TWO = {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}
POWER = {"capacity": 0.45, "modes": 60, "source": 0.8}


def model(link: str = "sign", **tables: Any) -> gs.Model:
    network = {"activation": "tanh", "width": 0.8} | tables.pop("network", {})
    return gs.Model.from_dict(
        {"network": network, "target": {"link": link}, "fit": {"samples": 1.7, "ridge": 0.1}} | tables
    )


def problem(given: gs.Model) -> Problem:
    return merged(problem_of(given))[0]


@pytest.mark.parametrize("readout", [None, TWO], ids=["one block", "two blocks"])
@pytest.mark.parametrize("weight", ["law_tr", "law_vv"])
def test_the_resolvent_is_the_sum_over_the_contour(readout: dict[str, Any] | None, weight: str) -> None:
    """Where no pole is near, the nodes of the contour know the averages too: at complex conjugates, to 1e-10."""
    network = {"readout": readout} if readout else {}
    at = problem(model(network=network, step={**LARGE, "bulk": "trained"}))
    rows, blocks = rows_of(at), len(at.blocks)
    assert isinstance(rows, TrainedRows)
    t = np.linspace(0.6, 0.9, blocks) * np.exp(0.3j)
    v1 = (np.full((blocks, blocks), 0.4) + np.eye(blocks)) * np.exp(-0.5j)
    hats = Hats(t, v1, np.full(blocks, 0.2 + 0.1j))
    contour = PointRows(bulk_arrays(at)[1]).response(hats, weight)
    found = rows.response(hats, weight)
    assert all(np.abs(each.last).max() > 0.0 for each in rows.resolvents.values())  # by the resolvent
    np.testing.assert_allclose(found, contour, rtol=1e-10)
    np.testing.assert_allclose(found, found.T, rtol=1e-10)


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": {"eigenvalues": [2.0, 2.0]}},
        {"inputs": {"eigenvalues": [1.0, 1.0]}, "network.activation": "relu"},
    ],
)
def test_equal_eigenvalues_are_isotropic_inputs(changes: dict[str, Any]) -> None:
    given = model(step=LARGE).replace(changes)
    found, plain = gs.spectrum(given, dimension=400), gs.spectrum(given.replace({"inputs": None}), dimension=400)
    assert found.bulks[0].low.x == pytest.approx(plain.bulks[0].low.x, rel=1e-9)
    assert found.bulks[-1].high.x == pytest.approx(plain.bulks[-1].high.x, rel=1e-9)
    np.testing.assert_allclose(found.outliers, plain.outliers, rtol=1e-8)
    assert found.density(1.0) == pytest.approx(plain.density(1.0), rel=1e-9)


def test_a_small_step_has_the_isotropic_bulk() -> None:
    """The covariance of the trained bulk moves with the square of the rate."""
    step = {"samples": 1.0, "learning_rate": 1e-3}
    plain = gs.spectrum(model(step=step))
    found = gs.spectrum(model(step={**step, "bulk": "trained"}))
    assert found.bulks[0].low.x == pytest.approx(plain.bulks[0].low.x, rel=1e-5)
    assert found.bulks[-1].high.x == pytest.approx(plain.bulks[-1].high.x, rel=1e-5)


def test_a_given_matrix_of_orthonormal_rows(tmp_path: Path) -> None:
    """Linear features of rows without a spike: n Gaussian samples in p dimensions, Marchenko-Pastur."""
    rows = np.linalg.qr(np.random.default_rng(1).standard_normal((50, 40)))[0].T
    np.save(tmp_path / "rows.npy", rows)
    step = {"samples": 1.0, "learning_rate": 0.0, "bulk": "matrix", "matrix": str(tmp_path / "rows.npy")}
    found = gs.spectrum(model("tanh", network={"activation": "linear"}, step=step))
    ratio = 1.7 / 0.8  # n/p; eigenvalues of Phi^T Phi/p
    edges = ratio * (1.0 + np.array([-1.0, 1.0]) / np.sqrt(ratio)) ** 2
    assert [found.bulks[0].low.x, found.bulks[0].high.x] == pytest.approx(edges, rel=1e-9)
    assert found.mass_at_zero == 0.0


CASES: dict[str, dict[str, Any]] = {
    "trained bulk": {"step": {**LARGE, "bulk": "trained"}},
    "trained bulk, two blocks": {"step": {**LARGE, "bulk": "trained"}, "network": {"readout": TWO}},
    "power law": {"link": "tanh(2*z)", "inputs": POWER, "step": {"samples": 2.0, "learning_rate": 1.0}},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_against_simulated_eigenvalues(name: str) -> None:
    """Kolmogorov distance 0.011 at most at d = 600; the isotropic law of the same model is twice as far away."""
    given, d = model(**CASES[name]), 600
    found, simulated = gs.spectrum(given, dimension=d), simulated_eigenvalues(given, dimension=d, seeds=6)
    plain = gs.spectrum(given.replace({"inputs": None, "step.bulk": "isotropic"}), dimension=d)
    assert simulated.distance(found) < 0.015 < 0.5 * simulated.distance(plain) + 0.003
    mean, error = simulated.largest(1)
    assert abs(mean[0] - found.outliers[0]) < 4.0 * error[0]


def test_a_bulk_without_an_edge_is_refused() -> None:
    """Residuals without a bound: a few samples of the step make eigenvalues of any size."""
    given = model("z + He(2,z)/2", network={"activation": "gelu"}, step={**LARGE, "bulk": "trained"})
    with pytest.raises(NotConverged, match="no edge below"):
        gs.spectrum(given, dimension=600)
