"""What labels tell, in plain Python: against sums over y by definition, on a finer grid of its own.

The grid of y in steps of 0.25 deviations leaves exp(-2 pi 1.5/0.25) where labels are at most two deviations apart, and
tails of nine deviations 1e-18.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors

Array = np.ndarray
RNG = np.random.default_rng(3)
STEP, TAIL, CLOSE = 0.25, 36, 1e-12
LABEL, WEIGHT, T = RNG.uniform(-1.0, 1.0, (2, 7)), RNG.random((2, 7)), RNG.normal(size=(4, 2, 7))
WEIGHT[1, 3] = 0.0
FIRST, X, SQUARES = np.array([0, 1, 1, 2]), np.array([0.3, -0.8]), np.array([0.6, -0.7])
PLACES, CENTRE = RNG.normal(size=(3, 4)), RNG.normal(size=3)
AROUND, SHARE, WIDTH = np.array([-0.5, 0.4]), np.array([0.3, 0.7]), 0.8
LOGARITHM = RNG.normal(size=(3, 4))
LOGARITHM[1, 2] = math.nan  # a place that there is not


def bells(label: Array, y: Array) -> Array:
    return np.exp(-0.5 * (y[:, None] - label) ** 2) / math.sqrt(2.0 * math.pi)


def told(label: Array, weight: Array, t: Array) -> Array:
    """E[t_a; y] E[t_b; y]/p(y) over y, of t [k, J]."""
    y = np.arange(-11.0, 11.0, 0.05)
    share = bells(label, y) * weight
    mean = share @ t.T
    return 0.05 * mean.T @ (mean / share.sum(axis=1)[:, None])


def of_places(n: int, m: int) -> float:
    """E[u|y] of a label that comes from one of some places."""
    u = (PLACES[m] - CENTRE[m] - AROUND[n]) / WIDTH
    chance = np.nan_to_num(np.exp(LOGARITHM[m] - 0.5 * u * u))
    return float(chance @ u / chance.sum())


GATHERED = np.zeros((2, 90, 2))
PLACE, PARTS = LABEL / STEP + 44.3, np.stack([WEIGHT, WEIGHT * T[0]], axis=2)
for n in range(2):
    reached = abs(np.arange(90)[:, None] - PLACE[n].round()) <= TAIL
    GATHERED[n] = (STEP * bells(STEP * PLACE[n], STEP * np.arange(90)) * reached) @ PARTS[n]
ONE = [told(LABEL[n], WEIGHT[n], T[:1, n])[0, 0] for n in range(2)]
NODES = np.stack([np.repeat(X[:, None], 7, axis=1), T[1]])  # of x and y
NODES = np.concatenate([NODES, [np.tensordot(SQUARES, NODES, 1) ** 2 - SQUARES @ SQUARES]])
OF_TWO = [told(LABEL[n], WEIGHT[0], T[:3, 0])[[0, 0, 1, 2], [0, 1, 1, 2]] for n in range(2)]
OF_LINES = [told(LABEL[n], WEIGHT[n], NODES[:, n])[[0, 0, 1, 2], [0, 1, 1, 2]] for n in range(2)]
CHANCE = np.array([0.2, 0.5, 0.3])
OF_PLACES = sum(CHANCE[m] * SHARE[n] * of_places(n, m) ** 2 for m in range(3) for n in range(2))


def is_right(module: ModuleType) -> bool:
    found = np.zeros_like(GATHERED)
    module.gather(PLACE, PARTS, STEP, TAIL, found)
    two = module.told_by_two(LABEL, WEIGHT[0], T[:3, 0], STEP, TAIL)
    lines = module.told_by_lines_of_nodes(LABEL, WEIGHT, X, T[1], FIRST, SQUARES, (STEP, TAIL))
    places = module.told_by_places(PLACES, LOGARITHM, CENTRE, CHANCE, SHARE, AROUND, WIDTH)
    pairs = (
        (found, GATHERED),
        (module.told_by_one(LABEL, WEIGHT, T[0], STEP, TAIL), ONE),
        (two, OF_TWO),
        (lines, [OF_LINES[0], np.zeros(4), OF_LINES[1]]),
        (places, OF_PLACES),
    )
    return all(np.allclose(one, other, rtol=CLOSE, atol=CLOSE) for one, other in pairs)


def test_against_sums_over_y() -> None:
    assert is_right(interpreted(runtime_text("noisy_labels")))


#: Which cells are reached, by one more or less of 72; indices below zero are the last ones in Python.
SAME = (
    "nearest = int(place",
    "for away in range(1, tail + 1)",
    "near = sums[below - tail",
    "origin = label[n].min() / step - tail - 1.0: min(",
    "place = label[n, j] / step - origin",
)


def test_changes_are_noticed() -> None:
    tried, survived = survivors("noisy_labels", lambda text: is_right(interpreted(text)))
    assert tried > 100
    assert not [words for words in survived if not words.startswith(SAME)]
