"""State evolution of the best estimator: every step at a random point, and what is emitted against other forms."""

from __future__ import annotations

import mpmath
import numpy as np

from derive.best_estimator import best_estimator
from derive.check import check_derivation
from generated import best_estimator as kernel

_CLOSE = mpmath.mpf(10) ** -40


def test_steps_hold_at_a_random_point() -> None:
    found = check_derivation(best_estimator().derivation)
    compared = [step for step in found if step.outcome == "compared"]
    assert all(step.error < _CLOSE for step in compared), [s.label for s in compared if s.error >= _CLOSE]
    untested = {step.label for step in found if step.outcome == "not evaluable"}
    assert untested == {  # what puts recorded expressions together
        "free entropy",
        "directions at an eigenvalue",
        "samples, more overlap",
        "slope of the free entropy",
        "growth of a small overlap",
        "overlap after one step",
    }


def _known() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """An overlap, a root of the rest that is not symmetric, an information, samples."""
    known = np.array([[0.5, 0.2], [0.2, 0.3]])
    turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    lower = np.linalg.cholesky(np.eye(2) - known) @ turned
    return known, lower, np.array([[0.3, 0.1], [0.1, 0.2]]), 1.7


def test_overlap_is_that_of_both_stationarity_equations() -> None:
    _, lower, information, alpha = _known()
    back = np.linalg.inv(lower)
    conjugate = alpha * back.T @ information @ back
    expected = conjugate @ np.linalg.inv(np.eye(2) + conjugate)
    np.testing.assert_allclose(kernel.overlap(lower, information, alpha), expected, rtol=0.0, atol=1e-14)


def test_free_entropy_is_stationary_where_the_overlap_is_kept() -> None:
    known, lower, _, alpha = _known()
    conjugate = known @ np.linalg.inv(np.eye(2) - known)
    information = lower.T @ conjugate @ lower / alpha  # for which the overlap is a fixed point
    np.testing.assert_allclose(kernel.overlap(lower, information, alpha), known, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(kernel.entropy_slope(lower, known, information, alpha), 0.0, atol=1e-14)
    assert np.abs(kernel.entropy_slope(lower, known, 2.0 * information, alpha)).max() > 0.1


def test_one_index_is_the_same_equation() -> None:
    q, alpha = 0.37, 1.9
    lower, information = np.array([[np.sqrt(1.0 - q)]]), np.array([[q / alpha]])
    assert kernel.surplus(q, q / alpha, alpha) == 0.0
    np.testing.assert_allclose(kernel.overlap(lower, information, alpha), [[q]], rtol=0.0, atol=1e-15)


def test_growth_is_the_mean_of_products() -> None:
    rng = np.random.default_rng(4)
    weight, square = rng.random(5), rng.standard_normal((5, 3, 3))
    start = rng.standard_normal((3, 3))
    expected = sum(w * g @ start @ g for w, g in zip(weight, square, strict=True))
    np.testing.assert_allclose(
        np.einsum("bcde,cd->be", kernel.growth(weight, square), start), expected, rtol=1e-13, atol=1e-13
    )
