"""Averages over the output in closed form, for losses whose pieces are quadratic.

The envelope of such a loss is quadratic on every part of the line of omega, g is linear there, and h constant. Where
parts meet, the knots, envelope and g are continuous.

Written by hand, in codegen/runtime/quadratic.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_inner
from generated.runtime.nodes import part_at
from generated.runtime.prox import at, find_cell, piece_of
from generated.runtime.truncated import between, is_narrow, moments_nearby, tail_at


class Knots(NamedTuple):
    """Where the parts of the line of omega meet, at one label and one V."""

    omega: Any  # [n] of the knots
    slope: Any  # minus g there
    envelope: Any
    loss: Any  # of the prox
    h: Any  # [n + 1] of the parts
    kept: Any  # of the parts: how much of a step in omega the prox takes, 0 at a kink
    width: Any  # of the parts, as the sum of what they are made of: a difference of places would be rounded


@making_inner
def room_for_knots(law):
    """Knots of the label with the most pieces."""
    most = 0
    for i in range(law.ranges.shape[0]):
        most = max(most, 2 * int(law.ranges[i, 3]) - 1)
    empty = np.empty((7, most))
    return Knots(empty[0], empty[1], empty[2], empty[3], empty[4], empty[5], empty[6])


@inner
def find_knots(law, rule, y, V, knots):
    """Fill the knots for a label and V. Returns how many there are."""
    cell = find_cell(law, y)
    count = 2 * cell[1] - 2
    left = last = -math.inf  # of u: the last two edges
    for number in range(count + 1):
        part = part_at(law, rule, y, V, cell, number)
        piece, edge = part.piece, part.edge
        value, slope, curvature = at(piece, 0.0 if edge == math.inf else edge - piece.origin)
        knots.width[number] = math.inf
        if part.kink:
            beyond = piece_of(law, piece.number + 1, y, rule.parameters, V)
            before, slope = slope, at(beyond, edge - beyond.origin)[1]
            knots.h[number], knots.kept[number] = 1.0 / V, 0.0
            knots.width[number] = V * (slope - before)
        else:
            left, last = last, edge
            knots.kept[number] = 1.0 / (1.0 + V * curvature)
            knots.h[number] = curvature / (1.0 + V * curvature)
            if left > -math.inf and edge < math.inf:
                knots.width[number] = edge - left + V * (slope - knots.slope[number - 1])
        if number < count:
            knots.omega[number] = part.end
            knots.slope[number] = slope
            knots.loss[number], knots.envelope[number] = value, value + 0.5 * V * slope * slope
    return count


@inner
def _at_prox(piece, omega):
    """Minus g, the envelope and the loss of a quadratic piece, and how much rounding they may hold.

    Where V times the curvature is large the prox is close to the root of the slope: a step from omega would cancel.
    """
    V, x = piece.V, omega - piece.origin
    _, slope, curvature = at(piece, x)
    stretch = 1.0 + V * curvature
    rough = (curvature * (abs(x) + abs(piece.origin)) + abs(slope)) / stretch
    if V * curvature > 1.0:
        prox = x - slope / curvature + slope / (curvature * stretch)
    else:
        prox = x - V * slope / stretch
    value, slope = at(piece, prox)[0], slope / stretch
    return slope, value + 0.5 * V * slope * slope, value, rough


@inner
def _inside(law, rule, y, V, cell, number, omega):
    """Minus g, the envelope and the loss on a part, at omega, and how much rounding they may hold: by the prox."""
    part = part_at(law, rule, y, V, cell, number)
    if part.kink:
        slope = (omega - part.edge) / V
        return slope, part.value + 0.5 * V * slope * slope, part.value, (abs(omega) + abs(part.edge)) / V
    return _at_prox(part.piece, omega)


@inner
def from_knot(knots, i, part, away):
    """The same from the values at a knot, so far away on a part."""
    slope, h = knots.slope[i], knots.h[part]
    rise = away * (slope + 0.5 * h * away)
    return (
        slope + h * away,
        knots.envelope[i] + rise,
        knots.loss[i] + knots.kept[part] * rise,
        abs(slope) + abs(h * away),
    )


@inner
def _add_part(moments, anchor, here, slopes, spread, sums):
    """Add a part; moments: of the output about `anchor`, in spreads; here: minus g, envelope and loss there; slopes:
    h and what is kept.
    """
    k0, k1, k2 = moments
    s, M, loss = here
    h, kept = slopes
    r = h * spread
    rise = spread * (s * k1 + 0.5 * r * k2)
    es = s * k0 + r * k1
    ess = s * (s * k0 + 2.0 * r * k1) + r * r * k2
    z = anchor * k0 + k1
    zs = s * z + r * (k2 + anchor * k1)
    zz = anchor * (anchor * k0 + 2.0 * k1) + k2 - k0
    sums[0] += M * k0 + rise
    sums[1] -= es
    sums[2] += h * k0
    sums[3] += ess
    sums[4] -= h * es
    sums[5] += h * z / spread
    sums[6] += h * ess
    sums[7] -= h * zs / spread
    sums[8] += h * zz / (spread * spread)
    sums[9] += loss * k0 + kept * rise


@inner
def set_on_line(law, rule, y, output, sums):
    """The averages of a loss that is one quadratic, without knots."""
    V, spread = output.V, output.spread
    piece = piece_of(law, find_cell(law, y)[0], y, rule.parameters, V)
    slope, envelope, value, _ = _at_prox(piece, output.center)
    curvature = at(piece, output.center)[2]
    h = curvature / (1.0 + V * curvature)
    r = h * spread
    sums[0] = envelope + 0.5 * spread * r
    sums[1] = -slope
    sums[2] = h
    sums[3] = slope * slope + r * r
    sums[4] = -h * slope
    sums[5] = 0.0
    sums[6] = h * sums[3]
    sums[7] = -h * h
    sums[8] = 0.0
    sums[9] = value + 0.5 * spread * r / (1.0 + V * curvature)


@inner
def at_center(law, rule, y, output, knots, number):
    """Minus g, the envelope and the loss at the center, on its part: by the prox, or from the knot that rounds less."""
    cell, center = find_cell(law, y), output.center
    slope, envelope, loss, noise = _inside(law, rule, y, output.V, cell, number, center)
    for i in range(max(number - 1, 0), min(number + 1, 2 * cell[1] - 2)):
        other, M, value, rough = from_knot(knots, i, number, center - knots.omega[i])
        if rough < noise:
            slope, envelope, loss, noise = other, M, value, rough
    return slope, envelope, loss


@inner
def add_quadratic(law, rule, y, output, knots, sums):
    """Add the averages over omega_u ~ N(center, spread^2), in the order of `points`."""
    center, spread = output.center, output.spread
    count = 2 * find_cell(law, y)[1] - 2
    end = tail_at(-math.inf)
    for number in range(count + 1):
        start, width, slopes = end, knots.width[number] / spread, (knots.h[number], knots.kept[number])
        end = tail_at((knots.omega[number] - center) / spread if number < count else math.inf)
        if not width > 0.0:
            continue
        a, b = start.place, end.place
        if is_narrow(a, width):
            middle, half = a + 0.5 * width, 0.5 * width * spread
            _, envelope, loss, _ = from_knot(knots, number - 1, number, half)
            here = 0.5 * (knots.slope[number - 1] + knots.slope[number]), envelope, loss
            _add_part(moments_nearby(rule.gauss, middle, width), middle, here, slopes, spread, sums)
        elif a > 0.0:
            here = knots.slope[number - 1], knots.envelope[number - 1], knots.loss[number - 1]
            _add_part(between(start, end), a, here, slopes, spread, sums)
        elif b < 0.0:
            k0, k1, k2 = between(end, start)
            here = knots.slope[number], knots.envelope[number], knots.loss[number]
            _add_part((k0, -k1, k2), b, here, slopes, spread, sums)
        else:
            here = at_center(law, rule, y, output, knots, number)
            k0 = 1.0 - start.j0 - end.j0
            k2 = k0 + (a * start.phi if start.phi > 0.0 else 0.0) - (b * end.phi if end.phi > 0.0 else 0.0)
            k1 = start.phi - end.phi
            _add_part((k0, k1, k2), 0.0, here, slopes, spread, sums)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
