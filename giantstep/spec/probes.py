"""Places where a link is compared with what becomes of it when indices are exchanged or change their signs, and where
its kinks are told apart.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_COUNT, _FAR = 256, 5.0  # places of either kind; deviation of those far out, which see what begins beyond a threshold


@lru_cache(maxsize=16)
def places(indices: int) -> Array:
    """Places [k, n] in general position: those of samples, then as many far out. Not to be changed."""
    found = np.random.default_rng(11).standard_normal((indices, 2 * _COUNT))
    found[:, _COUNT:] *= _FAR
    found.flags.writeable = False
    return found


def alike(one: Array, other: Array, share: float) -> bool:
    """Whether values [n] at ``places`` are the same, but for a share of each, or of the largest that is likely.

    Places where both overflow say nothing.
    """
    known = np.isfinite(one) | np.isfinite(other)
    size = np.maximum(np.abs(one), np.max(np.abs(one[:_COUNT])))[known]
    with np.errstate(over="ignore"):
        apart = np.abs(one[known] - other[known])
    return bool(np.all((apart <= share * size) & np.isfinite(apart)))


def is_multiple(one: Array, other: Array, share: float) -> bool:
    """Whether values [n] at ``places`` are those of another function times a number, but for a share of each."""
    likely = int(np.argmax(np.abs(other[:_COUNT])))
    with np.errstate(over="ignore", invalid="ignore"):
        return alike(one * other[likely], other * one[likely], share)
