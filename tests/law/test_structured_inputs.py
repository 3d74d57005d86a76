"""Inputs of a given covariance: isotropic ones, a known deterministic equivalent, equal spectra, and simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import giantstep as gs
from derive.check import check_derivation
from derive.structured_inputs import structured_inputs
from giantstep.law.spike import spike_of
from giantstep.law.structured_inputs import variance_by_value
from giantstep.verify.check import Check
from giantstep.verify.structured_inputs import input_checks

STEP = {"samples": 2.0, "learning_rate": 1.0}
SPIKE = {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2}
TWO = {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}
POWER = {"capacity": 0.45, "modes": 60, "source": 0.8}
LUMPS = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}


def model(activation: str = "tanh", link: str = "tanh(2*z)", **tables: Any) -> gs.Model:
    network = {"activation": activation, "width": 0.8} | tables.pop("network", {})
    fit = {"samples": 1.7, "ridge": 0.1} | tables.pop("fit", {})
    target = {"link": link, "noise": 0.1} | tables.pop("target", {})
    return gs.Model.from_dict({"network": network, "target": target, "fit": fit} | tables)


CASES: dict[str, dict[str, Any]] = {
    "random features": {},
    "step": {"step": STEP},
    "step of relu, two blocks": {"activation": "relu", "network": {"readout": TWO}, "step": STEP},
    "spike": {"spike": SPIKE},
    "logistic": {"link": "sign", "fit": {"loss": "logistic"}, "target": {"noise": 0.0}, "step": STEP},
}


def test_bulk_variances_are_of_the_second_degree_in_the_readout_value() -> None:
    """So they are known to as many digits as the values are."""
    values = [2.0, 0.3, -1.1, 0.05]
    given = model("relu", "z + He(2,z)/2", inputs=LUMPS, step=STEP, network={"readout": {"values": values}})
    variance = variance_by_value(given)
    assert spike_of(given).bulk_variance == pytest.approx([variance(u) for u in values], rel=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_equal_eigenvalues_are_isotropic_inputs(name: str) -> None:
    case = CASES[name]
    plain = gs.solve(model(**case))
    found = gs.solve(model(inputs={"eigenvalues": [0.7, 0.7, 0.7], "target": [1.0, 2.0, 0.5]}, **case))
    for error in ("test_error", "train_error", "free_energy"):
        assert getattr(found, error) == pytest.approx(getattr(plain, error), abs=1e-12), error
    assert found.spike.strength == pytest.approx(plain.spike.strength, rel=1e-14)
    assert found.spike.bulk_variance == pytest.approx(plain.spike.bulk_variance, rel=1e-14)


@pytest.mark.parametrize(("width", "samples", "ridge"), [(0.8, 1.7, 0.05), (2.0, 0.6, 0.3), (0.3, 3.0, 1e-3)])
def test_linear_features_have_their_deterministic_equivalent(width: float, samples: float, ridge: float) -> None:
    """Trace-class inputs; Defilippis, Loureiro, Misiakiewicz 2024: ridge regression on p features of n samples."""
    modes, noise = 40, 0.2
    j = np.arange(1, modes + 1.0)
    s, b = j**-1.2, 1.3 * j**-0.9 / np.linalg.norm(j**-0.9)
    n, p, shrink = samples * modes, width * modes, ridge * s.sum()

    def first(nu: float) -> float:
        part = 1.0 - n / p
        return 0.5 * nu * (part + math.sqrt(part**2 + 4.0 * shrink / (p * nu)))

    nu = brentq(lambda x: first(x) + x / p * (s / (s + x)).sum() - x, 1e-9, 1e6, xtol=1e-15, rtol=1e-14)
    ratio, df2 = first(nu) / nu, (s**2 / (s + nu) ** 2).sum()
    upsilon = p / n * ((1.0 - ratio) ** 2 + ratio**2 * df2 / (p - df2))
    chi = (s / (s + nu) ** 2).sum() / (p - df2)
    bias = nu**2 * (b**2 * (1.0 + chi * s) / (s + nu) ** 2).sum()
    exact = (bias + noise * upsilon) / (1.0 - upsilon)
    found = gs.solve(
        model(
            "linear",
            "1.3*z",
            inputs={"capacity": 1.2, "modes": modes, "source": 0.9},
            network={"width": width},
            target={"noise": noise},
            fit={"samples": samples, "ridge": ridge},
        )
    )
    assert found.test_error == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("step", [None, STEP])
def test_one_spectrum_written_in_three_ways(step: dict[str, float] | None) -> None:
    """Equal modes merged into one of their weight, and a power law as a list: the same errors."""
    more = {"step": step} if step else {}
    merged = {"eigenvalues": [3.0, 1.0], "weights": [0.5, 0.5], "target": [math.hypot(1.0, 0.5), 0.0]}
    apart = {"eigenvalues": [3.0, 1.0, 3.0, 1.0], "target": [1.0, 0.0, 0.5, 0.0]}
    listed = {
        "eigenvalues": (np.arange(1, 61.0) ** -0.45).tolist(),
        "target": (2.0 * np.arange(1, 61.0) ** -0.8).tolist(),
    }
    for one, other in ((merged, apart), (POWER, listed)):
        errors = [gs.solve(model(inputs=inputs, **more)).test_error for inputs in (one, other)]
        assert errors[0] == pytest.approx(errors[1], rel=1e-12)


def scores(case: dict[str, Any], what: str, dimension: int, seeds: int) -> list[float]:
    """Standard scores of both simulated errors."""
    simulated = gs.simulate(model(**case), dimension=dimension, seeds=seeds, what=what)  # type: ignore[arg-type]
    theory = gs.solve(simulated.model, dimension=dimension)
    errors = ("test_error", "train_error")
    return [(simulated.mean(e) - getattr(theory, e)).item() / simulated.standard_error(e).item() for e in errors]


SIMULATED = (
    ({"inputs": POWER}, "network"),
    ({"inputs": POWER, "spike": SPIKE}, "srf"),
    ({"inputs": POWER, "spike": SPIKE}, "gaussian"),
    ({"inputs": POWER, "step": STEP}, "srf"),
    ({"inputs": POWER, "step": STEP}, "network"),
    ({"inputs": LUMPS, "step": STEP}, "network"),
    ({"inputs": LUMPS, "activation": "relu", "network": {"readout": TWO}, "step": STEP}, "srf"),
    ({"inputs": POWER, **CASES["logistic"]}, "srf"),
)


@pytest.mark.parametrize(("case", "what"), SIMULATED[:5])
def test_against_simulation(case: dict[str, Any], what: str) -> None:
    found = scores(case, what, 120, 12)
    assert max(map(abs, found)) < 4.5, found


@pytest.mark.slow
@pytest.mark.parametrize(("case", "what"), SIMULATED)
def test_against_simulation_at_two_dimensions(case: dict[str, Any], what: str) -> None:
    for dimension, seeds in ((240, 40), (480, 20)):
        found = scores(case, what, dimension, seeds)
        assert max(map(abs, found)) < 4.0, (dimension, found)


def test_the_covariance_matters() -> None:
    """Isotropic inputs with the same target are visibly another model: the scores above mean something."""
    plain, power = gs.solve(model(step=STEP)), gs.solve(model(inputs=POWER, step=STEP))
    assert abs(power.test_error - plain.test_error) > 0.05 * plain.test_error


@pytest.mark.parametrize("case", [{}, {"step": STEP}, {"spike": SPIKE}], ids=["plain", "step", "spike"])
def test_the_law_against_explicit_vectors(case: dict[str, Any]) -> None:
    assert [check for check in input_checks(model(inputs=LUMPS, **case)) if not check.ok] == []


def test_a_wrong_law_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from generated import structured_inputs as derived

    right = derived.products
    monkeypatch.setattr(derived, "products", lambda *given: 1.001 * right(*given))
    checks: list[Check] = list(input_checks(model(inputs=LUMPS, spike=SPIKE)))
    assert [check.outcome for check in checks] == ["FAILED", "ok", "ok"]


def test_recorded_steps() -> None:
    assert not [s for s in check_derivation(structured_inputs().derivation) if s.error is not None and s.error > 1e-30]
    assert "structured inputs" in gs.derive(model(inputs=LUMPS, step=STEP)).latex()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": {}}, "neither of eigenvalues and capacity"),
        ({"inputs": {"eigenvalues": [1.0], "capacity": 0.3}}, "both of eigenvalues and capacity"),
        ({"inputs": {"eigenvalues": [1.0, -1.0]}}, r"inputs.eigenvalues\[1\]"),
        ({"inputs": {"eigenvalues": [1.0, 2.0], "weights": [1.0]}}, "inputs.weights has 1 entries"),
        ({"inputs": {"eigenvalues": [1.0, 2.0], "weights": [0.5, 0.4]}}, "sum to 0.9"),
        ({"inputs": {"capacity": 0.3, "weights": [1.0]}}, "missing"),
        ({"inputs": {"eigenvalues": [1.0, 2.0], "target": [0.0, 0.0]}}, "zero"),
        ({"inputs": {**POWER, "target": [1.0]}}, "both target and source"),
        ({"inputs": {"capacity": 0.3, "modes": 2.5}}, "whole number"),
        ({"inputs": {"capacity": 0.7}}, "linear activation"),
        ({"inputs": POWER, "step": {**STEP, "bulk": "trained"}}, "step.bulk"),
        ({"inputs": POWER, "step": {**STEP, "exponent": 0.3}}, "giant step"),
        ({"inputs": {"eigenvalue": [1.0]}}, "did you mean"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        model().replace(changes)


def test_model_files() -> None:
    given = model(inputs=LUMPS, step=STEP)
    assert gs.Model.from_dict(given.to_dict()) == given
    assert given.replace({"inputs": None}).inputs is None
    swept = gs.curve(model(inputs=POWER), {"inputs.capacity": [0.0, 0.2]})
    isotropic = gs.solve(model()).test_error
    first, second = swept.numbers("test_error")
    assert first == pytest.approx(isotropic, rel=1e-10) and second < 0.95 * first
