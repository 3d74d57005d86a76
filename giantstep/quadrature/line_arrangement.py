"""The polygons into which straight lines cut the plane."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
_SAME = 1e-12  # distance of two lines, or of a line and a corner, that meet


@dataclass(frozen=True)
class Edge:
    """The part of a line that bounds a polygon to its left.

    side: 1 where the polygon has ``normal.z <= offset`` of the line, -1 on its other side. start and end: the corners
    between which it runs, None where it comes from infinity or runs there.
    """

    line: int
    side: float
    start: tuple[float, float] | None
    end: tuple[float, float] | None


@dataclass(frozen=True)
class Polygon:
    """A convex polygon, bounded or not: a place inside and its edges."""

    inside: tuple[float, float]
    edges: tuple[Edge, ...]


def polygons(lines: Array) -> list[Polygon]:
    """All polygons between lines ``normal.z = offset``, rows (normal, offset) [L, 3] of which no two are the same.

    The normals have length one.
    """
    found: dict[tuple[bool, ...], Array] = {}
    for place in _places(lines):
        found.setdefault(tuple((lines[:, :2] @ place < lines[:, 2]).tolist()), place)
    return [Polygon((float(place[0]), float(place[1])), tuple(_edges(lines, place))) for place in found.values()]


def different_lines(lines: Array) -> Array:
    """Lines (normal, offset) [L', 3] with normals of length one, each of those that are the same once."""
    kept: list[Array] = []
    for line in lines / np.linalg.norm(lines[:, :2], axis=1, keepdims=True):
        if all(min(np.max(np.abs(line - other)), np.max(np.abs(line + other))) > _SAME for other in kept):
            kept.append(line)
    return np.array(kept).reshape(-1, 3)


def _places(lines: Array) -> Iterator[Array]:
    """A place inside of every polygon: about each crossing between the lines there, or between parallel lines."""
    parallel = True
    for i, one in enumerate(lines):
        for other in lines[:i]:
            if abs(_cross(one, other)) > _SAME:
                parallel = False
                corner = np.linalg.solve(np.stack([one[:2], other[:2]]), np.array([one[2], other[2]]))
                yield from _around(lines, corner)
    if parallel:
        normal = lines[0, :2] if len(lines) else np.array([1.0, 0.0])
        offsets = np.sort(lines[:, 2] * np.sign(lines[:, :2] @ normal))
        ends = np.concatenate([[offsets.min(initial=0.0) - 2.0], offsets, [offsets.max(initial=0.0) + 2.0]])
        yield from np.multiply.outer(0.5 * (ends[1:] + ends[:-1]), normal)


def _around(lines: Array, corner: Array) -> Iterator[Array]:
    """Places about a corner, between the lines through it and nearer than any other line."""
    away = np.abs(lines[:, :2] @ corner - lines[:, 2])
    through = away <= _SAME * (1.0 + np.abs(lines[:, 2]))
    radius = 0.5 * float(np.min(away[~through], initial=1.0))
    angles = np.sort(np.mod(np.arctan2(lines[through, 0], -lines[through, 1]), math.pi))
    angles = np.concatenate([angles, angles + math.pi, angles[:1] + 2.0 * math.pi])
    for angle in 0.5 * (angles[1:] + angles[:-1]):
        yield corner + radius * np.array([math.cos(angle), math.sin(angle)])


def _edges(lines: Array, inside: Array) -> Iterator[Edge]:
    """The edges of the polygon about a place."""
    side = np.where(lines[:, :2] @ inside < lines[:, 2], 1.0, -1.0)
    outwards = side[:, None] * lines
    for number, (a, b, offset) in enumerate(outwards):
        foot, along = offset * np.array([a, b]), np.array([-b, a])
        slopes, room = outwards[:, :2] @ along, outwards[:, 2] - outwards[:, :2] @ foot
        crossing = np.abs(slopes) > _SAME
        places = room[crossing] / slopes[crossing]
        low = float(np.max(places[slopes[crossing] < 0.0], initial=-np.inf))
        high = float(np.min(places[slopes[crossing] > 0.0], initial=np.inf))
        beyond = np.delete(room, number)[~np.delete(crossing, number)] <= 0.0  # another line is parallel and nearer
        if (math.isinf(high - low) or high - low > _SAME * (1.0 + min(abs(low), abs(high)))) and not beyond.any():
            corners = (None if math.isinf(s) else tuple((foot + s * along).tolist()) for s in (low, high))
            yield Edge(number, float(side[number]), *corners)


def _cross(one: Array, other: Array) -> float:
    return float(one[0] * other[1] - one[1] * other[0])
