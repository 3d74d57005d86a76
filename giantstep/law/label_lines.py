"""Labels that are linear in one of several indices, as ``z1*z2``, ``relu(z1)*z2`` and ``abs(z1) + z2`` are, or between
the kinks along a direction, as ``relu(z1)*relu(z2)`` and ``max(z1, z2)`` are, or ``relu(z)`` of one index.

Given kappa and the other indices, output and label are jointly Gaussian: a loss of the residual knows that index by the
variance of the residual, and only the others need nodes. These are panels that grow away from kinks of the link, and
from where the slope in that index vanishes: the spread of the residual turns there. Of a label that is linear between
kinks, each piece is a line that ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import Node
from derive.language.links import link_of
from derive.language.substitution import linear_form, number, substituted
from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Points
from giantstep.law.kink_roots import Kinks
from giantstep.law.label_growth import reach_of
from giantstep.law.labels import enough_memory
from giantstep.law.multi_index_labels import (
    LIGHT,
    STILL,
    STILL_ROUGH,
    Axes,
    Rule,
    axes_of,
    ends_of,
    has_kinks,
    nodes_along,
    rows_of_nodes,
)
from giantstep.law.straight_pieces import pieces_of
from giantstep.quadrature.gauss import hermite, normal_between
from giantstep.quadrature.kinks import LINE, degree, kinks
from giantstep.spec.expressions import jet
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_BESIDE = 1.0  # end of the panels at both sides of a cut
_ORDER, _ROUGH = 26, 24  # nodes of a panel; of the estimate of their error
_FAR = 8.5  # of x at the end of a piece: what is beyond has a weight of 1e-17
_PROBES = 64  # places at which slopes are compared
_ON_A_LINE, _ON_A_PIECE = 40, 64  # nodes of a line, and of one that ends, for those who ask for labels one by one
_SMOOTHED = 0.2  # of the slope of a label in pieces: noise, or a bend of the loss, that nodes of it resolve


@dataclass(frozen=True)
class Lines:
    """Labels ``label + slope x`` with t about ``t + axis x``, x standard normal, at nodes of every kappa.

    weight, label and slope [N, J], t [N, J, D], axis [D]; rest [D, D]: the covariance of t beside x. low and high
    [N, J]: the labels are those of x between them, both infinite for all x; the weight is that of all x.
    """

    weight: Array
    label: Array
    slope: Array
    low: Array
    high: Array
    t: Array
    axis: Array
    rest: Array

    @property
    def nodes(self) -> int:
        """How many lines weigh anything; none where they are pieces of one line, whose averages are exact."""
        return int(np.count_nonzero(self.weight)) if self.t.any() else 0

    constants = None

    def few_values(self, most: int) -> Array | None:
        """None, as the label varies along its lines: see ``Points``."""
        return None

    @property
    def directions(self) -> int:
        """Number of directions of the target beside the spike."""
        return int(self.t.shape[2])

    @cached_property
    def points(self) -> Points:
        """The same labels one by one."""
        x, share = self._nodes()
        n, d = len(self.weight), self.directions
        enough_memory(n, self.weight.shape[1] * x.shape[-1], d)
        weight, label = self.weight[..., None] * share, self.label[..., None] + self.slope[..., None] * x
        t = self.t[:, :, None] + x[..., None] * self.axis
        return Points(weight.reshape(n, -1), label.reshape(n, -1), t.reshape(n, -1, d), self.rest)

    def _nodes(self) -> tuple[Array, Array]:
        """Nodes of x and their weights, [n] or [N, J, n]."""
        if np.all(self.low == -np.inf) and np.all(self.high == np.inf):
            return hermite(_ON_A_LINE)
        return normal_between(np.clip(self.low, -_FAR, _FAR), np.clip(self.high, -_FAR, _FAR), _ON_A_PIECE)


def are_lines(target: Target, overlaps: Rows, form: str, bend: float = 0.0) -> bool:
    """Whether a loss of that form takes the label as lines: it is linear in an index, or in pieces of a direction and
    neither noise nor the loss, which bends over such a distance, smooths its averages, and nothing is drawn after it;
    overlaps [q, m].
    """
    if form != "residual" or target.channel is not None or target.flips > 0.0:
        return False
    if target.indices == 1:
        width = float(noisy_indices(np.array(overlaps)[:1], target.probit).lower[0, 0])
        return width > 0.0 and pieces_of(target.link) is not None
    if linear_in(target.link) is not None:
        return True
    return math.sqrt(target.noise + bend**2) < _SMOOTHED * _slope_of_pieces(target.link, overlaps, target.probit)


@lru_cache(maxsize=256)
def _slope_of_pieces(link: str, overlaps: Rows, probit: float) -> float:
    """The mean slope of a link that is linear between its kinks along the last of the directions that panels follow;
    zero for any other.
    """
    found = link_of(link)
    axes = axes_of(found, noisy_indices(np.array(overlaps), probit).lower)
    if not has_kinks(link) or axes.degree_along_the_last(found.node) != 1:
        return 0.0
    step = axes.lower[:, -1]
    places = np.random.default_rng(0).standard_normal((_PROBES, len(step)))
    return float(np.mean(np.abs(_along(found.node, axes.names, places, step, np.zeros(_PROBES))[1])))


@lru_cache(maxsize=256)
def linear_in(link: str) -> str | None:
    """The index of several that a link is linear in, with the largest slope at some places where there is a choice."""
    found = link_of(link)
    places = np.random.default_rng(0).standard_normal((found.indices, _PROBES))
    given, slopes = dict(zip(found.variables, places, strict=True)), {}
    for name in found.variables if found.indices > 1 else ():
        if degree(found.node, name) == 1:
            slopes[name] = float(np.mean(np.abs(jet(found.node, name, given, 1)[1])))
    return max(slopes, key=lambda name: slopes[name], default=None)


def lines_given_kappa(target: Target, overlaps: Rows, kappa: Array, finer: int, rough: bool) -> Lines:
    """The law of a label that is linear in an index or in pieces of a direction, at kappa [N, q] for overlaps [q, m].

    finer: halvings; -1 for half of the nodes beside pieces, which lead to a solution. Raises NotConverged where there
    are too many nodes.
    """
    found, gamma, last = link_of(target.link), np.array(overlaps), linear_in(target.link)
    if target.indices == 1:
        return _of_one_index(target, float(gamma[0, 0]), kappa[:, 0])
    if last is None:
        nodes = (_ROUGH if rough else _ORDER) // (1 if finer >= 0 else 2)
        reach = reach_of(target.link, overlaps, target.probit)
        rule = _About(max(finer, 0), nodes, False, outwards="curved", light=LIGHT, reach=reach)
        return _pieces(target, gamma, kappa, rule)
    noisy = noisy_indices(gamma, target.probit)
    order = (*(name for name in found.variables if name != last), last)
    places = [found.variables.index(name) for name in order]
    turn, upper = np.linalg.qr(noisy.lower[places].T)  # the last of turn^T t moves the last index only
    lower = upper.T
    reach = reach_of(target.link, overlaps, target.probit)
    kinked = Kinks(order, (*dict.fromkeys(kinks(found.node)), _slope_in(found.node, last)), lower[:, :-1], reach)
    rule = _About(max(finer, 0), _ROUGH if rough else _ORDER, False, light=LIGHT, reach=reach)
    weight, t = nodes_along(target.link, kinked, gamma[:, places], kappa, rule)
    z = (kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", noisy.lower @ turn[:, :-1], t)
    label, slope = jet(found.node, last, dict(zip(found.variables, z, strict=True)), 1)
    carried = noisy.carry @ turn
    mean = np.einsum("ij,nkj->nki", carried[:, :-1], t)
    axis, ends = np.ascontiguousarray(carried[:, -1]), np.full(weight.shape, np.inf)
    return Lines(weight, label, slope * lower[-1, -1], -ends, ends, mean, axis, noisy.rest)


def constant_pieces(target: Target, overlaps: Rows, kappa: Array, finer: int, rough: bool) -> Lines:
    """The law of a label of several indices that is constant between its jumps, at kappa [N, q] for overlaps [q, m].

    Raises NotConverged where there are too many nodes.
    """
    gamma = np.array(overlaps)
    reach, far = ends_of(target.link, gamma, noisy_indices(gamma, target.probit).lower)
    nodes = STILL_ROUGH if rough else STILL
    rule = Rule(max(finer, 0), nodes, False, parts=1, outwards="leaving", reach=reach, far=far)
    return _pieces(target, gamma, kappa, rule)


def _pieces(target: Target, gamma: Array, kappa: Array, rule: Rule) -> Lines:
    """Lines between the kinks met along the last direction, at nodes of a rule along the others."""
    found, noisy = link_of(target.link), noisy_indices(gamma, target.probit)
    axes, last = axes_of(found, noisy.lower), len(noisy.lower) - 1
    kinked = Kinks(axes.names, tuple(dict.fromkeys(kinks(found.node))), axes.lower, rule.reach)
    weight, t = nodes_along(target.link, kinked, gamma[:, axes.places], kappa, replace(rule, axes=last))
    owner, node = np.nonzero(weight)
    beside = t[owner, node]
    fixed = (kappa @ gamma[:, axes.places])[owner] + beside @ axes.lower[:, :last].T
    line, pieces = pieces_beside(found.node, axes, kinked, fixed)
    columns = np.column_stack([pieces, beside[line]])
    weight, columns = rows_of_nodes(owner[line], weight[owner, node][line], columns, len(kappa))
    carried = noisy.carry if axes.back is None else noisy.carry @ axes.back.T
    label, slope, low, high = (np.ascontiguousarray(columns[..., k]) for k in range(4))
    t, axis = columns[..., 4:] @ carried[:, :last].T, np.ascontiguousarray(carried[:, last])
    return Lines(weight, label, slope, low, high, t, axis, noisy.rest)


def _of_one_index(target: Target, gamma: float, kappa: Array) -> Lines:
    """The pieces of a link of one index as lines, without nodes."""
    noisy, pieces = noisy_indices(np.array([[gamma]]), target.probit), pieces_of(target.link)
    assert pieces is not None
    width, beside = float(noisy.lower[0, 0]), gamma * kappa[:, None]
    ends = (pieces.ends - beside) / width
    ends = np.where(np.abs(ends) < _FAR, ends, np.copysign(np.inf, ends))
    low, high = np.ascontiguousarray(ends[:, :-1]), np.ascontiguousarray(ends[:, 1:])
    slope = np.broadcast_to(width * pieces.slope, low.shape).copy()
    weight, t = np.where(low < high, 1.0, 0.0), np.zeros((*low.shape, 1))
    return Lines(weight, pieces.value + pieces.slope * beside, slope, low, high, t, noisy.carry[:, 0], noisy.rest)


def pieces_beside(node: Node, axes: Axes, kinked: Kinks, fixed: Array) -> tuple[NDArray[np.intp], Array]:
    """Pieces of lines along the last direction, z = fixed [I, m] at its zero: the lines they are of, and (label, slope,
    low, high) of each [n, 4].
    """
    last = axes.lower.shape[1] - 1
    line, low, high = _between(kinked.roots(last, fixed))
    inside = 0.5 * (np.maximum(low, np.minimum(high, 0.0) - 2.0) + np.minimum(high, np.maximum(low, 0.0) + 2.0))
    label, slope = _along(node, axes.names, fixed[line], axes.lower[:, last], inside)
    return _joined(line, np.column_stack([label - slope * inside, slope, low, high]))


def _joined(line: NDArray[np.intp], pieces: Array) -> tuple[NDArray[np.intp], Array]:
    """The same pieces (label, slope, low, high) in turns along their lines, one where the label goes on unchanged."""
    first = np.concatenate([[True], (line[1:] != line[:-1]) | (pieces[1:, :2] != pieces[:-1, :2]).any(axis=1)])
    last = np.append(first[1:], True)
    return line[first], np.column_stack([pieces[first, :3], pieces[last, 3]])


def _between(cuts: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Pieces (line, low, high) of lines that are cut at places [R, I], nan for none."""
    ends = np.full((1, cuts.shape[1]), np.inf)
    places = np.where(np.abs(cuts) < _FAR, cuts, np.inf)
    edges = np.concatenate([-ends, np.sort(places, axis=0), ends])
    number, line = np.nonzero(edges[1:] > edges[:-1])
    by_line = np.argsort(line, kind="stable")
    number, line = number[by_line], line[by_line]
    return line, edges[number, line], edges[number + 1, line]


