"""The average of a function of label and output given kappa.

Given kappa the output is Gaussian, and depends on the label through the rest t of the target's directions. A label that
is constant on intervals of z' leaves the output Gaussian, times the probability of the interval given the output. Any
other label is taken at nodes, at each of which the output is Gaussian. [CUI24] Result 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from derive.language.links import variables_of
from derive.language.metrics import parse_metric
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.observe.metric_labels import labels_cut_at
from giantstep.observe.output_law import Output
from giantstep.quadrature.gauss import legendre
from giantstep.quadrature.kinks import bracketed_zeros, degree, kinks, polynomial_zeros
from giantstep.spec.expressions import special
from giantstep.spec.metrics import function_of

Array = np.ndarray
Function = Callable[[Array, Array], Array]
_REACH, _FURTHER = 8.5, 1.5  # of a standard normal: the weight beyond is 2e-17; for functions that grow
_ORDER = 16  # of a panel of the output
_NOISE_STEP = 0.6  # of the trapezoid over the label noise
_AROUND = (-40.0, -8.0, -2.0, 0.0, 2.0, 8.0, 40.0)  # cuts about the end of an interval, in widths of its turn
_AT_A_TIME = 1 << 22  # evaluations
_SHIFTS, _SAME = (0.7, -2.3), 1e-11
_LARGEST = 32.0  # label at which a kink is looked for
_PLACES = tuple(np.random.default_rng(3).standard_normal((2, 41)))


@dataclass(frozen=True)
class Metric:
    """A function of arrays y and f that broadcast.

    kinks: functions whose zeros in f are its kinks and jumps, and their degrees as polynomials in f, None for others;
    labels: at which it has some whatever f is; of_residual, of_output: whether it knows y - f only, or f only.
    """

    values: Function
    kinks: tuple[tuple[Function, int | None], ...]
    labels: tuple[float, ...]
    of_residual: bool
    of_output: bool


@lru_cache(maxsize=128)
def metric_of(text: str) -> Metric:
    """The function of a metric's text. Raises ExpressionError."""
    node = parse_metric(text)
    values, (y, f) = function_of(node), _PLACES
    first = values(y, f)
    size = float(np.max(np.abs(first)))
    moved = [values(y + shift, f + shift) for shift in _SHIFTS]
    same = all(bool(np.all(np.abs(each - first) <= _SAME * size)) for each in moved)
    found = [(function_of(kink), degree(kink, "f")) for kink in dict.fromkeys(kinks(node))]
    labels = [place for function, power in found if power == 0 for place in _label_kinks(function)]
    of_output = "y" not in variables_of(node)
    return Metric(values, tuple(pair for pair in found if pair[1] != 0), tuple(labels), same, of_output)


def _label_kinks(function: Function) -> list[float]:
    """Zeros of a function of the label alone."""
    zeros = bracketed_zeros(lambda y: np.atleast_2d(function(y, np.zeros_like(y))), (-_LARGEST, _LARGEST))
    return [round(float(zero), 15) for zero in zeros[np.isfinite(zeros)]]


@dataclass(frozen=True)
class Resolution:
    """The width of panels of the output, in units of its spread, how often the nodes of the label are halved, and how
    far out output and noise are averaged.
    """

    width: float
    finer: int
    reach: float = _REACH

    def narrower(self) -> Resolution:
        """With panels of half the width."""
        return replace(self, width=0.5 * self.width)

    def further(self) -> Resolution:
        """Further out."""
        return replace(self, reach=_FURTHER * self.reach)

    def denser(self) -> Resolution:
        """With twice as many nodes of the label and its noise."""
        return replace(self, finer=self.finer + 1)


