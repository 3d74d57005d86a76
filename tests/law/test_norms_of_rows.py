"""Rows whose norms vary from neuron to neuron: Gaussian ones, and those in inputs of unequal eigenvalues.

An even part of the activation feels the norms, and the readout may align with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import giantstep as gs
from giantstep.law.input_law import input_law
from giantstep.law.structured_inputs import norms_of_isotropic_rows
from giantstep.spec.model import Model

Array = np.ndarray
SPREAD, EQUAL = {"eigenvalues": [4.0, 0.25], "weights": [0.2, 0.8], "target": [1.0, 1.0]}, {"eigenvalues": [1.0, 1.0]}
EVEN = "tanh(z)+He(2,z)/2"  # mean zero: without a step only the norms see the mean of the label
STEP = {"samples": 3.0, "learning_rate": 0.7}
GAUSSIAN = {"initialisation": "gaussian"}


def model(activation: str = EVEN, link: str = "relu", **more: Any) -> Model:
    network = {"activation": activation, "width": 0.7, **more.pop("network", {})}
    return Model.from_dict({"network": network, "target": {"link": link}, "fit": {"samples": 2, "ridge": 0.1}, **more})


@pytest.mark.parametrize("gaussian", [False, True])
def test_chi_is_the_variance_of_sampled_norms(gaussian: bool) -> None:
    """The variance of p squared norms has the relative standard error sqrt(2/p); terms of order 1/d are left out."""
    given = model(inputs=SPREAD, step=STEP, network=GAUSSIAN if gaussian else {})
    law, d, p = input_law(given), 200, 10_000
    w = np.random.default_rng(3).standard_normal((p, d)) / np.sqrt(d)
    if not gaussian:
        w /= np.linalg.norm(w, axis=1)[:, None]
    covariance = np.repeat(law.covariance[0], np.round(d * law.weights["law_tr"]).astype(int))
    found = d * np.var((covariance * w**2).sum(axis=1))
    assert abs(found / law.chi[0] - 1.0) < 4.0 * np.sqrt(2.0 / p) + 10.0 / d


def test_isotropic_rows_have_the_norms_of_their_entries() -> None:
    assert norms_of_isotropic_rows(model().network) == 0.0
    assert norms_of_isotropic_rows(model(network=GAUSSIAN).network) == pytest.approx(2.0, rel=1e-15)
    assert input_law(model(inputs=EQUAL)).chi[0] == pytest.approx(0.0, abs=1e-28)


@pytest.mark.parametrize("more", [{"inputs": SPREAD}, {"network": GAUSSIAN}])
def test_overlap_with_the_norms_by_hand(more: dict[str, Any]) -> None:
    """Without a step and with ``E sigma = 0`` everything but o and psi vanishes, and the square loss is explicit.

    ``o = chi T o_hat``, ``o_hat = (alpha/beta) mu_c (E y - o mu_c)/(1 + V)``, mu_c = 1/2 of He_2/2; T, V by scalars.
    """
    given = model(**more)
    alpha, beta, ridge = 2.0, 0.7, 0.1
    x, share = (np.array([4.0, 0.25]), np.array([0.2, 0.8])) if "inputs" in more else (np.ones(1), np.ones(1))
    chi = 4.5 if "inputs" in more else 2.0
    g, weight = np.polynomial.hermite_e.hermegauss(120)
    weight = weight / weight.sum()
    mu1 = float(weight @ (g * np.tanh(g)))
    rest = float(weight @ np.tanh(g) ** 2) - mu1**2 + 0.5

    def trace_of(v: float) -> float:
        hat1, hat2 = alpha / beta * mu1**2 / (1.0 + v), alpha / beta * rest / (1.0 + v)
        return brentq(lambda t: t * (ridge + hat2 + share @ (hat1 * x / (1.0 + hat1 * x * t))) - beta, 0.0, 50.0)

    def response(v: float) -> float:
        t, hat1 = trace_of(v), alpha / beta * mu1**2 / (1.0 + v)
        return float(mu1**2 * (share @ (t * x / (1.0 + hat1 * t * x))) / beta + rest * t / beta - v)

    v = brentq(response, 1e-6, 100.0)
    gain = chi * trace_of(v) * alpha / beta * 0.5 / (1.0 + v)
    overlap = gain / np.sqrt(2.0 * np.pi) / (1.0 + 0.5 * gain)
    found = gs.solve(given).order_parameters
    assert found["norm"][0] == pytest.approx(overlap, rel=1e-9)


@pytest.mark.parametrize(
    ("more", "test", "train"),
    [({"inputs": SPREAD}, 0.47875, 0.21718), ({"network": GAUSSIAN}, 0.56682, 0.25533)],
)
def test_errors_of_an_independent_solver(more: dict[str, Any], test: float, train: float) -> None:
    """Equations of a reader of THEORY, with chi = 2 E x^2 - 2 and chi = 2 and an order parameter for the norms."""
    found = gs.solve(model(**more))
    assert (found.test_error, found.train_error) == pytest.approx((test, train), abs=6e-6)


MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "step": {"link": "tanh(z)+He(2,z)/2", "step": STEP},
    "two values": {"step": STEP, "network": {"readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}}},
    "logistic": {"link": "sign(z+1/2)", "fit": {"samples": 2, "ridge": 0.1, "loss": "logistic"}, "step": STEP},
    "two indices": {"link": "tanh(z1)+z2**2/4", "step": STEP},
    "rank two": {
        "spike": {
            "strength": 1.0,
            "alignment": [0.6, 0.3],
            "loadings": [[1.2, 0.3], [-0.4, 0.9]],
            "bulk_variance": 1.2,
        },
        "network": {"readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}},
    },
}


def given(name: str, **more: Any) -> Model:
    of = dict(MODELS[name])
    network = {**of.pop("network", {}), **more.pop("network", {})}
    return model(**{**of, **more}, network=network)


@pytest.mark.parametrize("name", ["plain", "step", "two values", "logistic"])
def test_equal_eigenvalues_are_isotropic_inputs(name: str) -> None:
    """Gaussian rows by the law of structured inputs, and by that of isotropic ones."""
    found, same = gs.solve(given(name, network=GAUSSIAN, inputs=EQUAL)), gs.solve(given(name, network=GAUSSIAN))
    assert found.test_error == pytest.approx(same.test_error, rel=1e-9)
    assert found.train_error == pytest.approx(same.train_error, rel=1e-9)
    for key, values in same.order_parameters.items():
        np.testing.assert_allclose(found.order_parameters[key], values, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two indices", "rank two"])
def test_equal_eigenvalues_are_isotropic_inputs_in_several_directions(name: str) -> None:
    test_equal_eigenvalues_are_isotropic_inputs(name)


@pytest.mark.parametrize("more", [{"inputs": SPREAD}, {"network": GAUSSIAN}])
@pytest.mark.parametrize("key", ["step.learning_rate", "fit.ridge"])
def test_slopes(more: dict[str, Any], key: str) -> None:
    """Against differences of order h^2 with h = 1e-3: 1e-6 of the value's curvature, by Richardson 1e-10."""
    at = given("step", **more)
    value = {"step.learning_rate": 0.7, "fit.ridge": 0.1}[key]

    def error(x: float) -> float:
        return gs.solve(at.replace({key: x})).test_error

    def difference(h: float) -> float:
        return (error(value * (1.0 + h)) - error(value * (1.0 - h))) / (2.0 * h * value)

    expected = (4.0 * difference(1e-3) - difference(2e-3)) / 3.0
    assert gs.gradient(at, [key]).test_error[key] == pytest.approx(expected, rel=1e-6)


