"""What noisy labels tell of two indices where the link is straight in one of them: that one is averaged in closed form.

Given the other index u a label is a + b w on pieces of w, and w is normal: given y too it is normal on the piece.

Written by hand, in codegen/runtime/straight_labels.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated.runtime.compiling import inner, making_entry
from generated.runtime.vector import exp
from generated.runtime.vector import tail as beyond_of

_ROOT = 1.0 / math.sqrt(2.0 * math.pi)
_RARE = 1e-280  # density that is rounding
_LITTLE = 1e-6  # weight of a piece that does not choose the step of y
_NEGLIGIBLE = 1e-10  # of a piece that is left out
_SAME = 1e-9  # two labels that are one
_FAR = 9.0  # deviations beyond which nothing is cut off
_ROUNDING = 1e-12  # of the part of a piece
# rows over y: the chance, the mean of x of w, the mass between the ends, and their bells, bare and times the place
_CHANCE, _MEAN, _MASS, _BELLS, _TURNED, _ROWS = range(6)


class Lines(NamedTuple):
    """Nodes u [I, 2] with weights; pieces [P, 4] of the link there, a + b w between low and high, those of node i from
    first[i] on. What is not known: u and w beside their means are lower [2, 2] times normal x, and of the noise
    the variance.
    """

    nodes: NDArray[np.float64]
    pieces: NDArray[np.float64]
    first: NDArray[np.int64]
    lower: NDArray[np.float64]
    noise: float


class Piece(NamedTuple):
    """A piece given u: its weight, x of u, mean and deviation of y, correlation of y with x of w, and ends of that."""

    weight: float
    x: float
    mean: float
    spread: float
    correlation: float
    low: float
    high: float


@inner
def _below(x):
    """The normal distribution function."""
    if x > _FAR:
        return 1.0
    return 0.0 if x < -_FAR else 0.5 * math.erfc(-0.7071067811865476 * x)


@inner
def _piece(lines, i, p, middle, other):
    """A piece where the means of u and w are these."""
    lower = lines.lower
    x = (lines.nodes[i, 0] - middle) / lower[0, 0]
    own, wide = other + lower[1, 0] * x, lower[1, 1]
    a, b = lines.pieces[p, 0], lines.pieces[p, 1]
    low, high = (lines.pieces[p, 2] - own) / wide, (lines.pieces[p, 3] - own) / wide
    spread = math.sqrt(lines.noise + b * b * wide * wide)
    density = lines.nodes[i, 1] * _ROOT * math.exp(-0.5 * x * x) / lower[0, 0]
    return Piece(density, x, a + b * own, spread, b * wide / spread, low, high)


@inner
def _fill_inside(piece, start, h, rest, count, rows):
    """For count places of y from start on, h apart, in deviations: the chance of the piece and the mean of x of w; how
    much of its law is between the ends, and what these add to its mean and square.
    """
    density = piece.weight * _ROOT / piece.spread
    for k in range(count):
        away = start + k * h
        rows[_CHANCE, k] = density * exp(-0.5 * away * away)
        rows[_MEAN, k] = piece.correlation * away
        rows[_MASS, k] = 1.0
        rows[_BELLS, k] = rows[_TURNED, k] = 0.0
    for side, end in ((1.0, piece.low), (-1.0, piece.high)):
        if abs(end) > _FAR:
            continue
        for k in range(count):
            x = (end - rows[_MEAN, k]) / rest
            beyond, bell = beyond_of(abs(x))
            rows[_MASS, k] -= beyond if side * x < 0.0 else 1.0 - beyond
            rows[_BELLS, k] += side * bell
            rows[_TURNED, k] += side * x * bell


@inner
def _add(piece, place, step, tail, rest, squares, sums, rows):
    """Add a piece to sums [4, cells] over y: its chance, x of u, x of w, and the squares with these coefficients.

    place: of its mean, in cells of width step; rest: root of 1 - correlation^2.
    """
    h = step / piece.spread
    reach = int(tail / h) + 1
    begin, count = int(place + 0.5) - reach, 2 * reach + 1
    _fill_inside(piece, (begin - place) * h, h, rest, count, rows)
    for k in range(count):
        mass, mean = rows[_MASS, k], rows[_MEAN, k]
        chance = rows[_CHANCE, k] if mass > _ROUNDING else 0.0
        rows[_CHANCE, k] = chance
        rows[_MEAN, k] = first = mean * mass + rest * rows[_BELLS, k]
        second = 2.0 * mean * first + (rest * rest - mean * mean - 1.0) * mass
        rows[_TURNED, k] = second + rest * rest * rows[_TURNED, k]
        sums[0, begin + k] += chance * mass
        sums[1, begin + k] += chance * mass * piece.x
        sums[2, begin + k] += chance * first
    if squares[0] + squares[2] > 0.0:
        own = squares[0] * (piece.x * piece.x - 1.0)
        for k in range(count):
            square = own * rows[_MASS, k] + squares[1] * piece.x * rows[_MEAN, k] + squares[2] * rows[_TURNED, k]
            sums[3, begin + k] += rows[_CHANCE, k] * square


@inner
def _extent(lines, middle, other, begin, end, tail, masses):
    """The least and largest y, and the least deviation of a piece that counts; masses of all pieces are filled in."""
    low, high, least = math.inf, -math.inf, math.inf
    first = lines.first[begin]
    for i in range(begin, end):
        for p in range(lines.first[i], lines.first[i + 1]):
            piece = _piece(lines, i, p, middle, other)
            masses[p - first] = mass = _mass(piece)
            if mass < _NEGLIGIBLE:
                continue
            low = min(low, piece.mean - tail * piece.spread)
            high = max(high, piece.mean + tail * piece.spread)
            if mass > _LITTLE:
                least = min(least, piece.spread)
    return low, high, least


@inner
def _mass(piece):
    """The probability of a piece."""
    return piece.weight * (_below(piece.high) - _below(piece.low))


@making_entry
def told_by_lines(lines, means, turn, squares, rule):
    """For means [N, 2] of u and w the sums over y [N, 4] of t1^2, t1 t2, t2^2 for t = turn x, each E[t; y]^2/p(y), and
    of the square of what squares [3] makes of x1^2 - 1, x1 x2 and x2^2 - 1.

    rule: reach of x, step of y over the least deviation, reach of y over that.
    """
    reach, fine, tail = rule
    out, most = np.zeros((means.shape[0], 4)), 0
    masses = np.empty(lines.pieces.shape[0])
    for n in range(means.shape[0]):
        middle, other = means[n, 0], means[n, 1]
        begin = np.searchsorted(lines.nodes[:, 0], middle - reach * lines.lower[0, 0])
        end = np.searchsorted(lines.nodes[:, 0], middle + reach * lines.lower[0, 0])
        low, high, least = _extent(lines, middle, other, begin, end, tail, masses)
        if not least < math.inf:
            continue
        step = fine * least
        origin = low / step - 2.0
        cells = int((high - low) / step) + 6
        if cells > most:
            most = 2 * cells
            sums, rows = np.empty((4, most)), np.empty((_ROWS, most))
        sums[:, :cells] = 0.0
        for i in range(begin, end):
            for p in range(lines.first[i], lines.first[i + 1]):
                if masses[p - lines.first[begin]] >= _NEGLIGIBLE:
                    piece = _piece(lines, i, p, middle, other)
                    rest = math.sqrt(lines.noise) / piece.spread
                    _add(piece, piece.mean / step - origin, step, tail, rest, squares, sums, rows)
        for cell in range(cells):
            chance = sums[0, cell]
            if chance > _RARE:
                first = turn[0, 0] * sums[1, cell] + turn[0, 1] * sums[2, cell]
                second = turn[1, 0] * sums[1, cell] + turn[1, 1] * sums[2, cell]
                out[n, 0] += step * first * first / chance
                out[n, 1] += step * first * second / chance
                out[n, 2] += step * second * second / chance
                out[n, 3] += step * sums[3, cell] * sums[3, cell] / chance
    return out


@inner
def _moments(piece, found):
    """The weight [3] of a piece, and of x of w and its square there."""
    bell_low, bell_high = _ROOT * math.exp(-0.5 * piece.low**2), _ROOT * math.exp(-0.5 * piece.high**2)
    mass = _below(piece.high) - _below(piece.low)
    at_low = piece.low * bell_low if piece.low > -_FAR else 0.0
    at_high = piece.high * bell_high if piece.high < _FAR else 0.0
    found[0] = piece.weight * mass
    found[1] = piece.weight * (bell_low - bell_high)
    found[2] = piece.weight * (mass + at_low - at_high)


@making_entry
def variance_by_lines(lines, means, reach):
    """The variance [N] of the link where the means of u and w are those [N, 2] given, over nodes within reach of x."""
    out = np.zeros(means.shape[0])
    moments = np.empty(3)
    for n in range(means.shape[0]):
        middle, other = means[n, 0], means[n, 1]
        begin = np.searchsorted(lines.nodes[:, 0], middle - reach * lines.lower[0, 0])
        end = np.searchsorted(lines.nodes[:, 0], middle + reach * lines.lower[0, 0])
        whole, first, centre = 0.0, 0.0, 0.0
        for squares in range(2):  # first the mean, then squares of what is left of it
            for i in range(begin, end):
                for p in range(lines.first[i], lines.first[i + 1]):
                    piece = _piece(lines, i, p, middle, other)
                    _moments(piece, moments)
                    slope, beside = lines.pieces[p, 1] * lines.lower[1, 1], piece.mean - centre
                    if squares == 0:
                        whole += moments[0]
                        first += beside * moments[0] + slope * moments[1]
                    else:
                        out[n] += beside * beside * moments[0]
                        out[n] += slope * (2.0 * beside * moments[1] + slope * moments[2])
            centre = first / whole if whole > 0.0 else 0.0
    return out


@making_entry
def means_by_lines(lines, means, labels, reach):
    """E[x | y] [N, 2] for labels y [N], where the means of u and w are those [N, 2] given; zeros where none is likely.

    Without noise pieces have a label each, and those of this label count.
    """
    out = np.zeros((means.shape[0], 2))
    for n in range(means.shape[0]):
        middle, other = means[n, 0], means[n, 1]
        begin = np.searchsorted(lines.nodes[:, 0], middle - reach * lines.lower[0, 0])
        end = np.searchsorted(lines.nodes[:, 0], middle + reach * lines.lower[0, 0])
        total, first, second = 0.0, 0.0, 0.0
        for i in range(begin, end):
            for p in range(lines.first[i], lines.first[i + 1]):
                piece = _piece(lines, i, p, middle, other)
                chance, mean, rest = piece.weight, 0.0, 1.0
                if piece.spread > 0.0:
                    away = (labels[n] - piece.mean) / piece.spread
                    chance *= math.exp(-0.5 * away * away) / piece.spread
                    mean, rest = piece.correlation * away, math.sqrt(lines.noise) / piece.spread
                elif abs(labels[n] - piece.mean) > _SAME:
                    continue
                low, high = (piece.low - mean) / rest, (piece.high - mean) / rest
                mass = _below(high) - _below(low)
                bells = _ROOT * (math.exp(-0.5 * low * low) - math.exp(-0.5 * high * high))
                total += chance * mass
                first += chance * mass * piece.x
                second += chance * (mean * mass + rest * bells)
        if total > _RARE:
            out[n, 0], out[n, 1] = first / total, second / total
    return out

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
