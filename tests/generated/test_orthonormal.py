"""Orthonormal rows by Gram-Schmidt, the largest rest first, in plain Python: against a pivoted QR decomposition."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors
from scipy.linalg import qr

Array = np.ndarray
RNG = np.random.default_rng(6)
RESOLUTION, EPS = 1e-6, 2.0**-52
FREE, MIXED = RNG.normal(size=(2, 3, 19))
#: Nothing in common; a sum of two others and next to nothing beside the third; as close as leaves half of the digits.
ROWS = (
    np.diag([1.0, 3.0, 2.0]) @ FREE,
    np.stack([FREE[0], FREE[1], FREE[0] + FREE[1], FREE[2], FREE[2] + 1e-9 * MIXED[0]]),
    FREE[0] + np.array([[0.0], [1e-3], [2e-3], [2e-5]]) * np.vstack([MIXED, FREE[1]]),
)


def wanted(rows: Array) -> tuple[list[int], list[float]]:
    """The rows in order, and what each has beside those before."""
    _, triangle, order = qr(rows.T, mode="economic", pivoting=True)
    return order.tolist(), abs(np.diag(triangle)).tolist()


WANTED = [wanted(rows) for rows in ROWS]


def is_right(module: ModuleType) -> bool:
    right = True
    for rows, (order, rest) in zip(ROWS, WANTED, strict=True):
        count = len(rows)
        orthogonal, basis, coordinates = np.full_like(rows, np.nan), np.zeros((count, count)), np.zeros((count, count))
        waiting, ends = np.full(count, -1), np.full(2, np.nan)
        rank = module.orthonormal_rows(rows.copy(), orthogonal, RESOLUTION, basis, coordinates, waiting, ends)
        known = [size for size in rest if size > RESOLUTION]
        e, close = orthogonal[:rank], 30.0 * EPS / known[-1]  # rounding of the rows over the least that one has
        right = right and rank == len(known) and sorted(waiting[: count - rank]) == sorted(order[rank:])
        right = right and np.allclose(e @ e.T, np.eye(rank), rtol=0.0, atol=30.0 * EPS)
        right = right and np.allclose(coordinates[:rank].T @ e, rows, rtol=0.0, atol=max(1e-8, 30.0 * EPS))
        right = right and np.allclose(basis[:, :rank].T @ rows, e, rtol=0.0, atol=close)
        right = right and np.allclose(ends[0], min(1.0, *known), rtol=close)
        right = right and np.isclose(ends[1], (rest + [0.0])[rank] if rank < count else 0.0, rtol=0.0, atol=1e-13)
        right = right and all(np.allclose(coordinates[i, order[i]], rest[i], rtol=close) for i in range(rank))
    return bool(right)


def test_against_a_pivoted_decomposition() -> None:
    assert is_right(interpreted(runtime_text("orthonormal")))


def test_changes_are_noticed() -> None:
    tried, survived = survivors("orthonormal", lambda text: is_right(interpreted(text)))
    assert tried > 20
    # 19 numbers have parts of eight and others beside; matrices are square
    same = "whole = count - count % 8", "for b in range(basis.shape[0])"
    assert not [words for words in survived if not words.startswith(same)]