def _along(node: Node, names: tuple[str, ...], fixed: Array, step: Array, x: Array) -> tuple[Array, Array]:
    """Value and slope [I] of a tree at x [I] along lines ``fixed + step x``; fixed [I, m], step [m]."""
    places = {name: linear_form([1.0, size], [name, LINE]) for name, size in zip(names, step.tolist(), strict=True)}
    value, slope = jet(substituted(node, places), LINE, {**dict(zip(names, fixed.T, strict=True)), LINE: x}, 1)
    return value, slope


def _slope_in(node: Node, name: str) -> Node:
    """The slope of a tree in a variable that it is linear in."""
    one, zero = (substituted(node, {name: number(value)}) for value in (1.0, 0.0))
    return Node("sub", (one, zero))


@dataclass(frozen=True)
class _About(Rule):
    """A short panel at each side of a cut and long ones beyond; about zero where there is none."""

    def split(self, cuts: Array) -> tuple[Array, Array]:
        """Nodes and weights [I, n] of the standard normal on panels about the cuts [I, C]."""
        ends = np.full((len(cuts), 1), self.reach)
        around = [cuts - _BESIDE, cuts, cuts + _BESIDE]
        edges = np.sort(np.clip(np.concatenate([-ends, *around, ends], axis=1), -self.reach, self.reach), axis=1)
        order, parts = self.halved
        share = np.linspace(-1.0, 1.0, parts + 1)
        if self.graded:  # towards both ends
            share = 0.5 * share * (3.0 - share**2)
        cut = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * (0.5 + 0.5 * share)
        t, weight = normal_between(cut[:, :, :-1], cut[:, :, 1:], order)
        shape = len(cuts), t.shape[1] * t.shape[2] * t.shape[3]
        return t.reshape(shape), weight.reshape(shape)

    def whole(self, thin: bool) -> tuple[Array, Array]:
        """The same [n] without a cut."""
        t, weight = self.split(np.zeros((1, 1)))
        return t[0], weight[0]
