"""Averages over many outputs of one spread in closed form, for losses whose pieces are quadratic: see ``quadratic``.

Knots of the loss are those of all outputs; what follows from their places is done in vector instructions.

Written by hand, in codegen/runtime/quadratic_rows.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from typing import NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_inner
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import part_at
from generated.runtime.polygons import NODES, WEIGHTS
from generated.runtime.prox import at, find_cell
from generated.runtime.quadratic import find_knots, from_knot
from generated.runtime.vector import exp, tail

_NARROW = 0.5  # spreads: moments of shorter parts are sums over nodes, as differences of tails would cancel
_ENDLESS = 1e300  # place of an end that there is not
SUMS = 10
# rows beside the sums: places of the knot at the start and at the end of a part, in spreads from the output, with what
# is beyond, away from it, and the density there; moments of a part about its anchor; minus g, envelope and loss there
_START, _END, _ANCHOR, _SLOPE, _ROWS = 10, 13, 16, 20, 23


class _Inside(NamedTuple):
    """A part by its own piece: at a step x from ``origin`` minus g is start + h x, the prox is the step place + kept x,
    and the loss there value + prox (slope + curvature prox/2).
    """

    origin: float
    start: float
    h: float
    place: float
    kept: float
    value: float
    slope: float
    curvature: float
    V: float
    rough: float  # minus g may hold rounding of that, and of what it is


class Alike(NamedTuple):
    """What outputs have in common: the label as the loss takes it, their spread and V."""

    label: float
    spread: float
    V: float


class _Narrow(NamedTuple):
    """A part that all outputs see as short: its middle from the knot at its start, minus g, envelope and loss there."""

    half: float  # spreads
    slope: float
    envelope: float
    loss: float


@making_inner
def room_for_rows(count):
    """Room for so many outputs, whole vectors."""
    return np.empty((_ROWS, count))


@inner
def _inside(law, rule, y, V, number):
    part = part_at(law, rule, y, V, find_cell(law, y), number)
    if part.kink:
        return _Inside(part.edge, 0.0, 1.0 / V, 0.0, 0.0, part.value, 0.0, 0.0, V, 2.0 * abs(part.edge) / V)
    value, slope, curvature = at(part.piece, 0.0)
    stretch = 1.0 + V * curvature
    h, kept, origin = curvature / stretch, 1.0 / stretch, part.piece.origin
    place = -V * slope * kept
    return _Inside(origin, slope * kept, h, place, kept, value, slope, curvature, V, 2.0 * h * abs(origin))


@inner
def _fill_end(omega, places, spread, first, count, rows):
    """Fill the rows of a knot from one on; omega: its place, infinite where a part has no end."""
    inverse = 1.0 / spread
    for j in range(count):
        z = (omega - places[j]) * inverse
        beyond, density = tail(abs(z))
        rows[first, j] = z
        rows[first + 1, j] = beyond
        rows[first + 2, j] = density


@inner
def _fill_endless(sign, first, count, rows):
    for j in range(count):
        rows[first, j] = sign * _ENDLESS
        rows[first + 1, j] = rows[first + 2, j] = 0.0


@inner
def _fill_wide(inside, knots, number, spread, ends, places, count, rows):
    """Moments of a part about its anchor, where it is nearest to the output, and what the loss has there: at a knot
    from the knot, between two from what rounds less, a knot or the piece; ends: which knots there are.
    """
    first, last = max(number - 1, 0), number if ends[1] else number - 1
    h, kept = knots.h[number], knots.kept[number]
    slope_a, envelope_a, loss_a = knots.slope[first], knots.envelope[first], knots.loss[first]
    slope_b, envelope_b, loss_b = knots.slope[last], knots.envelope[last], knots.loss[last]
    for j in range(count):
        a, b = rows[_START, j], rows[_END, j]
        beyond_a, beyond_b = rows[_START + 1, j], rows[_END + 1, j]
        density_a, density_b = rows[_START + 2, j], rows[_END + 2, j]
        at_a, at_b = a * density_a, b * density_b
        p = a if a > 0.0 else (b if b < 0.0 else 0.0)
        m0 = beyond_a - beyond_b if a > 0.0 else (beyond_b - beyond_a if b < 0.0 else 1.0 - beyond_a - beyond_b)
        m1 = density_a - density_b
        k1 = m1 - p * m0
        near = abs(a) < abs(b)
        away = (p - (a if near else b)) * spread
        slope = slope_a if near else slope_b
        rise = away * (slope + 0.5 * h * away)
        envelope = (envelope_a if near else envelope_b) + rise
        loss = (loss_a if near else loss_b) + kept * rise
        rough = abs(slope) + h * abs(away)
        slope += h * away
        x = places[j] - inside.origin
        own, prox = inside.start + inside.h * x, inside.place + inside.kept * x
        here = p == 0.0 and inside.rough + h * abs(x) + abs(own) < rough
        known = inside.value + prox * (inside.slope + 0.5 * inside.curvature * prox)
        rows[_ANCHOR, j] = p
        rows[_ANCHOR + 1, j] = m0
        rows[_ANCHOR + 2, j] = k1
        rows[_ANCHOR + 3, j] = m0 + at_a - at_b - p * (m1 + k1)
        rows[_SLOPE, j] = own if here else slope
        rows[_SLOPE + 1, j] = known + 0.5 * inside.V * own * own if here else envelope
        rows[_SLOPE + 2, j] = known if here else loss


@inner
def _fill_narrow(part, count, rows):
    """The same of a short part, about its middle, by sums over nodes."""
    for j in range(count):
        middle = rows[_START, j] + part.half
        rows[_ANCHOR, j] = middle
        rows[_ANCHOR + 1, j] = rows[_ANCHOR + 2, j] = rows[_ANCHOR + 3, j] = 0.0
        rows[_SLOPE, j] = part.slope
        rows[_SLOPE + 1, j] = part.envelope
        rows[_SLOPE + 2, j] = part.loss
    for k in range(NODES.shape[0]):
        t = part.half * (2.0 * NODES[k] - 1.0)
        weight = 2.0 * part.half * WEIGHTS[k] * NORM
        for j in range(count):
            g = rows[_ANCHOR, j] + t
            share = weight * exp(-0.5 * g * g)
            rows[_ANCHOR + 1, j] += share
            rows[_ANCHOR + 2, j] += share * t
            rows[_ANCHOR + 3, j] += share * t * t


@inner
def _add_part(h, kept, spread, count, rows):
    """Add a part to the sums, in the order of ``add_quadratic``."""
    r, inverse = h * spread, 1.0 / spread
    slope, curve = h * inverse, h * inverse * inverse
    for j in range(count):
        p, k0, k1, k2 = rows[_ANCHOR, j], rows[_ANCHOR + 1, j], rows[_ANCHOR + 2, j], rows[_ANCHOR + 3, j]
        s = rows[_SLOPE, j]
        rise = spread * (s * k1 + 0.5 * r * k2)
        es = s * k0 + r * k1
        ess = s * (es + r * k1) + r * r * k2
        z = p * k0 + k1
        rows[0, j] += rows[_SLOPE + 1, j] * k0 + rise
        rows[1, j] -= es
        rows[2, j] += h * k0
        rows[3, j] += ess
        rows[4, j] -= h * es
        rows[5, j] += slope * z
        rows[6, j] += h * ess
        rows[7, j] -= slope * (s * z + r * (k2 + p * k1))
        rows[8, j] += curve * (p * (z + k1) + k2 - k0)
        rows[9, j] += rows[_SLOPE + 2, j] * k0 + kept * rise


@inner
def set_rows(law, rule, alike, knots, places, count, rows):
    """Set rows[:SUMS] to the averages over omega_u ~ N(place, spread^2), of so many places, whole vectors."""
    y, spread = alike.label, alike.spread
    parts = find_knots(law, rule, y, alike.V, knots) + 1
    for a in range(SUMS):
        for j in range(count):
            rows[a, j] = 0.0
    _fill_endless(-1.0, _END, count, rows)
    for number in range(parts):
        for row in range(3):
            for j in range(count):
                rows[_START + row, j] = rows[_END + row, j]
        ends = number > 0, number < parts - 1
        if ends[1]:
            _fill_end(knots.omega[number], places, spread, _END, count, rows)
        else:
            _fill_endless(1.0, _END, count, rows)
        width = knots.width[number] / spread
        if not width > 0.0:
            continue
        if width < _NARROW:
            _, envelope, loss, _ = from_knot(knots, number - 1, number, 0.5 * width * spread)
            slope = 0.5 * (knots.slope[number - 1] + knots.slope[number])
            _fill_narrow(_Narrow(0.5 * width, slope, envelope, loss), count, rows)
        else:
            inside = _inside(law, rule, y, alike.V, number)
            _fill_wide(inside, knots, number, spread, ends, places, count, rows)
        _add_part(knots.h[number], knots.kept[number], spread, count, rows)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
