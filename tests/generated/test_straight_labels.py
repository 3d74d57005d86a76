"""What labels tell that are straight in one index, in plain Python: against sums over nodes of that index too.

The grid of y in steps of half of the least deviation leaves 2e-12, tails of seven deviations exp(-7^2/2) = 2e-11.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors

from giantstep.quadrature.gauss import normal_nodes

Array = np.ndarray
INF, REACH, FINE, TAIL, CLOSE = math.inf, 3.0, 0.5, 7.0, 1e-10
NODES = np.array([[-3.2, 0.7], [-0.6, 0.5], [0.2, 0.8], [1.1, 0.6], [3.1, 0.7]])  # the first and the last are too far
FIRST = np.array([0, 1, 3, 4, 6, 7])
#: a + b w between low and high: both sides, all, one that is constant beside one that is not
PIECES = np.array(
    [
        [0.1, 0.5, -INF, INF],
        [0.3, 0.7, -INF, -0.2],
        [-0.4, -0.9, -0.2, INF],
        [0.2, 1.1, -INF, INF],
        [0.5, 0.0, -INF, 0.4],
        [0.1, 0.6, 0.4, 1.3],
        [0.1, 0.5, -INF, INF],
    ]
)
LOWER, TURN, SQUARES = (
    np.array([[0.9, 0.0], [-0.3, 0.7]]),
    np.array([[0.8, 0.6], [-0.6, 0.8]]),
    np.array([0.3, -0.7, 0.4]),
)
MEANS, LABELS, NOISE = np.array([[0.3, -0.2], [-0.4, 0.5]]), np.array([0.4, -0.1]), 0.36


def points(n: int) -> tuple[Array, Array, Array]:
    """Weights, labels and x [2, J] where the means are those of n."""
    found = []
    for i in (1, 2, 3):
        x = (NODES[i, 0] - MEANS[n, 0]) / LOWER[0, 0]
        density = NODES[i, 1] * math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) / LOWER[0, 0]
        for a, b, low, high in PIECES[FIRST[i] : FIRST[i + 1]]:
            own = MEANS[n, 1] + LOWER[1, 0] * x
            ends = np.clip((np.array([low, high]) - own) / LOWER[1, 1], -9.5, 9.5)
            other, share = normal_nodes(np.linspace(*ends, 13), 10)
            found.append([density * share, a + b * (own + LOWER[1, 1] * other), x + 0.0 * other, other])
    weight, label, *both = np.concatenate(found, axis=1)
    return weight, label, np.array(both)


def told(n: int) -> Array:
    weight, label, x = points(n)
    t = np.stack([*TURN @ x, SQUARES @ [x[0] ** 2 - 1.0, x[0] * x[1], x[1] ** 2 - 1.0]])
    root, y = math.sqrt(NOISE), np.arange(-12.0, 12.0, 0.1 * math.sqrt(NOISE))
    bells = np.exp(-0.5 * ((y[:, None] - label) / root) ** 2) * weight / root / math.sqrt(2.0 * math.pi)
    mean = bells @ t.T
    every = (y[1] - y[0]) * mean.T @ (mean / np.maximum(bells.sum(axis=1), 1e-300)[:, None])
    return np.array([every[0, 0], every[0, 1], every[1, 1], every[2, 2]])


def variance(n: int) -> float:
    weight, label, _ = points(n)
    return float(weight @ (label - weight @ label / weight.sum()) ** 2)


def mean(n: int) -> Array:
    weight, label, x = points(n)
    share = weight * np.exp(-0.5 * (LABELS[n] - label) ** 2 / NOISE)
    return x @ share / share.sum()


def known_label() -> Array:
    """E[x | y] without noise, of the one piece that is constant."""
    x = (NODES[3, 0] - MEANS[0, 0]) / LOWER[0, 0]
    other, share = normal_nodes(np.linspace(-9.5, (0.4 - MEANS[0, 1] - LOWER[1, 0] * x) / LOWER[1, 1], 13), 10)
    return np.array([x, other @ share / share.sum()])


TOLD, VARIANCE = [told(n) for n in range(2)], [variance(n) for n in range(2)]
MEAN, KNOWN = [mean(n) for n in range(2)], known_label()


def is_right(module: ModuleType) -> bool:
    lines = module.Lines(NODES, PIECES, FIRST, LOWER, NOISE)
    steps = PIECES[:, 1:2] == 0.0  # those that are constant, all others lie elsewhere
    certain = lines._replace(noise=0.0, pieces=np.where(steps, PIECES, [7.0, 0.0, -INF, INF]))
    pairs = (
        (module.told_by_lines(lines, MEANS, TURN, SQUARES, (REACH, FINE, TAIL)), TOLD),
        (module.told_by_lines(lines, MEANS, TURN, 0.0 * SQUARES, (REACH, FINE, TAIL))[:, 3], 0.0),
        (module.variance_by_lines(lines, MEANS, REACH), VARIANCE),
        (module.means_by_lines(lines, MEANS, LABELS, REACH), MEAN),
    )
    with np.errstate(all="ignore"):  # correlations of labels that do not vary are none
        known = [module.means_by_lines(certain, MEANS[:1], np.array([y]), REACH)[0] for y in (0.5, 0.6)]
    pairs += (known[0], KNOWN), (known[1], 0.0)
    return all(np.allclose(one, other, rtol=CLOSE, atol=CLOSE) for one, other in pairs)


def test_against_sums_over_both() -> None:
    assert is_right(interpreted(runtime_text("straight_labels")))


#: Sides and signs that are 1; how far the grid reaches, and what is left out of it as it is next to nothing; two means
#: of two indices.
SAME = (
    "rows[_MASS, k] -= beyond if side * x < 0.0",
    "begin, count = int(place + 0.5) - reach",
    "if squares[0] + squares[2] > 0.0:: [0] -> [1]",
    "masses[p - first] = mass",
    "if masses[p - lines.first[begin]] >= _NEGLIGIBLE",
    "low = min(low, piece.mean - tail * piece.spread):  * ",
    "high = max(high, piece.mean + tail * piece.spread):  * ",
    "return piece.weight * (_below(piece.high) - _below(piece.low))",
    "out, most = np.zeros((means.shape[0], 4)), 0",
    "for n in range(means.shape[0])",
    "out = np.zeros(",
)


def test_changes_are_noticed() -> None:
    tried, survived = survivors("straight_labels", lambda text: is_right(interpreted(text)))
    assert tried > 100
    assert not [words for words in survived if not words.startswith(SAME)]
