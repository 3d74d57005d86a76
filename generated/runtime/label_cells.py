"""Averages over the output and a label that is linear on polygons of a plane: losses of the residual.

Given kappa, two normal variables and the output are Gaussian together, so that given the difference of output and label
the two are a Gaussian pair, and what is needed of them are moments on polygons.

Written by hand, in codegen/runtime/label_cells.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_entry, sum_of_products
from generated.runtime.gaussian import NORM
from generated.runtime.label_points import Moves, add, variance_of
from generated.runtime.nodes import ENVELOPE, G_G, G_G_H, G_H, LOSS, OMEGA, REACH, WEIGHT, G, H, Rule, Span, fill_nodes
from generated.runtime.polygons import MOMENT_ROWS, XX, XY, YY, Edges, Frame, P, X, Y, across, fill_polygon
from generated.runtime.prox import Turns
from generated.runtime.vector import exp

# rows of the law of a cell: a Gaussian density times moments of the pair, a along the slope of the difference and b
# across; and times the derivative in the centre of the density given the pair, and its second derivative
_P, _A, _B, _AA, _AB, _BB, _DP, _DA, _DB, _DDP, _LAW = range(11)
_TURNS = 6  # of the law of a cell, as many as short panels are made about
_MISSED = 1e-6  # of all probability: more than two rules that are compared differ by
_STILL = 1e-18  # of the spread beside x: slopes that move nothing
_SHARP = 0.5  # of the pair's spread: what is felt on less
_MORE = 1.5  # of the steps of a trapezoid: spreads are wide where corners and poles of a loss are all that counts


class LabelCells(NamedTuple):
    """Labels label + slope.x with t about carry x, x a standard normal pair in cell j, at nodes given kappa."""

    label: Any  # [N, J]
    slope: Any  # [J, 2]
    edges: Edges
    carry: Any  # [D, 2]
    rest: Any  # [D, D]: the covariance of t beside x


class _Residual(NamedTuple):
    """Output minus label on a cell: its centre at x = 0, its slope in x, and its variance beside x."""

    place: float
    along: tuple[float, float]  # a unit vector
    steep: float
    base: float
    spread: float


class _Room(NamedTuple):
    """Room for centers of the pair, moments of polygons, the law of a cell, its sums, parts of averages."""

    centers: Any
    moments: Any
    law: Any
    sums: Any
    part: Any
    carry: Any  # [2, D]: of a and b
    turns: Any  # [2, places]
    scratch: Any  # nodes of the output, with the loss there
    beside: Moves
    out: Any


@inner
def _residual(labels, fields, node, j, base):
    """The residual on a cell; base: the variance of the output beside x."""
    s0, s1 = -labels.slope[j, 0], -labels.slope[j, 1]
    for d in range(labels.carry.shape[0]):
        s0 += fields.slope[d, node] * labels.carry[d, 0]
        s1 += fields.slope[d, node] * labels.carry[d, 1]
    steep = math.hypot(s0, s1)
    if steep < _STILL * math.sqrt(base):  # of features that saturate: too small for a direction
        steep = 0.0
    along = (s0 / steep, s1 / steep) if steep > 0.0 else (1.0, 0.0)
    place = fields.mean[node] - labels.label[node, j]
    return _Residual(place, along, steep, base, math.sqrt(base + steep * steep))


@inner
def _reached(edges, frame, node, j):
    """The least and the largest a of a cell that count; the least above the largest where none does."""
    low, high = -REACH, REACH
    for e in range(edges.first[j], edges.first[j + 1]):
        c, s = across(frame, edges.normal[e])
        d = edges.distance[node, e]
        if d <= -REACH:
            return math.inf, -math.inf
        if d < REACH:
            half = abs(s) * math.sqrt(REACH * REACH - d * d)
            if REACH * c > d:
                high = min(high, c * d + half)
            if -REACH * c > d:
                low = max(low, c * d - half)
    return low, high


@inner
def _add_turn(place, width, places, widths):
    """Take a turn among those that are kept, the sharpest."""
    k = places.shape[0]
    while k > 0 and width < widths[k - 1]:
        k -= 1
        if k + 1 < places.shape[0]:
            places[k + 1], widths[k + 1] = places[k], widths[k]
    if k < places.shape[0]:
        places[k], widths[k] = place, width


@inner
def _turns(edges, frame, residual, span, node, j, places, widths):
    """Where in omega corners and edges are met that are felt sharply; places, widths: room for as many as are kept.

    What is left of the pair given omega lies within ``frame.width`` of a line across the slope, on which a corner is a
    kink; an edge is felt on the length that it has along the slope.
    """
    for k in range(places.shape[0]):
        places[k] = widths[k] = math.inf
    scale = residual.spread * residual.spread / residual.steep if residual.steep > 0.0 else math.inf
    if frame.width >= _SHARP:
        scale = math.inf
    for e in range(edges.first[j], edges.first[j + 1] if scale < math.inf else edges.first[j]):
        c, s = across(frame, edges.normal[e])
        d = edges.distance[node, e]
        corner = residual.place + scale * (c * d - s * edges.end[node, e])
        if span[0] < corner < span[1]:
            _add_turn(corner, frame.width * scale, places, widths)
        width = math.sqrt(c * c * frame.width * frame.width + s * s)
        if width < _SHARP * abs(c):
            _add_turn(residual.place + scale * d / c, width / abs(c) * scale, places, widths)
    return Turns(
        (places[0], places[1], places[2], places[3], places[4], places[5]),
        (widths[0], widths[1], widths[2], widths[3], widths[4], widths[5]),
        widths[0],
    )


@inner
def _fill_law(residual, frame, start, count, room):
    """The law of a cell at nodes of the output, from the moments of its polygon. Returns its probability."""
    moments, law, scratch = room.moments, room.law, room.scratch
    spread, width = residual.spread, frame.width
    scale, narrow, inverse = NORM / spread, 1.0 / spread, 1.0 / (spread * spread)
    tilt, mass = residual.steep / (spread * math.sqrt(residual.base)), 0.0
    for i in range(count):
        off, center = scratch[OMEGA, i] - start, room.centers[i]
        z, o = off * narrow, off * inverse
        p = scale * scratch[WEIGHT, i] * exp(-0.5 * z * z)
        m, x, y = p * moments[P, i], p * moments[X, i], p * moments[Y, i]
        lack = p * moments[XX, i]
        xx, xy, yy = m - lack, -p * moments[XY, i], m - p * moments[YY, i]
        law[_P, i] = m
        law[_A, i] = width * x + center * m
        law[_B, i] = y
        law[_AA, i] = width * width * xx + 2.0 * width * center * x + center * center * m
        law[_AB, i] = width * xy + center * y
        law[_BB, i] = yy
        law[_DP, i] = o * m - tilt * x  # the derivative of the density given the pair is (o - tilt x) of it
        law[_DA, i] = o * law[_A, i] - tilt * (width * xx + center * x)
        law[_DB, i] = o * y - tilt * xy
        law[_DDP, i] = (o * o - inverse) * m - 2.0 * o * tilt * x - tilt * tilt * lack
        mass += m
    return mass


@inner
def _set_first(carry, part):
    """The weights of t and its products where t has a part times a variable of the pair."""
    for k in range(part.shape[0]):
        part[k] = 0.0
    for d in range(carry.shape[0]):
        part[1 + d] = carry[d]


@inner
def _set_second(one, other, part):
    """The same of a product of two variables of the pair, which t has none of and its products have."""
    directions = one.shape[0]
    pair = 1 + directions
    for k in range(pair):
        part[k] = 0.0
    for d in range(directions):
        for e in range(d, directions):
            part[pair] = one[d] * other[e]
            pair += 1


@inner
def _add_sums(room, count, node):
    """Add the averages on one cell from its law at so many nodes of the output."""
    law, sums, part, scratch, beside, out = room.law, room.sums, room.part, room.scratch, room.beside, room.out
    a, b = room.carry[0], room.carry[1]
    for k in range(part.shape[0]):
        part[k] = 0.0
    part[0] = 1.0
    sums[0] = sum_of_products(law, _P, scratch, ENVELOPE, 0, count)
    sums[1] = sum_of_products(law, _P, scratch, G, 0, count)
    sums[2] = sum_of_products(law, _P, scratch, H, 0, count)
    sums[3] = sum_of_products(law, _P, scratch, G_G, 0, count)
    sums[4] = sum_of_products(law, _P, scratch, G_H, 0, count)
    sums[5] = sum_of_products(law, _DP, scratch, H, 0, count)
    sums[6] = sum_of_products(law, _P, scratch, G_G_H, 0, count)
    sums[7] = sum_of_products(law, _DP, scratch, G_H, 0, count)
    sums[8] = sum_of_products(law, _DDP, scratch, H, 0, count)
    sums[9] = sum_of_products(law, _P, scratch, LOSS, 0, count)
    add(sums, 1.0, part, beside, out, node)
    for row, derivative, carry in ((_A, _DA, a), (_B, _DB, b)):
        _set_first(carry, part)
        sums[1] = sum_of_products(law, row, scratch, G, 0, count)
        sums[2] = sum_of_products(law, row, scratch, H, 0, count)
        sums[4] = sum_of_products(law, row, scratch, G_H, 0, count)
        sums[5] = sum_of_products(law, derivative, scratch, H, 0, count)
        add(sums, 1.0, part, beside, out, node)
    for row, one, other in ((_AA, a, a), (_AB, a, b), (_AB, b, a), (_BB, b, b)):
        _set_second(one, other, part)
        sums[2] = sum_of_products(law, row, scratch, H, 0, count)
        add(sums, 1.0, part, beside, out, node)


@inner
def _add_cell(law, rule, labels, residual, V, j, room, node):
    """Add the averages on one cell. Returns its probability as the nodes have it, nan where they do not fit."""
    steep, spread, scratch = residual.steep, residual.spread, room.scratch
    frame = Frame(residual.along, math.sqrt(residual.base) / spread)
    least, largest = _reached(labels.edges, frame, node, j)
    reach = REACH * math.sqrt(residual.base)
    low = max(residual.place + steep * least - reach, residual.place - REACH * spread)
    high = min(residual.place + steep * largest + reach, residual.place + REACH * spread)
    if least > largest or low >= high:
        return 0.0
    turns = _turns(labels.edges, frame, residual, (low, high), node, j, room.turns[0], room.turns[1])
    count = fill_nodes(law, rule, 1.0, Span(low, high, spread, V), turns, scratch)
    if count == 0:
        return math.nan
    start, ratio = residual.place - low, steep / (spread * spread)
    for i in range(count):
        room.centers[i] = ratio * (scratch[OMEGA, i] - start)
    fill_polygon(labels.edges, frame, node, j, room.centers, room.moments, (0, count))
    mass = _fill_law(residual, frame, start, count, room)
    for d in range(labels.carry.shape[0]):
        room.carry[0, d], room.carry[1, d] = across(frame, labels.carry[d])
    _add_sums(room, count, node)
    return mass


@making_entry
def cells(law, rule, labels, fields, scratch, out):
    """Averages where the label is linear on cells of a plane, as `points` otherwise; not a number where the nodes miss
    some of all probability.
    """
    number, directions, size = labels.label.shape[1], labels.carry.shape[0], scratch.shape[1]
    denser = Rule(rule.gauss, int(_MORE * rule.fewest), rule.parameters, rule.noise)
    products = 1 + directions + directions * (directions + 1) // 2
    room = _Room(
        np.empty(size),
        np.empty((MOMENT_ROWS, size)),
        np.empty((_LAW, size)),
        np.zeros(10),
        np.empty(products),
        np.empty((2, directions)),
        np.empty((2, _TURNS)),
        scratch,
        Moves(labels.rest, np.empty(directions)),
        out,
    )
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        base, V, mass = variance_of(fields, node, room.beside) + rule.noise, fields.V[node], 0.0
        for j in range(number):
            residual = _residual(labels, fields, node, j, base)
            mass += _add_cell(law, denser, labels, residual, V, j, room, node)
        if not abs(mass - 1.0) < _MISSED:
            for a in range(out.shape[0]):
                out[a, node] = math.nan

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
