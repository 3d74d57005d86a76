"""Spikes of several directions: theory at the simulated dimension against spiked random features at d = 400.

Error model as in test_theory_simulation: the seeds' standard error; terms of order 1/d that the theory leaves out are
below it. |z| < 4 of the errors; of the overlaps, which are many, the root mean square is below 2 as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from rank_cases import model, staircase, three

from giantstep.observe.finite_system import at_dimension, finite_system
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.layer import Streams
from giantstep.simulate.result import SimulationResult
from giantstep.simulate.run import simulate as simulate_system
from giantstep.simulate.system import finite_sizes
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

SIGN = {"target__link": "sign", "target__noise": 0.0}
MODELS = {
    "sign, square": model(**SIGN, network__activation="tanh"),
    "noise, relu": model(network__activation="relu", target__link="tanh", target__noise=0.1, fit__ridge=0.1),
    "staircase": staircase(fit__samples=2.5, fit__ridge=0.1),
    "staircase, aligned": staircase(spike__alignment=[[1.0, 0.0], [0.0, 1.0]], fit__samples=3.0, fit__ridge=0.1),
    "sign, logistic": model(**SIGN, fit__loss="logistic", network__activation="tanh", fit__ridge=0.1),
    "three directions": three(target__link="tanh", network__activation="tanh"),
    "one direction unknown": model(**SIGN, spike__loadings=[[1.0, 0.0], [-0.6, 0.0]]),
}
SEEDS = 16


@lru_cache(maxsize=8)
def theory(given: Model, dimension: int) -> Result:
    return solve(at_dimension(given, dimension), dimension=dimension)


def simulated(given: Model, dimension: int, seeds: int, what: str = "srf") -> SimulationResult:
    there = at_dimension(given, dimension)
    system = finite_system(there, what)  # type: ignore[arg-type]
    return simulate_system(
        system,
        what,
        dimension,
        seeds,
        [there.fit.samples],
        [there.fit.ridge],
        seed=7,
        order_parameters=True,
    )  # type: ignore[arg-type]


def scores(given: Model, found: SimulationResult, dimension: int) -> tuple[dict[str, float], np.ndarray]:
    """z of the errors, and of all overlaps (those that vanish identically left out)."""
    result, seeds = theory(given, dimension), len(found.test_error)
    errors = {}
    for name in ("test_error", "train_error"):
        values = getattr(found, name)[:, 0, 0]
        errors[name] = float((values.mean() - getattr(result, name)) / (values.std(ddof=1) / np.sqrt(seeds)))
    overlaps = []
    for name in ("m", "zeta", "psi", "Q1", "Q2"):
        values = getattr(found.overlaps, name)[:, 0, 0]
        spread = values.std(axis=0, ddof=1) / np.sqrt(seeds)
        moves = spread > 1e-12
        overlaps.append(((values.mean(axis=0) - result.order_parameters[name])[moves] / spread[moves]).ravel())
    return errors, np.concatenate(overlaps)


@pytest.mark.parametrize("name", MODELS)
def test_srf_at_400(name: str) -> None:
    errors, overlaps = scores(MODELS[name], simulated(MODELS[name], 400, SEEDS), 400)
    assert all(abs(z) < 4.0 for z in errors.values()), errors
    assert np.abs(overlaps).max() < 5.0 and np.sqrt(np.mean(overlaps**2)) < 2.0, overlaps


def test_gaussian_map_at_200() -> None:
    given = MODELS["sign, square"]
    errors, overlaps = scores(given, simulated(given, 200, 32, "gaussian"), 200)
    assert all(abs(z) < 4.0 for z in errors.values()), errors
    assert np.sqrt(np.mean(overlaps**2)) < 2.0, overlaps


def test_simulation_rejects_a_wrong_direction() -> None:
    """The z-scores see the second direction: without its alignment the theory is far off."""
    given = MODELS["sign, square"]
    wrong = given.replace({"spike.alignment": [0.6, 0.0]})
    errors, _ = scores(wrong, simulated(given, 400, 6), 400)
    assert max(abs(z) for z in errors.values()) > 6.0, errors


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1000, 2000])
@pytest.mark.parametrize("name", MODELS)
def test_srf_at_larger_sizes(name: str, dimension: int) -> None:
    errors, _ = scores(MODELS[name], simulated(MODELS[name], dimension, 16), dimension)
    assert all(abs(z) < 4.0 for z in errors.values()), errors


def test_the_spike_has_the_overlaps_and_the_rows_their_loadings() -> None:
    given = staircase(fit__samples=1.0)
    system = finite_system(at_dimension(given, 60), "srf")
    sizes = finite_sizes(system, 60, [1.0])
    layer = draw_layer(system, sizes, "srf", Streams.spawn(np.random.SeedSequence(3)))
    assert np.allclose(layer.spike @ layer.spike.T, np.eye(2), atol=1e-13)
    assert np.allclose(layer.spike @ layer.theta.T, [[0.8, 0.1], [0.2, 0.7]], atol=1e-13)
    for block, part in enumerate(sizes.block_slices()):
        rows = layer.rows[part] - np.array(system.loadings)[block] @ layer.spike  # type: ignore[index]
        assert np.allclose(np.linalg.norm(rows, axis=1) ** 2, layer.variances[block], rtol=1e-12)
    directions, mixing = layer.perpendicular()
    assert np.allclose(layer.alignment.T @ layer.spike + mixing @ directions, layer.theta, atol=1e-13)
    assert np.allclose(directions @ layer.spike.T, 0.0, atol=1e-13)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loadings": None}, "go together"),
        ({"loadings": ((1.0, 0.0),)}, "2 numbers for each of 2 blocks"),
        ({"overlaps": ((0.5, 0.1), (0.1, 0.2))}, "1 numbers for each direction"),
        ({"overlaps": ((0.9,), (0.9,))}, "singular values"),
        ({"loadings": ((1.0, float("nan")), (0.0, 1.0))}, "finite"),
        ({"spike": None}, "need spike"),
    ],
)
def test_impossible_directions_are_refused(changes: dict[str, object], words: str) -> None:
    system = finite_system(model(), "srf")
    with pytest.raises(SimulationError, match=words):
        replace(system, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_rare_numbers_of_directions_are_emitted_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIANTSTEP_CACHE", str(tmp_path))
    given = staircase().replace(
        {"target.link": "z1 + z1*z2 + 0.3*z3", "spike.alignment": [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0]]}
    )
    result = solve(given)
    assert result.residual < 1e-12 and result.order_parameters["psi"].shape == (2, 3)
    assert [path.name for path in tmp_path.rglob("square_*.py")] == ["square_indices_3_rank_2.py"]
