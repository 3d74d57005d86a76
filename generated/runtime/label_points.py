"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature 27b953f0dca52d7b, runtime 561ce8984c323c27.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import add_multiple, entry, inner, sum_of_products
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
    Output,
    Span,
    fill_nodes,
    whole,
)
from generated.runtime.prox import Turns
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots, set_on_line
from generated.runtime.vector import exp

_ORDER = 20  # Chebyshev nodes of a panel of centres: an even number, whole vectors of four
_HALF = 0.7  # its half width in spreads of the output, which smooth what is interpolated: (h/2)^n 2/sqrt(n!) = 1e-18
_CROWD = 24  # centres on a panel that are worth its nodes
_NOWHERE = Turns((math.inf, math.inf), math.inf)
_GROWTH = 2.0  # its half width in units of the exponential growth of a loss, at most: (h/2)^n 2/n! = 1e-18
_WIDE, _STEEP = 100.0, 50.0  # of the centres that share their nodes: spreads, and units of the exponential growth


class LabelNodes(NamedTuple):
    """The law of label and mean of t given kappa, at nodes."""

    weight: Any  # [N, J]
    t: Any  # [N, J, D]
    label: Any  # [N, J]
    rest: Any  # [D, D]: the covariance of t about its mean


class _Moves(NamedTuple):
    """How t moves the output."""

    rest: Any  # [D, D]: the covariance of t about its mean
    carried: Any  # [D]: its covariance with the output


class _Centres(NamedTuple):
    """Centres of the output in u, the labels there, and parts: the weights of 1, of t and of its products."""

    label: Any
    place: Any
    part: Any


class _Side(NamedTuple):
    """Labels of one sign, of a loss of the margin: the sign of u in the output, whose spread and V are those of u."""

    sign: float
    spread: float
    V: float


class _Room(NamedTuple):
    """Nodes with the loss there, the density of one centre, its sums, the averages, the knots of a label."""

    scratch: Any
    density: Any  # [3, n], and its first two derivatives
    sums: Any  # [10]
    out: Any
    knots: Any


@inner
def _add(sums, sign, part, moves, out, node):
    """Add the averages about a centre to those at a node; part: the weights of 1, of the mean of t and its products.

    t varies about its mean, which moves the output: by Stein's lemma a factor t - mean becomes a derivative in the
    centre.
    """
    carried, rest = moves.carried, moves.rest
    directions, w = carried.shape[0], part[0]
    for a in range(9):
        odd = a == 1 or a == 4 or a == 5
        out[a, node] += (sign * w if odd else w) * sums[a]
    g, h, gh, hx, ghx, hxx = sums[1], sums[2], sums[4], sums[5], sums[7], sums[8]
    place, pair = 9 + 4 * directions, 1 + directions
    for d in range(directions):
        t, moved = part[1 + d], w * carried[d]
        out[9 + d, node] += sign * t * g - moved * h
        out[9 + directions + d, node] += t * h + sign * moved * hx
        out[9 + 2 * directions + d, node] += sign * t * gh + moved * ghx
        out[9 + 3 * directions + d, node] += sign * t * hx + moved * hxx
        for e in range(d, directions):
            mixed = sign * (t * carried[e] + part[1 + e] * carried[d])
            out[place, node] += (part[pair] + w * rest[d, e]) * h + mixed * hx + moved * carried[e] * hxx
            place, pair = place + 1, pair + 1
    out[place, node] += w * sums[9]


@inner
def _set_part(w, t, part):
    """The weights of 1, of t and of its products where t has the weight w."""
    directions = t.shape[0]
    part[0] = w
    pair = 1 + directions
    for d in range(directions):
        part[1 + d] = w * t[d]
        for e in range(d, directions):
            part[pair] = w * t[d] * t[e]
            pair += 1


