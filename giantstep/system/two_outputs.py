"""E[g_1 g_2 | kappa] and E[h_1 h_2 | kappa] of any convex loss for two outputs of a given covariance.

What both outputs share is a normal variable u: given it, and the label, they are independent, and G(u) = E[g | u] is
an average over the output about a shifted centre, which the kernel of the loss takes. Labels that are constant on
intervals of t are averaged over t given u in closed form. Others have nodes of t, and at each of them the slope is a
series of Hermite polynomials, found once: the covariance enters by its powers (Mehler's formula, docs/theory.md,
section 14). No width is narrower there than that of the output with its noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import special

from generated.runtime.nodes import Output
from giantstep.law.channel import labels_given
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.labels import drawn, law_of_link, nodes_of_link, with_noise
from giantstep.law.same_labels import by_channel
from giantstep.quadrature.gauss import hermite
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Target
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.sample_weights import ALWAYS

Array = np.ndarray
_LEAST = 1e-13  # of the variance: what the outputs do not share is at least that
_NARROWEST = 1e-14  # of a centre: the narrowest output whose values are told apart from it
_RULES = {
    6: (0, True, 24),
    9: (0, False, 32),
    14: (1, True, 48),
    21: (1, False, 64),
    32: (2, True, 96),
    48: (2, False, 128),
    72: (3, True, 192),
    96: (5, True, 192),
    128: (7, False, 256),
}  # by nodes of what is shared: halvings of the nodes of t, whether a tenth fewer, terms of the series
_TOGETHER = 20_000  # nodes of t, of all kappa


class Averages:
    """What a system says of outputs and labels, and the kernel of its loss; weights: of a sample, in each fit anew."""

    def __init__(self, system: CoupledSystem) -> None:
        self.system = system
        self.weights = system.problem.weights or ALWAYS
        self.V, self.mean = system.view("V").copy(), system.view("mean").copy()
        self.slopes, self.variance = np.array(system.slopes), system.view("Delta").copy()
        self.sums: dict[tuple[bool, int], Array] = {}  # of squares of the terms of the series

    def about(self, center: Array, spread: Array, response: Array, label: Array) -> tuple[Array, Array]:
        """E g and E h [M] for outputs about centres [M], of variances, responses and labels [M], over the weights."""
        total = np.zeros((2, len(center)))
        for weight, chance in zip(*self.weights, strict=True):
            if weight > 0.0:
                total += chance * weight * np.array(self._plain(center, spread, weight * response, label))
        return total[0], total[1]

    def series(self, outputs: Output, label: Array, orders: int) -> Array:
        """The slope by Hermite polynomials of outputs of these centres, spreads and responses [M], [M, orders]."""
        labels = np.array(label)  # not one that stands for many, for which the series would be compiled again

        def of(weight: float) -> Array:
            found, given = np.empty((len(label), orders)), outputs._replace(V=weight * outputs.V)
            self.system.loss.LOSS.slope_series(self.system.rule, labels, given, self.system.scratch, found)
            return found

        return _sum((chance * weight, partial(of, weight)) for weight, chance in zip(*self.weights, strict=True))

    def _plain(self, center: Array, spread: Array, response: Array, label: Array) -> tuple[Array, Array]:
        """By two terms of the series: E h is the slope of E g (Stein), which rounding takes 1e-16 over the variance of.

        Newton's method alone takes E h, so that outputs that hardly differ cost steps at most.
        """
        system, out = self.system, np.empty((len(center), 2))
        root = np.maximum(np.sqrt(spread), _NARROWEST * np.abs(center))
        labels, outputs = np.array(label), Output(np.array(center), root, np.array(response))
        system.loss.LOSS.slope_series(system.rule, labels, outputs, system.scratch, out)
        return out[:, 0], out[:, 1] / root


def _sum(terms: Iterable[tuple[float | Array, Callable[[], Array]]]) -> Array:
    """The sum of factors times arrays that are made where their factor is not zero, and changed in place."""
    total: Array | None = None
    for factor, make in terms:
        if not np.any(factor):
            continue
        found = make()
        if np.any(factor != 1.0):
            found *= factor
        total = found if total is None else total.__iadd__(found)
    assert total is not None
    return total


class _Nodes(NamedTuple):
    """Centres at nodes of what is shared: place [M] of the node of kappa, centre, label and weight [M]; the labels of
    one group belong to the same node and differ by noise that is not shared.
    """

    place: Array
    center: Array
    label: Array
    weight: Array


def slopes_of(averages: Averages, covariance: Array, noise: bool, nodes: int) -> tuple[Array, Array]:
    """E[g_1 g_2 | kappa] and E[h_1 h_2 | kappa] [N]; noise: whether both fits see the same noise of the labels.

    nodes: of what both outputs share. Raises BadInput where noise that is not shared is inside the link, or in a loss
    that is no function of the residual.
    """
    system = averages.system
    target = by_channel(system.problem.model.target)
    residual = system.noise  # of the labels, which moves the output of a loss of the residual
    common = np.maximum(covariance, 0.0) + residual * noise
    private = np.maximum(averages.variance - covariance, _LEAST * averages.variance) + residual * (not noise)
    labels, own = system.labels, Target(target.link)
    if not noise:
        if target.probit > 0.0 or (target.noise > 0.0 and system.noise == 0.0):
            raise BadInput(
                "noise inside the link, or of a loss that is no function of f - y, that is drawn again for the same "
                "inputs has not been derived",
                "set target.probit and target.noise to 0, or use a loss of the residual",
            )
        if target.flips > 0.0 or target.channel is not None:
            labels, own = _given(system), target
    if not isinstance(labels, Intervals):
        return _by_series(averages, covariance + residual * noise, noise, nodes)
    found = _of_intervals(averages, labels, common, nodes)
    place = found.place
    g, h = _mixed(averages, found, private[place], own)
    count = len(covariance)
    sums = [np.bincount(place, found.weight * values * values, count) for values in (g, h)]
    return sums[0], sums[1]


def _by_series(averages: Averages, common: Array, noise: bool, nodes: int) -> tuple[Array, Array]:
    """Of labels at nodes, where both outputs, less the label, have that covariance [N]."""
    target = averages.system.problem.model.target
    one = noise or not (target.drawn or target.noise > averages.system.noise)  # label but for noise of the residual
    if (one, nodes) not in averages.sums:
        averages.sums[one, nodes] = _squares(averages, one, nodes)
    variance = averages.variance + averages.system.noise
    correlation = np.clip(common / variance, -1.0, 1.0)
    value, slope = np.zeros_like(common), np.zeros_like(common)
    for term in averages.sums[one, nodes][::-1]:  # Horner's rule
        value, slope = value * correlation + term, slope * correlation + value
    return value, slope / variance


def _squares(averages: Averages, noise: bool, nodes: int) -> Array:
    """Averages over the label of the squares of the terms of the series, [orders, N]."""
    system, (finer, rough, orders) = averages.system, _RULES[nodes]
    target, finer = by_channel(system.problem.model.target), finer + system.level.labels
    kappa = system.points() if system.problem.rank > 1 else system.kappa
    labels = nodes_of_link(target, system.problem.overlaps, kappa, finer, rough)
    if np.any(labels.rest):
        raise BadInput("two fits of labels with noise inside the link have not been derived", "set target.probit to 0")
    own = target
    if noise:  # one label for both fits
        labels, own = drawn(labels, target, finer, rough), Target(target.link)
        if target.noise > 0.0 and system.noise == 0.0:
            found = with_noise(labels, target.noise, finer, rough)
            assert isinstance(found, Points)
            labels = found
    center = averages.mean[:, None] + np.einsum("dn,njd->nj", averages.slopes, labels.t)
    place = np.broadcast_to(np.arange(len(center))[:, None], center.shape)
    spots = _kept(place, center, labels.label, labels.weight)
    total = np.zeros((orders, len(center)))
    for part in np.array_split(np.arange(len(spots.place)), max(1, len(spots.place) // _TOGETHER)):
        here = _Nodes(*(each[part] for each in spots))
        terms = _drawn_series(averages, here, own, orders)
        starts = np.flatnonzero(np.diff(here.place, prepend=-1))  # nodes of one kappa follow each other
        terms *= terms
        terms *= here.weight[:, None]
        total[:, here.place[starts]] += np.add.reduceat(terms, starts, axis=0).T
    return total


def _drawn_series(averages: Averages, nodes: _Nodes, own: Target, orders: int) -> Array:
    """The series at nodes [M, orders], over what each fit draws for itself given the label there: flips, a channel."""
    spread = np.sqrt(averages.variance + averages.system.noise)[nodes.place]
    outputs = Output(nodes.center, spread, averages.V[nodes.place])
    labels, weights = _own_labels(nodes.label, own)
    return _sum(
        (weight[:, None], partial(averages.series, outputs, label, orders))
        for label, weight in zip(labels, weights, strict=True)
    )


def _own_labels(label: Array, own: Target) -> tuple[Array, Array]:
    """Labels and weights [J, M or 1] that a fit draws given those at nodes [M]."""
    if own.channel is not None:
        return labels_given(own.channel, label)
    return np.stack([label, -label]), np.array([1.0 - own.flips, own.flips])[:, None]


def _mixed(averages: Averages, nodes: _Nodes, spread: Array, own: Target) -> tuple[Array, Array]:
    """E g and E h at nodes, over what the label adds to that of the nodes and that is not shared: flips, a channel."""
    response = averages.V[nodes.place]
    g, h = np.zeros_like(nodes.label), np.zeros_like(nodes.label)
    for label, weight in zip(*_own_labels(nodes.label, own), strict=True):
        if np.any(weight):
            mine = averages.about(nodes.center, spread, response, label)
            g, h = g + weight * mine[0], h + weight * mine[1]
    return g, h


def _given(system: CoupledSystem) -> Labels:
    """The labels at the nodes of the system without flips, or the parameter of their channel."""
    problem, level = system.problem, system.level
    kappa = system.points() if problem.rank > 1 else system.kappa
    return law_of_link(by_channel(problem.model.target), problem.overlaps, kappa, level.labels, level.rough)


def _of_intervals(averages: Averages, labels: Intervals, common: Array, nodes: int) -> _Nodes:
    """u along what t and the shared normal together do to the output; the label given u by the law of t given u."""
    u, weight = hermite(nodes)
    gamma, width, correlation = labels.channel
    kappa, slope = averages.system.kappa, averages.slopes[0]
    reach = np.sqrt(slope**2 + common)
    share = correlation * slope / np.where(reach > 0.0, reach, 1.0)
    rest = np.sqrt(np.maximum(1.0 - share**2, 1e-30))
    centre = averages.mean[:, None] + reach[:, None] * u
    distinct = np.unique(labels.label)
    chance = np.zeros((len(distinct), len(kappa), nodes))
    for low, high, y, p in zip(labels.low, labels.high, labels.label, labels.weight, strict=True):
        edges = [(end - gamma * kappa) / max(width, 1e-150) for end in (low, high)]
        below = [special.ndtr((edge[:, None] - share[:, None] * u) / rest[:, None]) for edge in edges]
        chance[np.searchsorted(distinct, y)] += p * (below[1] - below[0])
    place = np.broadcast_to(np.arange(len(kappa))[None, :, None], chance.shape)
    label = np.broadcast_to(distinct[:, None, None], chance.shape)
    return _kept(place, np.broadcast_to(centre, chance.shape), label, chance * weight)


def _kept(place: Array, center: Array, label: Array, weight: Array) -> _Nodes:
    """Nodes that weigh something."""
    kept = weight > 1e-16
    return _Nodes(place[kept], center[kept], label[kept], weight[kept])
