"""Averages over the output and a variable that ends, in closed form, for losses whose pieces are quadratic.

Output and variable are a Gaussian pair, and on every part of the line of omega what is averaged is a polynomial of
both: its averages are moments of the pair on rectangles.

Written by hand, in codegen/runtime/ended_quadratic.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

from generated.runtime.compiling import inner
from generated.runtime.nodes import REACH
from generated.runtime.prox import find_cell
from generated.runtime.quadratic import at_center, from_knot
from generated.runtime.rectangle_moments import (
    Pair,
    between,
    moments_below,
    moments_near,
    moments_of_all,
    nothing,
    place_of,
)

_NARROW = 0.1  # spreads: on shorter parts differences of what is below their ends have too few digits
_TURN = 2.0  # of the spread beside x: what nodes on a short part resolve
_ROOT = 1e-13  # of the spread beside x: less is no Gaussian in double precision


class _Part(NamedTuple):
    """A part of the line of omega and minus g, the envelope and the loss at one place of it."""

    anchor: float  # in spreads from the centre
    slope: float
    envelope: float
    loss: float
    h: float
    kept: float  # of a step in omega by the prox


@inner
def pair_of(output, tilt, base, ends):
    """The output, in its spreads from its centre, and x between two ends; tilt: their covariance, base: the variance of
    the output beside x.
    """
    return Pair(tilt / output.spread, math.sqrt(base) / output.spread, place_of(ends[0]), place_of(ends[1]))


@inner
def is_closed(law, output, knots, pair):
    """Whether closed forms have the digits that sums over nodes have, beside a sum of order one."""
    if not pair.root > _ROOT:
        return False
    for number in range(2 * find_cell(law, 1.0)[1] - 1):
        if _TURN * pair.root * output.spread < knots.width[number] < _NARROW * output.spread:
            return False
    return True


@inner
def share_felt(law, output, knots, pair):
    """How likely, but for a factor, a pair lies where the loss has a slope, and where it is lost at the prox."""
    count = 2 * find_cell(law, 1.0)[1] - 2
    if count == 0:
        return 1.0, 1.0
    pulled = lost = 0.0
    for number in range(count + 1):
        if not knots.width[number] > 0.0:
            continue
        start = (knots.omega[number - 1] - output.center) / output.spread if number > 0 else -math.inf
        end = (knots.omega[number] - output.center) / output.spread if number < count else math.inf
        share, first, last = _share(pair, start, end), max(number - 1, 0), min(number, count - 1)
        steep = knots.h[number] != 0.0 or knots.slope[first] != 0.0
        if steep:
            pulled = max(pulled, share)
        if knots.loss[first] != 0.0 or knots.loss[last] != 0.0 or (steep and first == last):
            lost = max(lost, share)
    return pulled, lost


@inner
def _share(pair, start, end):
    """The density where a pair has least to go, in deviations, for y to be between two places, times the length of x
    from which it is a deviation at most.
    """
    rho, low, high = pair.correlation, pair.low.at, pair.high.at
    x = min(max(rho * min(max(0.0, start), end), low), high)
    away = (min(max(rho * x, start), end) - rho * x) / pair.root
    steep = max(abs(rho), 1e-300)
    first, last = (start, end) if rho > 0.0 else (-end, -start)
    length = min(high, (last + pair.root) / steep) - max(low, (first - pair.root) / steep)
    return math.exp(-0.5 * (x * x + away * away)) * min(max(length, 0.0), 1.0)


@inner
def _add_part(moments, part, spread, sums):
    """Add a part from its moments about its anchor to sums [3, 10]: those of 1, of x and of x^2."""
    k0, k1, k2, x0, x1 = moments.mass, moments.y, moments.yy, moments.x, moments.xy
    s, h, r = part.slope, part.h, part.h * spread
    rise = spread * (s * k1 + 0.5 * r * k2)
    es, ess, esx = s * k0 + r * k1, s * (s * k0 + 2.0 * r * k1) + r * r * k2, s * x0 + r * x1
    sums[0, 0] += part.envelope * k0 + rise
    sums[0, 1] -= es
    sums[0, 2] += h * k0
    sums[0, 3] += ess
    sums[0, 4] -= h * es
    sums[0, 6] += h * ess
    sums[0, 7] -= h * h * k0
    sums[0, 9] += part.loss * k0 + part.kept * rise
    sums[1, 1] -= esx
    sums[1, 2] += h * x0
    sums[1, 4] -= h * esx
    sums[2, 2] += h * moments.xx


@inner
def _add_step(below, step, slope, spread, sums):
    """Add what a step of h at a knot adds to derivatives in the centre."""
    share = step / spread
    sums[0, 5] += share * below.density
    sums[0, 7] -= slope * share * below.density
    sums[0, 8] -= share / spread * below.slope
    sums[1, 5] += share * below.density_x


@inner
def _part_at(knots, known, number, places):
    """A part between two places, anchored where it is nearest to the centre; known: what the centre has."""
    start, end = places
    h, kept = knots.h[number], knots.kept[number]
    if start < 0.0 < end:
        return _Part(0.0, known[0], known[1], known[2], h, kept)
    i = number - 1 if start >= 0.0 else number
    return _Part(start if start >= 0.0 else end, knots.slope[i], knots.envelope[i], knots.loss[i], h, kept)


@inner
def _short_part(knots, number, middle):
    """A part between two knots, anchored in its middle."""
    slope = 0.5 * (knots.slope[number - 1] + knots.slope[number])
    _, envelope, loss, _ = from_knot(knots, number - 1, number, 0.5 * knots.width[number])
    return _Part(middle, slope, envelope, loss, knots.h[number], knots.kept[number])


@inner
def set_ended_quadratic(law, rule, output, pair, knots, room, sums):
    """Set sums [3, 10], in the order of ``add_quadratic``, to averages of 1, x and x^2 times what a loss has over the
    output and x between its ends; room [ROWS, nodes].
    """
    for row in range(3):
        for a in range(10):
            sums[row, a] = 0.0
    count = 2 * find_cell(law, 1.0)[1] - 2
    low, before = nothing(), 0.0
    for number in range(count + 1):
        place = (knots.omega[number] - output.center) / output.spread if number < count else math.inf
        if place < -REACH or not knots.width[number] > 0.0:
            continue
        if low.place > -math.inf:
            _add_step(low, knots.h[number] - before, knots.slope[number - 1], output.spread, sums)
        ends = place > REACH
        below = moments_of_all(pair) if ends else moments_below(pair, place, room)
        width = knots.width[number] / output.spread
        if width < _NARROW:
            start = (knots.omega[number - 1] - output.center) / output.spread
            part = _short_part(knots, number, start + 0.5 * width)
            _add_part(moments_near(pair, part.anchor, width, room), part, output.spread, sums)
        else:
            known = (0.0, 0.0, 0.0)
            if low.place < 0.0 < place:
                known = at_center(law, rule, 1.0, output, knots, number)
            part = _part_at(knots, known, number, (low.place, place))
            _add_part(between(low, below, part.anchor), part, output.spread, sums)
        low, before = below, knots.h[number]
        if ends:
            return

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
