"""Averages over the output and a label that is linear in a normal variable beside its nodes: losses of the residual.

Output and label are jointly Gaussian given a node: what is left of t there spreads their difference.

Written by hand, in codegen/runtime/label_lines.py.
Generated; do not edit. Signature ee8a1694a3eb54ee, runtime c781de8fec2ee005.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_entry
from generated.runtime.label_points import Moves, Room, add, set_part, sum_up, variance_of
from generated.runtime.nodes import REACH, Output, Rule, Span, fill_nodes
from generated.runtime.prox import Turns
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots, set_on_line

_NOWHERE = Turns((math.inf, math.inf), math.inf)
_ALIKE = 1.5  # ratio of the spreads that share their nodes
_MORE = 1.25  # of the steps of a trapezoid: spreads may be wide, and poles of a loss are then all that counts
_WIDE = 20.0  # of those nodes, in lengths of the first that they are for


class LabelLines(NamedTuple):
    """Labels label + slope x with t about t + axis x, x standard normal, at nodes given kappa."""

    weight: Any  # [N, J]
    t: Any  # [N, J, D]
    label: Any  # [N, J]
    slope: Any  # [N, J]
    axis: Any  # [D]
    rest: Any  # [D, D]: the covariance of t beside x


class _Residuals(NamedTuple):
    """Output minus label at the nodes of one kappa: centres, spreads and covariances with x."""

    place: Any
    spread: Any
    tilt: Any


@inner
def _find_residuals(labels, fields, node, base, residuals):
    """Fill the residuals at a node of kappa; base: the variance of the output beside x. Returns how many count."""
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
        if labels.weight[node, j] == 0.0:
            residuals.spread[j] = math.inf
        else:
            count += 1
    return count


@inner
def _add_line(labels, residuals, moves, carried, j, part, room, node):
    """Add the sums about one residual; moves: those of what is left of t, x among it, carried: without x."""
    for d in range(carried.shape[0]):
        moves.carried[d] = carried[d] + labels.axis[d] * residuals.tilt[j]
    set_part(labels.weight[node, j], labels.t[node, j], part)
    add(room.sums, 1.0, part, moves, room.out, node)


@inner
def _share(residuals, order, first, count):
    """The end of the residuals from `first` on, in the order of their spreads, that share nodes; the span of these."""
    spread = residuals.spread[order[first]]
    low = high = residuals.place[order[first]]
    last = first + 1
    while last < count and residuals.spread[order[last]] <= _ALIKE * spread:
        place = residuals.place[order[last]]
        if max(high, place) - min(low, place) > 2.0 * REACH * _WIDE * spread:
            break
        low, high = min(low, place), max(high, place)
        last += 1
    reach = REACH * residuals.spread[order[last - 1]]
    return last, low - reach, high + reach


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
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(10), out, room_for_knots(law))
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        base, V = variance_of(fields, node, beside) + rule.noise, fields.V[node]
        count = _find_residuals(labels, fields, node, base, residuals)
        order = np.argsort(residuals.spread)
        if law.quadratic and not law.smooth:
            find_knots(law, rule, 1.0, V, room.knots)
        first = 0
        while first < count:
            last, low, high = first + 1, 0.0, 0.0
            nodes = 1
            if not law.quadratic:
                last, low, high = _share(residuals, order, first, count)
                span = Span(low, high, residuals.spread[order[first]], V)
                nodes = fill_nodes(law, denser, 1.0, span, _NOWHERE, scratch)
            for k in range(first, last):
                j = order[k]
                place, spread = residuals.place[j], residuals.spread[j]
                if not law.quadratic:
                    sum_up(place - low, spread, nodes, room, room.sums)
                elif law.smooth:
                    set_on_line(law, rule, 1.0, Output(place, spread, V), room.sums)
                else:
                    for a in range(10):
                        room.sums[a] = 0.0
                    add_quadratic(law, rule, 1.0, Output(place, spread, V), room.knots, room.sums)
                _add_line(labels, residuals, moves, beside.carried, j, part, room, node)
            if nodes == 0:
                for a in range(out.shape[0]):
                    out[a, node] = math.nan
            first = last

SIGNATURE = "ee8a1694a3eb54ee48be0df437b532deb15d1bba439665995ef96a1cca659d04"