@dataclass(frozen=True)
class Given:
    """Averages of a metric given kappa, from the law of the output of a solution."""

    output: Output
    metric: Metric

    def at(self, kappa: Array, resolution: Resolution) -> Array:
        """The averages [N] at kappa [N, q]."""
        problem = self.output.problem
        target = problem.model.target
        mean, slope, variance = self.output.of(kappa)
        if self.metric.of_output:
            spread = np.sqrt((slope**2).sum(axis=1) + np.maximum(variance, 1e-300))
            return _gaussian(self.metric, np.zeros_like(mean), mean, spread, resolution)
        noise = 0.0 if self.metric.of_residual else target.noise  # a residual's is part of the output's spread
        variance = np.maximum(variance + (target.noise - noise), 1e-300)
        places = () if noise > 0.0 else self.metric.labels
        labels = labels_cut_at(target, problem.overlaps, kappa, places, resolution.finer)
        law = _Noisy(self.metric, math.sqrt(noise), resolution)
        if isinstance(labels, Intervals):
            spread = np.sqrt(slope[:, 0] ** 2 + variance)
            joint = slope[:, 0] * labels.channel[2] / spread  # correlation of z' and the output
            return law.of_intervals(labels, kappa[:, 0], (mean, spread, joint))
        centre = mean[:, None] + np.einsum("nd,njd->nj", slope, labels.t)
        variance = variance + np.einsum("nd,de,ne->n", slope, labels.rest, slope)
        return law.of_points(labels, centre, np.sqrt(variance))


