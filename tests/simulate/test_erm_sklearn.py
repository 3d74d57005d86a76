"""The same data fitted by scikit-learn: different solvers, different code, the same minimum.

Our objective is sum_i l_i + (ridge/2) |a|^2 with f = X a, X = features/sqrt p, without intercept; scikit-learn's are
rewritten to it below. Both solutions are within sqrt(2 gap/ridge) of the minimum, theirs by its own tolerance.
"""

from __future__ import annotations

import numpy as np
import pytest
from erm_cases import Array, fit, loss_of, training_set
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor
from sklearn.svm import LinearSVC, LinearSVR

from giantstep.simulate.convex import ConvexLoss

SHAPES = ((60, 80), (150, 50))


def objective(loss: ConvexLoss, matrix: Array, labels: Array, readout: Array, ridge: float) -> float:
    return float(np.sum(loss.value(labels, matrix @ readout)) + ridge / 2 * readout @ readout)


def problem(loss: ConvexLoss, shape: tuple[int, int], ridge: float) -> tuple[Array, Array, Array, float]:
    features, labels = training_set(loss, *shape)
    _, found = fit(loss, features, labels, ridge)
    return features / np.sqrt(shape[1]), labels, found.state.readout, found.objective


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridge", [1.0, 1e-2])
def test_logistic_regression(shape: tuple[int, int], ridge: float) -> None:
    """C sum log(1 + exp(-y f)) + |a|^2/2: C = 1/ridge. Gradient tolerance 1e-10 gives |a - a_min| <= 1e-10 n/ridge."""
    matrix, labels, readout, _ = problem(loss_of("logistic"), shape, ridge)
    theirs = LogisticRegression(
        C=1.0 / ridge, fit_intercept=False, tol=1e-10, solver="newton-cholesky", max_iter=1000
    ).fit(matrix, labels)
    assert np.linalg.norm(theirs.coef_[0] - readout) <= 1e-6 * np.linalg.norm(readout)


@pytest.mark.parametrize("shape", [(150, 50), (90, 60)])
@pytest.mark.parametrize("alpha", [0.1, 1e-2])
def test_huber_regressor(shape: tuple[int, int], alpha: float) -> None:
    """scikit-learn also fits a scale s: sum [s + s H((y - f)/s)] + alpha |a|^2, H(z) = z^2 up to epsilon, then
    2 epsilon |z| - epsilon^2. At its s this is 2/s times the Huber loss with delta = epsilon s and ridge = alpha s,
    so its readout must be our minimum at that delta and ridge. (More samples than
    features: where residuals can vanish the scale goes to 0.)
    """
    features, labels = training_set(loss_of("huber"), *shape)
    matrix = features / np.sqrt(shape[1])
    theirs = HuberRegressor(epsilon=1.35, alpha=alpha, fit_intercept=False, tol=1e-9, max_iter=20_000)
    theirs.fit(matrix, labels)
    loss_delta, ridge = 1.35 * theirs.scale_, alpha * theirs.scale_
    loss = loss_of("huber", delta=loss_delta)
    _, found = fit(loss, features, labels, ridge)
    # their L-BFGS stops before the minimum. By strong convexity a gradient g leaves at most |g|^2/(2 ridge) of the
    # objective and |g|/ridge of the readout; g itself is small beside the gradient at zero.
    pull = np.clip(labels - matrix @ theirs.coef_, -loss_delta, loss_delta)
    gradient = np.linalg.norm(ridge * theirs.coef_ - matrix.T @ pull)
    assert gradient <= 1e-3 * np.linalg.norm(matrix.T @ np.clip(labels, -loss_delta, loss_delta))
    left_over = objective(loss, matrix, labels, theirs.coef_, ridge) - found.objective
    assert -found.gap <= left_over <= gradient**2 / (2.0 * ridge)
    assert np.linalg.norm(theirs.coef_ - found.state.readout) <= gradient / ridge
    assert 0 < np.sum(np.abs(labels - matrix @ theirs.coef_) > 1.35 * theirs.scale_) < shape[0]


@pytest.mark.parametrize("tau", [0.2, 0.5])
def test_quantile_regressor(tau: float) -> None:
    """A penalty |a|_1 is scikit-learn's; without one it is a linear programme, solved at a vertex: p residuals vanish.

    There a small enough ridge does not move the minimum (it stays at the vertex), so the outputs agree to rounding.
    """
    loss = loss_of("quantile", tau=tau)
    features, labels = training_set(loss, 120, 25)
    matrix = features / np.sqrt(25)
    theirs = QuantileRegressor(quantile=tau, alpha=0.0, fit_intercept=False, solver="highs").fit(matrix, labels)
    _, found = fit(loss, features, labels, 1e-7)
    residual = labels - matrix @ theirs.coef_
    assert np.sum(np.abs(residual) < 1e-8) == 25
    assert np.max(np.abs(matrix @ (theirs.coef_ - found.state.readout))) <= 1e-8
    assert np.sum(loss.value(labels, matrix @ found.state.readout)) == pytest.approx(
        np.sum(loss.value(labels, matrix @ theirs.coef_)), rel=1e-9
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "theirs"), [("hinge", "hinge"), ("squared_hinge", "squared_hinge")])
def test_linear_svc(shape: tuple[int, int], name: str, theirs: str) -> None:
    """C sum max(0, 1 - y f) + |a|^2/2, C = 1/ridge; the squared one without our 1/2: C = 1/(2 ridge)."""
    ridge = 0.1
    matrix, labels, readout, best = problem(loss_of(name), shape, ridge)
    scale = 1.0 / ridge if name == "hinge" else 0.5 / ridge
    machine = LinearSVC(loss=theirs, C=scale, fit_intercept=False, dual=True, tol=1e-9, max_iter=1_000_000)
    machine.fit(matrix, labels)
    assert objective(loss_of(name), matrix, labels, machine.coef_[0], ridge) == pytest.approx(best, rel=1e-6)
    assert np.linalg.norm(machine.coef_[0] - readout) <= 1e-4 * np.linalg.norm(readout)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "epsilon"), [("epsilon_insensitive", 0.1), ("absolute", 0.0)])
def test_linear_svr(shape: tuple[int, int], name: str, epsilon: float) -> None:
    """C sum max(0, |y - f| - epsilon) + |a|^2/2, C = 1/ridge; the absolute loss at epsilon = 0."""
    ridge = 0.1
    matrix, labels, readout, best = problem(loss_of(name), shape, ridge)
    machine = LinearSVR(
        epsilon=epsilon, C=1.0 / ridge, fit_intercept=False, dual=True, tol=1e-9, max_iter=1_000_000, random_state=0
    )
    machine.fit(matrix, labels)
    assert objective(loss_of(name), matrix, labels, machine.coef_, ridge) == pytest.approx(best, rel=1e-6)
    assert np.linalg.norm(machine.coef_ - readout) <= 1e-4 * np.linalg.norm(readout)
