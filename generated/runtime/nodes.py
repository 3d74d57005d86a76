"""Nodes of an average over the conditional output, with the envelope of a loss and its derivatives there.

Written by hand, in codegen/runtime/nodes.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import edge_at, inner, kept, pieces_at
from generated.runtime.contractions import INNER
from generated.runtime.output_steps import EVEN, REACH, Steps, fill_growing, steps_between
from generated.runtime.prox import (
    PANEL,
    Piece,
    at,
    end_of,
    find_cell,
    length_of_panel,
    omega_at,
    piece_of,
    prox,
    shortened,
)

# rows of scratch: output beyond the start of the span, weight, what a loss is there: the envelope and its derivatives,
# the loss of the prox
OMEGA, WEIGHT, G, H, ENVELOPE, LOSS, G_G, G_H, G_G_H = range(9)
SCRATCH_SHAPE = (9, 8200)  # not a power of two: rows would share their places in the processor's cache
_MOST_STEPS = 400
_STIFF, _SAME = 1e2, 1e-12  # V times a curvature from which on linear slopes are straightened; that of equal ones
VECTOR = 8  # numbers of the longest vector of a processor
_ENDS = 0.05  # standard deviations, or widths of a turn, that the ends of a span may be off by


class Rule(NamedTuple):
    """How averages over the output are done."""

    gauss: Any  # [2, n]: Gauss-Legendre rule on (-1, 1)
    fewest: int  # steps of the trapezoid
    parameters: Any  # of the loss
    noise: float  # variance of the label noise of a loss of the residual


class Fields(NamedTuple):
    """What the law of the output follows from, at every node of kappa."""

    V: Any
    mean: Any
    slope: Any  # [D, N]
    Delta: Any


class Span(NamedTuple):
    """The part of the line of omega_u that counts, the spread of the Gaussians there, and V of the proximal map."""

    low: float
    high: float
    spread: float
    V: float


class Output(NamedTuple):
    """The law of omega_u, a Gaussian, and V of the proximal map."""

    center: float
    spread: float
    V: float


class _Stretch(NamedTuple):
    """What of a part is integrated over, from first to last, and how."""

    first: float  # of l, from the origin of its piece; of omega for a kink
    last: float
    trapezoid: bool  # or panels of the Gauss rule
    steps: Steps  # of the trapezoid


class _Panel(NamedTuple):
    """A part of the line and its place in scratch."""

    start: float
    end: float
    count: int  # of nodes before it
    points: int
    trapezoid: bool
    steps: Steps


@inner
def span_of(output):
    """The part of the line that counts for one Gaussian."""
    reach = REACH * output.spread
    return Span(output.center - reach, output.center + reach, output.spread, output.V)


@inner
def whole(count):
    """A count made up to whole vectors."""
    return (count + VECTOR - 1) // VECTOR * VECTOR


@inner
def _fill_places(gauss, panel, scratch):
    """Places and weights of one rule on a panel."""
    first, last = panel.count, panel.count + panel.points
    # places counted from the start of a part are not negative: else loops do not become vector instructions
    omega, weight = scratch[OMEGA, first:last], scratch[WEIGHT, first:last]
    if panel.trapezoid and panel.steps.width > 0.0:
        fill_growing(panel.steps, (panel.start, panel.end), omega, weight)
        return
    if panel.trapezoid:
        step = (panel.end - panel.start) / (panel.points - 1)
        for i in range(panel.points):
            omega[i] = panel.start + step * i
            weight[i] = step
        return
    half, middle = 0.5 * (panel.end - panel.start), 0.5 * (panel.end + panel.start)
    for i in range(panel.points):
        omega[i] = middle + half * gauss[0, i]
        weight[i] = half * gauss[1, i]


@inner
def _straighten(gauss, piece, panel, low, scratch):
    """Places beyond `low` and slopes on a panel of l where the slope grows linearly, from those at its ends.

    Where V times the curvature is large, all that occurs lies close to an end of the piece, and slopes at rounded
    places lose the digits that the distance to it has not.
    """
    start, end = panel.start, panel.end
    first, last = at(piece, start)[1], at(piece, end)[1]
    omega, length = start - low + piece.V * first, end - start + piece.V * (last - first)
    for i in range(panel.points):
        share = 0.5 + 0.5 * gauss[0, i]
        scratch[0, panel.count + i] = omega + share * length
        scratch[2, panel.count + i] = first + share * (last - first)


@inner
def _is_straight(curvature, panel, scratch):
    """Whether all curvatures of a panel are the same."""
    apart = 0.0
    for i in range(panel.count, panel.count + panel.points):
        apart = max(apart, abs(scratch[3, i] - curvature))
    return apart <= _SAME * curvature


@inner
def _fill_omega(gauss, panel, V, low, scratch):
    """From slopes at the places l on a panel: omega beyond `low`.

    An output may vary by much less than its centre: places are counted from the start of its span, so that they keep
    the digits that its density needs.
    """
    first, last, start = panel.count, panel.count + panel.points, panel.start - low
    omega, g = scratch[OMEGA, first:last], scratch[G, first:last]
    if panel.trapezoid and panel.steps.width > 0.0:  # between places so far apart that they have these digits
        for i in range(panel.points):
            omega[i] = (omega[i] - low) + V * g[i]
        return
    if panel.trapezoid:
        step = (panel.end - panel.start) / (panel.points - 1)
        for i in range(panel.points):
            omega[i] = start + step * i + V * g[i]
        return
    half = 0.5 * (panel.end - panel.start)
    for i in range(panel.points):
        omega[i] = start + (half + half * gauss[0, i]) + V * g[i]


@inner
def _fill_values(rule, piece, panel, low, scratch):
    """From places l and weights on a panel of a smooth piece: omega beyond `low`, weight, g, h, envelope, loss."""
    low -= piece.origin
    V, first, last = piece.V, panel.count, panel.count + panel.points
    if piece.shift != 0.0:  # where places are no trapezoid, and are not asked for again
        for i in range(first, last):
            scratch[OMEGA, i] += piece.shift
    pieces_at(piece.pieces, piece.number, piece.label, piece.parameters, scratch, first, panel.points)
    straight = False
    if not panel.trapezoid:
        curvature = at(piece, panel.start)[2]
        straight = _STIFF < V * curvature < math.inf and _is_straight(curvature, panel, scratch)
    if straight:
        _straighten(rule.gauss, piece, panel, low, scratch)
    else:
        _fill_omega(rule.gauss, panel, V, low, scratch)
    weight, g, h = scratch[WEIGHT, first:last], scratch[G, first:last], scratch[H, first:last]
    envelope, loss = scratch[ENVELOPE, first:last], scratch[LOSS, first:last]
    for i in range(panel.points):
        slope, curvature, value = g[i], h[i], envelope[i]
        stretch = 1.0 + V * curvature
        weight[i] *= stretch
        g[i] = -slope
        h[i] = curvature / stretch
        loss[i] = value
        envelope[i] = value + 0.5 * V * slope * slope


@inner
def _fill_kink(part, V, panel, low, scratch):
    """From places omega of a kink: those beyond `low`, g, h, envelope, loss."""
    for i in range(panel.count, panel.count + panel.points):
        g = (part.edge - scratch[OMEGA, i]) / V
        scratch[G, i] = g
        scratch[H, i] = 1.0 / V
        scratch[ENVELOPE, i] = part.value + 0.5 * V * g * g
        scratch[LOSS, i] = part.value
        scratch[OMEGA, i] -= low


@inner
def _filled_up(scratch, count):
    """The last node again, without a weight, until their number is a multiple of that of a vector."""
    end = whole(count)
    for i in range(count, end):
        for row in range(scratch.shape[0]):
            scratch[row, i] = scratch[row, count - 1]
        scratch[WEIGHT, i] = 0.0
    return end


@inner
def _fill_products(scratch, count):
    """Products of g and h at all nodes."""
    for i in range(count):
        g, h = scratch[G, i], scratch[H, i]
        scratch[G_G, i] = g * g
        scratch[G_H, i] = g * h
        scratch[G_G_H, i] = g * g * h


@inner
def _fill_part(rule, part, stretch, span, turns, count, scratch):
    """Nodes of a part, behind those that are there. Returns how many there are now, -1 where scratch is too small."""
    piece, trapezoid = part.piece, stretch.trapezoid
    points = whole(int(stretch.steps.count)) if trapezoid else rule.gauss.shape[1]
    start, last = stretch.first, stretch.last
    while start < last:
        end = last
        if not trapezoid:
            length = min(last - start, PANEL * span.spread)
            if not part.kink:
                length = length_of_panel(piece, start, last, span.spread)
            end = start + shortened(piece, part.kink, start, length, turns)
            if last - end < 1e-3 * min(end - start, turns.width) or end <= start:
                end = last
        if whole(count + points) > scratch.shape[1]:
            return -1
        panel = _Panel(start, end, count, points, trapezoid, stretch.steps)
        _fill_places(rule.gauss, panel, scratch)
        if part.kink:
            _fill_kink(part, span.V, panel, span.low, scratch)
        else:
            _fill_values(rule, piece, panel, span.low, scratch)
        count += points
        start = end
    return count


class Part(NamedTuple):
    """A smooth piece of the loss, or the kink behind it, and where it ends."""

    kink: bool
    piece: Piece
    edge: float  # the end of the piece in u, and the loss there
    value: float
    end: float  # of the part, in omega


@inner
def part_at(law, rule, y, V, cell, number):
    """Part `number` of the line of omega; cell: the first piece at the label y, and how many there are."""
    first, pieces = cell
    kink = number % 2 == 1
    piece = piece_of(law, first + number // 2, y, rule.parameters, V)
    edge, value, end = math.inf, 0.0, math.inf
    if number // 2 < pieces - 1:
        edge = edge_at(law.edge, piece.number, y, rule.parameters)
        value = at(piece, edge - piece.origin)[0]
        beside = piece_of(law, piece.number + 1, y, rule.parameters, V) if kink else piece
        end = omega_at(beside, end_of(law, beside, piece.number, edge))
    return Part(kink, piece, edge, value, end)


@kept(**INNER)  # for labels at nodes and on intervals
def fill_nodes(law, rule, y, span, turns, scratch):
    """Nodes for averages over omega_u within a span, as rows of scratch; weights without the density of omega_u, which
    is counted from the start of the span.

    Each smooth piece is integrated over l = prox(omega), each kink over omega; the rule is the trapezoid where the
    whole line is smooth and not long, and Gauss-Legendre on panels otherwise, short ones where the law of the label
    turns. Returns the number of nodes, whose omega grow; 0 where scratch is too small.
    """
    count = np.intp(0)  # a plain 0 is a type of its own, for which all would be compiled again
    start = left = right = -math.inf  # of omega; of l
    cell = find_cell(law, y)
    for number in range(2 * cell[1] - 1):
        part = part_at(law, rule, y, span.V, cell, number)
        piece = part.piece
        first, last = max(start, span.low), min(part.end, span.high)
        if not part.kink:
            left, right = right, part.edge
        if first < last:
            steps, trapezoid = EVEN, False
            if not part.kink:
                tolerance = _ENDS * min(span.spread, turns.width)
                low, high = end_of(law, piece, piece.number - 1, left), end_of(law, piece, piece.number, right)
                first = low if first == start else prox(piece, low, high, first, tolerance)
                last = high if last == part.end else prox(piece, low, high, last, tolerance)
                if law.smooth:
                    most = int(_MOST_STEPS * (span.high - span.low) / (2.0 * REACH * span.spread))
                    steps = steps_between(law, piece, (first, last), rule.fewest, span, turns.width, most)
                    trapezoid = steps.count <= most
            count = _fill_part(rule, part, _Stretch(first, last, trapezoid, steps), span, turns, count, scratch)
            if count < 0:
                return np.intp(0)
        start = part.end
    if count > 0:
        count = _filled_up(scratch, count)
        _fill_products(scratch, count)
    return count

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
