"""Polygons between lines: how many there are, and that each is what its edges say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantstep.quadrature.line_arrangement import different_lines, polygons

#: Lines (normal, offset), and the number of polygons: 1 + lines + crossings, less where more than two lines meet.
CASES = [
    ([], 1),
    ([(1.0, -1.0, 0.0)], 2),
    ([(1.0, -1.0, 1.0), (1.0, -1.0, -1.0), (-2.0, 2.0, 5.0)], 4),
    ([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0)], 8),
    ([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 1.0)], 7),
    ([(1.0, 0.0, 0.0), (1.0, 0.0, 2.0), (0.0, 1.0, 1.0), (1.0, 2.0, 30.0)], 10),
]


@pytest.mark.parametrize(("rows", "count"), CASES)
def test_polygons_fill_the_plane_once(rows: list[tuple[float, float, float]], count: int) -> None:
    lines = different_lines(np.array(rows).reshape(-1, 3))
    found = polygons(lines)
    places = np.random.default_rng(2).normal(scale=8.0, size=(200, 2))
    inside = np.ones((len(found), len(places)), dtype=bool)
    for j, polygon in enumerate(found):
        for edge in polygon.edges:
            *normal, offset = edge.side * lines[edge.line]
            inside[j] &= places @ normal < offset
            assert np.dot(polygon.inside, normal) < offset
            for corner in (edge.start, edge.end):
                assert corner is None or np.dot(corner, normal) == pytest.approx(offset, abs=1e-12)
            if edge.start and edge.end:  # with the polygon to the left
                along = np.subtract(edge.end, edge.start)
                assert along[0] * normal[1] - along[1] * normal[0] < 0.0
    assert len(found) == count
    assert (inside.sum(axis=0) == 1).all()


def test_edges_follow_each_other() -> None:
    """The corner where one ends is that where another starts; as many run off as come from infinity."""
    draw = np.random.default_rng(3)
    for polygon in polygons(different_lines(draw.normal(size=(5, 3)))):
        starts = [edge.start for edge in polygon.edges if edge.start]
        ends = [edge.end for edge in polygon.edges if edge.end]
        assert len(starts) == len(ends)
        assert all(min(math.dist(start, end) for end in ends) < 1e-9 for start in starts)


def test_the_same_line_is_taken_once() -> None:
    assert len(different_lines(np.array([[1.0, 2.0, 3.0], [-2.0, -4.0, -6.0], [1.0, 2.0, 3.1]]))) == 2
