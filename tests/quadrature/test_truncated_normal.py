"""Gauss rules of a standard normal variable between two places, against its moments with 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from giantstep.quadrature.truncated_normal import truncated_normal

# Moments are differences of terms up to 9^2 times the density, divided by a width of 1 and more.
CLOSE = 81 * 8 * 2.0**-52


def exact(low: float, high: float, power: int) -> float:
    """The moment by integration by parts, with 40 digits."""
    with mpmath.workdps(40):
        a, b = mpmath.mpf(low), mpmath.mpf(high)
        moments = [mpmath.ncdf(b) - mpmath.ncdf(a), mpmath.npdf(a) - mpmath.npdf(b)]
        for n in (1, 2):
            moments.append(n * moments[n - 1] + a**n * mpmath.npdf(a) - b**n * mpmath.npdf(b))
        return float(moments[power])


@pytest.mark.parametrize("nodes", [1, 2])
def test_powers_below_twice_the_number_of_nodes_are_exact(nodes: int) -> None:
    edges = np.array([[-8.5, -5.0, -3.0, -2.9, -0.2, 0.0, 1e-9, 0.999, 1.3, 6.0, 8.5], np.linspace(-8.5, 8.5, 11)])
    places, weights = truncated_normal(edges, nodes)
    for row, ends in enumerate(edges):
        for number, (low, high) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            own = slice(number * nodes, (number + 1) * nodes)
            x, w = places[row, own], weights[row, own]
            assert np.all((low <= x) & (x <= high) & (w >= 0.0))
            for power in range(2 * nodes):
                assert w @ x**power == pytest.approx(exact(low, high, power), rel=CLOSE, abs=CLOSE * 1e-3), (low, high)


def test_an_empty_interval_weighs_nothing() -> None:
    places, weights = truncated_normal(np.array([[-8.5, 0.3, 0.3, 8.5]]), 2)
    np.testing.assert_array_equal(weights[0, 2:4], 0.0)
    np.testing.assert_allclose(places[0, 2:4], 0.3)
