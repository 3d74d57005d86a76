"""Nodes of two fits with batches of their own: the indices z of the target, and kappa of one fit given z.

Given z the kappa of both fits are independent and of one law, so that one set of nodes serves both. What is known there
of the features and of the label depends on neither samples nor ridge, and is remembered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import ModuleType
from typing import NamedTuple

import numpy as np

from generated import two_batches as kernel
from generated.runtime.steps import raise_variances
from generated.runtime.two_batches import outputs_at
from giantstep.law.channel import labels_given
from giantstep.law.directions import mixing, rows_of
from giantstep.law.labels import nodes_of_link
from giantstep.quadrature.gauss import hermite, products
from giantstep.quadrature.interpolation import interpolated_mean
from giantstep.quadrature.remembered import Remembered
from giantstep.spec.expressions import numpy_values
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.discretisation import rows_between
from giantstep.system.kernels import system_kernel
from giantstep.system.problem import Features
from giantstep.system.resolved import sizes_of_terms
from giantstep.system.sample_weights import ALWAYS, Weights
from giantstep.system.single_fit import SingleFit
from giantstep.system.span import Span, span_of
from giantstep.system.square_tables import solver_nodes
from giantstep.system.state import State, pairs, slices_by_name, variance_rows
from giantstep.system.two_fits import Fit

Array = np.ndarray
_TOGETHER = 1_000_000  # pairs of kappa of both fits, of all z that are handled together
_NOTHING = 1e-16  # weight of a node of z that is left out
_NOISE = 16  # nodes of label noise for a loss that is no function of the residual
_MEMORY = 1 << 27  # bytes of tables that are remembered
_REACH, _WIDEST = 8.5, 0.5  # of what rows share, and its longest step
_STEPS = (0.65, 0.8)  # in units of what smooths the features; of rough rules


class Rule(NamedTuple):
    """finer: halvings of z; rough: on a tenth fewer nodes; kappa: nodes of kappa given z; rows: one over the least step
    of what rows share; orders: of the slope's series.
    """

    finer: int
    rough: bool
    kappa: int
    rows: int
    orders: int


@dataclass(frozen=True, eq=False)
class Table:
    """Some nodes of z, and kappa there.

    law [Z], given [k]: weights; node [columns, Z k]: what kernels read there; mu1 [K, Z, k], t [m, Z, k]: of what an
    output has beside the spike; common [K, Z, k, k]: of the rest of the features of both layers that begin with the
    same rows; means [n]: of what the covariance moves by with the overlaps; clean [Z]: the label that errors are
    measured against; label, chance [Y, Z]: the labels that are drawn.
    """

    law: Array
    given: Array
    node: Array
    mu1: Array
    t: Array
    common: Array
    means: Array
    clean: Array
    label: Array
    chance: Array

    @cached_property
    def sizes(self) -> Array:
        """See ``raise_variances``."""
        blocks = len(self.mu1)
        return sizes_of_terms(self.node[-2 * blocks : -blocks].T, self.node[-blocks:].T)

    @cached_property
    def labels(self) -> tuple[Array, Array]:
        """Mean [Z] of the label that is drawn, and its variance beside one [2, Z]."""
        mean = (self.chance * self.label).sum(axis=0)
        drawn = (self.chance * (self.label - mean) ** 2).sum(axis=0)
        return mean, np.array([drawn, np.ones_like(drawn)])

    @property
    def bytes(self) -> int:
        """What it takes of memory."""
        return self.common.nbytes + self.node.nbytes


class Series(NamedTuple):
    """The slope of every label by Hermite polynomials [Y, orders, Z, k], how many of them count, the chances of the
    labels [Y, Z], and the spreads [Z, k] of an output with the noise of its label.
    """

    terms: Array
    counted: int
    chance: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class Part:
    """A table with all that is known there of a single fit: mean, variance, response of its outputs [Z, k].

    half: E (f_1 - f_2)^2/2 but for the covariance; square: E f^2; weights: of a sample; series: of the slope, once
    found.
    """

    table: Table
    output: Array
    variance: Array
    V: Array
    half: float
    square: float
    weights: Weights
    series: dict[bool, Series] = field(default_factory=dict, repr=False)

    @cached_property
    def gain(self) -> Array:
        """h [Z, k] of the square loss, over the weights of a sample."""
        found = np.zeros_like(self.V)
        for weight, chance in zip(*self.weights, strict=True):
            found += chance * weight * kernel.gain_of_square_loss(V=weight * self.V)
        return found


def parts_of(fit: Fit, rule: Rule) -> list[Part]:
    """All nodes of a rule."""
    single, span = fit.single, span_of(fit.problem)
    tables = _tables(fit.problem.features, span, rule, fit.overlap_of_rows)
    return [_part(single, table) for table in tables]


def _tables_of(features: Features, span: Span | None, rule: Rule, overlap: tuple[float, ...]) -> list[Table]:
    gamma = np.array(features.overlaps)
    z, law = _indices(features, rule)
    x, given = _given(features, gamma, rule.kappa)
    count = max(1, math.ceil(len(z) * len(x) ** 2 / _TOGETHER))
    rows = _Rows(features, overlap, rule)
    places = np.array_split(np.arange(len(z)), count)
    return [_table(features, span, (z[p], law[p]), (x, given), rows) for p in places]


_tables = Remembered(_tables_of, lambda tables: sum(table.bytes for table in tables), _MEMORY)


def _indices(features: Features, rule: Rule) -> tuple[Array, Array]:
    """Nodes [Z, m] and weights [Z] of z that resolve the label, and the one that a sign is counted against."""
    target = features.model.target
    if target.channel is not None and features.model.fit.loss.form == "margin":
        target = target.clean(signs=True)
    nothing = rows_of(np.zeros((1, target.indices)))
    points = nodes_of_link(target, nothing, np.zeros(1), rule.finer, rule.rough)
    kept = points.weight[0] > _NOTHING
    return points.t[0][kept], points.weight[0][kept]


def _given(features: Features, gamma: Array, count: int) -> tuple[Array, Array]:
    """Nodes [k, q] and weights [k] of what kappa has beside ``gamma z``; fewer where the features hardly see it."""
    beside = mixing(gamma.T)
    loadings = np.array(features.loadings or [[term.scale] for term in features.blocks])
    spread = np.sqrt([term.variance for term in features.blocks])
    reach = np.abs(loadings @ beside / spread[:, None]).max(axis=0)
    share = np.minimum(1.0, 0.5 + 0.5 * reach) if len(gamma) > 1 else np.ones(1)
    counts = [math.ceil(count * part) if column.any() else 1 for part, column in zip(share, beside.T, strict=True)]
    nodes, weight = products([hermite(n) for n in counts])
    return nodes @ beside.T, weight


def _table(
    features: Features, span: Span | None, at: tuple[Array, Array], given: tuple[Array, Array], rows: _Rows
) -> Table:
    z, law = at
    x, weight = given
    gamma, target, loss = np.array(features.overlaps), features.model.target, features.model.fit.loss
    kappa = (z @ gamma.T)[:, None, :] + x
    shape = kappa.shape[:2]
    places = kappa.reshape(-1) if kappa.shape[2] == 1 else kappa.reshape(-1, kappa.shape[2])
    node = solver_nodes(rows_between(features, places, np.ones(len(places))), span)
    blocks = len(features.blocks)
    mu1 = np.ascontiguousarray(node[len(node) - 2 * blocks : len(node) - blocks]).reshape(-1, *shape)
    t = np.moveaxis((z[:, None, :] - kappa @ gamma) @ np.linalg.pinv(mixing(gamma), rcond=1e-9).T, 2, 0)
    common = rows.common(places, mu1)
    clean, link = (link_values(each.link)(z.T) for each in (target.clean(loss.form == "margin"), target))
    labels = _labels(target, link, loss.form == "residual")
    means = _means_of(law, weight, mu1, common)
    return Table(law, weight, node, mu1, np.ascontiguousarray(t), common, means, clean, *labels)


def _means_of(law: Array, given: Array, mu1: Array, common: Array) -> Array:
    """Averages of what the covariance moves by with Q2_12 and with one of each pair of Q1_12."""
    linear, blocks = mu1 @ given, len(mu1)
    of_pairs = [(1.0 + (b != c)) * float(law @ (linear[b] * linear[c])) for b, c in pairs(blocks)]
    of_rest = (common @ given) @ given @ law
    return np.concatenate([of_rest, of_pairs])


def _part(single: SingleFit, table: Table) -> Part:
    problem, shape = single.problem, table.mu1.shape[1:]
    system, blocks = system_kernel("isotropic", problem.model.target.indices, problem.rank), len(problem.fraction)
    room = State(system, blocks, table.node.shape[1])
    room.work[_unknowns(system, blocks)] = single.numbers(system.UNKNOWNS)[0]
    system.fields(table.node, problem.fraction, single.parameters, room.vector, room.matrix, room.field)
    if single.system is not None:  # averages over outputs that hardly vary are those of its own nodes
        given = table.sizes, table.node[1], problem.blur, problem.floor
        count = table.node.shape[1]
        raise_variances(
            (room.vector, room.matrix, room.field), variance_rows(system), *given, np.empty(count), np.empty((2, count))
        )
    output, variance = np.empty(shape), np.empty(shape)
    rows = room["mean"], room.rows(system.SLOPES), room["Delta"]
    half, square = outputs_at(rows, table.t, table.law, table.given, output, variance)
    return Part(table, output, variance, room["V"].reshape(shape), half, square, problem.weights or ALWAYS)


@lru_cache(maxsize=64)
def _unknowns(system: ModuleType, blocks: int) -> Array:
    """Where the unknowns lie among all families."""
    families = slices_by_name(system, blocks)
    places = [families[name][0] for name in system.UNKNOWNS]
    return np.concatenate([np.arange(place.start, place.stop) for place in places])


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


class _Rows:
    """What the rows of a neuron have in common in both layers, and the rest of its features by it."""

    def __init__(self, features: Features, overlap: tuple[float, ...], rule: Rule) -> None:
        self.features, self.overlap = features, overlap
        self.x, self.weight = _shared(max(overlap), rule)

    def common(self, places: Array, mu1: Array) -> Array:
        """E[sigma | x] beside mean and linear part, of both layers [K, Z, k, k]; a sum over x."""
        shape = mu1.shape
        found = np.zeros((*shape, shape[-1]))
        for b, term in enumerate(self.features.blocks):
            if self.overlap[b] == 0.0:
                continue
            root, shift = math.sqrt(self.overlap[b] * term.variance), self.features.shift(b, places)
            apart = term.variance * max(1.0 - self.overlap[b], 0.0)
            at = shift.reshape(shape[1:]) + root * self.x[:, None, None]
            whole = _means(term.function, at.ravel(), apart).reshape(at.shape)
            whole -= np.tensordot(self.weight, whole, axes=1)
            whole -= math.sqrt(self.overlap[b]) * mu1[b] * self.x[:, None, None]
            whole *= np.sqrt(self.weight)[:, None, None]
            found[b] = kernel.rest_in_common(rest=whole[:, None])[0]
        return found


def _shared(overlap: float, rule: Rule) -> tuple[Array, Array]:
    """Nodes of x and their weights: a trapezoid, whose error falls like exp(-pi^2 (width/step)^2) where what is left to
    each layer smooths the features on a width; least steps are those of rows that have nothing left.
    """
    width = math.sqrt((1.0 - overlap) / overlap) if overlap > 0.0 else math.inf
    step = min(_WIDEST, max((_STEPS[rule.rough]) * width, 1.0 / rule.rows))
    count = math.ceil(_REACH / step)
    x = _REACH / count * np.arange(-count, count + 1)
    return x, _REACH / count * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def _means(function: str, shifts: Array, variance: float) -> Array:
    """E f(s + sqrt(c) g) at many shifts [N]."""
    if variance == 0.0:
        return numpy_values(function)(shifts)
    return interpolated_mean(function, variance, shifts)
