"""The average of a function of label and output given kappa.

Given kappa the output is Gaussian, and depends on the label through the rest t of the target's directions. A label that
is constant on intervals of z' leaves the output Gaussian, times the probability of the interval given the output. Any
other label is taken at nodes, at each of which the output is Gaussian. [CUI24] Result 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from giantstep.law.channel import COUNTED
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.observe.metric_function import Function, Metric, metric_of
from giantstep.observe.metric_labels import (
    Along,
    Index,
    LabelOfOne,
    LabelOfTwo,
    LabelOnLines,
    OnLines,
    labels_cut_at,
)
from giantstep.observe.output_law import Output
from giantstep.quadrature.gauss import gathered, legendre
from giantstep.quadrature.kinks import bracketed_zeros, polynomial_zeros
from giantstep.quadrature.settled import Panels, Rule
from giantstep.quadrature.truncated_normal import means_between
from giantstep.spec.expressions import special

Array = np.ndarray
_REACH, _FURTHER = 8.5, 1.5  # of a standard normal: the weight beyond is 2e-17; for functions that grow
_OF_T = 0.5  # how much further the label goes, whose averages are averaged again
_ORDER, _OF_ROOTS = 16, 40  # of a panel of the output, and of one whose ends may be roots
_NOISE_STEP = 0.6  # of the trapezoid over the label noise
_AROUND = (-40.0, -8.0, -2.0, 0.0, 2.0, 8.0, 40.0)  # cuts about the end of an interval, in widths of its turn
_AT_A_TIME = 1 << 19  # evaluations: more leave the cache
_OUTERMOST = 0.95  # of the way to an end, from which on it is next to it
_NEAR = 1e-5  # step of a slope in t, and in spreads of the output
# deviations of the second argument, where panels of the first end: a product y*f nearly zero turns as exp(-1/y^2) next
# to y = 0, and a wide panel that begins too far from the end of that turn does not see what it holds of it
_TURN = (-8.0, -5.0, -2.0, 2.0, 5.0, 8.0)
# of the first argument: such a turn is no power series, so that its error is not the square of what is allowed
_RULE, _SOME_PANELS = Rule(16, 1e-9), 16


@dataclass(frozen=True)
class Resolution:
    """The width of panels of the output, in units of its spread, how often the nodes of the label are halved, and how
    far out output, label and noise are averaged; lines: whether a label of two indices has nodes on lines that are
    chosen; rounding: of averages.
    """

    width: float
    finer: int
    reach: float = _REACH
    lines: bool = False
    rounding: float = 0.0

    @property
    def of_label(self) -> tuple[int, float, float]:
        """How often its nodes are halved, rounding, and how far out its t goes."""
        return self.finer, self.rounding, self.reach + _OF_T

    def narrower(self) -> Resolution:
        """With panels of half the width."""
        return replace(self, width=0.5 * self.width)

    def further(self) -> Resolution:
        """Further out."""
        return replace(self, reach=_FURTHER * self.reach)

    def on_lines(self) -> Resolution:
        """With nodes of a label of two indices that are chosen."""
        return replace(self, finer=0, lines=True)

    def of_counts(self) -> Resolution:
        """With so many halvings that labels drawn without bound are the counts themselves."""
        return replace(self, finer=self.finer + COUNTED)

    def denser(self) -> Resolution:
        """With twice as many nodes of the label and its noise."""
        return replace(self, finer=self.finer + 1)


@dataclass(frozen=True, eq=False)
class _AtNodes:
    """Terms [N, J] of averages at nodes t [N, J, m] of a label."""

    t: Array
    terms: Array


@dataclass(frozen=True)
class Given:
    """Averages of a metric given kappa, from the law of the output of a solution."""

    output: Output
    metric: Metric
    turned: Metric

    @classmethod
    def of(cls, output: Output, text: str) -> Given:
        """Those of a metric's text. Raises ExpressionError."""
        return cls(output, metric_of(text), metric_of(text, turned=True))

    def missed(self, kappa: Array, resolution: Resolution) -> Array:
        """What averages [N] at kappa [N, q] take from next to their ends: they miss less further out."""
        nearer = replace(resolution, reach=_OUTERMOST * resolution.reach)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.abs(self.at(kappa, nearer) - self.at(kappa, resolution))
        return np.asarray(found + self.outermost(kappa, resolution))

    def outermost(self, kappa: Array, resolution: Resolution) -> Array:
        """What nodes of the label that no resolution takes further add next to their ends [N]."""
        found = self._averages(kappa, resolution)
        if not isinstance(found, _AtNodes):
            return np.zeros(len(kappa))
        away = np.abs(found.t).max(axis=2)
        return np.asarray(np.where(away > _OUTERMOST * away.max(), np.abs(found.terms), 0.0).sum(axis=1))

    def at(self, kappa: Array, resolution: Resolution) -> Array:
        """The averages [N] at kappa [N, q]."""
        found = self._averages(kappa, resolution)
        return np.asarray(found.terms.sum(axis=1)) if isinstance(found, _AtNodes) else found

    def _averages(self, kappa: Array, resolution: Resolution) -> Array | _AtNodes:
        problem = self.output.problem
        target = problem.model.target
        mean, slope, variance = self.output.of(kappa)
        if self._turns_between_counts():
            resolution = resolution.of_counts()
        if self.metric.of_output:
            spread = np.sqrt((slope**2).sum(axis=1) + np.maximum(variance, 1e-300))
            return _gaussian(self.metric, np.zeros_like(mean), mean, spread, resolution)
        noise = 0.0 if self.metric.of_residual else target.noise  # a residual's is part of the output's spread
        variance = np.maximum(variance + (target.noise - noise), 1e-300)
        places = () if noise > 0.0 else self.metric.places
        law = _Noisy(self.metric, self.turned, math.sqrt(noise), resolution)
        for kind in (LabelOfOne, LabelOfTwo)[: 1 + resolution.lines]:
            label = kind.of(target, problem.overlaps, places, *resolution.of_label)
            if label is not None:
                return label.average(kappa, (mean, slope, variance), law.along)
        labels = labels_cut_at(target, problem.overlaps, kappa, places, resolution.finer)
        if isinstance(labels, Intervals):
            spread = np.sqrt(slope[:, 0] ** 2 + variance)
            joint = slope[:, 0] * labels.channel[2] / spread  # correlation of z' and the output
            return law.of_intervals(labels, kappa[:, 0], (mean, spread, joint))
        centre = mean[:, None] + np.einsum("nd,njd->nj", slope, labels.t)
        variance = variance + np.einsum("nd,de,ne->n", slope, labels.rest, slope)
        spread = np.broadcast_to(np.sqrt(variance)[:, None], centre.shape)
        return _AtNodes(labels.t, labels.weight * law.at_points(labels.label, centre, spread))

    def _turns_between_counts(self) -> bool:
        """Whether labels are counts without bound, and the metric has kinks or jumps in them whatever the output is."""
        channel = self.output.problem.model.target.channel
        return channel is not None and not channel.values and self.metric.turns_in_label


