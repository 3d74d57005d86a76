"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature 886a595bf4c515e2, runtime 835b3635d834fd14.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import add_multiple, inner, making_entry, making_inner, sum_of_products
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
from generated.runtime.vector import exp

# centres that are many are moved to cells of a grid: N(c, s^2) is a sum over cells x of N(x; c, (s/2)^2) N(x, 3 s^2/4)
_MOVED = 0.5  # of the spread, in which a centre is spread over cells
_KEPT = math.sqrt(0.75)  # the spread about a cell, in spreads s of the output
_CELL = 0.3175  # the length of a cell in s: the sum is off by 2 exp(-2 pi^2 (3/16)/_CELL^2) = 2e-16 of itself
_REACHED = 28  # cells that a centre is moved to: 8.26 of s/2 on both sides, beyond which there is 1e-16
_MIDDLE = 13  # the number among them of its own
_PANEL = 16  # cells that are told apart as crowded or not: at least half of those reached
_CROWD = 24  # centres on a panel that are worth its cells
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
    part: Any


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
def _crowded(places, count, low, cell, panel):
    """Number the panels that hold more centres than pay for their cells, and those beside them, with -2 - number for
    the latter and -1 for all others; how many are numbered. The lowest centre `low` begins the second panel.
    """
    for k in range(panel.shape[0]):
        panel[k] = 0
    for j in range(count):
        place = 1.0 + (places[j] - low) / (_PANEL * cell)
        if place < panel.shape[0] - 1:
            panel[int(place)] += 1
    panels, before = 0, False
    for k in range(panel.shape[0]):
        here = panel[k] > _CROWD
        if here:
            panel[k] = panels
        elif before or (k + 1 < panel.shape[0] and panel[k + 1] > _CROWD):
            panel[k] = -2 - panels
        else:
            panel[k] = -1
        panels += panel[k] != -1
        before = here
    return panels


@making_inner
def _bell():
    """The shares that a centre in the middle of a cell has of it and of those around it, and room for as many."""
    bell = np.empty((2, _REACHED))
    for k in range(_REACHED):
        x = _CELL / _MOVED * (k - _MIDDLE)
        bell[0, k] = NORM * _CELL / _MOVED * math.exp(-0.5 * x * x)
    return bell


@inner
def _fill_shares(offset, bell, share):
    """The shares of a centre that lies `offset` of a cell beyond the middle of the cells that it is moved to.

    bell[_REACHED]: those of one that does not.
    """
    rate = (_CELL / _MOVED) ** 2 * offset
    ratio = math.exp(rate)
    first = math.exp(-rate * (_MIDDLE + 0.5 * offset))
    second, square = first * ratio, ratio * ratio
    third, fourth, ratio = first * square, second * square, square * square
    for k in range(0, _REACHED, 4):  # four that do not wait for each other
        share[k] = bell[k] * first
        share[k + 1] = bell[k + 1] * second
        share[k + 2] = bell[k + 2] * third
        share[k + 3] = bell[k + 3] * fourth
        first, second, third, fourth = first * ratio, second * ratio, third * ratio, fourth * ratio


@inner
def _gathered(centres, count, low, cell, panel, moments, bell):
    """Move the centres in crowded panels to moments[part, cell] of numbered panels. Returns how many are left.

    bell [2, _REACHED]: the shares of a centre in the middle of a cell, and room for those of others.
    """
    bell, share = bell[0], bell[1]
    places, parts = centres.place, centres.part
    kept = np.intp(0)
    for j in range(count):
        place = _PANEL + (places[j] - low) / cell
        near = place < _PANEL * panel.shape[0]  # what is far may have a number beyond all whole ones
        number = int(place) if near else 0
        k = number // _PANEL
        if not near or panel[k] < 0:
            centres.label[kept] = centres.label[j]
            places[kept] = places[j]
            for a in range(parts.shape[1]):
                parts[kept, a] = parts[j, a]
            kept += 1
        else:
            _fill_shares(place - number, bell, share)
            first = panel[k] * _PANEL + number % _PANEL - _MIDDLE
            for a in range(parts.shape[1]):
                add_multiple(moments, a, first, parts[j, a], share)
    return kept


@inner
def _fill_cells(low, cell, panel, moments, label, cells):
    """Centres at the cells of numbered panels that have a weight. Returns how many."""
    count = np.intp(0)
    for k in range(panel.shape[0]):
        first = (panel[k] if panel[k] >= 0 else -2 - panel[k]) * _PANEL
        for i in range(_PANEL if panel[k] != -1 else 0):
            if moments[0, first + i] != 0.0:
                cells.label[count] = label
                cells.place[count] = low + cell * ((k - 1) * _PANEL + i)
                for a in range(moments.shape[0]):
                    cells.part[count, a] = moments[a, first + i]
                count += 1
    return count


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
            set_part(weight, labels.t[node, j], centres.part[count])
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
            add(room.sums, side.sign, centres.part[order[k]], moves, room.out, node)
        first = last


@inner
def _add_closed(law, rule, side, centres, count, moves, room, node):
    """The same for a loss of quadratic pieces, in closed form for every centre."""
    known = math.nan  # the label that the knots are of
    for j in range(count):
        output = Output(centres.place[j], side.spread, side.V)
        y = side.sign if law.residual or law.margin else centres.label[j]
        if y != known:
            find_knots(law, rule, y, output.V, room.knots)
            known = y
        for a in range(10):
            room.sums[a] = 0.0
        add_quadratic(law, rule, y, output, room.knots, room.sums)
        add(room.sums, side.sign, centres.part[j], moves, room.out, node)


@making_inner
def _add_all(law, rule, side, centres, count, moves, room, node):
    """Add the averages about all centres to those at a node."""
    if law.quadratic:
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
    centres = _Centres(np.empty(number), np.empty(number), np.empty((number, products)))
    moves = Moves(labels.rest, np.empty(directions))
    panel = np.empty(number + 2, np.int64)
    bell = _bell()
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(10), out, room_for_knots(law))
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        spread, V = math.sqrt(variance_of(fields, node, moves) + rule.noise), fields.V[node]
        cell = _CELL * spread
        for number_of_side in range(2 if law.margin else 1):
            sign = 1.0 - 2.0 * number_of_side
            count, low = _find_centres(law, sign, labels, fields, node, centres)
            if count > _CROWD and (law.residual or law.margin):
                panels = _crowded(centres.place, count, low, cell, panel)
                if panels > 0:
                    size = panels * _PANEL
                    moments = np.zeros((products, size))
                    count = _gathered(centres, count, low, cell, panel, moments, bell)
                    cells = _Centres(np.empty(size), np.empty(size), np.empty((size, products)))
                    size = _fill_cells(low, cell, panel, moments, sign, cells)
                    _add_all(law, rule, _Side(sign, _KEPT * spread, V), cells, size, moves, room, node)
            _add_all(law, rule, _Side(sign, spread, V), centres, count, moves, room, node)

SIGNATURE = "886a595bf4c515e2b1d13421adb4c85e7beac4975adddb9fe7564b5ec3e5cd46"
