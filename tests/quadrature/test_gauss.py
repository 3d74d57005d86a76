"""Gauss-Legendre rules: exact for polynomials of their degree, and moments of the normal law on panels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.legendre import legval

from giantstep.quadrature.gauss import (
    INSIDE,
    ends_within,
    evenly_cut,
    hermite,
    legendre,
    legendre_coefficients,
    lobatto,
    lobatto_coefficients,
    middle_and_end,
    normal_between,
    normal_nodes,
    tail,
)

ROUNDING = 1e-13  # sums of a few hundred terms of order one


@pytest.mark.parametrize("order", [2, 7, 16, 20])
def test_polynomials_of_twice_the_order_are_exact(order: int) -> None:
    nodes, weights = legendre(order)
    for power in range(2 * order):
        assert weights @ nodes**power == pytest.approx((1 + (-1) ** power) / (power + 1), abs=ROUNDING)
    assert abs(weights @ nodes ** (2 * order) - 2 / (2 * order + 1)) > 1e-12  # and no more than that


@pytest.mark.parametrize("order", [40, 150, 151, 461])
def test_moments_of_hermite_rules(order: int) -> None:
    """Of many nodes too, where polynomials overflow; the eighth has terms up to 1e3."""
    nodes, weights = hermite(order)
    for power, moment in ((0, 1.0), (2, 1.0), (4, 3.0), (8, 105.0)):
        assert weights @ nodes**power == pytest.approx(moment, abs=ROUNDING * moment)


@pytest.mark.parametrize("order", [3, 13, 14])
def test_a_rule_whose_ends_are_nodes(order: int) -> None:
    nodes, weights = lobatto(order)
    assert -1.0 < nodes[0] < INSIDE - 1.0 + 1e-15 and nodes[-1] == -nodes[0]
    moved = 2 * order * INSIDE  # powers of the ends
    for power in range(2 * order - 2):
        assert weights @ nodes**power == pytest.approx((1 + (-1) ** power) / (power + 1), abs=ROUNDING + moved)
    assert abs(weights @ nodes ** (2 * order - 2) - 2 / (2 * order - 1)) > 1e-8


@pytest.mark.parametrize("order", [3, 16])
@pytest.mark.parametrize("rule", [(legendre, legendre_coefficients), (lobatto, lobatto_coefficients)])
def test_coefficients_of_legendre_polynomials(order: int, rule: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    nodes, _ = rule[0](order)
    values = np.array([legval(nodes, unit) for unit in np.eye(order)]).T
    moved = 2 * order**3 * INSIDE if rule[0] is lobatto else 0.0  # slopes at the ends
    np.testing.assert_allclose(rule[1](order) @ values, np.eye(order), atol=ROUNDING + moved)


def test_panels_end_at_the_breakpoints_inside() -> None:
    edges = evenly_cut(2.0, 0.5, [0.3, 7.0])
    assert edges[0] == -2.0 and edges[-1] == 2.0 and 0.3 in edges and len(edges) == 10


def test_moments_of_the_normal_law_on_panels() -> None:
    t, weight = normal_nodes(evenly_cut(9.0, 1.0, [0.1]), 20)
    for power, moment in ((0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0)):
        assert weight @ t**power == pytest.approx(moment, abs=ROUNDING)
    # a step at the end of a panel costs nothing: P(t > 0.1)
    assert weight @ (t > 0.1) == pytest.approx(0.5 * math.erfc(0.1 / math.sqrt(2.0)), abs=ROUNDING)


def test_any_shape_of_panels() -> None:
    low, high = np.array([[-1.0, 0.0], [0.5, 1.0]]), np.array([[0.0, 2.0], [1.0, 1.0]])
    t, weight = normal_between(low, high, 12)
    assert t.shape == weight.shape == (2, 2, 12)
    exact = [
        [math.erf(h / math.sqrt(2)) - math.erf(x / math.sqrt(2)) for x, h in zip(*pair, strict=True)]
        for pair in zip(low, high, strict=True)
    ]
    np.testing.assert_allclose(weight.sum(axis=2), 0.5 * np.array(exact), atol=ROUNDING)


def test_breakpoints_within_reach() -> None:
    """All of them, at the places where they are, whatever the centre; mirrored where the centre is."""
    breaks, centres = np.array([-7.1, -3.0, -2.5, 0.4, 1.0, 6.0, 8.0]), np.array([-9.0, -3.0, 0.7, 5.0, 40.0])
    found = ends_within(breaks, centres, 0.5, 6.0)
    assert found.shape == (5, 4)  # none sees more than two on a side
    for centre, ends in zip(centres, found, strict=True):
        places = (breaks - centre) / 0.5
        assert ends[np.abs(ends) < 6.0].tolist() == places[np.abs(places) < 6.0].tolist()
        assert (np.diff(ends) >= 0.0).all() and np.abs(ends).max() <= 6.0
    mirrored = ends_within(-breaks[::-1], -centres[[0, 2, 3, 4]], 0.5, 6.0)
    assert np.array_equal(mirrored, -found[[0, 2, 3, 4], ::-1])
    assert ends_within(breaks[:0], centres, 0.5, 6.0).shape == (5, 0)


@pytest.mark.parametrize("pole", [1.3, 1.6, 2.0, 0.4j, 0.8j, 1.2j])
def test_coefficients_tell_the_error_of_a_rule(pole: complex) -> None:
    """Beside a pole they fall by a factor with each degree, and the error is that of the degree 2n.

    From the degree n - 2 they are told to go on as far as from n/2 - 1 to there, twice: to 2n - 4; of an even function
    as far as from n/2: to 2n - 6.
    """
    nodes, weights = legendre(12)
    square = (pole * pole).real
    values = 1.0 / (pole.real - nodes) if square > 0.0 else 1.0 / (nodes**2 - square)
    size = math.sqrt(abs(square))
    exact = math.log((size + 1.0) / (size - 1.0)) if square > 0.0 else 2.0 / size * math.atan(1.0 / size)
    middle, end = middle_and_end(legendre_coefficients(12) @ values)
    error = abs(weights @ values - exact)
    growth = size + math.sqrt(size**2 - math.copysign(1.0, square))
    assert error < tail(middle, end, power=2) < 10.0 * growth ** (4 if square > 0.0 else 6) * error
    assert tail(middle, end, power=3) < tail(middle, end, power=2)
    assert tail(middle, end, power=2, least=1.0) == 2.0 * end


def test_what_has_no_coefficients_has_no_tail() -> None:
    np.testing.assert_array_equal(tail(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), power=2), [0.0, 2.0, 0.0])
