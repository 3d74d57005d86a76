"""Averages over the output and a label that is constant on intervals.

Written by hand, in codegen/runtime/label_intervals.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import inner, making_entry, within
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import OMEGA, REACH, WEIGHT, Output, fill_nodes, span_of
from generated.runtime.output_sums import LAW, add_sums
from generated.runtime.prox import NOWHERE, Turns
from generated.runtime.vector import exp, tail


class LabelIntervals(NamedTuple):
    """Labels that are constant on intervals of z' = gamma kappa + width t'."""

    kappa: Any  # [N]
    low: Any  # [J]: an interval of z'
    high: Any
    weight: Any  # the probability of that label in it
    label: Any
    channel: Any  # (gamma, width, correlation of t and t')


class Given(NamedTuple):
    """Moments of t and t' given omega, where t' has a correlation with t."""

    correlation: float
    ratio: float  # of the mean of t to the distance of omega from its center
    kept: float  # variance of t given t' as well
    carried: float  # covariance of t and t', over the deviation of t'
    root: float  # deviation of t'


class Label(NamedTuple):
    """A label that occurs on an interval [low, high] of t', infinite where it ends nowhere."""

    weight: float
    sign: float  # of u in the output
    low: float
    high: float


@inner
def given_output(correlation, along, rest):
    """Moments for an output with the slope `along` in t and the variance `rest` beside."""
    total = rest + along * along
    variance = rest / total  # of t
    apart = (1.0 - correlation) * (1.0 + correlation)  # as differences from one, small numbers would be lost
    root = math.sqrt(apart + correlation * correlation * variance)
    carried = correlation * variance / root
    return Given(correlation, along / total, variance * apart / (root * root), carried, root)


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
def turns_of(edges, given, center, sign):
    """Where in omega the edges of an interval are felt, and how sharply."""
    turn = given.correlation * given.ratio
    if turn == 0.0:
        return NOWHERE
    first, last = center + sign * edges[0] / turn, center + sign * edges[1] / turn
    width = given.root / abs(turn)
    none = math.inf
    return Turns((first, last, none, none, none, none), (width, width, none, none, none, none), width)


@within
def _below(x):
    """The probability of a standard normal below x, and its density there."""
    beyond, pdf = tail(abs(x))
    return 1.0 - beyond if x > 0.0 else beyond, pdf


@inner
def _fill_beyond_one(edge, sign, given, nodes, law):
    """The moments of t' up to an edge, or from one on with the sign -1; where omega is off its center by law[3]."""
    moved, inverse = given.correlation * given.ratio, 1.0 / given.root
    for i in range(nodes[0], nodes[1]):
        x = sign * (edge - moved * law[3, i]) * inverse
        p0, pdf = _below(x)
        law[0, i] = p0
        law[1, i] = -sign * pdf
        law[2, i] = p0 - x * pdf


@inner
def _fill_between(low, high, given, nodes, law):
    """The moments of t' between two edges."""
    moved, inverse = given.correlation * given.ratio, 1.0 / given.root
    for i in range(nodes[0], nodes[1]):
        m = moved * law[3, i]
        first, last = (low - m) * inverse, (high - m) * inverse
        flip = first > 0.0  # differences of small numbers, not of numbers close to one
        a, b = -last if flip else first, -first if flip else last
        below_a, pdf_a = _below(a)
        below_b, pdf_b = _below(b)
        p1 = pdf_a - pdf_b
        law[0, i] = below_b - below_a
        law[1, i] = -p1 if flip else p1
        law[2, i] = (below_b - b * pdf_b) - (below_a - a * pdf_a)


@inner
def fill_law(label, given, output, variances, scratch, nodes, law):
    """The law of a label at nodes of the output: the moments of t on the interval, times the density.

    nodes: the first, and the first beyond the last. variances: of the output beside t, and its slope in t. Given omega,
    t and t' are Gaussian.
    """
    (rest, along), center, spread, sign = variances, output.center, output.spread, label.sign
    for i in range(nodes[0], nodes[1]):
        law[3, i] = sign * (scratch[OMEGA, i] - center)  # both beyond the start of the span
    if label.low == -math.inf and label.high == math.inf:
        for i in range(nodes[0], nodes[1]):
            law[0, i], law[1, i], law[2, i] = 1.0, 0.0, 1.0
    elif label.low == -math.inf:
        _fill_beyond_one(label.high, 1.0, given, nodes, law)
    elif label.high == math.inf:
        _fill_beyond_one(label.low, -1.0, given, nodes, law)
    else:
        _fill_between(label.low, label.high, given, nodes, law)
    scale, ratio, carried, kept = label.weight * NORM / spread, given.ratio, given.carried, given.kept
    inverse, of_off, of_t = 1.0 / spread, sign / rest, sign * along / rest
    for i in range(nodes[0], nodes[1]):
        off, p0, p1, p2 = law[3, i], law[0, i], law[1, i], law[2, i]
        z = off * inverse
        p = scale * scratch[WEIGHT, i] * exp(-0.5 * z * z)
        t = ratio * off
        t1, t2 = t * p0 + carried * p1, (t * t + kept) * p0 + 2.0 * t * carried * p1 + carried * carried * p2
        p0, t1, t2 = p * p0, p * t1, p * t2
        a = of_off * off  # the derivative of the density: a - of_t t
        x0, x1 = a * p0 - of_t * t1, a * t1 - of_t * t2
        law[0, i] = p0
        law[1, i] = t1
        law[2, i] = t2
        law[3, i] = x0
        law[4, i] = x1
        law[5, i] = a * x0 - of_t * x1 - p0 / rest


@making_entry
def intervals(law, rule, labels, fields, scratch, out):
    """Averages where the label is constant on intervals, as `points` otherwise: t and t' in closed form."""
    _fill_averages(law, rule, labels, fields, scratch, np.empty((LAW, scratch.shape[1])), out)


@inner
def _fill_averages(law, rule, labels, fields, scratch, rows, out):
    """The same with room [LAW, n] for the law of a label at the nodes of the output."""
    for node in range(fields.V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        along, rest = fields.slope[0, node], fields.Delta[node] + rule.noise
        given = given_output(labels.channel[2], along, rest)
        spread = math.sqrt(rest + along * along)
        for j in range(labels.label.shape[0]):
            y = labels.label[j]
            sign = y if law.margin else 1.0
            center = sign * fields.mean[node] - (y if law.residual else 0.0)
            edges = _edges(labels, node, j)
            if edges[0] == math.inf:
                continue
            turns = turns_of(edges, given, center, sign)
            output = Output(center, spread, fields.V[node])
            span = span_of(output)
            count = fill_nodes(law, rule, y, span, turns, scratch)
            if count == 0:
                for a in range(out.shape[0]):
                    out[a, node] = math.nan
            label = Label(labels.weight[j], sign, edges[0], edges[1])
            fill_law(
                label, given, Output(center - span.low, spread, output.V), (rest, along), scratch, (0, count), rows
            )
            add_sums(rows, sign, scratch, count, out, node)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
