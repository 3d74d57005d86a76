"""Averages over the output about centres of one spread, by nodes of the output that they share or in closed form.

Written by hand, in codegen/runtime/label_sums.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_inner, sum_of_products
from generated.runtime.contractions import apart
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import (
    ENVELOPE,
    G_G,
    G_G_H,
    G_H,
    LOSS,
    OMEGA,
    REACH,
    VECTOR,
    WEIGHT,
    G,
    H,
    Span,
    fill_nodes,
    whole,
)
from generated.runtime.prox import NOWHERE
from generated.runtime.quadratic_rows import SUMS, room_for_rows, set_rows
from generated.runtime.vector import exp

_WIDE, _STEEP = 100.0, 50.0  # of the centres that share their nodes: spreads, and units of the exponential growth


class Room(NamedTuple):
    """Nodes with the loss there, the density of one centre, its sums, the averages, the knots of a label."""

    scratch: Any
    density: Any  # [3, n], and its first two derivatives
    sums: Any  # [10]
    out: Any
    knots: Any
    part: Any  # the weights of 1, of t and of its products


@inner
def first_beyond(scratch, count, omega):
    """The first node from omega on."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if scratch[OMEGA, middle] < omega:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def sum_up(center, spread, count, room, sums):
    """The sums about a centre, in the order of ``add``, over the nodes within reach of it; both are counted from the
    start of their span.
    """
    scratch, density = room.scratch, room.density
    reach, inverse = REACH * spread, 1.0 / (spread * spread)
    first = first_beyond(scratch, count, center - reach)
    last = whole(first_beyond(scratch, count, center + reach))
    first -= first % VECTOR
    scale, narrow = NORM / spread, 1.0 / spread
    for i in range(first, last):
        z = (scratch[OMEGA, i] - center) * narrow
        density[0, i] = scale * scratch[WEIGHT, i] * exp(-0.5 * z * z)
    for i in range(first, last):  # its derivatives in the centre
        x = (scratch[OMEGA, i] - center) * inverse
        density[1, i] = density[0, i] * x
        density[2, i] = density[0, i] * (x * x - inverse)
    sums[0] = sum_of_products(density, 0, scratch, ENVELOPE, first, last)
    sums[1] = sum_of_products(density, 0, scratch, G, first, last)
    sums[2] = sum_of_products(density, 0, scratch, H, first, last)
    sums[3] = sum_of_products(density, 0, scratch, G_G, first, last)
    sums[4] = sum_of_products(density, 0, scratch, G_H, first, last)
    sums[5] = sum_of_products(density, 1, scratch, H, first, last)
    sums[6] = sum_of_products(density, 0, scratch, G_G_H, first, last)
    sums[7] = sum_of_products(density, 1, scratch, G_H, first, last)
    sums[8] = sum_of_products(density, 2, scratch, H, first, last)
    sums[9] = sum_of_products(density, 0, scratch, LOSS, first, last)


@inner
def _last_together(law, places, order, first, spread):
    """The end of the centres from `first` on, in order, that share their nodes; and the place of the last of them."""
    widest = _WIDE * spread
    if law.rate > 0.0:
        widest = min(widest, _STEEP / law.rate)
    start = before = places[order[first]]
    last = first + 1
    while last < order.shape[0]:
        place = places[order[last]]
        if place - before > 2.0 * REACH * spread or place - start > widest:
            break
        before = place
        last += 1
    return last, before


@making_inner
def room_for_averages(law, count):
    """Room for averages about so many centres, whole vectors."""
    return room_for_rows(count) if law.quadratic else np.empty((SUMS, count))


@inner
def fill_averages(law, rule, alike, places, order, room, rows):
    """Set rows[:SUMS] to the averages about places, whole vectors of them, of a loss of the residual or the margin;
    order: of the places. Returns whether there was room for the nodes.
    """
    apart()
    if law.quadratic:
        set_rows(law, rule, alike, room.knots, places, order.shape[0], rows)
        return True
    first, reach = 0, REACH * alike.spread
    while first < order.shape[0]:
        last, highest = _last_together(law, places, order, first, alike.spread)
        span = Span(places[order[first]] - reach, highest + reach, alike.spread, alike.V)
        count = fill_nodes(law, rule, alike.label, span, NOWHERE, room.scratch)
        if count == 0:
            return False
        for k in range(first, last):
            sum_up(places[order[k]] - span.low, alike.spread, count, room, room.sums)
            for a in range(SUMS):
                rows[a, order[k]] = room.sums[a]
        first = last
    return True

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
