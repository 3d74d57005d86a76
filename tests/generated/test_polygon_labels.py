"""What labels tell that are linear on polygons, in plain Python: against sums over points of the polygons.

What is cut off beyond seven deviations of y and of an edge is exp(-7^2/2) = 2e-11 of averages of order one, and of
squares up to 7^2 times as much; the grid of y in steps of 0.4 of the least width leaves less. Ten of these are allowed.
"""

from __future__ import annotations

import itertools
import math
from types import ModuleType

import numpy as np
import pytest
from interpreted import interpreted, runtime_text
from mutants import survivors

from giantstep.quadrature.gauss import normal_nodes

Array = np.ndarray
INF, FINE, TAIL = math.inf, 0.4, 7.0
A, B, C, D = (0.6, 1.0), (0.6, -1.0), (1.5, 0.0), (-0.5, 0.2)
E = (0.6, 0.2)
UP, DOWN, RIGHT, LEFT = (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)
#: (where an edge comes from, a place on it, its direction, where it goes to) with None at infinity.
EDGES = (
    ((None, (-1.2, 0.0), UP, None),),
    ((None, (-1.2, 0.0), DOWN, None), (None, (-0.5, 0.0), UP, None)),
    ((None, D, DOWN, D), (D, D, RIGHT, E), (E, E, UP, None)),
    ((None, E, UP, E), (E, E, LEFT, D), (D, D, DOWN, None)),
    ((None, A, DOWN, A), (A, A, (0.9, -1.0), C), (C, C, RIGHT, None)),
    ((None, C, LEFT, C), (C, C, (-0.9, -1.0), B), (B, B, DOWN, None)),
    ((A, A, DOWN, B), (B, B, (0.9, 1.0), C), (C, C, (-0.9, 1.0), A)),
)
SHIFTS = np.array([[0.0, 0.0], [0.4, -0.3], [-12.0, 1.0]])  # from the last one all is on the first
LABEL, NOISE, SQUARES = np.array([0.3, 0.7, -0.2, 0.5, 0.1, -0.4, 0.6]), 0.09, np.array([0.6, -0.7])
SLOPE = np.array([[0.5, -0.3], [0.2, 0.5], [0.8, 0.2], [0.0, 0.0], [-0.4, 0.6], [0.3, 0.3], [1.2, -0.5]])


def edges_of(module: ModuleType) -> object:
    """The edges of all polygons as the runtime takes them, from where the shifts are."""
    first = np.cumsum([0, *map(len, EDGES)])
    rows = []
    for start, place, way, end in itertools.chain(*EDGES):
        along = np.array(way) / math.hypot(*way)
        normal = np.array([along[1], -along[0]])
        at = [sign * INF if x is None else (x - SHIFTS) @ along for sign, x in ((-1.0, start), (1.0, end))]
        rows.append((normal, (np.array(place) - SHIFTS) @ normal, *(x + np.zeros(3) for x in at)))
    normal, *rest = (np.array(each) for each in zip(*rows, strict=True))
    return module.Edges(first, normal, *(np.ascontiguousarray(each.T) for each in rest))


def points(n: int, j: int) -> tuple[Array, Array]:
    """Weights and places [2, J] of a polygon, which is convex, by panels between the corners."""
    edges = [(np.array([way[1], -way[0]]), np.array(place) - SHIFTS[n]) for _, place, way, _ in EDGES[j]]
    corners = [x - SHIFTS[n] for edge in EDGES[j] for x in (edge[0], edge[3]) if x is not None]
    box = [-8.5, 8.5, *(place[0] for normal, place in edges if normal[1] == 0.0)]
    cuts = np.unique(np.concatenate([np.linspace(-8.5, 8.5, 9), [x[0] for x in corners], box]))
    x, weight = normal_nodes(cuts, 9)
    found = []
    for place, share in zip(x, weight, strict=True):
        low, high = -8.5, 8.5
        for normal, corner in edges:
            beyond = normal[0] * (place - corner[0])
            if normal[1] > 0.0:
                high = min(high, corner[1] - beyond / normal[1])
            elif normal[1] < 0.0:
                low = max(low, corner[1] - beyond / normal[1])
            elif beyond > 0.0:
                low, high = 0.0, 0.0
        if low < high:
            y, other = normal_nodes(np.linspace(low, high, 2 + int(high - low)), 9)
            found.append([share * other, place + 0.0 * y, y])
    weight, *both = np.concatenate(found or [np.zeros((3, 1))], axis=1)
    return weight, np.array(both)


