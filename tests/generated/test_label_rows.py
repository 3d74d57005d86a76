"""Nodes of a label in rows, filled from panels of its lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray
from scipy.stats import norm

from generated.runtime.label_rows import count_rows, fill_from, fill_rows, find_orders
from giantstep.quadrature.panel_orders import longest_panels

FIRST, SHARE = np.array([-0.4, 0.3, 1.2]), np.array([0.1, 0.2, 0.3])  # of three lines,
ROW = np.array([0, 0, 2])  # of which two are of the first row
REACH = np.array([2.0, 9.0, 9.0])
FIXED = np.array([[0.1, 0.2, 0.3], [-0.3, 0.4, 0.7]])
STEP, CARRIED = np.array([0.5, 0.8]), np.array([[0.9, 0.1], [-0.2, 0.7]])
PANELS = np.array([0, 0, 1, 2]), np.array([-3.0, -1.0, 0.0, 0.5]), np.array([-1.0, 1.0, 2.0, 1.0])
ORDER = np.array([6, 5, 6, 4])  # of the panels
DEGREE = 8
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
LAST = np.linalg.inv(chebvander(2.0 * PLACES - 1.0, DEGREE))[-2:].copy()


def test_rows_hold_the_nodes_of_their_lines() -> None:
    rules = np.zeros((7, 2, 6))
    for count in range(4, 7):
        rules[count, :, :count] = np.polynomial.legendre.leggauss(count)
    counts, lines, panels = np.zeros(3, dtype=np.intp), (ROW, FIRST, SHARE, REACH, FIXED), (*PANELS, ORDER)
    count_rows(panels, rules, lines, counts)
    line, low, high = (np.repeat(part, ORDER) for part in PANELS)
    place, share = np.concatenate([rules[count, :, :count] for count in ORDER], axis=1)
    x = 0.5 * (low + high) + 0.5 * (high - low) * place
    kept = np.abs(x) < REACH[line]
    assert 0 < np.count_nonzero(~kept) < 5
    np.testing.assert_array_equal(counts, np.bincount(ROW[line[kept]], minlength=3))
    weight, label, t = np.zeros((3, 18)), np.zeros((3, 18)), np.zeros((3, 18, 2))
    z = np.empty((2, int(counts.sum())))
    fill_rows(panels, rules, lines, CARRIED, STEP, weight, t, z)
    fill_from(z[0] * z[1], counts, label)
    share = 0.5 * (high - low) * share * SHARE[line] * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    for row in range(3):
        mine = kept & (ROW[line] == row)
        indices = FIXED[:, line[mine]] + STEP[:, None] * x[mine]
        np.testing.assert_allclose(weight[row, : counts[row]], share[mine], rtol=1e-14)
        np.testing.assert_allclose(label[row, : counts[row]], indices[0] * indices[1], rtol=1e-14)
        means = np.column_stack([FIRST[line[mine]], x[mine]]) @ CARRIED.T
        np.testing.assert_allclose(t[row, : counts[row]], means, rtol=0.0, atol=1e-15)
        assert not weight[row, counts[row] :].any()


def orders_of(distances: NDArray[np.float64], length: NDArray[np.float64], width: float, digits: int) -> list[int]:
    """Orders of panels from distances [kink, panel, place]."""
    count = len(length)
    found = np.empty(count, dtype=np.intp)
    given = length, np.full(count, width), np.full(count, digits)
    find_orders(distances, given, (9.0, False, DEGREE), (PLACES, LAST), longest_panels(), found)
    return list(found)


def test_which_panels_are_halved() -> None:
    """By their length in t, by the widths that the output passes, by both together, and where it turns; not where the
    output is far.
    """
    length = np.array([5.0, 6.0, 1.0, 4.0, 4.0, 4.0, 4.0])
    passes = np.array([0.0, 0.0, 6.0, 4.0, 3.0, 4.0, 0.0])[:, None] * (PLACES - 0.5)
    passes[5] += 20.0
    passes[6] = np.tanh(12.0 * (PLACES - 0.5))
    for width in (1.0, 1e-9):
        orders = orders_of(width * np.stack([passes, 1e3 + passes]), length, width, 14)
        assert [order == 0 for order in orders] == [False, True, True, True, False, False, True]


def test_what_comes_close_between_places_is_near() -> None:
    """The distance is at least eleven widths at all places and half a width between two of them."""
    middle = 0.5 * (PLACES[4] + PLACES[5])
    passes = 0.5 + 2000.0 * (PLACES - middle) ** 2
    assert np.min(passes) > 9.0
    assert orders_of(passes[None, None], np.array([1.0]), 1.0, 8) == [0]
    assert orders_of(passes[None, None] + 40.0, np.array([1.0]), 1.0, 8) != [0]


def test_panels_whose_digits_do_not_matter_are_not_halved() -> None:
    """However the distance turns on them."""
    passes = 2.0 * np.tanh(40.0 * (PLACES - 0.45))
    assert orders_of(passes[None, None], np.array([1.0]), 1.0, 0) != [0]
    assert orders_of(passes[None, None], np.array([1.0]), 1.0, 6) == [0]


@pytest.mark.parametrize("digits", [5, 8, 11, 13])
def test_orders_give_the_digits_that_are_asked_for(digits: int) -> None:
    """Of averages over an output that is a curved function of t, in units of its spread."""
    length, bends = np.array([0.7, 1.5, 2.5]), np.array([0.0, 0.2, 0.4])[:, None]
    t = length[:, None] * (PLACES - 0.5)
    orders = orders_of((1.2 * t + bends * t * t - 0.3)[None], length, 1.0, digits)
    for half, bend, order in zip(0.5 * length, bends[:, 0], orders, strict=True):
        error = []
        for nodes in (order, 60):
            place, weight = half * np.array(np.polynomial.legendre.leggauss(nodes))
            x = 1.2 * place + bend * place * place - 0.3
            error.append(np.array([norm.cdf(x), norm.pdf(x)]) @ (weight * norm.pdf(place)))
        assert np.abs(error[0] - error[1]).max() < 10.0**-digits
    assert sum(orders_of((1.2 * t + bends * t * t - 0.3)[None], length, 1.0, digits - 3)) < sum(orders)
