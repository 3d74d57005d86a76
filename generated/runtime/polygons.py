"""Moments of a standard normal pair on a polygon whose edges move.

The probability is a sum over the edges: of the triangle from the origin to each, and of the sectors between those that
run off to infinity. Of the means and products, Gauss's theorem leaves integrals along the edges, which are closed.

Written by hand, in codegen/runtime/polygons.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner
from generated.runtime.vector import exp, tail

# rows of the moments: the probability of the polygon, its means of x and y, and what its means of x^2, x y and y^2 lack
# of the probability times 1, 0 and 1
P, X, Y, XX, XY, YY = range(6)
# rows for an edge: its distance from the origin, the normal law from 0 to there, the density there; along the edge from
# its start to its end the triangle, the mass and the change of the density
_DISTANCE, _BELOW, _DENSITY, _TRIANGLE, _MASS, _CHANGE = range(6, 12)
# rows for a corner: its place along the edge, the exponent and the squared ratio of the sides of the triangle, a sum
_PLACE, _EXPONENT, _RATIO, _SUM, MOMENT_ROWS = range(12, 17)
_TURN = 2.0 * math.pi
# Gauss-Legendre of order 12 on (0, 1): triangles no higher than long to 1e-16
NODES = np.array(
    [
        0.009219682876640378,
        0.0479413718147626,
        0.11504866290284765,
        0.20634102285669126,
        0.31608425050090994,
        0.43738329574426554,
        0.5626167042557344,
        0.6839157494990901,
        0.7936589771433087,
        0.8849513370971523,
        0.9520586281852375,
        0.9907803171233596,
    ]
)
WEIGHTS = np.array(
    [
        0.023587668193255706,
        0.05346966299765953,
        0.08003916427167321,
        0.10158371336153287,
        0.1167462682691773,
        0.12457352290670134,
        0.12457352290670134,
        0.1167462682691773,
        0.10158371336153287,
        0.08003916427167321,
        0.05346966299765953,
        0.023587668193255706,
    ]
)


class Edges(NamedTuple):
    """Edges of polygons in a plane, each polygon to the left of its edges; of polygon j those from first[j] on."""

    first: Any  # [J + 1]
    normal: Any  # [E, 2]: outwards, of length one
    distance: Any  # [N, E]: along the normal
    start: Any  # [N, E]: along the edge, infinite where it comes from infinity
    end: Any


class Frame(NamedTuple):
    """Coordinates in which a Gaussian of the plane is a standard normal pair: x = (a - center)/width, y = b, where a is
    along a unit vector and b across it.
    """

    along: tuple[float, float]
    width: float


class Line(NamedTuple):
    """The line of an edge in a frame: the normal, and the distance ``fixed + shift center`` of places along it too."""

    normal: tuple[float, float]
    distance: tuple[float, float]  # fixed, shift
    fixed: float  # of places along it: what comes from the distance,
    scale: float  # for each unit of the place in the plane,
    shift: float  # and for each of the center


@inner
def across(frame, vector):
    """The parts of a vector of the plane along and across."""
    a, b = frame.along
    return a * vector[0] + b * vector[1], a * vector[1] - b * vector[0]


@inner
def line_in(frame, normal, distance):
    """The line with a normal at a distance."""
    c, s = across(frame, normal)
    width = frame.width
    length = math.sqrt(c * c * width * width + s * s)
    fixed = distance * c * s * (width - 1.0 / width) / length
    scale = (s * s / width + c * c * width) / length
    return Line((c * width / length, s / length), (distance / length, -c / length), fixed, scale, s / (width * length))


@inner
def _fill_distance(line, centers, rows, nodes):
    """How far the line is from the origin, with the normal law there; nothing along it yet."""
    fixed, shift = line.distance
    for i in range(nodes[0], nodes[1]):
        d = fixed + shift * centers[i]
        beyond, density = tail(abs(d))
        rows[_DISTANCE, i] = d
        rows[_BELOW, i] = 0.5 - beyond if d > 0.0 else beyond - 0.5
        rows[_DENSITY, i] = density
        rows[_TRIANGLE, i] = rows[_MASS, i] = rows[_CHANGE, i] = 0.0


@inner
def _add_infinity(rows, nodes):
    """What is added along the edge by an end, or a start, at infinity."""
    for i in range(nodes[0], nodes[1]):
        rows[_TRIANGLE, i] += 0.5 * rows[_BELOW, i]
        rows[_MASS, i] += 0.5


@inner
def _fill_sum(line, place, centers, rows, nodes):
    """For the triangle between the origin, the line's nearest place and a corner: the integral of its angle."""
    fixed = line.fixed + line.scale * place
    for i in range(nodes[0], nodes[1]):
        s = fixed + line.shift * centers[i]
        d, away = abs(rows[_DISTANCE, i]), abs(s)
        longer, shorter = max(d, away), min(d, away)
        ratio = shorter / max(longer, 1e-300)
        rows[_PLACE, i] = s
        rows[_EXPONENT, i] = -0.5 * longer * longer
        rows[_RATIO, i] = ratio * ratio
        rows[_SUM, i] = 0.0
    for k in range(NODES.shape[0]):
        square, weight = NODES[k] * NODES[k], WEIGHTS[k]
        for i in range(nodes[0], nodes[1]):
            q = 1.0 + square * rows[_RATIO, i]
            rows[_SUM, i] += weight * (1.0 - exp(rows[_EXPONENT, i] * q)) / q


