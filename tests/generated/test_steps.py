"""Steps of Newton's method in compiled code: linear equations, and what rounding leaves of variances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from generated.runtime.steps import NONE, PLAIN, RAISED, raise_variances, solve_step

Array = np.ndarray
N, K = 4, 2
WEIGHT = np.array([0.1, 0.4, 0.3, 0.2])
ROUNDING = 1e-14


def solved(jacobian: Array, residual: Array, size: Array) -> tuple[Array, float, float]:
    step = np.empty(len(residual))
    left, change = solve_step(jacobian, residual, size, np.empty((2 * len(residual) + 4, len(residual))), step)
    return step, left, change


def test_steps_solve_the_equations() -> None:
    draw = np.random.default_rng(1)
    rows, columns = 10.0 ** draw.uniform(-12, 12, (2, 7))
    jacobian = draw.normal(size=(7, 7)) * rows[:, None] * columns
    wanted = draw.normal(size=7) / columns
    step, left, change = solved(jacobian, jacobian @ wanted, 1.0 / columns)
    assert step == pytest.approx(wanted, rel=1e-12) and left < 1e-14
    assert change == pytest.approx(np.max(np.abs(wanted * columns)), rel=1e-12)


@pytest.mark.parametrize(
    ("row", "told"),
    [((2.0, 4.0), math.inf), ((0.0, 0.0), math.inf), ((math.nan, 1.0), math.nan), ((-math.inf, 1.0), math.nan)],
)
def test_equations_without_a_solution_are_told(row: tuple[float, float], told: float) -> None:
    _, left, _ = solved(np.array([[1.0, 2.0], row]), np.ones(2), np.ones(2))
    assert left == pytest.approx(told, nan_ok=True)


def test_what_is_left_does_not_depend_on_units() -> None:
    """Of rows without a positive entry too, and of equations that rounding does not solve."""
    draw = np.random.default_rng(3)
    jacobian, residual, size = -draw.uniform(1.0, 2.0, (5, 5)), draw.normal(size=5), np.ones(5)
    step, left, _ = solved(jacobian, residual, size)
    assert np.isfinite(step).all() and 1e-18 < left < 1e-13
    assert solved(jacobian, 2.0**40 * residual, size)[1] == solved(2.0**-30 * jacobian, residual, size)[1] == left


def raised(V: Array, T: float, blur: tuple[float, float]) -> tuple[int, Array, Array, Array]:
    """What becomes of V and of Delta = 2 V, of one family and matrix each: [1 V1, V2 T], [Q1, Q2]."""
    vector = np.array([[T, 1.0], [0.5, -0.25], [0.1, 0.2]])
    matrix = np.array([[[1.0, -2.0], [-2.0, 3.0]], [[0.1, 0.2], [0.2, -0.3]]])
    field, told, terms = np.array([V, 2.0 * V]), np.empty(N), np.empty((2, N))
    sizes = np.arange(1.0, 1.0 + (K * K + K) * N).reshape(-1, N)
    rows = 0, 0, 1, 0, 1, 2, 1
    sound = raise_variances((vector, matrix, field), rows, sizes, WEIGHT, blur, ROUNDING, told, terms)
    pairs = np.abs([[1.0, -2.0, -2.0, 3.0, 0.5, -0.25], [0.1, 0.2, 0.2, -0.3, 0.1, 0.2]])
    return sound, field, told, terms / (pairs @ sizes)


def test_variances_are_raised_to_their_rounding() -> None:
    V = np.array([1.0, -1e-14, 2.0, 3.0])
    sound, field, told, terms = raised(V, 1.0, (0.0, 0.0))
    assert sound == RAISED and terms == pytest.approx(1.0, rel=1e-15) and told.tolist() == (2.0 * V).tolist()
    assert field[:, [0, 2, 3]].tolist() == [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]
    vector, sizes = np.abs([[0.5, -0.25], [0.1, 0.2]]), np.arange(1.0, 1.0 + 6 * N).reshape(-1, N)
    pairs = np.column_stack([[[1.0, 2.0, 2.0, 3.0], [0.1, 0.2, 0.2, 0.3]], vector]) @ sizes
    assert field[:, 1] == pytest.approx(ROUNDING * (pairs[:, 1] + pairs @ WEIGHT), rel=1e-13)


def test_a_blur_is_added_and_not_told() -> None:
    sound, field, told, _ = raised(np.ones(N), 1.0, (0.5, 0.25))
    assert sound == PLAIN and field.tolist() == [[1.5] * N, [2.25] * N] and told.tolist() == [2.0] * N


@pytest.mark.parametrize(("V", "T"), [([1.0, -1.0, 9.0, 9.0], 1.0), ([1.0] * N, 0.0), ([1.0] * N, math.nan)])
def test_what_is_no_variance_is_refused(V: list[float], T: float) -> None:
    assert raised(np.array(V), T, (0.0, 0.0))[0] == NONE


def test_a_variance_that_vanishes_is_refused() -> None:
    assert not raised(np.zeros(N), 1.0, (0.0, 0.0))[0]
