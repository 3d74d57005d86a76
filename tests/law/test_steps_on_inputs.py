"""Several giant steps on structured inputs: isotropic inputs, explicit vectors, networks, their features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from derive.check import check_derivation
from derive.steps_on_inputs import step_on_inputs
from giantstep.law.spike import spike_of, states_after_steps
from giantstep.verify.input_spectrum import input_spectrum
from giantstep.verify.structured_inputs import input_checks

Array = np.ndarray
STEP = {"samples": 2.0, "learning_rate": 1.0}
LONGER = {"samples": 3.0, "learning_rate": 1.0}
POWER = {"capacity": 0.45, "modes": 60, "source": 0.8}
LUMPS = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}
CROSSED = {**LUMPS, "target": [[1.0, 0.5], [0.5, -1.0]]}
EQUAL = {"eigenvalues": [0.7, 0.7, 0.7], "target": [1.0, 2.0, 0.5]}
APART = {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}
NEAR = {"values": [1.0, 0.3], "fractions": [0.5, 0.5]}
BIASES = {"values": [1.0, 1.0], "fractions": [0.5, 0.5], "biases": [0.0, 0.6]}
OF_TWO = "tanh(2*z1) + z1*z2"


def model(activation: str = "tanh", link: str = "tanh(2*z)", steps: int = 2, **tables: Any) -> gs.Model:
    network = {"activation": activation, "width": 0.8} | tables.pop("network", {})
    target, fit = {"link": link, "noise": 0.1}, {"samples": 1.7, "ridge": 0.1}
    step = [tables.pop("step", STEP)] * steps
    return gs.Model.from_dict({"network": network, "target": target, "fit": fit, "step": step} | tables)


LIMITS: dict[str, dict[str, Any]] = {
    "two steps": {},
    "three steps": {"steps": 3},
    "two values": {"network": {"readout": APART}},
    "two values of relu": {"activation": "relu", "network": {"readout": NEAR}},
    "biases": {"steps": 1, "network": {"readout": BIASES}},
}


@pytest.mark.parametrize("name", LIMITS)
def test_equal_eigenvalues_are_isotropic_inputs(name: str) -> None:
    plain, found = gs.solve(model(**LIMITS[name])), gs.solve(model(inputs=EQUAL, **LIMITS[name]))
    for error in ("test_error", "train_error", "free_energy"):
        assert getattr(found, error) == pytest.approx(getattr(plain, error), rel=1e-10), error


LAWS: dict[str, dict[str, Any]] = {
    "power laws": {"inputs": POWER, "steps": 3},
    "two values": {"inputs": LUMPS, "network": {"readout": APART}},
    "two values of relu": {"activation": "relu", "inputs": LUMPS, "network": {"readout": NEAR}},
    "biases": {"inputs": LUMPS, "network": {"readout": BIASES}},
    "two indices": {"link": OF_TWO, "inputs": CROSSED},
}


def invariants(loadings: Array, overlaps: Array, variances: Array) -> tuple[Array, Array, Array]:
    return loadings @ loadings.T, loadings @ overlaps, variances


@pytest.mark.parametrize("name", LAWS)
def test_rows_by_explicit_vectors(name: str) -> None:
    """Another quadrature, and directions with coordinates along axes in every eigenspace."""
    given = model(**LAWS[name])
    found, rows = spike_of(given), input_spectrum(given).rows
    loadings, overlaps = found.along_kappa(given.network.readout.values)
    one = invariants(np.array(loadings), np.array(overlaps), np.array(found.bulk_variance))
    for mine, wanted in zip(one, invariants(rows.loadings, rows.overlaps, rows.variances), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-10)
    checks = list(input_checks(given))
    assert len(checks) == 3 and [check for check in checks if not check.ok] == []


def test_a_step_of_rate_zero_leaves_the_rows() -> None:
    once = model(inputs=POWER, steps=1)
    twice = model(inputs=POWER).replace({"step.2.learning_rate": 0.0})
    for error in ("test_error", "train_error"):
        assert getattr(gs.solve(twice), error) == pytest.approx(getattr(gs.solve(once), error), rel=1e-9)


def test_the_steps_are_told() -> None:
    found = gs.steps(model(inputs=POWER, steps=1), 2)
    once, twice = (gs.solve(model(inputs=POWER, steps=n)) for n in (1, 2))
    assert [point.result.test_error for point in found.each[1:]] == [once.test_error, twice.test_error]
    assert len(twice.to_dict()["steps"]) == 2
    assert "A further giant step on structured inputs" in [part.title for part in gs.derive(twice.model).parts]


def test_recorded_steps() -> None:
    checked = check_derivation(step_on_inputs().derivation)
    errors = [check.error for check in checked if check.error is not None]
    assert len(errors) == 2 and max(errors) < 1e-30


@pytest.mark.parametrize(
    ("case", "dimension", "seeds"),
    [
        ({"inputs": LUMPS, "network": {"readout": APART}}, 300, 10),
        pytest.param({"inputs": POWER}, 1000, 12, marks=pytest.mark.slow),
        pytest.param({"inputs": LUMPS, "network": {"readout": APART}}, 1000, 12, marks=pytest.mark.slow),
        pytest.param(
            {"activation": "relu", "inputs": LUMPS, "step": LONGER, "network": {"readout": NEAR}},
            1000,
            12,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_rows_of_simulated_networks(case: dict[str, Any], dimension: int, seeds: int) -> None:
    """Products of the means, overlaps, variances after every step: four standard errors and 10/d, relative."""
    simulated = gs.simulate(model(**case), dimension=dimension, seeds=seeds, what="network")
    for state, measured in zip(states_after_steps(simulated.model), simulated.steps, strict=True):
        wanted = invariants(np.array(state.loadings), np.array(state.overlaps), np.array(state.bulk_variance))
        for exact, found in zip(wanted, (measured.products, measured.overlaps, measured.variances), strict=True):
            error = found.std(axis=0, ddof=1) / math.sqrt(seeds)
            allowed = 4.0 * error + 10.0 / dimension * np.abs(exact).max()
            assert np.all(np.abs(found.mean(axis=0) - exact) < allowed), (found.mean(axis=0), exact)


SIMULATED: dict[str, tuple[dict[str, Any], str]] = {
    "features, power laws": ({"inputs": POWER}, "srf"),
    "features, two values": ({"inputs": LUMPS, "network": {"readout": APART}}, "srf"),
    "features of relu": (
        {"activation": "relu", "inputs": LUMPS, "step": LONGER, "network": {"readout": NEAR}},
        "srf",
    ),
    "networks": ({"inputs": LUMPS, "network": {"readout": APART}}, "network"),
    "networks of relu": (
        {"activation": "relu", "inputs": LUMPS, "step": LONGER, "network": {"readout": NEAR}},
        "network",
    ),
}


def scores(name: str, dimension: int, seeds: int) -> list[float]:
    """(mean - theory at that dimension) over the standard error of the mean, of both errors."""
    case, what = SIMULATED[name]
    found = gs.simulate(model(**case), dimension=dimension, seeds=seeds, what=what)  # type: ignore[arg-type]
    theory, errors = gs.solve(found.model, dimension=dimension), ("test_error", "train_error")
    return [(found.mean(e) - getattr(theory, e)).item() / found.standard_error(e).item() for e in errors]


def test_features_and_networks_of_a_small_dimension() -> None:
    for name in ("features, two values", "networks"):
        found = scores(name, 150, 12)
        assert max(map(abs, found)) < 4.5, (name, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_features_and_networks_of_two_dimensions(name: str) -> None:
    for dimension, seeds in ((400, 30), (1000, 12)):
        found = scores(name, dimension, seeds)
        assert max(map(abs, found)) < 4.0, (dimension, found)


def test_a_batch_that_is_taken_again_is_refused() -> None:
    again = model(inputs=POWER).replace({"step.2.batch": "same"})
    with pytest.raises(gs.BadInput, match="derived for isotropic inputs"):
        gs.solve(again)
