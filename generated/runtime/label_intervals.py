"""Averages over the output and a label that is constant on intervals.

Written by hand, in codegen/runtime/label_intervals.py.
Generated; do not edit. Signature c313c25bf4ba3949, runtime e19e8dd54aa930c2.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

from generated.runtime.compiling import entry, inner
from generated.runtime.nodes import REACH, Output, fill_nodes
from generated.runtime.prox import Turns


class LabelIntervals(NamedTuple):
    """Labels that are constant on intervals of z' = gamma kappa + width t'."""

    kappa: Any  # [N]
    low: Any  # [J]: an interval of z'
    high: Any
    weight: Any  # the probability of that label in it
    label: Any
    channel: Any  # (gamma, width, correlation of t and t')


class _Given(NamedTuple):
    """Moments of t and t' given omega, where t' has a correlation with t."""

    correlation: float
    ratio: float  # of the mean of t to the distance of omega from its center
    kept: float  # variance of t given t' as well
    carried: float  # covariance of t and t', over the deviation of t'
    root: float  # deviation of t'


@inner
def _tails(a):
    """Phi(a) and phi(a)."""
    return 0.5 * math.erfc(-0.7071067811865476 * a), 0.3989422804014327 * math.exp(-0.5 * a * a)


@inner
def _given(correlation, along, rest):
    """Moments for an output with the slope `along` in t and the variance `rest` beside."""
    total = rest + along * along
    variance = rest / total  # of t
    root = math.sqrt(1.0 - correlation * correlation * (1.0 - variance))
    carried = correlation * variance / root
    return _Given(correlation, along / total, variance - carried * carried, carried, root)


@inner
def _edges(labels, node, j):
    """The interval of a label as one of t', (inf, inf) where it cannot occur."""
    gamma, width = labels.channel[0], labels.channel[1]
    low, high = labels.low[j] - gamma * labels.kappa[node], labels.high[j] - gamma * labels.kappa[node]
    if width > 0.0:
        low, high = low / width, high / width
        return (low, high) if low <= REACH and high >= -REACH else (math.inf, math.inf)
    return (-math.inf, math.inf) if low <= 0.0 < high else (math.inf, math.inf)  # the label follows from kappa


@inner
def _turns(edges, given, center, sign):
    """Where in omega the edges of an interval are felt, and how sharply."""
    turn = given.correlation * given.ratio
    if turn == 0.0:
        return Turns((math.inf, math.inf), math.inf)
    return Turns((center + sign * edges[0] / turn, center + sign * edges[1] / turn), given.root / abs(turn))


@inner
def _within(edges, given, off):
    """The probability of an interval of t' for omega off its center, and with it the means of t' and t'^2."""
    m = given.correlation * given.ratio * off
    first, last = (edges[0] - m) / given.root, (edges[1] - m) / given.root
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
    return p0, -p1 if flip else p1, p2


@inner
def _moments(within, given, off):
    """The probability of an interval, and with it the means of t and t^2, for omega off its center."""
    p0, p1, p2 = within
    m, carried = given.ratio * off, given.carried
    return p0, m * p0 + carried * p1, (m * m + given.kept) * p0 + 2.0 * m * carried * p1 + carried * carried * p2


@entry
def intervals(law, rule, labels, fields, scratch, out):
    """Averages where the label is constant on intervals, as `points` otherwise.

    Given omega, t and t' are Gaussian and integrated in closed form.
    """
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        along, rest = fields.slope[0, node], fields.Delta[node] + rule.noise
        given = _given(labels.channel[2], along, rest)
        spread = math.sqrt(rest + along * along)
        for j in range(labels.label.shape[0]):
            y = labels.label[j]
            sign = y if law.margin else 1.0
            center = sign * fields.mean[node] - (y if law.residual else 0.0)
            edges = _edges(labels, node, j)
            if edges[0] == math.inf:
                continue
            turns = _turns(edges, given, center, sign)
            count = fill_nodes(law, rule, y, Output(center, spread, fields.V[node]), turns, scratch)
            if count == 0:
                for a in range(out.shape[0]):
                    out[a, node] = math.nan
            within = _within(edges, given, 0.0)  # for all omega where these do not move the interval
            for i in range(count):
                off = sign * (scratch[0, i] - center)
                p = labels.weight[j] * scratch[1, i]
                if given.correlation * given.ratio != 0.0:
                    within = _within(edges, given, off)
                p0, p1, p2 = _moments(within, given, off)
                p0, p1, p2 = p * p0, p * p1, p * p2
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
                out[14, node] += p0 * scratch[5, i]

SIGNATURE = "c313c25bf4ba3949aef9efa45dd4905e348313b12b76b54037dbd1373ace4c61"