@inner
def _add_corner(sign, rows, nodes):
    """What is added along the edge by a corner; sign: 1 of its end, -1 of its start."""
    for i in range(nodes[0], nodes[1]):
        d, s = rows[_DISTANCE, i], rows[_PLACE, i]
        beyond, density = tail(abs(s))
        mass = 0.5 - beyond if s > 0.0 else beyond - 0.5
        flat = math.sqrt(rows[_RATIO, i]) * rows[_SUM, i] / _TURN
        low = flat if (d > 0.0) == (s > 0.0) else -flat
        rows[_TRIANGLE, i] += sign * (low if abs(s) <= abs(d) else rows[_BELOW, i] * mass - low)
        rows[_MASS, i] += sign * mass
        rows[_CHANGE, i] -= sign * density


@inner
def _add_edge(line, rows, nodes):
    """Add the moments that belong to an edge."""
    x, y = line.normal
    for i in range(nodes[0], nodes[1]):
        mass, change = rows[_DENSITY, i] * rows[_MASS, i], rows[_DENSITY, i] * rows[_CHANGE, i]
        out = rows[_DISTANCE, i] * mass
        rows[P, i] += rows[_TRIANGLE, i]
        rows[X, i] -= x * mass
        rows[Y, i] -= y * mass
        rows[XX, i] += x * (x * out - y * change)
        rows[XY, i] += x * y * out + 0.5 * (x * x - y * y) * change
        rows[YY, i] += y * (y * out + x * change)


@inner
def _sector(edges, frame, node, j):
    """The share of all directions in which a polygon runs off to infinity."""
    first, last = edges.first[j], edges.first[j + 1]
    if first == last:
        return 1.0
    leaving = coming = -1
    for e in range(first, last):
        if edges.end[node, e] == math.inf:
            leaving = e
    for e in range(first, last):
        if edges.start[node, e] == -math.inf and (e != leaving or coming < 0):
            coming = e
    if leaving < 0:
        return 0.0
    (c, s), (a, b) = across(frame, edges.normal[leaving]), across(frame, edges.normal[coming])
    # the edge that comes runs back there; along the unit vector it is 1/width as long
    x0, y0, x1, y1 = -s / frame.width, c, b / frame.width, -a
    return abs(math.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1)) / _TURN


@inner
def fill_polygon(edges, frame, node, j, centers, rows, nodes):
    """Fill the moments of polygon j at a node, for every one of the centers between the first and beyond the last."""
    sector = _sector(edges, frame, node, j)
    for i in range(nodes[0], nodes[1]):
        rows[P, i] = sector
        for row in range(X, YY + 1):
            rows[row, i] = 0.0
    for e in range(edges.first[j], edges.first[j + 1]):
        line = line_in(frame, edges.normal[e], edges.distance[node, e])
        _fill_distance(line, centers, rows, nodes)
        for sign, place in ((-1.0, edges.start[node, e]), (1.0, edges.end[node, e])):
            if abs(place) == math.inf:
                _add_infinity(rows, nodes)
            else:
                _fill_sum(line, place, centers, rows, nodes)
                _add_corner(sign, rows, nodes)
        _add_edge(line, rows, nodes)


@inner
def fill_half_plane(line, centers, rows, nodes):
    """The same for all that is on this side of a line of a frame."""
    for i in range(nodes[0], nodes[1]):
        rows[P, i] = 0.5
        for row in range(X, YY + 1):
            rows[row, i] = 0.0
    _fill_distance(line, centers, rows, nodes)
    for _ in range(2):
        _add_infinity(rows, nodes)
    _add_edge(line, rows, nodes)


@inner
def fill_plane(rows, nodes):
    """The same for all of the plane."""
    for i in range(nodes[0], nodes[1]):
        rows[P, i] = 1.0
        for row in range(X, YY + 1):
            rows[row, i] = 0.0

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