POINTS = [[points(n, j) for j in range(7)] for n in range(3)]


def moments(n: int, j: int) -> list[float]:
    weight, (x, y) = POINTS[n][j]
    return [weight.sum(), weight @ x, weight @ y, weight @ (x * x), weight @ (x * y), weight @ (y * y)]


def told(n: int, slope: Array) -> Array:
    weight, x = (np.concatenate(each, axis=-1) for each in zip(*POINTS[n], strict=True))
    label = np.concatenate([LABEL[j] + slope[j] @ POINTS[n][j][1] for j in range(7)])
    root = math.sqrt(NOISE)
    weight, label, x = (each[..., weight > 1e-15] for each in (weight, label, x))
    y = np.arange(-12.0, 12.0, 0.25 * root)
    bells = np.exp(-0.5 * ((y[:, None] - label) / root) ** 2) * weight / root / math.sqrt(2.0 * math.pi)
    mean = bells @ np.stack([*x, (SQUARES @ x) ** 2 - SQUARES @ SQUARES]).T
    every = (y[1] - y[0]) * mean.T @ (mean / np.maximum(bells.sum(axis=1), 1e-300)[:, None])
    return np.array([every[0, 0], every[0, 1], every[1, 1], every[2, 2]])


STEEP = SLOPE + np.where(SLOPE == 0.0, 0.6, 0.0)  # each label turns at its edges faster than it spreads
MOMENTS = [[moments(n, j) for j in range(7)] for n in range(3)]
TOLD = [*(told(n, SLOPE) for n in range(3)), told(0, STEEP)]


def is_right(module: ModuleType) -> bool:
    labels = module.Labels(edges_of(module), np.tile(LABEL, (3, 1)), SLOPE, NOISE)
    found = module.moments_on_polygons(labels)
    chances = np.ascontiguousarray(found[:, :, 0])
    steep = labels._replace(slope=STEEP, label=labels.label[:1])
    some = np.concatenate(
        [module.told_on_polygons(each, chances, SQUARES, (FINE, TAIL)) for each in (labels, steep)],
    )
    close = np.allclose(found, MOMENTS, rtol=0.0, atol=2e-13)
    return bool(close and (abs(some - TOLD) < 2e-10 * np.array([1.0, 1.0, 1.0, 49.0])).all())


def test_against_sums_over_points() -> None:
    assert is_right(interpreted(runtime_text("polygon_labels")))


#: What is far enough from an edge to be left out, and how far and fine the grid is; angles and edges in their sense; a
#: range that goes on over room behind the grid, until something there, which has no weight, is near the edge.
SAME = (
    "end -= 1: -= -> +=",
    "for e in range(edges.first[j], edges.first[j + 1])::  +  ->  - ",
    "if abs(edges.distance[n, e]) < _FAR:: abs( -> (",
    "shift = line_in(frame, edges.normal[e], edges.distance[n, e]).distance[1]",
    "least = min(least, spread * spread / max(size * abs(shift), 1e-300))",
    "while begin < end and fixed + shift * centers[",
    "low = min(low, labels.label[n, j] - tail * spread):  * ",
    "high = max(high, labels.label[n, j] + tail * spread):  * ",
    "begin = max(0, int((mean - tail * spread - low) / step))",
    "end = min(cells, int((mean + tail * spread - low) / step) + 2)",
    "if edges.start[node, e] == -math.inf and (e != leaving or coming < 0)::  or ",
    "return abs(math.atan2(",
    "if abs(place) == math.inf:: abs(",
)


@pytest.mark.parametrize("name", ["polygon_labels", "polygons"])
def test_changes_are_noticed(name: str) -> None:
    own = runtime_text("polygon_labels")

    def passes(text: str) -> bool:
        return is_right(interpreted(own if name == "polygons" else text, {name: text}))

    tried, survived = survivors(name, passes)
    assert tried > 80
    assert not [words for words in survived if not words.startswith(SAME)]
