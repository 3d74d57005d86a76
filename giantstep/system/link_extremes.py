"""Where a link of one index turns, and the values at which labels crowd: its local extremes and its limits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.spec.link import link_values

Array = np.ndarray
_INDEX = np.linspace(-9.0, 9.0, 2001)  # where a link is searched
_FINER, _ROUNDS = 65, 7  # places in a bracket, which shrinks by as much in each round
_FAR, _SAME = (40.0, 60.0), 9  # indices that hardly occur; decimals to which two values of a label are one


@lru_cache(maxsize=128)
def extremes(link: str) -> tuple[float, ...]:
    """Indices of the local extremes of a link."""
    rise = _rises(link)
    (turns,) = np.nonzero(rise[:-1] * rise[1:] < 0.0)
    return tuple(_refined(link, turns, rise[turns]).tolist())


@lru_cache(maxsize=128)
def stationary_values(link: str) -> tuple[float, ...]:
    """The values of a link at its local extremes, where it is constant, and in its limits."""
    values, rise = link_values(link), _rises(link)
    far = np.round(values(np.outer([1.0, -1.0], _FAR).reshape(1, -1)).reshape(2, 2), _SAME)
    (turns,) = np.nonzero(np.diff(rise) != 0.0)
    side = np.where(rise[turns] != 0.0, rise[turns], -rise[turns + 1])  # a constant part begins or ends
    found = {*far[far[:, 0] == far[:, 1], 0].tolist(), *values(_refined(link, turns, side)[None]).tolist()}
    return tuple(sorted({round(value, _SAME) for value in found if np.isfinite(value)}))


def _rises(link: str) -> Array:
    """Whether the link rises (1), falls (-1) or stays (0) between neighbouring indices of the search."""
    return np.asarray(np.sign(np.diff(link_values(link)(_INDEX[None]))))


def _refined(link: str, turns: Array, side: Array) -> Array:
    """The index at which the link, times a sign, is largest next to each turn."""
    values, low, high = link_values(link), _INDEX[turns], _INDEX[turns + 2]
    row = np.arange(len(turns))
    for _ in range(_ROUNDS if len(turns) else 0):
        places = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _FINER)
        best = np.argmax(side[:, None] * values(places.reshape(1, -1)).reshape(places.shape), axis=1)
        best = best.clip(1, _FINER - 2)
        low, high = places[row, best - 1], places[row, best + 1]
    return np.asarray(0.5 * (low + high))
