"""Sums that a solution is checked by, and where solutions lead: against NumPy and against polynomials."""

from __future__ import annotations

import numpy as np
import pytest

from generated.runtime.leading import fill_guesses
from generated.runtime.mean_outputs import bend_beside_slope, carried, fill_products, linear_in_outputs
from generated.runtime.steps import added_by_floor

RNG = np.random.default_rng(4)
FUNCTIONS = RNG.standard_normal((3, 20))
WEIGHT, SLOPE, CURVATURE, MEAN, VARIANCE = RNG.random((5, 20))


def test_products_of_mean_functions() -> None:
    found = np.empty((3, 3, 3))
    fill_products(FUNCTIONS, WEIGHT, SLOPE, CURVATURE, found)
    for each, factor in zip(found, (np.ones(20), SLOPE, CURVATURE), strict=True):
        assert each == pytest.approx((FUNCTIONS * WEIGHT * factor) @ FUNCTIONS.T, rel=1e-13)
    products, slope, curvature = found
    moved = np.linalg.inv(curvature) @ slope @ np.linalg.inv(curvature)
    assert carried(products, slope, curvature) == pytest.approx((products * moved).sum(), rel=1e-11)
    assert carried(products, slope, np.zeros((3, 3))) == np.inf


def test_how_much_a_slope_changes_where_outputs_are() -> None:
    """By the function that feels most of it; negative curvatures count for nothing."""
    felt = np.where(np.arange(20) % 5, CURVATURE, -CURVATURE)
    found = bend_beside_slope(FUNCTIONS, WEIGHT, (MEAN, VARIANCE), (SLOPE, felt))
    most = ((FUNCTIONS**2 @ (WEIGHT * np.maximum(felt, 0.0))) / (FUNCTIONS**2 @ WEIGHT)).max()
    assert found == pytest.approx(most * np.sqrt(WEIGHT @ (MEAN**2 + VARIANCE) / (WEIGHT @ SLOPE)), rel=1e-13)
    assert bend_beside_slope(0.0 * FUNCTIONS, WEIGHT, (MEAN, VARIANCE), (SLOPE, felt)) == np.inf
    assert bend_beside_slope(FUNCTIONS, WEIGHT, (MEAN, VARIANCE), (SLOPE, 0.0 * felt)) == 0.0


def test_averages_of_outputs() -> None:
    """With two slopes in t."""
    labels, slopes, out = RNG.standard_normal((3, 20)), RNG.standard_normal((2, 20)), np.empty(3)
    linear_in_outputs(WEIGHT, labels, (MEAN, slopes, VARIANCE, SLOPE), out)
    square = MEAN**2 + (slopes**2).sum(axis=0) + VARIANCE
    product = labels[0] * MEAN + (labels[1:] * slopes).sum(axis=0)
    assert out == pytest.approx([WEIGHT @ square, WEIGHT @ product, WEIGHT @ SLOPE], rel=1e-13)


def test_what_a_floor_adds() -> None:
    """Only at the nodes that it holds."""
    terms, felt = RNG.random((2, 20)), (SLOPE, CURVATURE - 0.5)
    least = 1e-3 * (terms + (terms @ WEIGHT)[:, None])
    held = RNG.random((2, 20)) < 0.5
    variances = np.where(held, least, 2.0 * least)
    exact = 0.5 * float((held * least * np.abs(felt)) @ WEIGHT @ np.ones(2))
    assert added_by_floor(WEIGHT, (variances[0], variances[1]), felt, terms, (1e-3, 1.5)) == pytest.approx(exact)


def test_where_solutions_lead() -> None:
    """Polynomials of their degree are followed exactly; of a higher one both guesses miss, the second one more."""
    places, here = np.array([0.1, 0.3, 0.4, 0.8]), 1.1
    numbers, out = np.array([places**2 - 1.0, 2.0 - places, 0.0 * places]).T.copy(), np.empty((2, 3))
    assert fill_guesses(places, here, numbers, out) < 1e-13
    assert out == pytest.approx(np.array([[here**2 - 1.0, 2.0 - here, 0.0]] * 2), abs=1e-13)
    numbers[:, 0] = places**3
    apart = fill_guesses(places, here, numbers, out)
    second = np.polyval(np.polyfit(places[1:], numbers[1:, 0], 2), here)
    assert out[:, 0] == pytest.approx([here**3, second], rel=1e-12)
    assert apart == pytest.approx((here**3 - second) / 0.8**3, rel=1e-11)
    assert not fill_guesses(places, here, np.full((4, 3), np.nan), out) <= 1.0


def test_many_numbers_that_hardly_lead_anywhere() -> None:
    """More numbers than places; one that may be rounding of the largest is held against that one."""
    places, here = np.array([0.0, 1.0]), 3.0
    numbers = np.ones((2, 7))
    numbers[:, 2], numbers[:, 6] = [50.0, 60.0], [1e-12, 3e-12]
    out = np.full((2, 7), np.nan)
    apart = fill_guesses(places, here, numbers, out)
    assert out == pytest.approx(np.array([numbers[0] + 3.0 * (numbers[1] - numbers[0]), numbers[1]]), rel=1e-13)
    assert apart == pytest.approx(20.0 / 60.0, rel=1e-13)
    numbers[:, 2] = 1e-3
    assert fill_guesses(places, here, numbers, out) == pytest.approx(4e-12 / 1e-9, rel=1e-10)
