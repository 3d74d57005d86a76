"""Results are remembered as long as all of them fit."""

from __future__ import annotations

import numpy as np

from giantstep.quadrature.remembered import Remembered


def test_what_was_used_last_is_kept() -> None:
    made: list[int] = []

    def of(count: int) -> np.ndarray:
        made.append(count)
        return np.zeros(count)

    numbers = Remembered(of, lambda found: found.nbytes, 32)
    for count in (1, 2, 1, 2, 1):
        numbers(count)
    assert made == [1, 2]  # 24 bytes
    numbers(2)
    numbers(3)  # 24 bytes more: both others go
    numbers(3)
    numbers(2)
    assert made == [1, 2, 3, 2]
    for _ in range(2):
        numbers(5)  # too large to be kept
    numbers(2)
    assert made == [1, 2, 3, 2, 5, 5]