def from_file(folder: Path, gaussian: bool, directions: bool, values: Sequence[float] = (1.0,)) -> Model:
    """Rows given as a matrix, d = 200, for the other law of rows; directions: whether they are given as well."""
    source, d, p = np.random.default_rng(10), 200, 140
    rows = source.standard_normal((p, d)) / np.sqrt(d)
    if not gaussian:
        rows /= np.linalg.norm(rows, axis=1)[:, None]
    v, theta = np.linalg.qr(source.standard_normal((d, 2)))[0].T
    named = {"spike": v, "target": 0.5 * v + np.sqrt(0.75) * theta} if directions else {}
    np.savez(folder / "rows.npz", bulk=rows, **named)
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    step = {"samples": 3.0, "learning_rate": 1.0, "bulk": "matrix", "matrix": str(folder / "rows.npz")}
    return model(step=step, network={"readout": readout})


@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
@pytest.mark.parametrize("directions", [False, True])
def test_given_rows_have_theirs(tmp_path: Path, directions: bool, values: tuple[float, ...]) -> None:
    """Equal ones have no overlap with the readout; with others theory and simulated features agree."""
    equal = gs.solve(from_file(tmp_path, False, directions, values))
    assert np.abs(equal.order_parameters["norm"]).max() < 1e-12
    given = from_file(tmp_path, True, directions, values)
    assert max(map(abs, z_score(given, 200, 8, "gaussian"))) < 4.0
    assert gs.solve(given).test_error < 0.97 * equal.test_error


@pytest.mark.slow
@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
def test_norms_of_a_gaussian_matrix_are_those_of_gaussian_rows(tmp_path: Path, values: tuple[float, ...]) -> None:
    """A matrix has deviations of order 1/sqrt(p d) in every order parameter: 1/d with a factor of some tens."""
    given = from_file(tmp_path, True, False, values)
    readout = given.network.readout
    spike = gs.solve(given).spike
    same = model(
        network={"readout": {"values": readout.values, "fractions": readout.fractions}, **GAUSSIAN},
        spike={
            "strength": spike.strength,
            "alignment": spike.alignment,
            "bulk_variance": spike.bulk_variance[0],
        },
    )
    assert gs.solve(given).test_error == pytest.approx(gs.solve(same).test_error, rel=0.05)


def z_score(of: Model, dimension: int, seeds: int, what: str) -> tuple[float, float]:
    found, theory = gs.simulate(of, dimension=dimension, seeds=seeds, what=what), gs.solve(of, dimension=dimension)
    pairs = ((found.test_error, theory.test_error), (found.train_error, theory.train_error))
    first, second = (float((np.mean(s) - t) / (np.std(s, ddof=1) / np.sqrt(np.size(s)))) for s, t in pairs)
    return first, second


@pytest.mark.parametrize("what", ["srf", "gaussian"])
@pytest.mark.parametrize("more", [{"inputs": SPREAD}, {"network": GAUSSIAN}])
def test_simulated_features_have_them(more: dict[str, Any], what: str) -> None:
    """Without the norms both errors are 12 to 30 percent above: z of -9 and more."""
    assert max(map(abs, z_score(model(**more), 200, 16, what))) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [400, 1000])
@pytest.mark.parametrize("what", ["srf", "gaussian"])
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("more", [{"inputs": SPREAD}, {"network": GAUSSIAN}])
def test_simulated_features_at_large_dimension(more: dict[str, Any], name: str, what: str, dimension: int) -> None:
    assert max(map(abs, z_score(given(name, **more), dimension, 10, what))) < 4.0