@dataclass(frozen=True)
class _Noisy:
    """A metric of labels with Gaussian noise of a standard deviation."""

    metric: Metric
    noise: float
    resolution: Resolution

    def nodes(self, label: Array) -> tuple[Array, Array]:
        """Labels with their noise and weights [M, n] for labels [M]: cut where the metric has kinks in the label."""
        if self.noise == 0.0:
            return label[:, None], np.ones((len(label), 1))
        if self.metric.labels:
            cuts = _within((np.array(self.metric.labels) - label[:, None]) / self.noise, self.resolution)
            n, weight = _nodes(cuts, self.resolution)
        else:
            step = _NOISE_STEP / 2**self.resolution.finer
            count = math.floor(self.resolution.reach / step)
            n = step * np.arange(-count, count + 1)[None]
            weight = step * np.exp(-0.5 * n * n) / math.sqrt(2.0 * math.pi)
        y = label[:, None] + self.noise * n
        return y, np.broadcast_to(weight, y.shape)

    def of_points(self, labels: Points, centre: Array, spread: Array) -> Array:
        """[N] for labels at nodes, at each of which the output has a mean [N, J]."""
        spreads = np.broadcast_to(spread[:, None], centre.shape).ravel()
        flat, found = np.stack([labels.label.ravel(), centre.ravel(), spreads]), np.empty(centre.size)
        each = _evaluations(self.metric, self.resolution) * self.nodes(np.zeros(1))[0].size
        height = max(1, _AT_A_TIME // each)
        for start in range(0, centre.size, height):
            label, mean, root = flat[:, start : start + height]
            y, weight = self.nodes(label)
            mean, root = (np.broadcast_to(given[:, None], y.shape).ravel() for given in (mean, root))
            values = _gaussian(self.metric, y.ravel(), mean, root, self.resolution).reshape(y.shape)
            found[start : start + height] = (weight * values).sum(axis=1)
        return np.asarray((labels.weight * found.reshape(centre.shape)).sum(axis=1))

    def of_intervals(self, labels: Intervals, kappa: Array, output: tuple[Array, Array, Array]) -> Array:
        """[N] for labels on intervals; output: its mean, spread and correlation with z'."""
        found = np.zeros_like(kappa)
        for low, high, label, share in zip(labels.low, labels.high, labels.label, labels.weight, strict=True):
            interval = _Interval(float(low), float(high), labels.channel)
            for y, weight in zip(*(each[0] for each in self.nodes(np.array([label]))), strict=True):
                found += share * weight * interval.average(self.metric, y, kappa, output, self.resolution)
        return found


@dataclass(frozen=True)
class _Interval:
    """One of ``z' = gamma kappa + root t'``; channel: gamma, root, and the correlation of t and t'."""

    low: float
    high: float
    channel: Array

    def average(
        self, metric: Metric, label: float, kappa: Array, output: tuple[Array, Array, Array], at: Resolution
    ) -> Array:
        """E of the metric where z' is inside: the output first, then the probability of the interval given it."""
        (gamma, root, _), (mean, spread, joint) = self.channel, output
        y = np.full_like(kappa, label)
        if root == 0.0:
            inside = (self.low <= gamma * kappa) & (gamma * kappa < self.high)
            return np.where(inside, _gaussian(metric, y, mean, spread, at), 0.0)
        rest = np.sqrt(np.maximum((1.0 - joint) * (1.0 + joint), 1e-300))
        ends = [(end - gamma * kappa) / root for end in (self.low, self.high)]
        turns = [_turn(end, joint, rest, at) for end in ends if np.isfinite(end).all()]
        u, weight = _nodes(np.concatenate([_kinks(metric, y, mean, spread, at), *turns], axis=1), at)
        below, above = (special.ndtr((end[:, None] - joint[:, None] * u) / rest[:, None]) for end in ends)
        values = metric.values(y[:, None], mean[:, None] + spread[:, None] * u)
        return np.asarray((weight * (above - below) * values).sum(axis=1))


def _evaluations(metric: Metric, at: Resolution) -> int:
    """Of one average over the output, about."""
    return _ORDER * (math.ceil(2.0 * at.reach / at.width) + 2 * len(metric.kinks))


def _gaussian(metric: Metric, y: Array, centre: Array, spread: Array, resolution: Resolution) -> Array:
    """E metric(y, centre + spread u) over a standard normal u [M]."""
    u, weight = _nodes(_kinks(metric, y, centre, spread, resolution), resolution)
    return np.asarray((weight * metric.values(y[:, None], centre[:, None] + spread[:, None] * u)).sum(axis=1))


def _turn(end: Array, joint: Array, rest: Array, resolution: Resolution) -> Array:
    """Cuts [N, C] in the output about the place where the probability of an interval turns at its end."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = (end / joint)[:, None] + (rest / np.abs(joint))[:, None] * np.array(_AROUND)
    return _within(cuts, resolution)


def _kinks(metric: Metric, y: Array, centre: Array, spread: Array, resolution: Resolution) -> Array:
    """Kinks and jumps of a metric in units of the output's spread from its mean, [M, C]."""
    found = [np.empty((len(y), 0))]
    for function, power in metric.kinks:

        def at(u: Array, own: Function = function) -> Array:
            values = own(y[:, None], centre[:, None] + spread[:, None] * u)
            return np.broadcast_to(values, (len(y), u.shape[-1]))

        zeros = polynomial_zeros(at) if power in (1, 2) else bracketed_zeros(at, (-resolution.reach, resolution.reach))
        found.append(_within(zeros.T, resolution))
    return np.concatenate(found, axis=1)


def _within(cuts: Array, resolution: Resolution) -> Array:
    """Cuts of the panels; those that are none are at the end."""
    return np.asarray(np.clip(np.where(np.isnan(cuts), resolution.reach, cuts), -resolution.reach, resolution.reach))


def _nodes(cuts: Array, resolution: Resolution) -> tuple[Array, Array]:
    """Nodes and weights [M, n] of a standard normal on panels of a width, cut further at [M, C]."""
    reach = resolution.reach
    base = np.linspace(-reach, reach, math.ceil(2.0 * reach / resolution.width) + 1)
    edges = np.sort(np.concatenate([np.broadcast_to(base, (len(cuts), len(base))), cuts], axis=1), axis=1)
    points, weights = legendre(_ORDER)
    half, middle = 0.5 * np.diff(edges, axis=1), 0.5 * (edges[:, 1:] + edges[:, :-1])
    u = middle[:, :, None] + half[:, :, None] * points
    weight = half[:, :, None] * weights * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    return u.reshape(len(cuts), -1), weight.reshape(len(cuts), -1)
