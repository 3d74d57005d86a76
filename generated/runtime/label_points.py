"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature 8053baa69fdf1aa5, runtime cdd2584516ff0fa8.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_entry, making_inner, sum_of_products
from generated.runtime.crowds import CELL, CROWD, KEPT, PANEL, bell_of_cells, crowded, fill_cells, gathered
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
from generated.runtime.one_quadratic import points_of_one
from generated.runtime.prox import NOWHERE
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots
from generated.runtime.quadratic_rows import SUMS, Alike, room_for_rows, set_rows
from generated.runtime.vector import exp

_MOVED_SUMS = 6  # of those that t multiplies, the last is the sixth
_WIDE, _STEEP = 100.0, 50.0  # of the centres that share their nodes: spreads, and units of the exponential growth


class LabelNodes(NamedTuple):
    """The law of label and mean of t given kappa, at nodes."""

    weight: Any  # [N, J]
    t: Any  # [N, J, D]
    label: Any  # [N, J]
    rest: Any  # [D, D]: the covariance of t about its mean


class Moves(NamedTuple):
    """How t moves the output."""

    rest: Any  # [D, D]: the covariance of t about its mean
    carried: Any  # [D]: its covariance with the output


class _Centres(NamedTuple):
    """Centres of the output in u, the labels there, and parts: the weights of 1, of t and of its products."""

    label: Any
    place: Any
    part: Any  # [parts, n]
    rows: Any  # room for averages about each


class _Side(NamedTuple):
    """Labels of one sign, of a loss of the margin: the sign of u in the output, whose spread and V are those of u."""

    sign: float
    spread: float
    V: float


class Room(NamedTuple):
    """Nodes with the loss there, the density of one centre, its sums, the averages, the knots of a label."""

    scratch: Any
    density: Any  # [3, n], and its first two derivatives
    sums: Any  # [10]
    out: Any
    knots: Any
    part: Any  # the weights of 1, of t and of its products


@inner
def add(sums, sign, part, moves, out, node):
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
def set_part(w, t, part):
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
            set_part(weight, labels.t[node, j], centres.part[:, count])
            count += 1
    return count, low


@inner
def variance_of(fields, node, moves):
    """The variance of the output at a node; fills moves.carried."""
    variance = fields.Delta[node]
    for d in range(moves.carried.shape[0]):
        moves.carried[d] = 0.0
        for e in range(moves.carried.shape[0]):
            moves.carried[d] += moves.rest[d, e] * fields.slope[e, node]
        variance += fields.slope[d, node] * moves.carried[d]
    return variance


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
        count = fill_nodes(law, rule, centres.label[order[first]], span, NOWHERE, room.scratch)
        if count == 0:
            for a in range(room.out.shape[0]):
                room.out[a, node] = math.nan
        for k in range(first, last):
            sum_up(centres.place[order[k]] - span.low, side.spread, count, room, room.sums)
            add(room.sums, side.sign, centres.part[:, order[k]], moves, room.out, node)
        first = last


@inner
def _add_rows(law, rule, side, centres, count, moves, room, node):
    """The same for a loss of quadratic pieces, in closed form, whose knots are those of all centres."""
    length, part = whole(count), room.part
    for j in range(count, length):
        centres.place[j] = centres.place[0]
        centres.part[:, j] = 0.0
    alike = Alike(side.sign, side.spread, side.V)
    set_rows(law, rule, alike, room.knots, centres.place, length, centres.rows)
    for p in range(part.shape[0]):
        part[:] = 0.0
        part[p] = 1.0
        for a in range(SUMS if p == 0 else _MOVED_SUMS):
            room.sums[a] = sum_of_products(centres.rows, a, centres.part, p, 0, length)
        add(room.sums, side.sign, part, moves, room.out, node)


@inner
def _add_closed(law, rule, side, centres, count, moves, room, node):
    """The same where every label has knots of its own."""
    known = math.nan  # the label that the knots are of
    for j in range(count):
        output, y = Output(centres.place[j], side.spread, side.V), centres.label[j]
        if y != known:
            find_knots(law, rule, y, output.V, room.knots)
            known = y
        for a in range(10):
            room.sums[a] = 0.0
        add_quadratic(law, rule, y, output, room.knots, room.sums)
        add(room.sums, side.sign, centres.part[:, j], moves, room.out, node)


@making_inner
def _room_for_centres(law, number, products):
    """Room for so many centres, whole vectors."""
    length = whole(number)
    rows = room_for_rows(length if law.quadratic else 0)
    return _Centres(np.empty(length), np.empty(length), np.empty((products, length)), rows)


@making_inner
def _add_all(law, rule, side, centres, count, moves, room, node):
    """Add the averages about all centres to those at a node."""
    if count == 0:
        return
    if law.quadratic and (law.residual or law.margin):
        _add_rows(law, rule, side, centres, count, moves, room, node)
    elif law.quadratic:
        _add_closed(law, rule, side, centres, count, moves, room, node)
    else:
        _add_averages(law, rule, side, centres, np.argsort(centres.place[:count]), moves, room, node)


@making_entry
def points(law, rule, labels, fields, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    A loss of the residual or of the margin knows a label by the centre of the output only: many that are close are
    moved to cells of a grid.
    """
    if law.quadratic and law.smooth:
        points_of_one(law, rule, labels, fields, out)
        return
    number, directions = labels.weight.shape[1], labels.t.shape[2]
    products = 1 + directions + directions * (directions + 1) // 2
    centres = _room_for_centres(law, number, products)
    moves = Moves(labels.rest, np.empty(directions))
    panel = np.empty(number + 2, np.int64)
    bell = bell_of_cells()
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(10), out, room_for_knots(law), np.empty(products))
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        spread, V = math.sqrt(variance_of(fields, node, moves) + rule.noise), fields.V[node]
        cell = CELL * spread
        for number_of_side in range(2 if law.margin else 1):
            sign = 1.0 - 2.0 * number_of_side
            count, low = _find_centres(law, sign, labels, fields, node, centres)
            if count > CROWD and (law.residual or law.margin):
                panels = crowded(centres.place, count, low, cell, panel)
                if panels > 0:
                    size = panels * PANEL
                    moments = np.zeros((products, size))
                    count = gathered(centres, count, low, cell, panel, moments, bell)
                    cells = _room_for_centres(law, size, products)
                    size = fill_cells(low, cell, panel, moments, sign, cells)
                    _add_all(law, rule, _Side(sign, KEPT * spread, V), cells, size, moves, room, node)
            _add_all(law, rule, _Side(sign, spread, V), centres, count, moves, room, node)

SIGNATURE = "8053baa69fdf1aa5adbf307e632a969ec95d2c6f1431b2be938052c4f13db388"
