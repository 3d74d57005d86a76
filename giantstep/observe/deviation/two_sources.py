"""Numbers to first order in each of two sources, h_1^2 = h_2^2 = 0, as matrices that any product and inverse respects.

A matrix [K, K] of such numbers is one [4K, 4K]: each entry a + b h_1 + c h_2 + d h_1 h_2 the 4 x 4 matrix with
commuting nilpotent ones in the place of h_1 and h_2. Nothing is approximated.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
SIDE = 4
_STEP, _ONE = np.array([[0.0, 0.0], [1.0, 0.0]]), np.eye(2)
_SOURCES = np.kron(_STEP, _ONE), np.kron(_ONE, _STEP)


def numbers(value: Array, first: Array | float = 0.0, second: Array | float = 0.0) -> Array:
    """value + first h_1 + second h_2, all of the shape [K, L]: [4K, 4L]."""
    found = np.kron(value, np.eye(SIDE))
    for rate, source in zip((first, second), _SOURCES, strict=True):
        found = found + np.kron(np.broadcast_to(rate, value.shape), source)
    return np.asarray(found)


def in_both(of_all: Array) -> float:
    """The coefficient of h_1 h_2 of one number [4, 4]."""
    return float(of_all[-1, 0])


def trace(matrix: Array) -> Array:
    """Of a matrix of numbers, [4, 4]."""
    count = len(matrix) // SIDE
    return np.asarray(np.einsum("bibj->ij", matrix.reshape(count, SIDE, count, SIDE)))
