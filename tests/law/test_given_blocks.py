"""A bulk given as a matrix, several readout values: typed equations, one value, generic rows, simulation, the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from at_conjugates import at_conjugates

from giantstep.law.given_bulk import given_bulk
from giantstep.observe.simulate import simulate
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.verify.coupled_system import jacobian_error, solved_again

Array = np.ndarray
D, P = 60, 48
TWO = {"values": [1.0, -0.5], "fractions": [0.25, 0.75]}


def rows_and_directions(d: int = D, p: int = P) -> tuple[Array, Array, Array, Array]:
    """(W, block, v, theta): blocks in any order with covariances of their own, directions that are not generic."""
    source = np.random.default_rng(3)
    block = source.permutation(np.repeat([0, 1], [p // 4, p - p // 4]))
    spread = np.array([np.linspace(0.2, 1.8, d), 1.7 * np.linspace(1.9, 0.3, d)])
    w = source.normal(size=(p, d)) * np.sqrt(spread[block] / d)
    v = source.normal(size=d) + np.linspace(2.0, 0.0, d)
    v /= np.linalg.norm(v)
    beside = source.normal(size=(2, d)) + 6.0 * np.outer([0.8, -0.5], v)
    return w, block, v, np.linalg.qr(beside.T)[0].T


def model_of(path: Path, link: str = "tanh(2*z)", activation: str = "relu", **changes: Any) -> Model:
    width = np.load(path)["bulk"].shape
    return Model.from_dict(
        {
            "network": {"activation": activation, "width": width[0] / width[1], "readout": TWO},
            "target": {"link": link},
            "step": {"samples": 2.0, "learning_rate": 1.5, "bulk": "matrix", "matrix": str(path)},
            "fit": {"samples": 1.7, "ridge": 0.1},
        }
    ).replace(changes)


def saved(path: Path, **arrays: Array) -> Path:
    np.savez(path, **arrays)
    return path


def whole(folder: Path, d: int = D, p: int = P, indices: int = 1) -> Path:
    w, block, v, theta = rows_and_directions(d, p)
    target = theta[0] if indices == 1 else theta
    return saved(folder / "bulk.npz", bulk=w, block=block, spike=v, target=target)


@pytest.mark.parametrize("indices", [1, 2])
def test_the_equations_typed(tmp_path: Path, indices: int) -> None:
    """At given conjugates every unknown from the p x p inverse, with the term of finite size: to 1e-10."""
    w, block, v, theta = rows_and_directions()
    link = "z1 + z1*z2" if indices == 2 else "tanh(2*z)"
    model = model_of(whole(tmp_path, indices=indices), link, **{"fit.ridge": 0.3})
    bulk, problem = given_bulk(model), problem_of(model, dimension=100)
    sizes = [np.mean(np.sum(w[block == b] ** 2, axis=1)) for b in (0, 1)]
    assert bulk.variances == pytest.approx(sizes, rel=1e-14)
    w = w / np.sqrt(np.array(sizes)[block])[:, None]
    v1, q1 = np.array([[0.7, 0.2], [0.2, 0.5]]), np.array([[0.5, -0.1], [-0.1, 0.3]])
    v2, q2, m, t = np.array([0.4, 0.3]), np.array([0.2, 0.25]), np.array([0.6, -0.8]), np.array([0.9, 1.1])
    sources = np.array([[-0.6, 0.3], [0.9, 0.4], [-0.35, 0.2]])[: 1 + indices]
    ridge, small = problem.parameters.ridge, problem.parameters.inverse_dimension
    directions = [v]
    for row in theta[:indices]:
        rest = row - np.array(directions).T @ (np.array(directions) @ row)
        directions.append(rest / np.linalg.norm(rest))
    gram, at = w @ w.T, np.ix_(block, block)
    g = np.linalg.inv(np.diag(ridge + v2[block]) + v1[at] * gram)
    j = sum(source[block] * (w @ u) for source, u in zip(sources, directions, strict=True))
    norms, of_norms = np.diag(gram) - 1.0, np.array([0.5, -0.2])
    j = j + of_norms[block] * norms
    noise = g @ (np.diag(q2[block]) + q1[at] * gram) @ g / P
    moved = small * g @ np.diag((m**2 / t**2)[block]) @ g / D
    second = np.outer(g @ j, g @ j) + noise + moved
    own = np.eye(2)[:, block]
    exact = {
        "T": own @ np.diag(g) / D,
        "V1": own @ (g * gram) @ own.T / P,
        "adjoint": own @ np.diag(second),
        "Q1": own @ (second * gram) @ own.T,
        "zeta": own @ ((g @ j) * (w @ v)),
        "norm": own @ ((g @ j) * norms),
    }
    names = ("psi",) if indices == 1 else ("psi_1", "psi_2")
    exact |= {name: own @ ((g @ j) * (w @ u)) for name, u in zip(names, directions[1:], strict=True)}
    hats = {"V1_hat": v1, "V2_hat": v2, "Q1_hat": q1, "Q2_hat": q2, "zeta_hat": sources[0], "norm_hat": of_norms}
    hats |= {name.replace("psi", "psi_hat"): source for name, source in zip(names, sources[1:], strict=True)}
    found = at_conjugates(problem, hats, {"m": m, "T": t})
    for name, values in exact.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-10, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_solutions_are_certified(loss: str, tmp_path: Path) -> None:
    link = "sign" if loss == "logistic" else "tanh(2*z)"
    model = model_of(whole(tmp_path), link, **{"fit.loss": loss})
    result = solve(model)
    assert result.residual < 1e-12
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-10)
    assert jacobian_error(solved_again(model, result), 1e-3) < 1e-8


def test_rows_in_another_order(tmp_path: Path) -> None:
    """Consecutive rows in the order of the values need no array that says so, for the theory and for a simulation."""
    w, block, v, theta = rows_and_directions()
    order = np.argsort(block, kind="stable")
    ordered = saved(tmp_path / "plain.npz", bulk=w[order], spike=v, target=theta[0])
    said, plain = (solve(model_of(path)) for path in (whole(tmp_path), ordered))
    drawn = [simulate(result.model, dimension=D, seeds=2).mean("test_error").item() for result in (said, plain)]
    assert drawn[0] == pytest.approx(drawn[1], rel=1e-9)
    assert plain.test_error == pytest.approx(said.test_error, rel=1e-11)
    np.testing.assert_allclose(plain.order_parameters["Q1"], said.order_parameters["Q1"], rtol=1e-9)


ALIKE = [((1.0, 1.0), None), ((1.0, 1.0), 60), ((1.0, -1.0), None), ((1.0, -1.0), 60), ((1.0, 1.0 + 1e-9), 60)]


@pytest.mark.parametrize("values, dimension", ALIKE)
def test_values_with_the_features_of_one(values: tuple[float, ...], dimension: int | None, tmp_path: Path) -> None:
    """Equal values are one; with an odd activation opposite ones are one too, where the rows change their signs."""
    w, block, v, theta = rows_and_directions()
    w = w / np.linalg.norm(w, axis=1)[:, None]
    sign = np.where(block == 1, np.sign(values[1]), 1.0)[:, None]
    arrays = {"spike": v, "target": theta[0]}
    two = model_of(saved(tmp_path / "two.npz", bulk=w, block=block, **arrays), activation="tanh")
    two = two.replace({"network.readout": {"values": list(values), "fractions": [0.25, 0.75]}})
    one = model_of(saved(tmp_path / "one.npz", bulk=sign * w, **arrays), activation="tanh")
    one = one.replace({"network.readout": {"values": [1.0], "fractions": [1.0]}})
    found, known = solve(two, dimension=dimension), solve(one, dimension=dimension)
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=2e-8), name
    for name in ("V2", "Q2"):
        assert found.order_parameters[name].sum() == pytest.approx(known.order_parameters[name].sum(), rel=2e-8), name


def test_generic_rows_approach_the_isotropic_law(tmp_path: Path) -> None:
    """Rows without a direction of their own, of unit norm: single matrices are off by tenths of 1/d, in root mean
    square over 6 of them, which falls three times from d = 40 to 120 (half as much at least, by a chi of 6).
    """
    gaps = []
    for d in (40, 120):
        missed = []
        for seed in range(6):
            w = np.random.default_rng(seed).normal(size=(round(0.8 * d), d))
            path = saved(tmp_path / f"{d}_{seed}.npz", bulk=w / np.linalg.norm(w, axis=1)[:, None])
            given = model_of(path)
            found = solve(given, tolerance=1e-8)
            assert found.spike.bulk_variance == pytest.approx([1.0, 1.0], rel=1e-12)
            spike = {"strength": found.spike.strength, "alignment": found.spike.alignment, "bulk_variance": 1.0}
            plain = solve(given.replace({"step": None, "spike": spike}))
            missed.append(found.test_error / plain.test_error - 1.0)
        gaps.append(float(np.sqrt(np.mean(np.square(missed)))))
    assert gaps[1] < 0.3 / 120 and gaps[1] < 0.5 * gaps[0], gaps


@pytest.mark.parametrize("loss, link", [("square", "tanh(2*z)"), ("logistic", "sign"), ("square", "z1 + z1*z2")])
def test_the_given_rows_are_simulated(loss: str, link: str, tmp_path: Path) -> None:
    """Features of the rows of the file: both errors within 4 standard errors, which tell it from the isotropic law."""
    d = 200
    path = whole(tmp_path, d, 160, 2 if "z1" in link else 1)
    model = model_of(path, link, **{"fit.loss": loss})
    result, found = solve(model, dimension=d, tolerance=1e-8), simulate(model, dimension=d, seeds=48)
    for name in ("test_error", "train_error"):
        value, error = found.mean(name).item(), found.standard_error(name).item()
        assert abs(value - getattr(result, name)) < 4.0 * error, name
    isotropic = solve(model.replace({"step": {"samples": 2.0, "learning_rate": 1.5}}), dimension=d)
    gap = found.mean("test_error").item() - isotropic.test_error
    assert abs(gap) > 4.0 * found.standard_error("test_error").item()


def test_blocks_that_are_refused(tmp_path: Path) -> None:
    w, block, v, theta = rows_and_directions()
    for name, array, words in (
        ("short", block[:-1], r"shape \(47,\)"),
        ("real", block.astype(float), "float64"),
        ("three", block + 1, "0 to 1"),
        ("shares", np.repeat([0, 1], P // 2), r"fractions = \[0.5, 0.5\]"),
    ):
        path = saved(tmp_path / f"{name}.npz", bulk=w, block=array, spike=v, target=theta[0])
        with pytest.raises(BadInput, match=words):
            solve(model_of(path))
    path = saved(tmp_path / "few.npz", bulk=w)
    with pytest.raises(BadInput, match="has no row"):
        solve(model_of(path).replace({"network.readout": {"values": [1.0, 0.5], "fractions": [0.999, 0.001]}}))