@dataclass(frozen=True)
class _Noisy:
    """A metric of labels with Gaussian noise of a standard deviation.

    turned: the same with output and label exchanged. Of both the one that varies more is averaged over at the values of
    the other one: kinks and jumps are then passed gently.
    """

    metric: Metric
    turned: Metric
    noise: float
    resolution: Resolution

    def along(self, label: LabelOnLines, output: OnLines) -> Array:
        """[N] for a label on lines; output: its mean at t' = 0, slope in t' and variance beside [N]."""
        mean, slope, variance = output
        spread = np.sqrt(variance)

        def averaged(labels: Points, owner: Index) -> Array:
            centre = mean[owner, None] + slope[owner, None] * labels.t[:, :, 0]
            return self.at_points(labels.label, centre, np.broadcast_to(spread[owner, None], centre.shape))

        def crossing(function: Function) -> Along:
            def at(t: Array, of_output: float = 0.0, of_noise: float = 0.0) -> Array:
                centre = mean[:, None] + slope[:, None] * t
                return function(label.at(t) + of_noise * self.noise, centre + of_output * spread[:, None])

            def width(t: Array) -> Array:
                with np.errstate(all="ignore"):
                    moved = np.hypot(at(t, _NEAR) - at(t, -_NEAR), at(t, 0.0, _NEAR) - at(t, 0.0, -_NEAR))
                    return np.asarray(np.minimum(moved / np.abs(at(t + _NEAR) - at(t - _NEAR)), 1.0))

            return at, width

        return label.average(averaged, [crossing(function) for function, _ in self.metric.kinks])

    def at_points(self, labels: Array, centre: Array, spread: Array) -> Array:
        """[N, J] for labels at nodes, at each of which the output has a mean and a deviation."""
        flat, found = np.stack([labels.ravel(), centre.ravel(), spread.ravel()]), np.empty(centre.size)
        noisy = np.full(centre.size, self.noise > 0.0)
        of_output = noisy & (flat[2] < self.noise)
        ways = [(~noisy, self._of_output)]
        if self.metric.of_cells:
            ways.append((noisy, self._of_cells))
        else:
            ways += [(noisy & ~of_output, self._of_label), (of_output, self._of_noise)]
        for chosen, average in ways:
            (places,) = np.nonzero(chosen)
            for part in self._parts(places):
                found[part] = average(*flat[:, part])
        return found.reshape(centre.shape)

    def _parts(self, places: Index) -> list[Index]:
        """So many at a time that their evaluations have room."""
        most = max(_evaluations(metric, self.resolution) for metric in (self.metric, self.turned))
        height = max(1, _AT_A_TIME // (most * (_RULE.order * _SOME_PANELS if self.noise > 0.0 else 1)))
        return np.array_split(places, math.ceil(len(places) / height)) if len(places) else []

    def _of_output(self, label: Array, centre: Array, spread: Array) -> Array:
        """[M] of labels without noise."""
        return _gaussian(self.metric, label, centre, spread, self.resolution)

    def _of_cells(self, label: Array, centre: Array, spread: Array) -> Array:
        """[M], as a sum over cells of label and output, in each of which the metric is straight in both."""
        noise, reach = np.full_like(label, self.noise), self.resolution.reach
        of_label = means_between(_kinks(self.turned, centre, label, noise, self.resolution), reach)
        of_output = means_between(_kinks(self.metric, label, centre, spread, self.resolution), reach)
        y, f = label[:, None] + noise[:, None] * of_label[0], centre[:, None] + spread[:, None] * of_output[0]
        values = self.metric.values(y[:, :, None], f[:, None, :])
        return np.asarray(np.einsum("mi,mj,mij->m", of_label[1], of_output[1], values, optimize=True))

    def _of_label(self, label: Array, centre: Array, spread: Array) -> Array:
        """[M], the output first."""
        return self._of_both(_Pair(self.metric, self.turned, self._noisy(label), (centre, spread)))

    def _of_noise(self, label: Array, centre: Array, spread: Array) -> Array:
        """[M], the noise of the label first."""
        return self._of_both(_Pair(self.turned, self.metric, (centre, spread), self._noisy(label)))

    def _noisy(self, label: Array) -> tuple[Array, Array]:
        """Mean and deviation of labels."""
        return label, np.full_like(label, self.noise)

    def _of_both(self, pair: _Pair) -> Array:
        """[M], the average over the second argument first."""

        def given(owner: Index, values: Array) -> Array:
            centre, spread = (np.broadcast_to(each[owner, None], values.shape).ravel() for each in pair.second)
            return _gaussian(pair.metric, values.ravel(), centre, spread, self.resolution).reshape(values.shape)

        return pair.averaged(given, self.resolution)

    def of_intervals(self, labels: Intervals, kappa: Array, output: tuple[Array, Array, Array]) -> Array:
        """[N] for labels on intervals; output: its mean, spread and correlation with z'."""
        found = np.zeros_like(kappa)
        for low, high, label, share in zip(labels.low, labels.high, labels.label, labels.weight, strict=True):
            interval = _Interval(float(low), float(high), labels.channel)
            for part in self._parts(np.arange(len(kappa))):
                law = kappa[part], *(each[part] for each in output)
                found[part] += share * self._of_interval(interval, np.full(len(part), label), np.stack(law))
        return found

    def _of_interval(self, interval: _Interval, label: Array, law: Array) -> Array:
        """[M]; law: kappa and the output's mean, spread and correlation with z' [4, M]."""

        def given(owner: Index, y: Array) -> Array:
            each = np.repeat(law[:, owner], y.shape[1], axis=1)
            return interval.average(self.metric, y.ravel(), each, self.resolution).reshape(y.shape)

        if self.noise == 0.0:
            return given(np.arange(len(label)), label[:, None])[:, 0]
        pair = _Pair(self.metric, self.turned, self._noisy(label), (law[1], law[2]))
        return pair.averaged(given, self.resolution)


@dataclass(frozen=True)
class _Pair:
    """Two independent normal arguments of a metric, each (means, deviations) [M]; turned: the metric of the second one
    and the first.
    """

    metric: Metric
    turned: Metric
    first: tuple[Array, Array]
    second: tuple[Array, Array]

    def averaged(self, given: Callable[[Index, Array], Array], at: Resolution) -> Array:
        """[M]; given: the averages over the second argument [P, n] at values of the first, of owners [P] in M.

        Smooth metrics on a trapezoid, others on panels about the places where the second passes a kink.
        """
        mean, spread = self.first

        def weighted(owner: Index, n: Array) -> Array:
            values = given(owner, mean[owner, None] + spread[owner, None] * n)
            return np.asarray(values * np.exp(-0.5 * n * n) / math.sqrt(2.0 * math.pi))

        everyone = np.arange(len(mean))
        if self.metric.kinks or self.metric.places:
            return _RULE.integrals(weighted, Panels.between(self._ends(at)), len(mean))[0]
        step = _NOISE_STEP / 2**at.finer
        count = math.floor(at.reach / step)
        n = np.broadcast_to(step * np.arange(-count, count + 1), (len(mean), 2 * count + 1))
        return np.asarray(step * weighted(everyone, n).sum(axis=1))

    def _ends(self, at: Resolution) -> Array:
        """Ends [M, E] of panels of the first argument, in deviations."""
        (mean, spread), (centre, root) = self.first, self.second
        ends = [np.broadcast_to(np.array([-1.0, 0.0, 1.0]) * at.reach, (len(mean), 3))]
        ends.append(_within((np.array(self.metric.places) - mean[:, None]) / spread[:, None], at))
        ends += [_kinks(self.turned, centre + turn * root, mean, spread, at) for turn in _TURN]
        return np.concatenate(ends, axis=1)


@dataclass(frozen=True)
class _Interval:
    """One of ``z' = gamma kappa + root t'``; channel: gamma, root, and the correlation of t and t'."""

    low: float
    high: float
    channel: Array

    def average(self, metric: Metric, y: Array, law: Array, at: Resolution) -> Array:
        """E [M] of the metric where z' is inside: the output first, then the probability of the interval given it.

        law: kappa and the output's mean, spread and correlation with z' [4, M].
        """
        (gamma, root, _), (kappa, mean, spread, joint) = self.channel, law
        if root == 0.0:
            inside = (self.low <= gamma * kappa) & (gamma * kappa < self.high)
            return np.where(inside, _gaussian(metric, y, mean, spread, at), 0.0)
        rest = np.sqrt(np.maximum((1.0 - joint) * (1.0 + joint), 1e-300))
        ends = [(end - gamma * kappa) / root for end in (self.low, self.high)]
        turns = [_turn(end, joint, rest, at) for end in ends if np.isfinite(end).all()]
        u, weight = _nodes(metric, np.concatenate([_kinks(metric, y, mean, spread, at), *turns], axis=1), at)
        below, above = (special.ndtr((end[:, None] - joint[:, None] * u) / rest[:, None]) for end in ends)
        values = metric.values(y[:, None], mean[:, None] + spread[:, None] * u)
        return np.asarray((weight * (above - below) * values).sum(axis=1))


def _evaluations(metric: Metric, at: Resolution) -> int:
    """Of one average over the output, about."""
    if metric.of_lines:
        return 1 + 2 * len(metric.kinks)
    return (_OF_ROOTS if metric.rooted else _ORDER) * (math.ceil(2.0 * at.reach / at.width) + 2 * len(metric.kinks))


def _gaussian(metric: Metric, y: Array, centre: Array, spread: Array, resolution: Resolution) -> Array:
    """E metric(y, centre + spread u) over a standard normal u [M]."""
    cuts = _kinks(metric, y, centre, spread, resolution)
    u, weight = means_between(cuts, resolution.reach) if metric.of_lines else _nodes(metric, cuts, resolution)
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

        zeros = (
            polynomial_zeros(at, power)
            if power in (1, 2)
            else bracketed_zeros(at, (-resolution.reach, resolution.reach))
        )
        found.append(_within(zeros.T, resolution))
    return np.concatenate(found, axis=1)


def _within(cuts: Array, resolution: Resolution) -> Array:
    """Cuts of the panels; those that are none are at the end."""
    return np.asarray(np.clip(np.where(np.isnan(cuts), resolution.reach, cuts), -resolution.reach, resolution.reach))


def _nodes(metric: Metric, cuts: Array, resolution: Resolution) -> tuple[Array, Array]:
    """Nodes and weights [M, n] of a standard normal on panels of a width, cut further at [M, C]."""
    reach = resolution.reach
    base = np.linspace(-reach, reach, math.ceil(2.0 * reach / resolution.width) + 1)
    edges = np.sort(np.concatenate([np.broadcast_to(base, (len(cuts), len(base))), cuts], axis=1), axis=1)
    points, weights = gathered(_OF_ROOTS) if metric.rooted else legendre(_ORDER)
    half, middle = 0.5 * np.diff(edges, axis=1), 0.5 * (edges[:, 1:] + edges[:, :-1])
    u = middle[:, :, None] + half[:, :, None] * points
    weight = half[:, :, None] * weights * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    return u.reshape(len(cuts), -1), weight.reshape(len(cuts), -1)
