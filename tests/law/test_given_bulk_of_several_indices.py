"""A bulk given as a matrix, target of two indices: the resolvent itself, one index in other coordinates, simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from at_conjugates import at_conjugates

from giantstep.law.directions import mixing
from giantstep.law.given_bulk import given_bulk
from giantstep.observe.simulate import simulate
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve

Array = np.ndarray
D, P, RIDGE = 200, 160, 0.3
HATS = {"V1_hat": 0.7, "V2_hat": 0.4, "Q1_hat": 0.5, "Q2_hat": 0.2, "zeta_hat": -0.6}
HATS |= {"psi_hat_1": 0.9, "psi_hat_2": -0.35, "norm_hat": 0.5}


def rows_and_directions() -> tuple[Array, Array, Array]:
    """(W, v, theta): rows with a covariance of their own, directions that are not generic and overlap."""
    source = np.random.default_rng(7)
    w = source.normal(size=(P, D)) * np.sqrt(np.linspace(0.2, 1.8, D) / D)
    v = source.normal(size=D) + np.linspace(2.0, 0.0, D)
    v /= np.linalg.norm(v)
    beside = source.normal(size=(2, D)) + 12.0 * np.outer([0.8, -0.5], v) + np.linspace(1.0, 0.0, D)
    return w, v, np.linalg.qr(beside.T)[0].T


def model_of(path: Path, link: str, **changes: Any) -> Model:
    return Model.from_dict(
        {
            "network": {"activation": "erf", "width": P / D},
            "target": {"link": link},
            "step": {"samples": 2.0, "learning_rate": 1.5, "bulk": "matrix", "matrix": str(path)},
            "fit": {"samples": 1.7, "ridge": 0.1},
        }
    ).replace(changes)


def saved(path: Path, target: Array, **others: Array) -> Path:
    w, v, _ = rows_and_directions()
    np.savez(path, **({"bulk": w, "spike": v, "target": target} | others))
    return path


def test_it_is_the_resolvent(tmp_path: Path) -> None:
    """At given conjugates all that the sources make, from the p x p inverse: to 1e-8."""
    w, v, theta = rows_and_directions()
    model = model_of(saved(tmp_path / "w.npz", theta), "z1 + z1*z2", **{"fit.ridge": RIDGE})
    bulk = given_bulk(model)
    w = w / np.sqrt(bulk.variances[0])
    assert bulk.alignments is not None
    gamma = np.array(bulk.alignments)
    u = np.linalg.solve(mixing(gamma), theta - np.outer(gamma, v))
    np.testing.assert_allclose(np.vstack([v, u]) @ np.vstack([v, u]).T, np.eye(3), atol=1e-12)
    wv, wu, gram = w @ v, u @ w.T, w @ w.T
    whole = np.linalg.inv((RIDGE + HATS["V2_hat"]) * np.eye(P) + HATS["V1_hat"] * gram)
    norms = np.diag(gram) - 1.0
    along = wv * HATS["zeta_hat"] + HATS["psi_hat_1"] * wu[0] + HATS["psi_hat_2"] * wu[1]
    a = whole @ (along + norms * HATS["norm_hat"])
    fields = whole @ (HATS["Q1_hat"] * gram + HATS["Q2_hat"] * np.eye(P)) @ whole / P
    exact = {
        "zeta": wv @ a,
        "psi_1": wu[0] @ a,
        "psi_2": wu[1] @ a,
        "norm": norms @ a,
        "T": np.trace(whole) / D,
        "V1": np.trace(whole @ gram) / P,
        "adjoint": a @ a + np.trace(fields),
        "Q1": a @ gram @ a + np.trace(fields @ gram),
    }
    found = at_conjugates(problem_of(model), HATS, {"T": np.ones(1)})
    for name, value in exact.items():
        assert found[name].item() == pytest.approx(float(value), rel=1e-8), name


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_one_index_in_other_coordinates(loss: str, tmp_path: Path) -> None:
    """A link of (z1 + z2)/sqrt(2) is one of the single index along the mean direction: the same solution."""
    _, _, theta = rows_and_directions()
    mean = (theta[0] + theta[1]) / np.sqrt(2.0)
    several = model_of(saved(tmp_path / "two.npz", theta), "tanh(z1 + z2)", **{"fit.loss": loss})
    single = model_of(saved(tmp_path / "one.npz", mean), "tanh(sqrt(2)*z)", **{"fit.loss": loss})
    found, wanted = solve(several), solve(single)
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9), name


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_a_spike_in_the_span_of_the_target(loss: str, tmp_path: Path) -> None:
    """The second direction has nothing beside the spike and the first one: what it is given does not matter."""
    _, v, theta = rows_and_directions()
    spike = np.array([0.6, 0.8]) @ theta
    link = "sign(z1 + 2*z2)" if loss == "logistic" else "tanh(z1) + z1*z2"
    at = model_of(saved(tmp_path / "in.npz", theta, spike=spike), link, **{"fit.loss": loss})
    assert np.linalg.norm(given_bulk(at).alignments) == pytest.approx(1.0, abs=1e-12)
    exact, across = solve(at), v - theta.T @ (theta @ v)
    gaps = []
    for angle in (1e-1, 1e-2):  # even in the angle with the span
        off = np.cos(angle) * spike + np.sin(angle) * across / np.linalg.norm(across)
        near = solve(model_of(saved(tmp_path / "off.npz", theta, spike=off), link, **{"fit.loss": loss}))
        gaps.append(abs(near.test_error / exact.test_error - 1.0))
    assert gaps[0] > 1e-4 and gaps[1] < 0.02 * gaps[0]


@pytest.mark.parametrize("loss, link, seeds", [("square", "z1 + z1*z2", 120), ("logistic", "sign(z1 + z1*z2)", 24)])
def test_the_given_rows_are_simulated(loss: str, link: str, seeds: int, tmp_path: Path) -> None:
    """Both errors within 4 standard errors, which tell the law from the isotropic one."""
    model = model_of(saved(tmp_path / "w.npz", rows_and_directions()[2]), link, **{"fit.loss": loss})
    result, found = solve(model, dimension=D), simulate(model, dimension=D, seeds=seeds)
    isotropic = solve(model.replace({"step": {"samples": 2.0, "learning_rate": 1.5}}), dimension=D)
    for name in ("test_error", "train_error"):
        value, error = found.mean(name).item(), found.standard_error(name).item()
        assert abs(value - getattr(result, name)) < 4.0 * error, name
    gap = found.mean("test_error").item() - isotropic.test_error
    assert abs(gap) > 4.0 * found.standard_error("test_error").item()


def test_directions_that_are_refused(tmp_path: Path) -> None:
    _, v, theta = rows_and_directions()
    link = "z1 + z1*z2"
    for target, words in (
        (theta[0], r"shape \(200,\)"),
        (np.linalg.qr(np.vstack([theta, v]).T)[0].T, "3 directions, and the link has 2 indices"),
        (theta[:, :-1], "length 199"),
        (np.array([theta[0], theta[0]]), "overlaps up to 1"),
        (2.0 * theta, "norm 2, 2"),
    ):
        with pytest.raises(BadInput, match=words):
            solve(model_of(saved(tmp_path / "w.npz", target), link))
