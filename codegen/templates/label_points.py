# mypy: ignore-errors
"""Averages over the output and a label at nodes.

The emitter copies everything below the marker line; what is above it stands for names of the loss and of `averages`.
"""

import math

import numpy as np
from numba import njit

from codegen.templates.averages import _MARGIN, _RATE, _RESIDUAL, _nodes

# --- copied into the emitted modules from here ---
_ORDER = 16  # Chebyshev nodes of a panel of centres
_HALF = 0.7  # its half width in spreads of the output, which smooth what is interpolated: (h/2)^n 2/sqrt(n!) = 2e-14
_CROWD = 24  # centres on a panel that are worth its nodes
_GROWTH = 2.0  # its half width in units of the exponential growth of a loss, at most: (h/2)^n 2/n! = 1e-13


@njit(cache=True, error_model="numpy", nogil=True)
def _sums(gauss, fewest, y, center, variance, V, q, steep, scratch, sums):
    """Averages over the output about a centre, in u; nan where scratch is too small."""
    count = _nodes(gauss, fewest, y, center, math.sqrt(variance), V, q, steep, math.inf, scratch)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
    for i in range(count):
        p = scratch[1, i]
        x = (scratch[0, i] - center) / variance
        g, h = scratch[2, i], scratch[3, i]
        s0 += p * scratch[4, i]
        s1 += p * g
        s2 += p * h
        s3 += p * g * g
        s4 += p * g * h
        s5 += p * h * x
        s6 += p * g * g * h
        s7 += p * g * h * x
        s8 += p * h * (x * x - 1.0 / variance)
    sums[0] = math.nan if count == 0 else s0
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8] = s1, s2, s3, s4, s5, s6, s7, s8


@njit(cache=True, error_model="numpy", nogil=True)
def _add(sums, sign, parts, carried, rest, out, node):
    """Add the averages about a centre to those at a node; parts: the weights of 1, of the mean of t and its products.

    t varies about its mean by `rest`, which moves the output by `carried`: by Stein's lemma a factor t - mean becomes
    `carried` times a derivative in the centre.
    """
    directions, w = carried.shape[0], parts[0]
    odd = sign * w
    out[0, node] += w * sums[0]
    out[1, node] += odd * sums[1]
    out[2, node] += w * sums[2]
    out[3, node] += w * sums[3]
    out[4, node] += odd * sums[4]
    out[5, node] += odd * sums[5]
    out[6, node] += w * sums[6]
    out[7, node] += w * sums[7]
    out[8, node] += w * sums[8]
    place, pair = 9 + 4 * directions, 1 + directions
    for d in range(directions):
        along, moved = sign * parts[1 + d], w * carried[d]
        out[9 + d, node] += along * sums[1] - moved * sums[2]
        out[9 + directions + d, node] += parts[1 + d] * sums[2] + sign * moved * sums[5]
        out[9 + 2 * directions + d, node] += along * sums[4] + moved * sums[7]
        out[9 + 3 * directions + d, node] += along * sums[5] + moved * sums[8]
        for e in range(d, directions):
            mixed = sign * (parts[1 + d] * carried[e] + parts[1 + e] * carried[d])
            out[place, node] += (parts[pair] + w * rest[d, e]) * sums[2] + mixed * sums[5]
            out[place, node] += moved * carried[e] * sums[8]
            place, pair = place + 1, pair + 1


@njit(cache=True, error_model="numpy", nogil=True)
def _parts(w, t, parts):
    """The weights of 1, of t and of its products where t has the weight w."""
    directions = t.shape[0]
    parts[0] = w
    place = 1 + directions
    for d in range(directions):
        parts[1 + d] = w * t[d]
        for e in range(d, directions):
            parts[place] = w * t[d] * t[e]
            place += 1


