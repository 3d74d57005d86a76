"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature c313c25bf4ba3949, runtime e19e8dd54aa930c2.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import entry, inner
from generated.runtime.nodes import Output, fill_nodes
from generated.runtime.prox import Turns
from generated.runtime.quadratic import add_quadratic, find_knots, room_for_knots, set_on_line

_ORDER = 20  # Chebyshev nodes of a panel of centres
_HALF = 0.7  # its half width in spreads of the output, which smooth what is interpolated: (h/2)^n 2/sqrt(n!) = 1e-18
_CROWD = 24  # centres on a panel that are worth its nodes
_NOWHERE = Turns((math.inf, math.inf), math.inf)
_GROWTH = 2.0  # its half width in units of the exponential growth of a loss, at most: (h/2)^n 2/n! = 1e-18


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


@inner
def _sums(law, rule, y, output, scratch, sums):
    """Averages over the output about a centre, in u; nan where scratch is too small."""
    count = fill_nodes(law, rule, y, output, _NOWHERE, scratch)
    center, variance = output.center, output.spread * output.spread
    for a in range(10):
        sums[a] = math.nan if count == 0 else 0.0
    for i in range(count):
        p = scratch[1, i]
        x = (scratch[0, i] - center) / variance
        g, h = scratch[2, i], scratch[3, i]
        pg, ph = p * g, p * h
        phx = ph * x
        sums[0] += p * scratch[4, i]
        sums[1] += pg
        sums[2] += ph
        sums[3] += pg * g
        sums[4] += pg * h
        sums[5] += phx
        sums[6] += pg * g * h
        sums[7] += phx * g
        sums[8] += phx * x - ph / variance
        sums[9] += p * scratch[5, i]


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
def _gathered(centres, count, low, half, panel, moments):
    """Replace the centres in crowded panels by Chebyshev nodes, with weights that average polynomials as they do.

    moments[panel, degree, part]: room for those of the Chebyshev polynomials. Returns how many centres there are now.
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
            x = 2.0 * (place - int(place)) - 1.0
            before, now = x, 1.0  # the polynomials of degrees -1 and 0
            for degree in range(_ORDER):
                for a in range(parts.shape[1]):
                    moments[k, degree, a] += now * parts[j, a]
                before, now = now, 2.0 * x * now - before
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
    for a in range(parts.shape[1]):
        parts[place, a] = moments[k, 0, a] / _ORDER
    for degree in range(1, _ORDER):
        share = 2.0 * math.cos(degree * angle) / _ORDER
        for a in range(parts.shape[1]):
            parts[place, a] += share * moments[k, degree, a]


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
    panel = np.empty(number, np.int64)
    knots = room_for_knots(law)
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        spread = math.sqrt(_variance(fields, node, moves) + rule.noise)
        half = _HALF * spread
        if law.rate > 0.0:
            half = min(half, _GROWTH / law.rate)
        for side in range(2 if law.margin else 1):
            sign = 1.0 - 2.0 * side
            count, low = _find_centres(law, sign, labels, fields, node, centres)
            if count > _CROWD and (law.residual or law.margin):
                panels = _crowded(centres.place, count, low, half, panel)
                if panels > 0:
                    moments = np.zeros((panels, _ORDER, parts.shape[1]))
                    count = _gathered(centres, count, low, half, panel, moments)
                    for j in range(count):
                        centres.label[j] = sign
            known = math.nan  # the label that the knots are of
            for j in range(count):
                output = Output(centres.place[j], spread, fields.V[node])
                y = sign if law.residual or law.margin else centres.label[j]
                if law.quadratic and law.smooth:
                    set_on_line(law, rule, y, output, sums)
                elif law.quadratic:
                    if y != known:
                        find_knots(law, rule, y, output.V, knots)
                        known = y
                    for a in range(10):
                        sums[a] = 0.0
                    add_quadratic(law, rule, y, output, knots, sums)
                else:
                    _sums(law, rule, centres.label[j], output, scratch, sums)
                _add(sums, sign, parts[j], moves, out, node)

SIGNATURE = "c313c25bf4ba3949aef9efa45dd4905e348313b12b76b54037dbd1373ace4c61"
