"""Where outputs pass kinks of a loss: distances, marks of places, and what a panel may be off by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from generated.runtime.label_search import (
    NEAREST,
    NOWHERE,
    PASSES,
    fill_distances,
    find_shares,
    mark_turns,
)

LINE = np.array([1, 0, 1])
FIRST, SLOPE, RESPONSE, SPREAD = np.array([[0.4, -0.3], [0.2, 0.7], [0.5, 2.0], [0.1, 0.6]])  # of two lines


@pytest.mark.parametrize("margin", [False, True])
def test_distances_are_those_from_images_of_kinks(margin: bool) -> None:
    generator = np.random.default_rng(5)
    label, t = generator.normal(size=(3, 4)), generator.normal(size=(3, 4))
    kinks = np.array([0.3, 0.3, -1.0]), np.array([-1.0, 0.2, 0.5]), np.array([False, True, False])
    found = np.empty((3, 3, 4))
    fill_distances(label, t, (LINE, FIRST, SLOPE, RESPONSE, SPREAD), kinks, margin, found)
    centre = FIRST[LINE, None] + SLOPE[LINE, None] * t
    u = label * centre if margin else centre - label
    exact = u - (kinks[0][:, None] + kinks[1][:, None] * RESPONSE[LINE])[:, :, None]
    np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-15)  # both sides of a kink are far apart


def test_the_second_side_of_a_kink_that_the_spread_blurs_is_nowhere() -> None:
    """Images of both sides are 1.2 responses apart: .6 on the first line, whose outputs vary by .1, and less than their
    spread on the second if that is 3.
    """
    kinks = np.array([0.0, 0.0]), np.array([-1.0, 0.2]), np.array([False, True])
    found = np.empty((2, 2, 1))
    outputs = np.arange(2), FIRST, SLOPE, RESPONSE, np.array([0.1, 3.0])
    fill_distances(np.zeros((2, 1)), np.zeros((2, 1)), outputs, kinks, False, found)
    assert found[1, 0, 0] == pytest.approx(0.4 - 0.1) and found[1, 1, 0] == NOWHERE
    assert found[0, :, 0] == pytest.approx([0.4 + 0.5, -0.3 + 2.0])


def test_marks_of_places() -> None:
    """What passes zero; what is nearest to it between neighbours of its sign, if it may come within the limit."""
    rows = np.array(
        [
            [3.0, 1.0, -1.0, -2.0, -1.5, -4.0],  # passes once, and is nearest again, but passes before
            [3.0, 2.0, 1.0, 2.0, 3.0, 4.0],  # may be as near as 0
            [9.0, 8.0, 7.5, 8.0, 9.0, 9.5],  # 7 at least
            [1.5, -1.0, 1.2, 2.0, 1.0, 0.5],  # passes twice, between neighbours of one sign
        ]
    )
    marks = np.zeros((1, *rows.shape), dtype=np.uint8)
    mark_turns(rows[None], np.full(4, 2.0), marks)
    passes, nearest = (sorted(zip(*np.nonzero(marks[0] & mark), strict=True)) for mark in (PASSES, NEAREST))
    assert passes == [(0, 1), (3, 0), (3, 1)]
    assert nearest == [(0, 4), (1, 2), (3, 1)]
    mark_turns(rows[None], np.array([-1.5, -1.0, 6.9, 7.1]), marks)
    assert sorted(zip(*np.nonzero(marks[0] & NEAREST), strict=True)) == [(3, 1)]


def test_what_a_panel_may_be_off_by() -> None:
    """Its weight, times one, the square of the farthest output in labels, and what a kink makes where it is nearest; a
    kink that is nowhere counts as one on the panel.
    """
    distances = np.array([[[0.5, -0.2, 0.9], [4.0, 5.0, 6.0]], [[3.0, 2.0, 4.0], [NOWHERE, 7.0, 8.0]]])
    low, high, weight, width = np.array([-1.0, 2.0]), np.array([0.5, 3.0]), np.array([0.3, 0.7]), np.array([0.1, 0.4])
    found = np.empty(2)
    find_shares(distances, (low, high, weight, width), 2.0, found)
    bent = np.array([2.0 / 0.1 * math.exp(-2.0), 2.0 / 0.4])
    exact = weight * np.array([1.5, math.exp(-2.0)]) * (1.0 + np.array([2.0, 4.0]) ** 2 + bent)
    np.testing.assert_allclose(found, exact, rtol=1e-14)