@njit(cache=True, error_model="numpy", nogil=True)
def _crowded(centers, low, half, panel):
    """Number the panels from `low` on that hold more centres than pay for a table, -1 for the others; how many."""
    panel[:] = 0
    for j in range(centers.shape[0]):
        place = (centers[j] - low) / (2.0 * half)
        if place < panel.shape[0]:
            panel[int(place)] += 1
    count = 0
    for k in range(panel.shape[0]):
        if panel[k] > _CROWD:
            panel[k] = count
            count += 1
        else:
            panel[k] = -1
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def _gathered(centers, low, half, panel, weight, t, parts, moments):
    """Chebyshev moments [panel, degree, part] of the weights of the centres in crowded panels, which are taken out."""
    for j in range(centers.shape[0]):
        place = (centers[j] - low) / (2.0 * half)
        if place < panel.shape[0] and panel[int(place)] >= 0:
            k = panel[int(place)]
            x = 2.0 * (place - int(place)) - 1.0
            _parts(weight[j], t[j], parts)
            before, now = x, 1.0  # the polynomials of degrees -1 and 0
            for degree in range(_ORDER):
                for a in range(parts.shape[0]):
                    moments[k, degree, a] += now * parts[a]
                before, now = now, 2.0 * x * now - before
            centers[j] = math.inf


@njit(cache=True, error_model="numpy", nogil=True)
def _standing(moments, angle, parts):
    """The parts at the Chebyshev node of an angle that stand for those of all centres of a panel."""
    for a in range(parts.shape[0]):
        parts[a] = moments[0, a] / _ORDER
    for degree in range(1, _ORDER):
        share = 2.0 * math.cos(degree * angle) / _ORDER
        for a in range(parts.shape[0]):
            parts[a] += share * moments[degree, a]


@njit(cache=True, error_model="numpy", nogil=True)
def points(gauss, fewest, weight, t, label, rest, noise, q, V, mean, slope, Delta, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    gauss[2, n]: Gauss-Legendre rule on (-1, 1); fewest: steps of the trapezoid; weight, label[N, J], t[N, J, D]: the
    law of label and mean of t given kappa; rest[D, D]: the covariance of t there; noise: variance of the label noise of
    a residual loss; V, mean, Delta[N], slope[D, N]: the fields. A loss of the residual or of the margin knows a label
    by the centre of the output only: many that are close are replaced by Chebyshev nodes, with weights that average
    polynomials as they do.
    """
    directions, steep = t.shape[2], np.full(2, math.inf)
    sums, parts = np.empty(9), np.empty(1 + directions + directions * (directions + 1) // 2)
    carried, centers, panel = np.empty(directions), np.empty(weight.shape[1]), np.empty(weight.shape[1], np.int64)
    tables = weight.shape[1] > _CROWD and (_RESIDUAL or _MARGIN)
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
        if _RATE > 0.0:
            half = min(half, _GROWTH / _RATE)
        for side in range(2 if _MARGIN else 1):
            sign = 1.0 - 2.0 * side
            low = math.inf
            for j in range(weight.shape[1]):
                centers[j] = math.inf
                y = label[node, j]
                if weight[node, j] != 0.0 and ((y > 0.0) == (side == 0) or not _MARGIN):
                    center = mean[node]
                    for d in range(directions):
                        center += slope[d, node] * t[node, j, d]
                    centers[j] = sign * center - (y if _RESIDUAL else 0.0)
                    low = min(low, centers[j])
            panels = _crowded(centers, low, half, panel) if tables else 0
            if panels > 0:
                moments = np.zeros((panels, _ORDER, parts.shape[0]))
                _gathered(centers, low, half, panel, weight[node], t[node], parts, moments)
                for k in range(panel.shape[0]):
                    if panel[k] >= 0:
                        for i in range(_ORDER):
                            angle = math.pi * (i + 0.5) / _ORDER
                            _standing(moments[panel[k]], angle, parts)
                            center = low + half * (2.0 * k + 1.0 + math.cos(angle))
                            _sums(gauss, fewest, sign, center, variance, V[node], q, steep, scratch, sums)
                            _add(sums, sign, parts, carried, rest, out, node)
            for j in range(weight.shape[1]):
                if centers[j] != math.inf:
                    y = label[node, j]
                    _sums(gauss, fewest, y, centers[j], variance, V[node], q, steep, scratch, sums)
                    _parts(weight[node, j], t[node, j], parts)
                    _add(sums, sign, parts, carried, rest, out, node)
