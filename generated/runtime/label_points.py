"""Averages over the output and a label at nodes.

Written by hand, in codegen/runtime/label_points.py.
Generated; do not edit. Signature 35b197c385e1dc7c, runtime 50a1bdc33bfa3dee.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, inner
from generated.runtime.nodes import fill_nodes

_ORDER = 20  # Chebyshev nodes of a panel of centres
_HALF = 0.7  # its half width in spreads of the output, which smooth what is interpolated: (h/2)^n 2/sqrt(n!) = 1e-18
_CROWD = 24  # centres on a panel that are worth its nodes
_GROWTH = 2.0  # its half width in units of the exponential growth of a loss, at most: (h/2)^n 2/n! = 1e-18


@inner
def _sums(law, gauss, fewest, y, center, variance, V, q, steep, scratch, sums):
    """Averages over the output about a centre, in u; nan where scratch is too small."""
    count = fill_nodes(law, gauss, fewest, y, center, math.sqrt(variance), V, q, steep, math.inf, scratch)
    for a in range(9):
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


@inner
def _add(sums, sign, parts, j, carried, rest, out, node):
    """Add the averages about a centre to those at a node; parts[j]: the weights of 1, of the mean of t and its
    products.

    t varies about its mean by `rest`, which moves the output by `carried`: by Stein's lemma a factor t - mean becomes
    `carried` times a derivative in the centre.
    """
    directions, w = carried.shape[0], parts[j, 0]
    for a in range(9):
        odd = a == 1 or a == 4 or a == 5
        out[a, node] += (sign * w if odd else w) * sums[a]
    g, h, gh, hx, ghx, hxx = sums[1], sums[2], sums[4], sums[5], sums[7], sums[8]
    place, pair = 9 + 4 * directions, 1 + directions
    for d in range(directions):
        t, moved = parts[j, 1 + d], w * carried[d]
        out[9 + d, node] += sign * t * g - moved * h
        out[9 + directions + d, node] += t * h + sign * moved * hx
        out[9 + 2 * directions + d, node] += sign * t * gh + moved * ghx
        out[9 + 3 * directions + d, node] += sign * t * hx + moved * hxx
        for e in range(d, directions):
            mixed = sign * (t * carried[e] + parts[j, 1 + e] * carried[d])
            out[place, node] += (parts[j, pair] + w * rest[d, e]) * h + mixed * hx + moved * carried[e] * hxx
            place, pair = place + 1, pair + 1


@inner
def _set_parts(w, t, node, j, parts, place):
    """The weights of 1, of t and of its products where t has the weight w."""
    directions = t.shape[2]
    parts[place, 0] = w
    pair = 1 + directions
    for d in range(directions):
        parts[place, 1 + d] = w * t[node, j, d]
        for e in range(d, directions):
            parts[place, pair] = w * t[node, j, d] * t[node, j, e]
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
def _gathered(centers, parts, count, low, half, panel, moments):
    """Replace the centres in crowded panels by Chebyshev nodes, with weights that average polynomials as they do.

    moments[panel, degree, part]: room for those of the Chebyshev polynomials. Returns how many centres there are now.
    """
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
def _centres(law, sign, weight, label, t, mean, slope, node, labels, centers, parts):
    """Centres of the output in u and parts of one node, of the labels of one sign for a loss of the margin.

    Returns how many, and the lowest centre.
    """
    count, low = np.intp(0), math.inf
    for j in range(weight.shape[1]):
        y = label[node, j]
        if weight[node, j] != 0.0 and (not law.margin or (y > 0.0) == (sign > 0.0)):
            center = mean[node]
            for d in range(t.shape[2]):
                center += slope[d, node] * t[node, j, d]
            centers[count] = sign * center - (y if law.residual else 0.0)
            low = min(low, centers[count])
            labels[count] = y
            _set_parts(weight[node, j], t, node, j, parts, count)
            count += 1
    return count, low


@entry
def points(law, gauss, fewest, weight, t, label, rest, noise, q, V, mean, slope, Delta, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    gauss[2, n]: Gauss-Legendre rule on (-1, 1); fewest: steps of the trapezoid; weight, label[N, J], t[N, J, D]: the
    law of label and mean of t given kappa; rest[D, D]: the covariance of t there; noise: variance of the label noise of
    a residual loss; V, mean, Delta[N], slope[D, N]: the fields. A loss of the residual or of the margin knows a label
    by the centre of the output only: many that are close are replaced by Chebyshev nodes.
    """
    number, directions, steep = weight.shape[1], t.shape[2], np.full(2, math.inf)
    sums, parts = np.empty(9), np.empty((number, 1 + directions + directions * (directions + 1) // 2))
    carried, labels, centers = np.empty(directions), np.empty(number), np.empty(number)
    panel = np.empty(number, np.int64)
    for node in range(V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        variance = Delta[node] + noise
        for d in range(directions):
            carried[d] = 0.0
            for e in range(directions):
                carried[d] += rest[d, e] * slope[e, node]
            variance += slope[d, node] * carried[d]
        half = _HALF * math.sqrt(variance)
        if law.rate > 0.0:
            half = min(half, _GROWTH / law.rate)
        for side in range(2 if law.margin else 1):
            sign = 1.0 - 2.0 * side
            count, low = _centres(law, sign, weight, label, t, mean, slope, node, labels, centers, parts)
            if count > _CROWD and (law.residual or law.margin):
                panels = _crowded(centers, count, low, half, panel)
                if panels > 0:
                    moments = np.zeros((panels, _ORDER, parts.shape[1]))
                    count = _gathered(centers, parts, count, low, half, panel, moments)
                    for j in range(count):
                        labels[j] = sign
            for j in range(count):
                _sums(law, gauss, fewest, labels[j], centers[j], variance, V[node], q, steep, scratch, sums)
                _add(sums, sign, parts, j, carried, rest, out, node)

SIGNATURE = "35b197c385e1dc7c5073dada1a036aedd27fbef7cba6eaca0c1160c039622193"
