"""A bulk given as a matrix: its spectral form against the resolvent itself, the file, and simulation."""

from __future__ import annotations

import math
import os
import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from at_conjugates import at_conjugates

from derive.check import check_step
from derive.saddle import coupled_system
from giantstep.law.derivation import derive
from giantstep.observe.compare import compare
from giantstep.observe.simulate import simulate
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.verify.coupled_system import jacobian_error, solved_again

Array = np.ndarray
RIDGE, D = 0.3, 400
HATS = {"V1_hat": 0.7, "V2_hat": 0.4, "Q1_hat": 0.5, "Q2_hat": 0.2, "zeta_hat": -0.6, "psi_hat": 0.9, "norm_hat": 0.5}


@lru_cache(maxsize=4)
def system(p: int) -> tuple[Array, Array, Array]:
    """(W, v, theta): rows with a covariance of their own, neither of which is generic."""
    source = np.random.default_rng(p)
    w = source.normal(size=(p, D)) * np.sqrt(np.linspace(0.2, 1.8, D) / D)
    v, theta = source.normal(size=(2, D)) + np.linspace(2.0, 0.0, D)
    return w, v / np.linalg.norm(v), theta / np.linalg.norm(theta)


def saved(folder: Path, p: int = 320) -> Path:
    w, v, theta = system(p)
    np.savez(folder / "bulk.npz", bulk=w, spike=v, target=theta)
    np.save(folder / "bulk.npy", w)
    path = folder / "model.toml"
    path.write_text(
        f'[network]\nactivation = "tanh"\nwidth = {p / D}\n[step]\nsamples = 1.0\nlearning_rate = 1.5\n'
        'bulk = "matrix"\nmatrix = "bulk.npz"\n[target]\nlink = "sign"\n[fit]\nsamples = 2.0\nridge = 0.1\n',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("p", [320, 600], ids=["fewer neurons than inputs", "more"])
def test_it_is_the_resolvent(tmp_path: Path, p: int) -> None:
    """At given conjugates all order parameters, from the p x p inverse of a d = 400 matrix: to 1e-8."""
    model = Model.from_toml(saved(tmp_path, p)).replace({"fit.ridge": RIDGE})
    beta = p / D
    w, v, theta = system(p)
    w = w / math.sqrt(np.mean(np.sum(w * w, axis=1)))
    across = theta - (v @ theta) * v
    across /= np.linalg.norm(across)
    wv, wo, gram = w @ v, w @ across, w @ w.T
    norms = np.diag(gram) - 1.0
    inverse = np.linalg.inv((RIDGE + HATS["V2_hat"]) * np.eye(p) + HATS["V1_hat"] * gram)
    a = inverse @ (wv * HATS["zeta_hat"] + wo * HATS["psi_hat"] + norms * HATS["norm_hat"])
    field = inverse @ (HATS["Q1_hat"] * gram + HATS["Q2_hat"] * np.eye(p)) @ inverse / p
    exact = {
        "zeta": wv @ a,
        "psi": wo @ a,
        "norm": norms @ a,
        "T": beta * np.trace(inverse) / p,
        "V1": np.trace(inverse @ gram) / p,
        "adjoint": a @ a + np.trace(field),
        "Q1": a @ gram @ a + np.trace(field @ gram),
    }
    found = at_conjugates(problem_of(model), HATS, {"T": np.ones(1)})
    for name, value in exact.items():
        assert found[name].item() == pytest.approx(float(value), rel=1e-8), name


def test_solutions_are_certified(tmp_path: Path) -> None:
    model = Model.from_toml(saved(tmp_path))
    result = solve(model)
    assert result.residual < 1e-12
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-10)
    w, v, theta = system(320)
    assert result.spike.alignment == pytest.approx(v @ theta, rel=1e-12)
    assert result.spike.bulk_variance == pytest.approx([np.mean(np.sum(w * w, axis=1))], rel=1e-12)
    assert jacobian_error(solved_again(model, result), 1e-3) < 1e-8
    logistic = solve(model.replace({"fit.loss": "logistic"}))
    assert logistic.free_energy == pytest.approx(logistic.training_loss, rel=1e-10)
    assert "given bulk" in derive(model).latex()


def test_against_ridge_regression_on_its_features(tmp_path: Path) -> None:
    """Features tanh((W + r u v^T) x) of the same matrix, 24 data sets: test and training error within 4 errors."""
    model = Model.from_toml(saved(tmp_path))
    result = solve(model, dimension=D)
    w, v, theta = system(320)
    rows, source = w + result.spike.strength * v, np.random.default_rng(0)
    found = []
    for _ in range(24):
        x, fresh = source.normal(size=(2 * D, D)), source.normal(size=(4 * D, D))
        phi, seen = (np.tanh(one @ rows.T) / math.sqrt(320) for one in (x, fresh))
        y = np.sign(x @ theta)
        a = np.linalg.solve(phi.T @ phi + 0.1 * np.eye(320), phi.T @ y)
        found.append((np.mean((np.sign(fresh @ theta) - seen @ a) ** 2), np.mean((y - phi @ a) ** 2)))
    for values, value in zip(np.array(found).T, (result.test_error, result.train_error), strict=True):
        error = math.hypot(values.std(ddof=1) / math.sqrt(len(values)), 3.0 / D * value)
        assert abs(values.mean() - value) < 4.0 * error, (values.mean(), value, error)
    isotropic = solve(model.replace({"step": {"samples": 1.0, "learning_rate": 1.5}}), dimension=D)
    assert abs(isotropic.test_error - result.test_error) > 0.01


