"""The proximal map of a piece of a loss, and panels of it that are short enough for a Gauss rule.

Written by hand, in codegen/runtime/prox.py.
Generated; do not edit. Signature 35b197c385e1dc7c, runtime 50a1bdc33bfa3dee.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

from generated.runtime.compiling import inner, piece_at

PANEL = 6.0  # of a Gauss rule, in standard deviations
_BENT = 0.05  # of the change of slope on a panel, what the quadratic through three curvatures may miss on a half
_ROUNDING = 1e-15  # of a place and of a slope, relative


class Law(NamedTuple):
    """A loss as the rules know it: rho in u on its pieces, and how fast it varies."""

    pieces: int  # address of PIECES
    edge: int  # address of EDGE, where there is more than one piece
    ranges: Any  # [n, 4]: upper end of a range of labels, whether it belongs to it, first piece, number of pieces
    residual: bool  # u = f - y
    margin: bool  # u = y f
    smooth: bool  # one piece
    steepness: float  # of the pieces beside the logistic loss, at the default parameters
    rate: float  # of its exponential growth, which polynomials have not
    curvature: float  # the largest of a smooth loss


@inner
def find_cell(law, y):
    """The first piece that holds at the label y, and how many do."""
    last = law.ranges.shape[0] - 1
    for i in range(last):
        high = law.ranges[i, 0]
        if y < high or (y == high and law.ranges[i, 1] > 0.0):
            return int(law.ranges[i, 2]), int(law.ranges[i, 3])
    return int(law.ranges[last, 2]), int(law.ranges[last, 3])


@inner
def prox(law, k, left, right, w, V, y, tolerance, q):
    """l in (left, right) with l + V rho'(l) = w on piece k: Newton within a bracket, to `tolerance` in w."""
    x = min(max(w, left), right)
    step = tolerance + abs(x - w)
    # the map is monotone: bracket the root by steps that grow
    excess = x + V * piece_at(law.pieces, k, y, q, x)[1] - w
    side = -1.0 if excess > 0.0 else 1.0
    other = x
    while excess * side < 0.0:
        x = other
        other = min(max(other + side * step, left), right)
        excess = other + V * piece_at(law.pieces, k, y, q, other)[1] - w
        step *= 4.0
        if other in (left, right):
            break
    low, high = min(x, other), max(x, other)
    x = 0.5 * (low + high)
    for _ in range(200):
        _, slope, curvature = piece_at(law.pieces, k, y, q, x)
        excess = x + V * slope - w
        if abs(excess) <= tolerance:
            break
        if excess > 0.0:
            high = x
        else:
            low = x
        x -= excess / (1.0 + V * curvature)
        if not low < x < high:
            x = 0.5 * (low + high)
            if x in (low, high):
                break
    return x


@inner
def panel(law, k, x, last, spread, V, y, q):
    """Width of a panel of l from x on piece k, at most to `last`: no more than a few spreads of omega, and short enough
    that the curvature of rho is nearly quadratic, which is judged on each half: the errors of the two may cancel.
    """
    _, slope, curvature = piece_at(law.pieces, k, y, q, x)
    width = min(PANEL * spread / (1.0 + V * curvature), last - x)
    _, next_slope, next_curvature = piece_at(law.pieces, k, y, q, x + width)
    slack = 1e-9 / (1.0 + V / spread)
    slack += _ROUNDING * (abs(slope) + abs(next_slope) + (abs(x) + 1.0) * max(curvature, next_curvature))
    for _ in range(60):
        _, half_slope, half_curvature = piece_at(law.pieces, k, y, q, x + 0.5 * width)
        change, first, part = next_slope - slope, half_slope - slope, width / 24.0
        left = first - part * (5.0 * curvature + 8.0 * half_curvature - next_curvature)
        right = change - first - part * (5.0 * next_curvature + 8.0 * half_curvature - curvature)
        least = min(curvature, min(half_curvature, next_curvature))  # of a linear slope nothing has to be resolved
        allowed = _BENT * abs(change - width * least) + slack
        if width + V * change <= 1.5 * PANEL * spread and abs(left) <= allowed and abs(right) <= allowed:
            break
        width, next_slope, next_curvature = 0.5 * width, half_slope, half_curvature
    return width


@inner
def bend(law, k, first, last, count, y, q):
    """The largest curvature of rho on piece k, at both ends and at places between them."""
    largest = 0.0
    for i in range(count + 1):
        largest = max(largest, piece_at(law.pieces, k, y, q, first + (last - first) * i / count)[2])
    return largest


@inner
def graded(law, k, kink, x, length, V, y, q, steep, width):
    """The length of a panel from x, cut to its distance to a steep place, or to the width of that place."""
    start = x if kink else x + V * piece_at(law.pieces, k, y, q, x)[1]
    for place in steep:
        if abs(place) == math.inf:
            continue
        for _ in range(60):
            end = x + length
            if not kink:
                end += V * piece_at(law.pieces, k, y, q, x + length)[1]
            distance = max(start - place, place - end)
            if end - start <= max(2.0 * width, distance):
                break
            length *= 0.5
    return length

SIGNATURE = "35b197c385e1dc7c5073dada1a036aedd27fbef7cba6eaca0c1160c039622193"