@inner
def _crowded(centers, count, low, half, panel):
    """Number the panels from `low` on that hold more centres than pay for a table, -1 for the others; how many."""
    for k in range(panel.shape[0]):
        panel[k] = 0
    for j in range(count):
        place = (centers[j] - low) / (2.0 * half)
        if place < panel.shape[0]:
            panel[int(place)] += 1
    panels = 0
    for k in range(panel.shape[0]):
        if panel[k] > _CROWD:
            panel[k] = panels
            panels += 1
        else:
            panel[k] = -1
    return panels


@inner
def _fill_polynomials(x, polynomial):
    """The Chebyshev polynomials at x, even and odd ones each from the two before: neither waits for the other."""
    twice = 2.0 * (2.0 * x * x - 1.0)
    even, odd, before_even, before_odd = 1.0, x, 0.5 * twice, x
    for degree in range(0, _ORDER, 2):
        polynomial[degree] = even
        polynomial[degree + 1] = odd
        before_even, even = even, twice * even - before_even
        before_odd, odd = odd, twice * odd - before_odd


@inner
def _gathered(centres, count, low, half, panel, moments, polynomial):
    """Replace the centres in crowded panels by Chebyshev nodes, with weights that average polynomials as they do.

    moments[panel and part, degree]: room for those of the Chebyshev polynomials, polynomial[degree] for these at a
    place.
    Returns how many centres there are now.
    """
    centers, parts = centres.place, centres.part
    kept = np.intp(0)
    for j in range(count):
        place = (centers[j] - low) / (2.0 * half)
        k = panel[int(place)] if place < panel.shape[0] else -1
        if k < 0:
            centers[kept] = centers[j]
            for a in range(parts.shape[1]):
                parts[kept, a] = parts[j, a]
            kept += 1
        else:
            _fill_polynomials(2.0 * (place - int(place)) - 1.0, polynomial)
            for a in range(parts.shape[1]):
                add_multiple(moments, k * parts.shape[1] + a, parts[j, a], polynomial)
    for place in range(panel.shape[0]):
        if panel[place] >= 0:
            for i in range(_ORDER):
                angle = math.pi * (i + 0.5) / _ORDER
                centers[kept] = low + half * (2.0 * place + 1.0 + math.cos(angle))
                _stand_in(moments, panel[place], angle, parts, kept)
                kept += 1
    return kept


@inner
def _stand_in(moments, k, angle, parts, place):
    """The parts at the Chebyshev node of an angle that stand for those of all centres of a panel."""
    first = k * parts.shape[1]
    for a in range(parts.shape[1]):
        parts[place, a] = moments[first + a, 0] / _ORDER
    for degree in range(1, _ORDER):
        share = 2.0 * math.cos(degree * angle) / _ORDER
        for a in range(parts.shape[1]):
            parts[place, a] += share * moments[first + a, degree]


@inner
def _find_centres(law, sign, labels, fields, node, centres):
    """Centres of one node, of the labels of one sign for a loss of the margin. Returns how many, and the lowest."""
    count, low = np.intp(0), math.inf
    for j in range(labels.weight.shape[1]):
        weight, y = labels.weight[node, j], labels.label[node, j]
        if weight != 0.0 and (not law.margin or (y > 0.0) == (sign > 0.0)):
            center = fields.mean[node]
            for d in range(labels.t.shape[2]):
                center += fields.slope[d, node] * labels.t[node, j, d]
            centres.place[count] = sign * center - (y if law.residual else 0.0)
            low = min(low, centres.place[count])
            centres.label[count] = y
            _set_part(weight, labels.t[node, j], centres.part[count])
            count += 1
    return count, low


@inner
def _variance(fields, node, moves):
    """The variance of the output at a node; fills moves.carried."""
    variance = fields.Delta[node]
    for d in range(moves.carried.shape[0]):
        moves.carried[d] = 0.0
        for e in range(moves.carried.shape[0]):
            moves.carried[d] += moves.rest[d, e] * fields.slope[e, node]
        variance += fields.slope[d, node] * moves.carried[d]
    return variance


