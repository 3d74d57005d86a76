"""E[g_1 g_2 | kappa] and E[h_1 h_2 | kappa] of any convex loss for two outputs of a given covariance.

What both outputs share is a normal variable u: given it, and the label, they are independent, and G(u) = E[g | u] is
an average over the output about a shifted centre, which the kernel of the loss takes. Labels that are constant on
intervals of t are averaged over t given u in closed form; others have nodes of t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields
from giantstep.law.channel import labels_given
from giantstep.law.label_lines import Lines
from giantstep.law.labels import Intervals, Labels, Points, law_of_link
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Target
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.sample_weights import ALWAYS

Array = np.ndarray
_LEAST = 1e-13  # of the variance: what the outputs do not share is at least that


class Averages:
    """What a system says of outputs and labels, and the kernel of its loss; weights: of a sample, in each fit anew."""

    def __init__(self, system: CoupledSystem) -> None:
        self.system, self.names = system, system.kernel.AVERAGES
        self.weights = system.problem.weights or ALWAYS
        self.V, self.mean = system.view("V").copy(), system.view("mean").copy()
        self.slopes, self.variance = np.array(system.slopes), system.view("Delta").copy()

    def about(self, center: Array, spread: Array, response: Array, label: Array) -> tuple[Array, Array]:
        """E g and E h [M] for outputs about centres [M], of variances, responses and labels [M], over the weights."""
        total = np.zeros((2, len(center)))
        for weight, chance in zip(*self.weights, strict=True):
            if weight > 0.0:
                total += chance * weight * np.array(self._plain(center, spread, weight * response, label))
        return total[0], total[1]

    def _plain(self, center: Array, spread: Array, response: Array, label: Array) -> tuple[Array, Array]:
        system, count = self.system, len(center)
        nothing = np.zeros((count, 1))
        nodes = LabelNodes(np.ones((count, 1)), nothing[:, :, None], label[:, None].copy(), np.zeros((1, 1)))
        fields = Fields(response, center, np.zeros((1, count)), spread)
        width = len(self.names) if system.indices == 1 else _one_direction(self.names)
        out = np.empty((width, count))
        rule = system.rule._replace(noise=0.0)
        system.loss.points(rule, nodes, fields, system.scratch, out)
        return out[self.names.index("avg_g")], out[self.names.index("avg_h")]


def _one_direction(names: tuple[str, ...]) -> int:
    """How many averages there are for one direction of t: 9, 5 with t, and the loss at the prox."""
    return names.index("avg_hxx") + 1 + 5 + 1


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
    target = system.problem.model.target
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
    if isinstance(labels, Lines):
        labels = _given(system)
    if isinstance(labels, Intervals):
        found = _of_intervals(averages, labels, common, nodes)
    else:
        found = _of_points(averages, labels, common, nodes)
    place = found.place
    g, h = _mixed(averages, found, private[place], own)
    count = len(covariance)
    sums = [np.bincount(place, found.weight * values * values, count) for values in (g, h)]
    return sums[0], sums[1]


def _mixed(averages: Averages, nodes: _Nodes, spread: Array, own: Target) -> tuple[Array, Array]:
    """E g and E h at nodes, over what the label adds to that of the nodes and that is not shared: flips, a channel."""
    response, channel, flips = averages.V[nodes.place], own.channel, own.flips
    labels, weights = np.stack([nodes.label, -nodes.label]), np.array([1.0 - flips, flips])[:, None]
    if channel is not None:
        labels, weights = labels_given(channel, nodes.label)
    g, h = np.zeros_like(nodes.label), np.zeros_like(nodes.label)
    for label, weight in zip(labels, weights, strict=True):
        if np.any(weight):
            mine = averages.about(nodes.center, spread, response, label)
            g, h = g + weight * mine[0], h + weight * mine[1]
    return g, h


def _given(system: CoupledSystem) -> Labels:
    """The labels at the nodes of the system without flips, or the parameter of their channel."""
    problem, level = system.problem, system.level
    kappa = system.points() if problem.rank > 1 else system.kappa
    return law_of_link(problem.model.target, problem.overlaps, kappa, level.labels, level.rough)


def _of_intervals(averages: Averages, labels: Intervals, common: Array, nodes: int) -> _Nodes:
    """u along what t and the shared normal together do to the output; the label given u by the law of t given u."""
    u, weight = _normal(nodes)
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


def _of_points(averages: Averages, labels: Points, common: Array, nodes: int) -> _Nodes:
    """Nodes of t, and of the shared normal for each."""
    if np.any(labels.rest):
        raise BadInput("two fits of labels with noise inside the link have not been derived", "set target.probit to 0")
    u, weight = _normal(nodes)
    center = averages.mean[:, None] + np.einsum("dn,njd->nj", averages.slopes, labels.t)
    whole = center[:, :, None] + np.sqrt(common)[:, None, None] * u
    place = np.broadcast_to(np.arange(len(center))[:, None, None], whole.shape)
    label = np.broadcast_to(labels.label[:, :, None], whole.shape)
    return _kept(place, whole, label, labels.weight[:, :, None] * weight)


def _kept(place: Array, center: Array, label: Array, weight: Array) -> _Nodes:
    """Nodes that weigh something."""
    kept = weight > 1e-16
    return _Nodes(place[kept], center[kept], label[kept], weight[kept])


def _normal(nodes: int) -> tuple[Array, Array]:
    x, weight = special.roots_hermitenorm(nodes)
    return x, weight / weight.sum()
