"""What a mean over few seeds tells: its standard error is uncertain itself, which Student's law takes into account."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

_LEVEL = 0.95


def interval(seeds: int) -> float:
    """Half the width of the 95 % interval of a mean over seeds, in standard errors: 3.2 for 4 seeds, 1.96 for many;
    nan for one seed.
    """
    return float(stdtrit(seeds - 1, 0.5 * (1.0 + _LEVEL))) if seeds > 1 else math.nan


def normal_score(z: float, seeds: int) -> float:
    """The normal deviate with the tail of Student's law of ``seeds - 1`` degrees of freedom at z."""
    tail = float(stdtr(seeds - 1, -abs(z)))
    return math.copysign(-float(ndtri(max(tail, 1e-300))), z)


def normal_scores(z: NDArray[np.float64], seeds: int) -> NDArray[np.float64]:
    """The same for each entry; nan stays."""
    return np.array([normal_score(one, seeds) if seeds > 1 else math.nan for one in z], dtype=np.float64)
