"""Averages over the output and a label that is linear in a normal variable beside its nodes: losses of the residual.

Output and label are jointly Gaussian given a node: what is left of t there spreads their difference. Where the label is
linear between two kinks only, the law of that variable given the difference is a Gaussian that ends there.

Written by hand, in codegen/runtime/label_lines.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_entry, sum_of_products
from generated.runtime.ended_quadratic import is_closed, pair_of, set_ended_quadratic, share_felt
from generated.runtime.label_intervals import Label, fill_law, given_output, turns_of
from generated.runtime.label_points import Moves, add, set_part, variance_of
from generated.runtime.label_sums import Room, first_beyond, sum_up
from generated.runtime.nodes import (
    ENVELOPE,
    G_G,
    G_G_H,
    G_H,
    LOSS,
    REACH,
    VECTOR,
    G,
    H,
    Output,
    Rule,
    Span,
    fill_nodes,
    whole,
)
from generated.runtime.output_sums import LAW
from generated.runtime.polygons import NODES
from generated.runtime.prox import NOWHERE
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots, set_on_line
from generated.runtime.rectangle_moments import ROWS

_ALIKE = 1.5  # ratio of the spreads that share their nodes
_MORE = 1.25  # of the steps of a trapezoid: spreads may be wide, and poles of a loss are then all that counts
_WIDE = 20.0  # of those nodes, in lengths of the first that they are for
_RARE = 1e-2  # share of labels that feel the loss, below which differences of sums of order one have too few digits
_SHARP = 0.5  # share of the spread beside x, below which a line with ends has nodes of its own about these


class LabelLines(NamedTuple):
    """Labels label + slope x with t about t + axis x, x standard normal between two ends, at nodes given kappa."""

    weight: Any  # [N, J]: that of all x
    t: Any  # [N, J, D]
    label: Any  # [N, J]
    slope: Any  # [N, J]
    low: Any  # [N, J], infinite where the label is the same line for all x
    high: Any
    axis: Any  # [D]
    rest: Any  # [D, D]: the covariance of t beside x


class _Residuals(NamedTuple):
    """Output minus label at the nodes of one kappa: centres, spreads and covariances with x."""

    place: Any
    spread: Any
    tilt: Any


class _Ended(NamedTuple):
    """Room for lines with ends."""

    law: Any  # [LAW, n]: of x at the nodes of the output
    sums: Any  # [3, 10]: averages of 1, x and x^2 with the loss
    first: Any  # weights of t and its products where these have a factor x,
    second: Any  # and its square
    rectangle: Any  # what its moments need


class _Work(NamedTuple):
    """What the averages at all nodes of kappa have in common: the labels, and room for their residuals and sums."""

    labels: LabelLines
    residuals: _Residuals
    ended: _Ended
    beside: Moves  # of t beside x
    moves: Moves  # of all that is left of t
    room: Room


@inner
def _has_ends(labels, node, j):
    """Whether the label is a line on a part of x only."""
    return labels.low[node, j] > -math.inf or labels.high[node, j] < math.inf


@inner
def _find_residuals(labels, fields, node, base, ended, residuals):
    """Fill the residuals at a node of kappa; base: the variance of the output beside x. Returns how many count: those
    of lines with ends or without, as `ended` says. The spreads of the others are infinite.
    """
    along = 0.0
    for d in range(labels.axis.shape[0]):
        along += fields.slope[d, node] * labels.axis[d]
    count = 0
    for j in range(labels.weight.shape[1]):
        center = fields.mean[node] - labels.label[node, j]
        for d in range(labels.axis.shape[0]):
            center += fields.slope[d, node] * labels.t[node, j, d]
        tilt = along - labels.slope[node, j]
        residuals.place[j], residuals.tilt[j] = center, tilt
        residuals.spread[j] = math.sqrt(base + tilt * tilt)
        if labels.weight[node, j] == 0.0 or _has_ends(labels, node, j) != ended:
            residuals.spread[j] = math.inf
        else:
            count += 1
    return count


@inner
def _set_products(weight, t, axis, ended):
    """What x and its square have of t and its products at t + axis x, of such a weight."""
    directions = t.shape[0]
    pair = 1 + directions
    ended.first[0] = ended.second[0] = 0.0
    for d in range(directions):
        ended.first[1 + d], ended.second[1 + d] = weight * axis[d], 0.0
        for e in range(d, directions):
            ended.first[pair] = weight * (t[d] * axis[e] + t[e] * axis[d])
            ended.second[pair] = weight * axis[d] * axis[e]
            pair += 1


@inner
def _sum_up(law, scratch, nodes, sums):
    """The sums about one line with ends, from the law of x at nodes of the output: times 1, x and x^2."""
    first, last = nodes
    sums[0, 0] = sum_of_products(law, 0, scratch, ENVELOPE, first, last)
    sums[0, 1] = sum_of_products(law, 0, scratch, G, first, last)
    sums[0, 2] = sum_of_products(law, 0, scratch, H, first, last)
    sums[0, 3] = sum_of_products(law, 0, scratch, G_G, first, last)
    sums[0, 4] = sum_of_products(law, 0, scratch, G_H, first, last)
    sums[0, 5] = sum_of_products(law, 3, scratch, H, first, last)
    sums[0, 6] = sum_of_products(law, 0, scratch, G_G_H, first, last)
    sums[0, 7] = sum_of_products(law, 3, scratch, G_H, first, last)
    sums[0, 8] = sum_of_products(law, 5, scratch, H, first, last)
    sums[0, 9] = sum_of_products(law, 0, scratch, LOSS, first, last)
    sums[1, 1] = sum_of_products(law, 1, scratch, G, first, last)
    sums[1, 2] = sum_of_products(law, 1, scratch, H, first, last)
    sums[1, 4] = sum_of_products(law, 1, scratch, G_H, first, last)
    sums[1, 5] = sum_of_products(law, 4, scratch, H, first, last)
    sums[2, 2] = sum_of_products(law, 2, scratch, H, first, last)


@inner
def _add_sums(work, j, node):
    """Add the averages about one line with ends from its sums, which give all x a weight of one."""
    labels, ended, beside, part, out = work.labels, work.ended, work.beside, work.room.part, work.room.out
    weight, t, sums = labels.weight[node, j], labels.t[node, j], ended.sums
    set_part(weight, t, part)
    add(sums[0], 1.0, part, beside, out, node)
    _set_products(weight, t, labels.axis, ended)
    add(sums[1], 1.0, ended.first, beside, out, node)
    add(sums[2], 1.0, ended.second, beside, out, node)


@inner
def _add_ended(work, base, start, count, j, node):
    """Add the averages about a line with ends, on those of the nodes beyond `start` that it reaches."""
    labels, residuals, scratch = work.labels, work.residuals, work.room.scratch
    low, high = labels.low[node, j], labels.high[node, j]
    place, spread, tilt = residuals.place[j] - start, residuals.spread[j], residuals.tilt[j]
    lowest, highest = _reached(place, tilt, (low, high), base, spread)
    first = first_beyond(scratch, count, lowest)
    nodes = first - first % VECTOR, whole(first_beyond(scratch, count, highest))
    label = Label(1.0, 1.0, low, high)
    given = given_output(1.0, tilt, base)
    fill_law(label, given, Output(place, spread, 0.0), (base, tilt), scratch, nodes, work.ended.law)
    _sum_up(work.ended.law, scratch, nodes, work.ended.sums)
    _add_sums(work, j, node)


@inner
def _pair_at(labels, residuals, base, node, j):
    """The output and x of a line with ends."""
    output = Output(residuals.place[j], residuals.spread[j], 0.0)
    return pair_of(output, residuals.tilt[j], base, (labels.low[node, j], labels.high[node, j]))


@inner
def _are_rare(law, work, base, node):
    """Whether all but few of the labels on lines with ends feel no slope of the loss, or lose nothing at the prox."""
    labels, residuals = work.labels, work.residuals
    most = pulled = lost = 0.0
    for j in range(labels.weight.shape[1]):
        if residuals.spread[j] < math.inf:
            most = max(most, labels.weight[node, j])
    for j in range(labels.weight.shape[1]):
        if residuals.spread[j] < math.inf and min(pulled, lost) <= _RARE * most:
            output = Output(residuals.place[j], residuals.spread[j], 0.0)
            pair = _pair_at(labels, residuals, base, node, j)
            shares = share_felt(law, output, work.room.knots, pair)
            pulled = max(pulled, labels.weight[node, j] * shares[0])
            lost = max(lost, labels.weight[node, j] * shares[1])
    return min(pulled, lost) <= _RARE * most


@inner
def _add_closed(law, rule, work, base, V, node):
    """Add the averages about all lines with ends for which closed forms serve; their spreads are infinite then. Returns
    how many: none where so few labels are felt that these need nodes, which keep digits of what is rare.
    """
    labels, residuals, room, ended = work.labels, work.residuals, work.room, work.ended
    count = 0
    if _are_rare(law, work, base, node):
        return count
    for j in range(labels.weight.shape[1]):
        if residuals.spread[j] == math.inf:
            continue
        output, pair = Output(residuals.place[j], residuals.spread[j], V), _pair_at(labels, residuals, base, node, j)
        if is_closed(law, output, room.knots, pair):
            set_ended_quadratic(law, rule, output, pair, room.knots, ended.rectangle, ended.sums)
            _add_sums(work, j, node)
            residuals.spread[j] = math.inf
            count += 1
    return count


@inner
def _reached(place, tilt, ends, base, spread):
    """Where the residual may be on a line with ends."""
    reach = REACH * math.sqrt(base)
    a, b = tilt * max(ends[0], -REACH), tilt * min(ends[1], REACH)
    low, high = place + min(a, b) - reach, place + max(a, b) + reach
    return max(low, place - REACH * spread), min(high, place + REACH * spread)


@inner
def _add_line(work, j, node):
    """Add the sums about one residual."""
    labels, moves, carried = work.labels, work.moves, work.beside.carried
    for d in range(carried.shape[0]):
        moves.carried[d] = carried[d] + labels.axis[d] * work.residuals.tilt[j]
    set_part(labels.weight[node, j], labels.t[node, j], work.room.part)
    add(work.room.sums, 1.0, work.room.part, moves, work.room.out, node)


@inner
def _share(residuals, order, first):
    """The end of the residuals from `first` on, in the order of their spreads, that share nodes; the span of these."""
    spread = residuals.spread[order[first]]
    low = high = residuals.place[order[first]]
    last = first + 1
    while last < len(order) and residuals.spread[order[last]] <= _ALIKE * spread:
        place = residuals.place[order[last]]
        if max(high, place) - min(low, place) > 2.0 * REACH * _WIDE * spread:
            break
        low, high = min(low, place), max(high, place)
        last += 1
    reach = REACH * residuals.spread[order[last - 1]]
    return last, low - reach, high + reach


@inner
def _alone(labels, residuals, base, node, j):
    """The span of a line with ends that are felt sharply, and where."""
    place, spread, tilt = residuals.place[j], residuals.spread[j], residuals.tilt[j]
    ends = labels.low[node, j], labels.high[node, j]
    low, high = _reached(place, tilt, ends, base, spread)
    return low, high, turns_of(ends, given_output(1.0, tilt, base), place, 1.0)


@inner
def _add_lines(law, rule, work, order, ends, base, V, node):
    """Add the averages about lines, with ends or without, of which those that are alike share nodes of the output."""
    residuals, room = work.residuals, work.room
    first = 0
    while first < len(order):
        last, low, high, turns, nodes = first + 1, 0.0, 0.0, NOWHERE, np.intp(1)
        spread = residuals.spread[order[first]]
        if ends and base < _SHARP * _SHARP * spread * spread:
            low, high, turns = _alone(work.labels, residuals, base, node, order[first])
        elif ends or not law.quadratic:
            last, low, high = _share(residuals, order, first)
        if ends or not law.quadratic:
            nodes = fill_nodes(law, rule, 1.0, Span(low, high, spread, V), turns, room.scratch)
        for k in range(first, last):
            j = order[k]
            if ends:
                _add_ended(work, base, low, nodes, j, node)
                continue
            place, spread = residuals.place[j], residuals.spread[j]
            if not law.quadratic:
                sum_up(place - low, spread, nodes, room, room.sums)
            elif law.smooth:
                set_on_line(law, rule, 1.0, Output(place, spread, V), room.sums)
            else:
                for a in range(10):
                    room.sums[a] = 0.0
                add_quadratic(law, rule, 1.0, Output(place, spread, V), room.knots, room.sums)
            _add_line(work, j, node)
        if nodes == 0:
            for a in range(room.out.shape[0]):
                room.out[a, node] = math.nan
        first = last


@making_entry
def lines(law, rule, labels, fields, scratch, out):
    """Averages where the label is linear in one normal variable beside its nodes, as `points` otherwise."""
    number, directions = labels.weight.shape[1], labels.t.shape[2]
    part = np.empty(1 + directions + directions * (directions + 1) // 2)
    rest = labels.rest.copy()
    for d in range(directions):
        for e in range(directions):
            rest[d, e] += labels.axis[d] * labels.axis[e]
    beside, moves = Moves(labels.rest, np.empty(directions)), Moves(rest, np.empty(directions))
    residuals = _Residuals(np.empty(number), np.empty(number), np.empty(number))
    denser = Rule(rule.gauss, int(_MORE * rule.fewest), rule.parameters, rule.noise)
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(10), out, room_for_knots(law), part)
    ended = _Ended(
        np.empty((LAW, scratch.shape[1])),
        np.zeros((3, 10)),
        np.empty(len(part)),
        np.empty(len(part)),
        np.empty((ROWS, len(NODES))),
    )
    work = _Work(labels, residuals, ended, beside, moves, room)
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        base, V = variance_of(fields, node, beside) + rule.noise, fields.V[node]
        if law.quadratic:
            find_knots(law, rule, 1.0, V, room.knots)
        for ends in (False, True):
            count = _find_residuals(labels, fields, node, base, ends, residuals)
            if ends and count > 0 and law.quadratic:
                count -= _add_closed(law, denser, work, base, V, node)
            if count > 0:
                order = np.argsort(residuals.spread)[:count]
                _add_lines(law, denser, work, order, ends, base, V, node)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
