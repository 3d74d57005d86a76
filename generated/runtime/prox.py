"""The proximal map of a piece of a loss, and panels of it that are short enough for a Gauss rule.

Written by hand, in codegen/runtime/prox.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

from generated.runtime.compiling import edge_at, inner, piece_at

PANEL = 6.0  # of a Gauss rule, in standard deviations
_BENT = 0.05  # of the change of slope on a panel, what the quadratic through three curvatures may miss on a half
_ROUNDING = 1e-15  # of a place and of a slope, relative
_FELT, _WITHIN, _OFF = 9.0, 6.0, 0.05  # widths of a turn: where it is felt, of a panel there, what that may be off by
_ROUNDED = 4e-15  # of a place: no turn is sharper
_HELD = 1e-18  # of l beside an infinite curvature: the prox is there to that, and counts as held


class Law(NamedTuple):
    """A loss as the rules know it: rho in u on its pieces, and how fast it varies."""

    pieces: int  # address of PIECES
    edge: int  # address of EDGE, where there is more than one piece
    origins: Any  # [pieces, 2]: the edge that places on a piece are counted from, by its number, or -1; 1 where the
    #: curvature there is infinite, 0 where the slope vanishes there
    ranges: Any  # [n, 4]: upper end of a range of labels, whether it belongs to it, first piece, number of pieces
    residual: bool  # u = f - y
    margin: bool  # u = y f
    smooth: bool  # one piece
    steepness: float  # of the pieces beside the logistic loss, at the default parameters
    rate: float  # of its exponential growth, which polynomials have not
    curvature: float  # the largest of a smooth loss
    knee: float  # where that is, if it falls on both sides as that of the logistic loss does; else nan
    quadratic: bool  # all pieces are, at most


class Piece(NamedTuple):
    """A smooth piece of a loss at a label, and the V of its proximal map.

    Places on it are counted from its origin: beside an infinite curvature, as that of max(0, |u| - 0.3)^1.5 at 0.3,
    all digits of the distance count; beside a slope that vanishes, as that of max(0, 1 - u)^2 at 1, where V is large.
    Where it is small, outputs may be next to zero.
    """

    pieces: int  # address of PIECES
    number: int
    label: float
    parameters: Any
    V: float
    origin: float  # in u
    blur: float  # size of what rounding of a place is relative to, beside the place itself
    shift: float  # of the origin from the place that the function of the piece counts from


class Turns(NamedTuple):
    """Where the law of the label turns, as a normal distribution function does."""

    places: tuple[float, float, float, float, float, float]  # of omega, infinite where there are fewer
    widths: tuple[float, float, float, float, float, float]  # standard deviations
    width: float  # the least


_LARGE = 1.0  # V, in units of a curvature of one
_NONE = (math.inf, math.inf, math.inf, math.inf, math.inf, math.inf)
NOWHERE = Turns(_NONE, _NONE, math.inf)


@inner
def piece_of(law, number, y, parameters, V):
    """Piece `number` of a loss."""
    edge = law.origins[number, 0]
    if edge < 0:
        return Piece(law.pieces, number, y, parameters, V, 0.0, 1.0, 0.0)
    place = edge_at(law.edge, edge, y, parameters)
    if law.origins[number, 1] == 1 or V > _LARGE:
        return Piece(law.pieces, number, y, parameters, V, place, 0.0, 0.0)
    return Piece(law.pieces, number, y, parameters, V, 0.0, 1.0, -place)


@inner
def at(piece, x):
    """(value, slope, curvature) of rho at x from the origin."""
    return piece_at(piece.pieces, piece.number, piece.label, piece.parameters, x + piece.shift)


@inner
def omega_at(piece, x):
    """The omega whose prox is x from the origin."""
    return piece.origin + (x + piece.V * at(piece, x)[1])


@inner
def end_of(law, piece, edge, place):
    """Where a piece ends, from its origin; edge: the number of that end, place: in u. Beside an infinite curvature the
    prox moves so little that what is next to the edge belongs to it.
    """
    if 0 <= edge == law.origins[piece.number, 0] and law.origins[piece.number, 1] == 1:
        return _HELD if edge < piece.number else -_HELD
    return place - piece.origin


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
def prox(piece, left, right, w, tolerance):
    """l in (left, right) with l + V rho'(l) = w, all l from the origin: Newton's method, to `tolerance` in w.

    Where a loss is exponential Newton's steps are too short, and grow until they pass the root; where it is beyond all
    numbers the side of the root is known, and no step. Where its slope turns from one value to another they may go back
    and forth across the root: the bracket is halved then.
    """
    low, high, w = left, right, w - piece.origin
    x = min(max(w, left), right)
    before, longer = 0.0, 1.0
    for _ in range(200):
        _, slope, curvature = at(piece, x)
        excess = x + piece.V * slope - w
        if abs(excess) <= tolerance:
            break
        if excess > 0.0:
            high = x
        else:
            low = x
        if excess * before <= 0.0:
            longer = 1.0
        elif abs(excess) > 0.25 * abs(before):
            longer *= 4.0
        crossed = excess * before < 0.0 and abs(excess) > 0.5 * abs(before)
        before = excess
        x -= longer * excess / (1.0 + piece.V * curvature)
        if crossed or not low < x < high:
            x = _between(low, high)
            if x in (low, high):
                break
    return x


@inner
def _between(low, high):
    """The middle of a bracket; where that is infinite, a place as far from its other end as that is from zero."""
    if high == math.inf:
        return low + max(1.0, abs(low))
    return high - max(1.0, abs(high)) if low == -math.inf else 0.5 * (low + high)


@inner
def length_of_panel(piece, x, last, spread):
    """Length of a panel of l from x, at most to `last`: no more than a few spreads of omega, and short enough that
    the curvature of rho is nearly quadratic, which is judged on each half: the errors of the two may cancel.
    """
    V = piece.V
    _, slope, curvature = at(piece, x)
    width = min(PANEL * spread / (1.0 + V * curvature), last - x)
    _, next_slope, next_curvature = at(piece, min(x + width, last))  # their sum may round to what is beyond
    slack = 1e-9 / (1.0 + V / spread)
    slack += _ROUNDING * (abs(slope) + abs(next_slope) + (abs(x) + piece.blur) * max(curvature, next_curvature))
    for _ in range(90):
        _, half_slope, half_curvature = at(piece, x + 0.5 * width)
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
def bend(piece, first, last, count):
    """The largest curvature of rho, at both ends and at places between them."""
    largest = 0.0
    for i in range(count + 1):
        largest = max(largest, at(piece, first + (last - first) * i / count)[2])
    return largest


@inner
def shortened(piece, kink, x, length, turns):
    """The length of a panel from x, cut where a turn begins to be felt, and to a few widths of it from there on.

    Beyond ``_FELT`` widths a normal distribution function is a constant, and nothing has to be resolved.
    """
    start = x if kink else omega_at(piece, x)
    for k in range(len(turns.places)):
        place = turns.places[k]
        if abs(place) == math.inf:
            continue
        width = max(turns.widths[k], _ROUNDED * (abs(place) + abs(start)))
        end = x + length if kink else omega_at(piece, x + length)
        low, slack = place - _FELT * width, _OFF * width
        goal = low if start < low - slack else start + _WITHIN * width
        if start < place + _FELT * width and goal < end:
            length = goal - x if kink else prox(piece, x, x + length, goal, slack) - x
    return length

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
