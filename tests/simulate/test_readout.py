"""The ridge readouts of the simulator against explicit solutions."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.readout import ridge_readouts

WIDTH = 60
SIZES = (150, 1, 2, 3, 30, 60, 61, 30)


def explicit(features: Array, target: Array, ridge: float) -> tuple[Array, float]:
    """The solution in the singular vectors of the features, and their condition number: no Gram matrix is formed.

    (Least squares on the features stacked on sqrt(ridge) 1 has the condition number |Phi|/sqrt(ridge).)
    """
    u, s, vt = np.linalg.svd(features / np.sqrt(features.shape[1]), full_matrices=False)
    return vt.T @ (s / (s * s + ridge) * (u.T @ target)), float(s[0] / s[-1])


def feature_matrix(kind: str) -> Array:
    generator = np.random.default_rng(3)
    features = generator.standard_normal((max(SIZES), WIDTH))
    if kind == "with mean":
        return features + 1.0
    mixed = generator.standard_normal((max(SIZES), 40)) @ generator.standard_normal((40, WIDTH))
    return np.maximum(mixed, 0.0)


# Error model: both solutions carry some eps times the condition number of the features (up to 1e4 at n = p),
# here a hundred times that; refinement stops at a relative change that is smaller than 1e-9 before its last pass.
@pytest.mark.parametrize("kind", ["with mean", "relu"])
@pytest.mark.parametrize("ridges", [(1e-8,), (0.3,), (0.0,), (10.0, 1e-8, 0.1), (0.0, 1e-2), (1e-14,)])
def test_readouts_solve_the_ridge_problem(kind: str, ridges: tuple[float, ...]) -> None:
    features = feature_matrix(kind)
    target = np.random.default_rng(4).standard_normal(max(SIZES))
    readouts, train = ridge_readouts(features, target, SIZES, ridges)
    assert readouts.shape == (WIDTH, len(SIZES) * len(ridges)) and train.shape == (len(SIZES), len(ridges))
    for i, size in enumerate(SIZES):
        for j, ridge in enumerate(ridges):
            exact, condition = explicit(features[:size], target[:size], ridge)
            found = readouts[:, i * len(ridges) + j]
            allowed = 100.0 * np.finfo(float).eps * condition
            assert np.linalg.norm(found - exact) <= allowed * np.linalg.norm(exact)
            residual = target[:size] - features[:size] @ exact / np.sqrt(WIDTH)
            assert abs(train[i, j] - np.mean(residual**2)) <= 1e-10


@pytest.mark.parametrize("ridge", [1e-6, 1e-8, 1e-12, 0.0])
@pytest.mark.parametrize("extra", [(), (1.0,)])
def test_rank_deficient_features(ridge: float, extra: tuple[float, ...]) -> None:
    """Features of rank 20, as of a linear activation: solved in the exact row space for comparison.

    Small integers, so that the product has no rounding. Refinement stops at a relative change of 1e-9, hence
    1e-8.
    """
    generator = np.random.default_rng(5)
    left = generator.integers(-8, 9, (150, 20)).astype(float)
    right = generator.integers(-8, 9, (20, WIDTH)).astype(float)
    target = generator.standard_normal(150)
    basis, mixing = np.linalg.qr(right.T)
    sizes = (15, 30, 60, 61, 150)
    readouts, _ = ridge_readouts(left @ right, target, sizes, (*extra, ridge))
    for i, size in enumerate(sizes):
        u, s, vt = np.linalg.svd(left[:size] @ mixing.T / np.sqrt(WIDTH), full_matrices=False)
        exact = basis @ (vt.T @ (s / (s * s + ridge) * (u.T @ target[:size])))
        found = readouts[:, (i + 1) * (len(extra) + 1) - 1]
        assert np.linalg.norm(found - exact) <= 1e-8 * np.linalg.norm(exact)


def test_normal_equations_hold() -> None:
    """(Phi^T Phi/p + ridge) a = Phi^T y/sqrt p at the scale of its terms, on both sides of n = p."""
    features = feature_matrix("relu")
    target = np.random.default_rng(6).standard_normal(max(SIZES))
    ridges = (1e-3, 0.5)
    readouts, _ = ridge_readouts(features, target, (40, 100), ridges)
    for i, size in enumerate((40, 100)):
        phi = features[:size] / np.sqrt(WIDTH)
        for j, ridge in enumerate(ridges):
            found = readouts[:, 2 * i + j]
            right = phi.T @ target[:size]
            assert np.linalg.norm(phi.T @ (phi @ found) + ridge * found - right) <= 1e-11 * np.linalg.norm(right)


def test_svd_asks_for_its_memory() -> None:
    features = np.ones((80, WIDTH))
    with pytest.raises(SimulationError, match="are available"):
        ridge_readouts(features, np.arange(80.0), (80,), (0.0,), memory_limit=1000)
