"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.centre_panels import AVERAGES, OF_T, add_centre, panels_of, room_for_panels
from generated.runtime.compiling import WIDTH, inner, making_entry, making_inner, sum_of_products
from generated.runtime.contractions import apart
from generated.runtime.label_sums import Room, fill_averages, room_for_averages, sum_up
from generated.runtime.nodes import Output, fill_nodes, span_of, whole
from generated.runtime.one_quadratic import points_of_one
from generated.runtime.prox import NOWHERE
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots
from generated.runtime.quadratic_rows import SUMS, Alike

_MOVED_SUMS = 6  # of those that t multiplies, the last is the sixth
_NONE = -math.inf  # the place of a centre that does not count


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


class _Group(NamedTuple):
    """Nodes of kappa, from first to last, at which outputs have the same spread and V."""

    first: int
    last: int
    spread: float
    V: float


class _Work(NamedTuple):
    """What all nodes of kappa have in common: the labels, how t moves outputs, and room."""

    labels: LabelNodes
    moves: Moves
    centre: Any  # [M, J]: of outputs in u, at the nodes of a group
    length: Any  # [M]: how many labels these have up to the last that counts
    place: Any  # [J]: the same of those that count at one node,
    label: Any
    part: Any  # [parts, J]: the weights of 1, of t and of its products,
    rows: Any  # and averages about each
    sums: Any  # [parts, WIDTH]: averages about all, by these weights
    room: Room


@inner
def add(sums, sign, part, moves, out, node):
    """Add the averages about a centre to those at a node; part: the weights of 1, of the mean of t and its products.

    t varies about its mean, which moves the output: by Stein's lemma a factor t - mean becomes a derivative in the
    centre.
    """
    apart()
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
def _group_at(rule, fields, moves, first):
    """The nodes of kappa from `first` on whose outputs have one spread and V; fills moves.carried."""
    spread, last = math.sqrt(variance_of(fields, first, moves) + rule.noise), first + 1
    while last < fields.V.shape[0] and fields.V[last] == fields.V[first] and fields.Delta[last] == fields.Delta[first]:
        alike = True
        for d in range(fields.slope.shape[0]):
            alike = alike and fields.slope[d, last] == fields.slope[d, first]
        if not alike:
            break
        last += 1
    return _Group(first, last, spread, fields.V[first])


@making_inner
def _largest_group(rule, fields, moves):
    """How many nodes of kappa are in one group at most."""
    most = first = 0
    while first < fields.V.shape[0]:
        group = _group_at(rule, fields, moves, first)
        most, first = max(most, group.last - first), group.last
    return most


@inner
def _fill_centres(law, sign, fields, group, work):
    """Fill the centres of a group, of the labels of one sign for a loss of the margin. Returns how many count, and the
    span of them.
    """
    labels, count, low, high = work.labels, 0, math.inf, -math.inf
    for node in range(group.first, group.last):
        length = labels.weight.shape[1]
        while length > 0 and labels.weight[node, length - 1] == 0.0:  # rows are filled up with nodes of no weight
            length -= 1
        work.length[node - group.first] = length
        for j in range(length):
            y, place = labels.label[node, j], _NONE
            if labels.weight[node, j] != 0.0 and (not law.margin or (y > 0.0) == (sign > 0.0)):
                center = fields.mean[node]
                for d in range(labels.t.shape[2]):
                    center += fields.slope[d, node] * labels.t[node, j, d]
                place = sign * center - (y if law.residual else 0.0)
                low, high = min(low, place), max(high, place)
                count += 1
            work.centre[node - group.first, j] = place
    return count, (low, high)


@inner
def _add_from_panels(sign, panels, count, group, work):
    """Add the averages about all centres of a group, which panels of them tell."""
    labels, room, sums = work.labels, work.room, work.sums
    for node in range(group.first, group.last):
        sums[:] = 0.0
        at = 0
        for j in range(work.length[node - group.first]):
            place = work.centre[node - group.first, j]
            if place != _NONE:
                set_part(labels.weight[node, j], labels.t[node, j], room.part)
                at = add_centre(panels, count, at, place, room.part, sums)
        for p in range(sums.shape[0]):
            room.part[:] = 0.0
            room.part[p] = 1.0
            for c in range(SUMS):
                room.sums[AVERAGES[c]] = sums[p, c] if p == 0 or c < OF_T else 0.0
            add(room.sums, sign, room.part, work.moves, room.out, node)


