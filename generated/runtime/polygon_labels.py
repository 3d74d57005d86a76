"""What noisy labels tell of two indices where the link is linear on polygons: in closed form given y.

Given y the pair of what is not known is normal on a polygon, with a mean along the slope of the label there.

Written by hand, in codegen/runtime/polygon_labels.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated.runtime.compiling import inner, making_entry
from generated.runtime.polygons import (
    MOMENT_ROWS,
    XX,
    XY,
    YY,
    Edges,
    Frame,
    P,
    X,
    Y,
    across,
    fill_half_plane,
    fill_plane,
    fill_polygon,
    line_in,
)
from generated.runtime.vector import exp

_ROOT = 1.0 / math.sqrt(2.0 * math.pi)
_RARE = 1e-280  # density that is rounding
_LITTLE = 1e-6  # probability of a polygon that does not choose the step of y
_NEGLIGIBLE = 1e-11  # of one that is left out
_ROUNDING = 1e-12  # of a probability of a polygon
_FAR = 7.0  # from an edge, beyond which nothing is on its other side
_CHANCE, _FIRST, _SECOND, _SQUARE, _ROWS = range(5)  # over y: the chance, x1, x2 and the square that is asked for


class Labels(NamedTuple):
    """Labels ``label [N, J] + slope [J, 2].x`` on polygons of standard normal pairs x, and the variance of the noise.

    Edges whose polygons have the places x on their left, all of one length.
    """

    edges: Edges
    label: NDArray[np.float64]
    slope: NDArray[np.float64]
    noise: float


@inner
def _near(edges, n, j):
    """The number of edges of a polygon that are near, and one of them; -1 where it is beyond one that is far."""
    count, near = 0, -1
    for e in range(edges.first[j], edges.first[j + 1]):
        if edges.distance[n, e] < -_FAR:
            return -1, e
        if edges.distance[n, e] < _FAR:
            count, near = count + 1, e
    return count, near


@inner
def _fill(labels, frame, n, j, centers, rows, nodes):
    """Fill the moments of a polygon, without edges that are far."""
    edges = labels.edges
    count, near = _near(edges, n, j)
    if count == 0:
        fill_plane(rows, nodes)
    elif count == 1:
        line = line_in(frame, edges.normal[near], edges.distance[n, near])
        fill_half_plane(line, centers, rows, nodes)
    else:
        fill_polygon(edges, frame, n, j, centers, rows, nodes)


@inner
def _frame_of(slope, noise):
    """Axes along the slope of a label, where x given y has the width of the frame, and the deviation of the label."""
    size = math.hypot(slope[0], slope[1])
    spread = math.sqrt(noise + size * size)
    along = (slope[0] / size, slope[1] / size) if size > 0.0 else (1.0, 0.0)
    return Frame(along, math.sqrt(noise) / spread if size > 0.0 else 1.0), spread, size


@making_entry
def moments_on_polygons(labels):
    """The probability, means of x1 and x2, and of x1^2, x1 x2 and x2^2 on every polygon: [N, J, 6]."""
    count, polygons = labels.label.shape
    found = np.zeros((count, polygons, 6))
    rows, origin, frame = np.empty((MOMENT_ROWS, 1)), np.zeros(1), Frame((1.0, 0.0), 1.0)
    for n in range(count):
        for j in range(polygons):
            if _near(labels.edges, n, j)[0] < 0:
                continue
            _fill(labels, frame, n, j, origin, rows, (0, 1))
            for k in range(6):
                found[n, j, k] = rows[k, 0] if k < XX else -rows[k, 0]
            found[n, j, XX] += rows[P, 0]
            found[n, j, YY] += rows[P, 0]
    return found


@inner
def _add(frame, squares, centers, rows, weight, sums, nodes):
    """Add a polygon to sums [4, Y] over y, each with its weight."""
    a, b = frame.along
    c, s = across(frame, (squares[0], squares[1]))
    size, width = squares[0] * squares[0] + squares[1] * squares[1], frame.width
    for i in range(nodes[0], nodes[1]):
        mass, center = rows[P, i], centers[i]
        if mass < _ROUNDING:
            weight[i] = 0.0
        x, y = center * mass + width * rows[X, i], rows[Y, i]
        sums[_CHANCE, i] += weight[i] * mass
        sums[_FIRST, i] += weight[i] * (a * x - b * y)
        sums[_SECOND, i] += weight[i] * (b * x + a * y)
    if size > 0.0:
        for i in range(nodes[0], nodes[1]):
            mass, center = rows[P, i], centers[i]
            xx = center * (center * mass + 2.0 * width * rows[X, i]) + width * width * (mass - rows[XX, i])
            xy = center * rows[Y, i] - width * rows[XY, i]
            square = c * c * xx + 2.0 * c * s * xy + s * s * (mass - rows[YY, i]) - size * mass
            sums[_SQUARE, i] += weight[i] * square


@inner
def _narrowest(labels, n, j):
    """The least width in y of what varies on a polygon: its label, and the share beyond each edge that is near."""
    frame, spread, size = _frame_of(labels.slope[j], labels.noise)
    least, edges = spread, labels.edges
    for e in range(edges.first[j], edges.first[j + 1]):
        if abs(edges.distance[n, e]) < _FAR:
            shift = line_in(frame, edges.normal[e], edges.distance[n, e]).distance[1]
            least = min(least, spread * spread / max(size * abs(shift), 1e-300))
    return least


@inner
def _trimmed(labels, frame, n, j, centers, nodes):
    """The centers from which a polygon is not beyond one of its edges."""
    begin, end, edges = nodes[0], nodes[1], labels.edges
    for e in range(edges.first[j], edges.first[j + 1]):
        fixed, shift = line_in(frame, edges.normal[e], edges.distance[n, e]).distance
        while begin < end and fixed + shift * centers[begin] < -_FAR:
            begin += 1
        while begin < end and fixed + shift * centers[end - 1] < -_FAR:
            end -= 1
    return begin, end


@inner
def _extent(labels, chances, n, tail):
    """The least and largest y, and the least width of what varies in it."""
    low, high, least = math.inf, -math.inf, math.inf
    for j in range(labels.label.shape[1]):
        if chances[n, j] >= _NEGLIGIBLE:
            _, spread, _ = _frame_of(labels.slope[j], labels.noise)
            low = min(low, labels.label[n, j] - tail * spread)
            high = max(high, labels.label[n, j] + tail * spread)
            if chances[n, j] > _LITTLE:
                least = min(least, _narrowest(labels, n, j))
    return low, high, least


@making_entry
def told_on_polygons(labels, chances, squares, rule):
    """For every node the sums over y [N, 4] of x1^2, x1 x2, x2^2, each E[x; y]^2/p(y), and of the square of what
    (squares.x)^2 - |squares|^2 gives.

    chances [N, J]: of the polygons. rule: step of y over the least width of what varies in it, reach of y.
    """
    fine, tail = rule
    out, most = np.zeros((labels.label.shape[0], 4)), 0
    for n in range(labels.label.shape[0]):
        low, high, least = _extent(labels, chances, n, tail)
        step = fine * least
        cells = int((high - low) / step) + 3
        if cells > most:
            most = 2 * cells
            rows, sums = np.empty((MOMENT_ROWS, most)), np.empty((_ROWS, most))
            weight, centers = np.empty(most), np.empty(most)
        sums[:, :cells] = 0.0
        for j in range(labels.label.shape[1]):
            if chances[n, j] < _NEGLIGIBLE:
                continue
            frame, spread, size = _frame_of(labels.slope[j], labels.noise)
            mean = labels.label[n, j]
            begin = max(0, int((mean - tail * spread - low) / step))
            end = min(cells, int((mean + tail * spread - low) / step) + 2)
            for i in range(begin, end):
                away = (low + i * step - mean) / spread
                weight[i] = _ROOT / spread * exp(-0.5 * away * away)
                centers[i] = size * away / spread
            nodes = _trimmed(labels, frame, n, j, centers, (begin, end))
            _fill(labels, frame, n, j, centers, rows, nodes)
            _add(frame, squares, centers, rows, weight, sums, nodes)
        for i in range(cells):
            chance = sums[_CHANCE, i]
            if chance > _RARE:
                first, second = sums[_FIRST, i], sums[_SECOND, i]
                out[n, 0] += step * first * first / chance
                out[n, 1] += step * first * second / chance
                out[n, 2] += step * second * second / chance
                out[n, 3] += step * sums[_SQUARE, i] * sums[_SQUARE, i] / chance
    return out

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