@inner
def _first_beyond(scratch, count, omega):
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
def _sum_up(center, spread, count, room, sums):
    """The sums about a centre, in the order of ``_add``, over the nodes within reach of it."""
    scratch, density = room.scratch, room.density
    reach, inverse = REACH * spread, 1.0 / (spread * spread)
    first = _first_beyond(scratch, count, center - reach)
    last = whole(_first_beyond(scratch, count, center + reach))
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
    while last < order.shape[0] and (law.residual or law.margin):
        place = places[order[last]]
        if place - before > 2.0 * REACH * spread or place - start > widest:
            break
        before = place
        last += 1
    return last, before


@inner
def _add_averages(law, rule, side, centres, order, moves, room, node):
    """Add the averages of a loss at its nodes, which centres that lie close to each other share."""
    first, reach = 0, REACH * side.spread
    while first < order.shape[0]:
        last, highest = _last_together(law, centres.place, order, first, side.spread)
        span = Span(centres.place[order[first]] - reach, highest + reach, side.spread, side.V)
        count = fill_nodes(law, rule, centres.label[order[first]], span, _NOWHERE, room.scratch)
        if count == 0:
            for a in range(room.out.shape[0]):
                room.out[a, node] = math.nan
        for k in range(first, last):
            _sum_up(centres.place[order[k]], side.spread, count, room, room.sums)
            _add(room.sums, side.sign, centres.part[order[k]], moves, room.out, node)
        first = last


@inner
def _add_closed(law, rule, side, centres, count, moves, room, node):
    """The same for a loss of quadratic pieces, in closed form for every centre."""
    known = math.nan  # the label that the knots are of
    for j in range(count):
        output = Output(centres.place[j], side.spread, side.V)
        y = side.sign if law.residual or law.margin else centres.label[j]
        if law.smooth:
            set_on_line(law, rule, y, output, room.sums)
        else:
            if y != known:
                find_knots(law, rule, y, output.V, room.knots)
                known = y
            for a in range(10):
                room.sums[a] = 0.0
            add_quadratic(law, rule, y, output, room.knots, room.sums)
        _add(room.sums, side.sign, centres.part[j], moves, room.out, node)


@entry
def points(law, rule, labels, fields, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    A loss of the residual or of the margin knows a label by the centre of the output only: many that are close are
    replaced by Chebyshev nodes.
    """
    number, directions = labels.weight.shape[1], labels.t.shape[2]
    sums, parts = np.empty(10), np.empty((number, 1 + directions + directions * (directions + 1) // 2))
    centres = _Centres(np.empty(number), np.empty(number), parts)
    moves = _Moves(labels.rest, np.empty(directions))
    panel, polynomial = np.empty(number, np.int64), np.empty(_ORDER)
    room = _Room(scratch, np.empty((3, scratch.shape[1])), sums, out, room_for_knots(law))
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        spread = math.sqrt(_variance(fields, node, moves) + rule.noise)
        half = _HALF * spread
        if law.rate > 0.0:
            half = min(half, _GROWTH / law.rate)
        for number_of_side in range(2 if law.margin else 1):
            side = _Side(1.0 - 2.0 * number_of_side, spread, fields.V[node])
            count, low = _find_centres(law, side.sign, labels, fields, node, centres)
            if count > _CROWD and (law.residual or law.margin):
                panels = _crowded(centres.place, count, low, half, panel)
                if panels > 0:
                    moments = np.zeros((panels * parts.shape[1], _ORDER))
                    count = _gathered(centres, count, low, half, panel, moments, polynomial)
                    for j in range(count):
                        centres.label[j] = side.sign
            if law.quadratic:
                _add_closed(law, rule, side, centres, count, moves, room, node)
            else:
                _add_averages(law, rule, side, centres, np.argsort(centres.place[:count]), moves, room, node)

SIGNATURE = "27b953f0dca52d7b3cae48ac06c5edf88d2975a27f008ad0dcd36b58e5ade8c7"