@inner
def _gathered(node, row, work):
    """Put what counts at a node side by side, up to whole vectors. Returns how many count."""
    labels, count = work.labels, np.intp(0)
    for j in range(work.length[row]):
        if work.centre[row, j] != _NONE:
            work.place[count], work.label[count] = work.centre[row, j], labels.label[node, j]
            set_part(labels.weight[node, j], labels.t[node, j], work.part[:, count])
            count += 1
    for j in range(count, whole(count)):
        work.place[j] = work.place[0]
        work.part[:, j] = 0.0
    return count


@making_inner
def _add_together(law, rule, alike, count, work, node):
    """Add the averages of a loss of the residual or the margin about each centre of a node."""
    length, room = whole(count), work.room
    if law.quadratic:
        order = np.arange(length)
    else:
        order = np.argsort(work.place[:count])
        work.rows[:, count:length] = 0.0
    if not fill_averages(law, rule, alike, work.place, order, room, work.rows):
        room.out[:, node] = math.nan
    for p in range(room.part.shape[0]):
        room.part[:] = 0.0
        room.part[p] = 1.0
        for a in range(SUMS if p == 0 else _MOVED_SUMS):
            room.sums[a] = sum_of_products(work.rows, a, work.part, p, 0, length)
        add(room.sums, alike.label, room.part, work.moves, room.out, node)


@inner
def _add_each(law, rule, alike, count, work, node):
    """Add the averages of a loss that every label is another function of."""
    room, known = work.room, math.nan  # the label that the knots are of
    for j in range(count):
        output, y = Output(work.place[j], alike.spread, alike.V), work.label[j]
        if law.quadratic:
            if y != known:
                find_knots(law, rule, y, output.V, room.knots)
                known = y
            for a in range(SUMS):
                room.sums[a] = 0.0
            add_quadratic(law, rule, y, output, room.knots, room.sums)
        else:
            span = span_of(output)
            nodes = fill_nodes(law, rule, y, span, NOWHERE, room.scratch)
            if nodes == 0:
                room.out[:, node] = math.nan
            sum_up(output.center - span.low, alike.spread, nodes, room, room.sums)
        add(room.sums, 1.0, work.part[:, j], work.moves, room.out, node)


@making_entry
def points(law, rule, labels, fields, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    A loss of the residual or of the margin knows a label by the centre of the output only: where centres are many, the
    averages about them are told by polynomials.
    """
    if law.quadratic and law.smooth:
        points_of_one(law, rule, labels, fields, out)
        return
    number, directions = labels.weight.shape[1], labels.t.shape[2]
    parts, length = 1 + directions + directions * (directions + 1) // 2, whole(labels.weight.shape[1])
    moves, by_centre = Moves(labels.rest, np.empty(directions)), law.residual or law.margin
    part, most = np.empty(parts), _largest_group(rule, fields, moves)
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(SUMS), out, room_for_knots(law), part)
    work = _Work(
        labels,
        moves,
        np.empty((most, number)),
        np.empty(most, np.intp),
        np.empty(length),
        np.empty(length),
        np.empty((parts, length)),
        room_for_averages(law, length if by_centre else 0),
        np.empty((parts, WIDTH)),
        room,
    )
    panels = room_for_panels(law, by_centre)
    out[:] = 0.0
    first = 0
    while first < fields.V.shape[0]:
        group = _group_at(rule, fields, moves, first)
        for number_of_side in range(2 if law.margin else 1):
            alike = Alike(1.0 - 2.0 * number_of_side, group.spread, group.V)
            count, span = _fill_centres(law, alike.label, fields, group, work)
            found = panels_of(law, rule, alike, span, count, room, panels) if by_centre else 0
            if found > 0:
                _add_from_panels(alike.label, panels, found, group, work)
                continue
            for node in range(group.first, group.last):
                count = _gathered(node, node - group.first, work)
                if count == 0:
                    continue
                if by_centre:
                    _add_together(law, rule, alike, count, work, node)
                else:
                    _add_each(law, rule, alike, count, work, node)
        first = group.last

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
