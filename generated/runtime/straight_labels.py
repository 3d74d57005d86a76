"""What noisy labels tell of two indices where the link is straight in one of them: that one is averaged in closed form.

Given the other index u a label is a + b w on pieces of w, and w is normal: given y too it is normal on the piece.

Written by hand, in codegen/runtime/straight_labels.py.
Generated; do not edit. Signature 4d151509f6e42d87, runtime 973d8c848fc7a68e.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated.runtime.compiling import inner, making_entry

_ROOT = 1.0 / math.sqrt(2.0 * math.pi)
_RARE = 1e-280  # density that is rounding
_LITTLE = 1e-6  # weight of a piece that does not choose the step of y
_NEGLIGIBLE = 1e-10  # of a piece that is left out
_SAME = 1e-9  # two labels that are one
_FAR = 9.0  # deviations beyond which nothing is cut off


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
def _add(piece, place, step, tail, rest, squares, sums):
    """Add a piece to sums [cells, 4] over y: its chance, x of u, x of w, and the squares with these coefficients.

    place: of its mean, in cells of width step; rest: root of 1 - correlation^2.
    """
    h = step / piece.spread
    nearest = int(place + 0.5)
    reach = int(tail / h) + 1
    whole = piece.low < -_FAR and piece.high > _FAR
    start = (nearest - reach - place) * h
    chance = piece.weight * _ROOT / piece.spread * math.exp(-0.5 * start * start)
    ratio, turn = math.exp(-h * start - 0.5 * h * h), math.exp(-h * h)
    own = squares[0] * (piece.x * piece.x - 1.0)
    for cell in range(nearest - reach, nearest + reach + 1):
        mean = piece.correlation * (cell - place) * h
        mass, first, second = 1.0, mean, mean * mean + rest * rest - 1.0
        if not whole:
            low, high = (piece.low - mean) / rest, (piece.high - mean) / rest
            mass = _below(high) - _below(low)
            bell_low, bell_high = _ROOT * math.exp(-0.5 * low * low), _ROOT * math.exp(-0.5 * high * high)
            first = mean * mass + rest * (bell_low - bell_high)
            if squares[2] != 0.0:
                at_low = low * bell_low if low > -_FAR else 0.0
                at_high = high * bell_high if high < _FAR else 0.0
                second = 2.0 * mean * first + (rest * rest - mean * mean - 1.0) * mass
                second += rest * rest * (at_low - at_high)
        sums[cell, 0] += chance * mass
        sums[cell, 1] += chance * mass * piece.x
        sums[cell, 2] += chance * first
        sums[cell, 3] += chance * (own * mass + squares[1] * piece.x * first + squares[2] * second)
        chance *= ratio
        ratio *= turn


@inner
def _extent(lines, middle, other, begin, end, tail, extent):
    """The least and largest y, and the least deviation of a piece that counts."""
    extent[0], extent[1], extent[2] = math.inf, -math.inf, math.inf
    for i in range(begin, end):
        for p in range(lines.first[i], lines.first[i + 1]):
            piece = _piece(lines, i, p, middle, other)
            if _mass(piece) < _NEGLIGIBLE:
                continue
            extent[0] = min(extent[0], piece.mean - tail * piece.spread)
            extent[1] = max(extent[1], piece.mean + tail * piece.spread)
            if _mass(piece) > _LITTLE:
                extent[2] = min(extent[2], piece.spread)


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
    out = np.zeros((means.shape[0], 4))
    extent = np.empty(3)
    for n in range(means.shape[0]):
        middle, other = means[n, 0], means[n, 1]
        begin = np.searchsorted(lines.nodes[:, 0], middle - reach * lines.lower[0, 0])
        end = np.searchsorted(lines.nodes[:, 0], middle + reach * lines.lower[0, 0])
        _extent(lines, middle, other, begin, end, tail, extent)
        if not extent[2] < math.inf:
            continue
        step = fine * extent[2]
        origin = extent[0] / step - 2.0
        sums = np.zeros((int((extent[1] - extent[0]) / step) + 6, 4))
        for i in range(begin, end):
            for p in range(lines.first[i], lines.first[i + 1]):
                piece = _piece(lines, i, p, middle, other)
                if _mass(piece) >= _NEGLIGIBLE:
                    rest = math.sqrt(lines.noise) / piece.spread
                    _add(piece, piece.mean / step - origin, step, tail, rest, squares, sums)
        for cell in range(sums.shape[0]):
            chance = sums[cell, 0]
            if chance > _RARE:
                first = turn[0, 0] * sums[cell, 1] + turn[0, 1] * sums[cell, 2]
                second = turn[1, 0] * sums[cell, 1] + turn[1, 1] * sums[cell, 2]
                out[n, 0] += step * first * first / chance
                out[n, 1] += step * first * second / chance
                out[n, 2] += step * second * second / chance
                out[n, 3] += step * sums[cell, 3] * sums[cell, 3] / chance
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

SIGNATURE = "4d151509f6e42d87d5c3605563583abe23499b88a663681190eeb68c3cb37219"
