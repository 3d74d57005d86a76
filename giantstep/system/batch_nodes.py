"""Nodes of two fits with batches of their own: the indices z of the target, and kappa of one fit given z.

Given z the kappa of both fits are independent and of one law, so that one set of nodes serves both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from generated import two_batches as kernel
from giantstep.law.channel import labels_given
from giantstep.law.directions import mixing, rows_of
from giantstep.law.labels import nodes_of_link
from giantstep.law.spike import overlap_of_rows as overlap_by_value
from giantstep.quadrature.gauss import hermite, products
from giantstep.quadrature.interpolation import interpolated_mean
from giantstep.spec.expressions import numpy_function
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.two_fits import Fit, merged_problem

Array = np.ndarray
_TOGETHER = 1_000_000  # pairs of kappa of both fits, of all z that are handled together
_NOTHING = 1e-16  # weight of a node of z that is left out
_NOISE = 16  # nodes of label noise for a loss that is no function of the residual


class Rule(NamedTuple):
    """finer: halvings of z; rough: on a tenth fewer nodes; kappa: nodes of kappa given z; rows: of what rows share;
    orders: of the slope's series.
    """

    finer: int
    rough: bool
    kappa: int
    rows: int
    orders: int


@dataclass(frozen=True)
class Part:
    """Some nodes of z with all that is known there of a single fit.

    numbers: what generated functions take; clean [Z]: the label that errors are measured against; label, chance [Y, Z]:
    the labels that are drawn. series: of the slope, once found.
    """

    numbers: dict[str, Array]
    clean: Array
    label: Array
    chance: Array
    V: Array
    series: dict[bool, list[tuple[Array, Array]]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def mean_square(self) -> float:
        """E f^2 of one fit."""
        known = self.numbers
        return float(known["law_z"] @ (known["output"] ** 2 + known["Delta"]) @ known["given"])


def parts_of(fit: Fit, rule: Rule, rows: Rows) -> list[Part]:
    """All nodes of a rule."""
    gamma = np.array(fit.system.problem.overlaps)
    z, law = _indices(fit, rule)
    x, given = _given(fit, gamma, rule.kappa)
    count = max(1, math.ceil(len(z) * len(x) ** 2 / _TOGETHER))
    places = np.array_split(np.arange(len(z)), count)
    return [_part(fit, gamma, (z[p], law[p]), (x, given), rows) for p in places]


def _indices(fit: Fit, rule: Rule) -> tuple[Array, Array]:
    """Nodes [Z, m] and weights [Z] of z that resolve the label, and the one that a sign is counted against."""
    target = fit.model.target
    if target.channel is not None and fit.margin:
        target = target.clean(signs=True)
    nothing = rows_of(np.zeros((1, target.indices)))
    points = nodes_of_link(target, nothing, np.zeros(1), rule.finer, rule.rough)
    kept = points.weight[0] > _NOTHING
    return points.t[0][kept], points.weight[0][kept]


def _given(fit: Fit, gamma: Array, count: int) -> tuple[Array, Array]:
    """Nodes [k, q] and weights [k] of what kappa has beside ``gamma z``; fewer where the features hardly see it."""
    problem, beside = fit.system.problem, mixing(gamma.T)
    loadings = np.array(problem.loadings or [[term.scale] for term in problem.blocks])
    spread = np.sqrt([term.variance for term in problem.blocks])
    reach = np.abs(loadings @ beside / spread[:, None]).max(axis=0)
    share = np.minimum(1.0, 0.5 + 0.5 * reach) if len(gamma) > 1 else np.ones(1)
    counts = [math.ceil(count * part) if column.any() else 1 for part, column in zip(share, beside.T, strict=True)]
    nodes, weight = products([hermite(n) for n in counts])
    return nodes @ beside.T, weight


def _part(fit: Fit, gamma: Array, at: tuple[Array, Array], given: tuple[Array, Array], rows: Rows) -> Part:
    z, law = at
    x, weight = given
    kappa = (z @ gamma.T)[:, None, :] + x
    shape = kappa.shape[:2]
    there = fit.at(_places(kappa))
    t = (z[:, None, :] - kappa @ gamma) @ np.linalg.pinv(mixing(gamma), rcond=1e-9).T
    output = there.view("mean").reshape(shape)
    for along, slope in zip(np.moveaxis(t, 2, 0), there.slopes, strict=True):
        output = output + slope.reshape(shape) * along
    mu1 = _mu1(there, fit.system.blocks).reshape(-1, *shape)
    common = kernel.rest_in_common(rest=rows.rest(kappa, mu1))
    numbers = {"law_z": law, "given": weight, "mu1": mu1, "output": output, "common": common}
    numbers["Delta"] = there.view("Delta").reshape(shape).copy()
    target = fit.model.target
    clean, link = (link_values(each.link)(z.T) for each in (target.clean(fit.margin), target))
    label, chance = _labels(target, link, fit.system.loss.FORM == "residual")
    return Part(numbers, clean, label, chance, there.view("V").reshape(shape).copy())


def _places(kappa: Array) -> Array:
    """Of all nodes, [N] or [N, q]."""
    return kappa.reshape(-1) if kappa.shape[2] == 1 else kappa.reshape(-1, kappa.shape[2])


def _mu1(system: CoupledSystem, blocks: int) -> Array:
    first = system.node.shape[0] - 2 * blocks
    return system.node[first : first + blocks]


def _labels(target: Target, link: Array, residual: bool) -> tuple[Array, Array]:
    """Labels and their chances [Y, Z] given the value of the link; residual: the loss takes noise by its variance."""
    if target.channel is not None:
        return labels_given(target.channel, link)
    label, chance = link[None], np.ones((1, len(link)))
    if target.flips > 0.0:
        label = np.stack([link, -link])
        chance = np.array([1.0 - target.flips, target.flips])[:, None] * np.ones_like(link)
    if target.noise > 0.0 and not residual:
        x, weight = hermite(_NOISE)
        noise = math.sqrt(target.noise) * x
        label = (label[:, None] + noise[:, None]).reshape(-1, len(link))
        chance = (chance[:, None] * weight[:, None]).reshape(label.shape)
    return label, chance


class Rows:
    """What the rows of a neuron have in common in both layers, and the rest of its features by it.

    layer: whether both begin with the same rows; count: of nodes.
    """

    def __init__(self, fit: Fit, layer: bool, count: int) -> None:
        self.problem = fit.system.problem
        self.overlap = overlap_of_rows(fit) if layer else np.zeros(fit.system.blocks)
        self.x, self.weight = hermite(count if self.overlap.any() else 1)

    def rest(self, kappa: Array, mu1: Array) -> Array:
        """E[sigma | x] beside mean and linear part, times the root of the weight of x, [X, K, Z, k]."""
        x, weight, places = self.x, self.weight, _places(kappa)
        found = np.zeros((len(x), *mu1.shape))
        for b, term in enumerate(self.problem.blocks):
            if self.overlap[b] == 0.0:
                continue
            root, shift = math.sqrt(self.overlap[b] * term.variance), self.problem.shift(b, places)
            apart = term.variance * max(1.0 - self.overlap[b], 0.0)
            at = shift.reshape(kappa.shape[:2]) + root * x[:, None, None]
            whole = _means(term.function, at.ravel(), apart).reshape(at.shape)
            mean = np.tensordot(weight, whole, axes=1)
            linear = math.sqrt(self.overlap[b]) * mu1[b]
            found[:, b] = np.sqrt(weight)[:, None, None] * (whole - mean - linear * x[:, None, None])
        return found


def overlap_of_rows(fit: Fit) -> Array:
    """Of a neuron's rows in both layers [K]: batches leave what all of them make, and add noise of their own."""
    members = merged_problem(fit.result)[1]
    found = overlap_by_value(fit.result.vocabulary)
    return np.array([found[int(np.flatnonzero(members.block == b)[0])] for b in range(members.count)])


def _means(function: str, shifts: Array, variance: float) -> Array:
    """E f(s + sqrt(c) g) at many shifts [N]."""
    if variance == 0.0:
        return numpy_function(function)(shifts)[0]
    return interpolated_mean(function, variance, shifts)