def test_an_isotropic_matrix_is_the_isotropic_law(tmp_path: Path) -> None:
    """Generic directions of Gaussian rows at d = 800: the errors of the limit up to terms of 1/d."""
    source, d = np.random.default_rng(1), 800
    model = Model.from_dict(
        {
            "network": {"activation": "linear", "width": 0.75},
            "target": {"link": "tanh"},
            "step": {"samples": 1.0, "learning_rate": 1.0},
            "fit": {"samples": 1.5, "ridge": 0.1},
        }
    )
    w = source.normal(size=(600, d)) / math.sqrt(d)
    np.save(tmp_path / "w.npy", w / math.sqrt(np.mean(np.sum(w * w, axis=1))))
    step = {"samples": 1.0, "learning_rate": 1.0, "bulk": "matrix", "matrix": str(tmp_path / "w.npy")}
    given, plain = solve(model.replace({"step": step})), solve(model)
    assert given.test_error == pytest.approx(plain.test_error, rel=4.0 / d)
    assert given.order_parameters["V1"] == pytest.approx(plain.order_parameters["V1"], rel=10.0 / d)


def test_files_that_are_refused(tmp_path: Path) -> None:
    model = Model.from_toml(saved(tmp_path))
    assert model.step is not None and model.step.matrix == str(tmp_path / "bulk.npz")
    assert solve(model.replace({"step.matrix": str(tmp_path / "bulk.npy")})).residual < 1e-12
    (tmp_path / "text.npy").write_text("no array", encoding="utf-8")
    np.save(tmp_path / "line.npy", np.ones(5))
    np.save(tmp_path / "nan.npy", np.full((320, 400), np.nan))
    np.save(tmp_path / "objects.npy", np.array([[None]]), allow_pickle=True)
    np.savez(tmp_path / "pickles.npz", bulk=np.array([[None]]))
    whole = (tmp_path / "bulk.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "flipped.npz").write_bytes(whole[:5000] + bytes(64) + whole[5064:])
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bulk.npy", "w") as f,
    ):
        np.lib.format.write_array_header_1_0(f, {"descr": "<f8", "fortran_order": False, "shape": (40000, 40000)})
    os.mkfifo(tmp_path / "pipe.npz")
    np.savez(tmp_path / "other.npz", weights=np.ones((2, 2)))
    np.savez(tmp_path / "long.npz", bulk=system(320)[0], spike=np.ones(400), target=np.ones(400))
    for name, words in (
        ("nothing.npy", "cannot be read"),
        ("text.npy", "no array"),
        ("line.npy", "shape"),
        ("nan.npy", "shape"),
        ("objects.npy", "no array: it holds objects"),
        ("pickles.npz", "no array: it holds objects"),
        ("cut.npz", "no array"),
        ("flipped.npz", "no array: Bad CRC"),
        ("bomb.npz", "holds 1600000000 numbers"),
        ("pipe.npz", "no regular file"),
        ("other.npz", "'bulk'"),
        ("long.npz", "norm"),
    ):
        with pytest.raises(BadInput, match=words):
            solve(model.replace({"step.matrix": str(tmp_path / name)}))
    for changes, words in (
        ({"network.width": 1.0}, "network.width"),
        ({"target.link": "z1*z2"}, r"shape \[indices, input dimension\]"),
    ):
        with pytest.raises(BadInput, match=words):
            solve(model.replace(changes))
    for step in ({"bulk": "matrix"}, {"bulk": "trained", "matrix": "w.npy"}, {"bulk": "matrix", "matrix": 3}):
        with pytest.raises(BadInput, match=r"step\.matrix"):
            model.replace({"step": {"samples": 1.0, "learning_rate": 1.0, **step}})


def test_recorded_steps() -> None:
    """Those of the isotropic bulk apart."""
    plain, given = coupled_system().derivation.steps, coupled_system(bulk="matrix").derivation.steps
    found = [step for step in map(check_step, (s for s in given if s not in plain)) if step.error is not None]
    assert found and all(step.error < 1e-40 for step in found)


def test_the_given_rows_are_simulated(tmp_path: Path) -> None:
    """Spiked features around the rows of the file, and their Gaussian model: both errors within 4 standard errors."""
    model = Model.from_toml(saved(tmp_path))
    result = solve(model, dimension=D)
    for what in (None, "gaussian"):
        found = simulate(model, dimension=D, seeds=8, what=what)  # type: ignore[arg-type]
        for name in ("test_error", "train_error"):
            gap = found.mean(name).item() - getattr(result, name)
            assert abs(gap) < 4.0 * found.standard_error(name).item(), (what, name)
    with pytest.raises(BadInput, match="simulate dimension 400"):
        simulate(model, dimension=50, seeds=2)
    assert simulate(model, dimension=50, seeds=2, what="network").what == "network"  # from rows of its own
    with pytest.raises(BadInput, match="compare takes the same step with step.bulk = trained"):
        compare(model, dimension=50, seeds=2)
