"""Products of matrices in registers are those of NumPy for every length of a row, and leave alone what lies beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from generated.runtime.tiles import WIDTH, add_along, add_product, add_sums

LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 40, 75)
ONE = np.uint64(1)
ROUNDING = 1e-14  # of sums of a hundred terms of size one


@njit
def multiplied(value: Any, along: bool, places: Any, rows: Any, count: Any, length: Any, sign: float) -> None:
    x, y, z, gap = places
    if along:
        add_along(value, value, x, length + gap, y, length, z, count * length, length, rows, count, length, sign)
    else:
        add_product(value, value, x, length + gap, y, length, z, count, ONE, rows, count, length, sign)


@njit
def summed(value: Any, places: Any, rows: Any, length: Any, sign: float) -> None:
    x, y, z, gap = places
    add_sums(value, x, gap, y, z, length, rows, length, sign)


def unsigned(*numbers: int) -> tuple[np.uint64, ...]:
    return tuple(np.uint64(number) for number in numbers)


def drawn(kind: type, size: int) -> np.ndarray:
    draw = np.random.default_rng(size)
    found = draw.uniform(-1.0, 1.0, size).astype(kind)
    return found + 1j * draw.uniform(-1.0, 1.0, size) if kind is complex else found


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
def test_against_numpy(kind: type, along: bool, rows: int) -> None:
    gap, count = 3, 5
    for length in LENGTHS:
        of_x, of_y, of_z = rows * (length + gap), count * length, rows * count * (length if along else 1)
        value = drawn(kind, of_x + of_y + of_z + WIDTH)
        value[-WIDTH:] = np.nan  # is read, and not taken
        x, y = value[:of_x].reshape(rows, -1).copy(), value[of_x:][:of_y].reshape(count, length)
        z = value[of_x + of_y : -WIDTH].reshape((rows, count, length) if along else (rows, count))
        wanted = value.copy()
        x[:, :length] -= np.einsum("mn,imn->in" if along else "mn,im->in", y, z)
        wanted[:of_x] = x.ravel()
        places = unsigned(0, of_x, of_x + of_y, gap)
        multiplied(value, along, places, *unsigned(rows, count, length), -1.0)
        np.testing.assert_allclose(value, wanted, rtol=ROUNDING, atol=count * ROUNDING)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("rows", [1, 4, 6])
def test_sums_against_numpy(kind: type, rows: int) -> None:
    gap = 2
    for length in LENGTHS:
        of_x = rows * gap
        value = drawn(kind, of_x + (1 + rows) * length + WIDTH)
        value[-WIDTH:] = np.inf
        wanted = value.copy()
        wanted[:of_x:gap] -= value[of_x + length : -WIDTH].reshape(rows, length) @ value[of_x:][:length]
        summed(value, unsigned(0, of_x, of_x + length, gap), *unsigned(rows, length), -1.0)
        np.testing.assert_allclose(value, wanted, rtol=ROUNDING, atol=length * ROUNDING)
