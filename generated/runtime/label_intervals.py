"""Averages over the output and a label that is constant on intervals.

Written by hand, in codegen/runtime/label_intervals.py.
Generated; do not edit. Signature 35b197c385e1dc7c, runtime 50a1bdc33bfa3dee.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, inner
from generated.runtime.nodes import REACH, fill_nodes


@inner
def _tails(a):
    """Phi(a) and phi(a)."""
    return 0.5 * math.erfc(-0.7071067811865476 * a), 0.3989422804014327 * math.exp(-0.5 * a * a)


@entry
def intervals(
    law,
    gauss,
    fewest,
    kappa,
    low,
    high,
    weight,
    label,
    channel,
    noise,
    q,
    V,
    mean,
    slope,
    Delta,
    scratch,
    out,
):
    """Averages where the label is constant on intervals of z' = gamma kappa + width t', as `points` otherwise.

    low, high, weight, label[J]: an interval of z', the probability of that label in it, the label;
    channel: (gamma, width, correlation of t and t'). Given omega, t and t' are Gaussian and integrated in closed form.
    """
    gamma, width, correlation = channel[0], channel[1], channel[2]
    steep = np.empty(2)
    for node in range(V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        along = slope[0, node]
        rest = Delta[node] + noise
        total = rest + along * along
        spread = math.sqrt(total)
        ratio = along / total  # of the mean of t given omega
        variance = rest / total  # of t given omega
        inner = 1.0 - correlation * correlation * (1.0 - variance)  # of t' given omega
        root = math.sqrt(inner)
        carried = correlation * variance / root
        kept = variance - carried * carried
        for j in range(label.shape[0]):
            y = label[j]
            sign = y if law.margin else 1.0
            center = sign * mean[node] - (y if law.residual else 0.0)
            edge_low, edge_high = low[j] - gamma * kappa[node], high[j] - gamma * kappa[node]
            if width > 0.0:
                edge_low, edge_high = edge_low / width, edge_high / width
            else:  # the label follows from kappa
                if not edge_low <= 0.0 < edge_high:
                    continue
                edge_low, edge_high = -math.inf, math.inf
            if edge_low > REACH or edge_high < -REACH:
                continue
            turn = correlation * ratio
            blur = math.inf
            steep[0] = steep[1] = math.inf
            if turn != 0.0:
                blur = root / abs(turn)
                steep[0], steep[1] = center + sign * edge_low / turn, center + sign * edge_high / turn
            count = fill_nodes(law, gauss, fewest, y, center, spread, V[node], q, steep, blur, scratch)
            if count == 0:
                for a in range(out.shape[0]):
                    out[a, node] = math.nan
            for i in range(count):
                off = sign * (scratch[0, i] - center)
                m = ratio * off
                first, last = (edge_low - correlation * m) / root, (edge_high - correlation * m) / root
                flip = first > 0.0  # differences of small numbers, not of numbers close to one
                if flip:
                    first, last = -last, -first
                p0 = p1 = p2 = 0.0
                if last < math.inf:
                    cdf, pdf = _tails(last)
                    p0, p1, p2 = cdf, -pdf, cdf - last * pdf
                else:
                    p0, p2 = 1.0, 1.0
                if first > -math.inf:
                    cdf, pdf = _tails(first)
                    p0, p1, p2 = p0 - cdf, p1 + pdf, p2 - cdf + first * pdf
                if flip:
                    p1 = -p1
                p = weight[j] * scratch[1, i]
                p2 = p * ((m * m + kept) * p0 + 2.0 * m * carried * p1 + carried * carried * p2)
                p1 = p * (m * p0 + carried * p1)
                p0 = p * p0
                a, b = off / rest, along / rest  # x = a - b t
                x0, x1 = a * p0 - b * p1, a * p1 - b * p2
                xx = a * x0 - b * x1 - p0 / rest
                g, h = sign * scratch[2, i], scratch[3, i]
                out[0, node] += p0 * scratch[4, i]
                out[1, node] += p0 * g
                out[2, node] += p0 * h
                out[3, node] += p0 * g * g
                out[4, node] += p0 * g * h
                out[5, node] += x0 * h
                out[6, node] += p0 * g * g * h
                out[7, node] += x0 * g * h
                out[8, node] += xx * h
                out[9, node] += p1 * g
                out[10, node] += p1 * h
                out[11, node] += p1 * g * h
                out[12, node] += x1 * h
                out[13, node] += p2 * h

SIGNATURE = "35b197c385e1dc7c5073dada1a036aedd27fbef7cba6eaca0c1160c039622193"
