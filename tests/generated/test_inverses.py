"""Inverses by compiled loops: what they are times the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from generated.runtime.evaluation import inverted_together
from generated.runtime.products import inverted

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 33, 70])
def test_inverses(size: int) -> None:
    """Of matrices that need rows exchanged: without a diagonal, and with rows of all sizes. Rounding grows with the
    number of rows and the condition.
    """
    matrix = np.stack([RNG.standard_normal((size, size)) for _ in range(2)])
    matrix[1] += np.roll(np.diag(10.0 ** np.linspace(0.0, 4.0, size)), 1, axis=0) - np.diag(np.diag(matrix[1]))
    if size == 1:
        matrix[1] = -3.0
    given = matrix.copy()
    found = inverted(matrix)
    assert np.array_equal(matrix, given)
    for each, inverse in zip(matrix, found, strict=True):
        allowed = 1e-16 * size * np.linalg.cond(each)
        assert np.abs(each @ inverse - np.eye(size)).max() < 10.0 * allowed
        assert np.abs(inverse @ each - np.eye(size)).max() < 10.0 * allowed


def test_without_an_inverse() -> None:
    """A singular one among others, and entries that are no numbers."""
    matrix = np.stack([np.eye(40), np.zeros((40, 40)), np.full((40, 40), np.nan)])
    found = inverted(matrix)
    assert np.array_equal(found[0], np.eye(40))
    assert np.isnan(found[1:]).all()
    assert inverted(np.eye(3) * 2.0j) == pytest.approx(np.eye(3) / 2.0j)


def test_rows_are_exchanged_wherever_the_largest_stands() -> None:
    """A matrix of one number a row and column: its pivots are far below, and the inverse is exact."""
    order = np.random.default_rng(2).permutation(40)
    assert np.array_equal(inverted(2.0 * np.eye(40)[order]), 0.5 * np.eye(40)[order].T)


@pytest.mark.parametrize("size", [1, 2, 6, 11])
def test_inverses_of_many_side_by_side(size: int) -> None:
    """With and without pivots on the diagonal, next to each other."""
    many = RNG.standard_normal((50, size, size)) + (np.arange(50) % 2)[:, None, None] * 10.0 * np.eye(size)
    found = np.moveaxis(inverted_together(np.moveaxis(many, 0, 2)), 2, 0)
    for each, inverse in zip(many, found, strict=True):
        assert np.abs(each @ inverse - np.eye(size)).max() < 1e-15 * size * np.linalg.cond(each) * 10.0


@pytest.mark.parametrize("size", [3, 8, 9, 33])
def test_rows_may_have_any_size(size: int) -> None:
    """Pivots are chosen beside their rows: rows times powers of two have exactly the inverse whose columns are divided
    by these.
    """
    matrix, factor = RNG.standard_normal((size, size)), 2.0 ** RNG.integers(-60, 60, size)
    assert np.array_equal(inverted(factor[:, None] * matrix), inverted(matrix) / factor)
    both = np.stack([factor[:, None] * matrix, matrix], axis=2)  # too few to go side by side
    scaled, plain = np.moveaxis(inverted_together(both), 2, 0)
    assert np.array_equal(scaled, plain / factor)
