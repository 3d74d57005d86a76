"""How many Gauss nodes a panel needs for the digits that its share of an average asks for."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.quadrature.gauss import legendre, normal_between

Array = NDArray[np.float64]
LOWEST, HIGHEST = 4, 18  # nodes of a panel
DIGITS = 14  # that a panel is asked for at most
_LENGTHS = np.arange(0.25, 9.01, 0.125)  # of a panel, in widths of the bell on it
_CENTRES = np.linspace(0.0, 6.5, 27)  # of the bell, from the middle of the panel
_EXACT = 40  # nodes that resolve the longest panel to rounding


@lru_cache(maxsize=1)
def longest_panels() -> Array:
    """The longest panel [digit, order], in widths of a bell, on which a Gauss rule of *one node fewer* averages that
    bell, and its product with the distance from its centre, to 10^-digit of all of it; zero where none is so short,
    and infinite where no digit is asked for.
    """
    found = np.zeros((DIGITS + 1, HIGHEST + 1))
    half = 0.5 * _LENGTHS[:, None]
    low, high = -half - _CENTRES, half - _CENTRES
    exact = _moments(low, high, _EXACT)
    for order in range(LOWEST, HIGHEST + 1):
        error = np.abs(_moments(low, high, order - 1) - exact).max(axis=(0, 2))
        for digit in range(DIGITS + 1):
            resolved = np.logical_and.accumulate(error <= 10.0**-digit)
            found[digit, order] = _LENGTHS[resolved][-1] if resolved.any() else 0.0
    found[0, LOWEST:] = np.inf
    found.flags.writeable = False
    return found


def _moments(low: Array, high: Array, order: int) -> Array:
    """Averages of 1 and of a standard normal variable on panels, by a Gauss rule."""
    t, weight = normal_between(low, high, order)
    return np.stack([weight.sum(axis=-1), (weight * t).sum(axis=-1)])


def digits_of(share: Array) -> NDArray[np.intp]:
    """The digits that are asked for of what may be off by one part in ``share``."""
    return np.clip(np.ceil(np.log10(np.maximum(share, 1.0))), 0, DIGITS).astype(np.intp)


@lru_cache(maxsize=1)
def gauss_rules() -> Array:
    """Gauss rules [n, 2, node] by their number of nodes: places and weights, filled up with zeros."""
    rules = np.zeros((HIGHEST + 1, 2, HIGHEST))
    for count in range(1, HIGHEST + 1):
        rules[count, :, :count] = legendre(count)
    rules.flags.writeable = False
    return rules
