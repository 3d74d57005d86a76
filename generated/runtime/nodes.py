"""Nodes of an average over the conditional output, with the envelope of a loss and its derivatives there.

Written by hand, in codegen/runtime/nodes.py.
Generated; do not edit. Signature 35b197c385e1dc7c, runtime 50a1bdc33bfa3dee.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import edge_at, inner, kept, piece_at, pieces_at
from generated.runtime.contractions import INNER
from generated.runtime.prox import PANEL, bend, find_cell, graded, panel, prox

REACH = 9.0  # standard deviations of the output that count: the weight beyond is 1e-18
SCRATCH_SHAPE = (5, 8192)  # output, weight, g, h, envelope at each node
_LENGTH = 27.0  # of l, in units of the loss: the fewest steps of the trapezoid serve up to here
_MOST_STEPS = 400
_STIFF, _SAME = 1e2, 1e-12  # V times a curvature from which on linear slopes are straightened; that of equal ones
_SHARP = 0.5  # of the steps per spread of omega, for each width on which the law of the label varies


@inner
def _trapezoid_steps(law, k, first, last, fewest, spread, V, y, q, width):
    """Steps of the trapezoid on the whole line of a smooth loss; more than _MOST_STEPS where panels are better."""
    steps = max(fewest, int(min(1e6, law.steepness * (last - first) * fewest / _LENGTH)))
    largest = law.curvature  # steps of omega are longer than those of l
    if largest == math.inf:
        largest = bend(law, k, first, last, min(steps, _MOST_STEPS) // 2, y, q)
    length = (last - first) * (1.0 + V * largest) / (2.0 * REACH * spread)
    return max(steps, int(min(1e6, fewest * length * max(1.0, _SHARP * spread / width))))


@inner
def _fill_places(gauss, trapezoid, start, end, count, points, scratch):
    """Places and weights of one rule between start and end."""
    half, middle = 0.5 * (end - start), 0.5 * (end + start)
    for i in range(points):
        if trapezoid:
            scratch[0, count + i] = start + 2.0 * half * i / (points - 1)
            scratch[1, count + i] = 2.0 * half / (points - 1)
        else:
            scratch[0, count + i] = middle + half * gauss[0, i]
            scratch[1, count + i] = half * gauss[1, i]


@inner
def _straighten(gauss, start, end, first, last, V, count, points, scratch):
    """Places and slopes on a panel of l where the slope grows linearly, from those at its ends.

    Where V times the curvature is large, all that occurs lies close to an end of the piece, and slopes at rounded
    places lose the digits that the distance to it has not.
    """
    omega, length = start + V * first, end - start + V * (last - first)
    for i in range(points):
        share = 0.5 + 0.5 * gauss[0, i]
        scratch[0, count + i] = omega + share * length
        scratch[2, count + i] = first + share * (last - first)


@inner
def _is_straight(curvature, count, points, scratch):
    """Whether all curvatures of a panel are the same."""
    apart = 0.0
    for i in range(count, count + points):
        apart = max(apart, abs(scratch[3, i] - curvature))
    return apart <= _SAME * curvature


@inner
def _fill_values(law, gauss, trapezoid, k, start, end, center, spread, V, y, q, count, points, scratch):
    """From places l between start and end and weights of a smooth piece: omega, weight, g, h, envelope."""
    norm = 0.3989422804014327 / spread
    pieces_at(law.pieces, k, y, q, scratch, count, points)
    _, first, curvature = piece_at(law.pieces, k, y, q, start)
    if not trapezoid and V * curvature > _STIFF and _is_straight(curvature, count, points, scratch):
        last = piece_at(law.pieces, k, y, q, end)[1]
        _straighten(gauss, start, end, first, last, V, count, points, scratch)
    else:
        for i in range(count, count + points):
            scratch[0, i] += V * scratch[2, i]
    for i in range(count, count + points):
        slope, curvature = scratch[2, i], scratch[3, i]
        stretch = 1.0 + V * curvature
        z = (scratch[0, i] - center) / spread
        scratch[1, i] *= stretch * norm * math.exp(-0.5 * z * z)
        scratch[2, i] = -slope
        scratch[3, i] = curvature / stretch
        scratch[4, i] += 0.5 * V * slope * slope


@inner
def _fill_kink(edge, value, center, spread, V, count, points, scratch):
    """From places omega and weights of a kink: weight, g, h, envelope."""
    norm = 0.3989422804014327 / spread
    for i in range(count, count + points):
        omega = scratch[0, i]
        z = (omega - center) / spread
        g = (edge - omega) / V
        scratch[1, i] *= norm * math.exp(-0.5 * z * z)
        scratch[2, i] = g
        scratch[3, i] = 1.0 / V
        scratch[4, i] = value + 0.5 * V * g * g


@kept(**INNER)  # for labels at nodes and on intervals
def fill_nodes(law, gauss, fewest, y, center, spread, V, q, steep, width, scratch):
    """Nodes for an average over omega_u ~ N(center, spread^2), with the envelope, g and h there.

    Each smooth piece is integrated over l = prox(omega), each kink over omega; the rule is the trapezoid where the
    whole line is smooth and not long, and Gauss-Legendre on panels otherwise, graded towards the two places `steep`
    where the law of the label varies on the scale `width`. Returns the number of nodes, 0 where scratch is too small.
    """
    low, high = center - REACH * spread, center + REACH * spread
    count = np.intp(0)  # a plain 0 is a type of its own, for which all would be compiled again
    start = left = right = -math.inf  # of omega; of l
    leftmost, pieces = find_cell(law, y)
    for part in range(2 * pieces - 1):
        k = leftmost + part // 2
        kink = part % 2 == 1
        flat = edge = 0.0
        end = math.inf
        has_end = part // 2 < pieces - 1
        if has_end:
            edge = edge_at(law.edge, k, y, q)
            flat, slope, _ = piece_at(law.pieces, k + 1 if kink else k, y, q, edge)
            end = edge + V * slope
            if kink:
                flat = piece_at(law.pieces, k, y, q, edge)[0]
        first, last = max(start, low), min(end, high)
        if not kink:
            left, right = right, edge if has_end else math.inf
        if first < last:
            trapezoid, points = False, gauss.shape[1]
            if not kink:
                tolerance = 1e-3 * spread
                first = left if first == start else prox(law, k, left, right, first, V, y, tolerance, q)
                last = right if last == end else prox(law, k, left, right, last, V, y, tolerance, q)
                if law.smooth:
                    steps = _trapezoid_steps(law, k, first, last, fewest, spread, V, y, q, width)
                    if steps <= _MOST_STEPS:
                        trapezoid, points = True, steps
            panel_start = first
            while panel_start < last:
                panel_end = last
                if not trapezoid:
                    length = min(last - panel_start, PANEL * spread)
                    if not kink:
                        length = panel(law, k, panel_start, last, spread, V, y, q)
                    panel_end = panel_start + graded(law, k, kink, panel_start, length, V, y, q, steep, width)
                    if last - panel_end < 1e-3 * (panel_end - panel_start) or panel_end <= panel_start:
                        panel_end = last
                if count + points > scratch.shape[1]:
                    return 0
                _fill_places(gauss, trapezoid, panel_start, panel_end, count, points, scratch)
                if kink:
                    _fill_kink(edge, flat, center, spread, V, count, points, scratch)
                else:
                    ends = panel_start, panel_end
                    _fill_values(law, gauss, trapezoid, k, *ends, center, spread, V, y, q, count, points, scratch)
                count += points
                panel_start = panel_end
        start = end
    return count

SIGNATURE = "35b197c385e1dc7c5073dada1a036aedd27fbef7cba6eaca0c1160c039622193"
