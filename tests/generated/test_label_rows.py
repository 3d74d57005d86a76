"""Nodes of a label in rows, filled from panels of its lines."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from generated.runtime.label_rows import count_rows, fill_from, fill_rows, mark_short

FIRST, SHARE = np.array([-0.4, 0.3, 1.2]), np.array([0.1, 0.2, 0.3])  # of three lines,
ROW = np.array([0, 0, 2])  # of which two are of the first row
REACH = np.array([2.0, 9.0, 9.0])
FIXED = np.array([[0.1, 0.2, 0.3], [-0.3, 0.4, 0.7]])
STEP, CARRIED = np.array([0.5, 0.8]), np.array([[0.9, 0.1], [-0.2, 0.7]])
PANELS = np.array([0, 0, 1, 2]), np.array([-3.0, -1.0, 0.0, 0.5]), np.array([-1.0, 1.0, 2.0, 1.0])


def test_rows_hold_the_nodes_of_their_lines() -> None:
    rule = np.array(np.polynomial.legendre.leggauss(6))
    counts, lines = np.zeros(3, dtype=np.intp), (ROW, FIRST, SHARE, REACH, FIXED)
    count_rows(PANELS, rule, lines, counts)
    line, low, high = (np.repeat(part, 6) for part in PANELS)
    x = 0.5 * (low + high) + 0.5 * (high - low) * np.tile(rule[0], 4)
    kept = np.abs(x) < REACH[line]
    assert 0 < np.count_nonzero(~kept) < 6
    np.testing.assert_array_equal(counts, np.bincount(ROW[line[kept]], minlength=3))
    weight, label, t = np.zeros((3, 18)), np.zeros((3, 18)), np.zeros((3, 18, 2))
    z = np.empty((2, int(counts.sum())))
    fill_rows(PANELS, rule, lines, CARRIED, STEP, weight, t, z)
    fill_from(z[0] * z[1], counts, label)
    share = 0.5 * (high - low) * np.tile(rule[1], 4) * SHARE[line] * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    for row in range(3):
        mine = kept & (ROW[line] == row)
        indices = FIXED[:, line[mine]] + STEP[:, None] * x[mine]
        np.testing.assert_allclose(weight[row, : counts[row]], share[mine], rtol=1e-14)
        np.testing.assert_allclose(label[row, : counts[row]], indices[0] * indices[1], rtol=1e-14)
        means = np.column_stack([FIRST[line[mine]], x[mine]]) @ CARRIED.T
        np.testing.assert_allclose(t[row, : counts[row]], means, rtol=0.0, atol=1e-15)
        assert not weight[row, counts[row] :].any()


def test_which_panels_are_short() -> None:
    """In t, in widths that the output passes, by both together, where it is far, and where it turns."""
    degree = 8
    places = 0.5 - 0.5 * np.cos(np.pi * np.arange(degree + 1) / degree)
    last = np.linalg.inv(chebvander(2.0 * places - 1.0, degree))[-2:].copy()
    length = np.array([5.0, 6.0, 1.0, 4.0, 4.0, 4.0, 4.0])
    passes = np.array([0.0, 0.0, 6.0, 4.0, 3.0, 4.0, 0.0])[:, None] * (places - 0.5)
    passes[5] += 20.0
    passes[6] = np.tanh(12.0 * (places - 0.5))
    expected = [True, False, False, False, True, True, False]
    for width in (1.0, 1e-9):
        short = np.empty(len(length), dtype=bool)
        distances = width * np.stack([passes, 1e3 + passes])
        mark_short(distances, length, np.full(len(length), width), (9.0, 5.5, 1e-3), last, short)
        np.testing.assert_array_equal(short, expected)
