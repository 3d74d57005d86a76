"""The label of several indices given kappa where it jumps or has kinks: nodes between the kinks.

Given kappa the indices are ``z = gamma^T kappa + L t`` with L lower triangular; nodes are Gauss-Legendre panels between
the kinks met along each t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import Node
from derive.language.links import Link, link_of
from giantstep.law.directions import rows_of
from giantstep.law.kink_roots import REACH, Kinks, Outwards, moves
from giantstep.law.label_growth import Beside, far_of_kappa, reach_beside, share_far_out
from giantstep.quadrature.cubature import nesting
from giantstep.quadrature.gauss import hermite, legendre
from giantstep.quadrature.kinks import LINE, along_a_line, bracketed_zeros, degree, jumps_only, kinks
from giantstep.quadrature.mesh import NARROW
from giantstep.quadrature.truncated_normal import truncated_normal
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import jet

Array = np.ndarray
Averaged: TypeAlias = Literal["smooth", "poles", "moments"]
_ORDER, _ROUGH = 16, 15  # nodes of a panel; of the estimate of their error
STILL, STILL_ROUGH = 24, 22  # the same of one panel between kinks, where the label is constant there
_HIGHER = 1.45  # orders by the first refinement: where they are nearly enough, that does what halving would
_LEADING = 0.5  # share of either that leads to a solution
_TRAPEZOIDS = 32  # points of the coarsest trapezoidal rule
_THIN = 0.3  # share of the largest standard deviation given kappa, below which axes are turned
_SURELY = 1e-9  # a share that is no rounding
_MOST = 8_000_000  # nodes of all kappa together
_NOTHING = 1e-13  # of the square of a label, which may be left out
LIGHT = 1e-20  # weight of a node together with its kappa that moments leave out: there are many, and labels grow


def has_kinks(link: str) -> bool:
    """Whether a link of several indices jumps or has kinks."""
    found = link_of(link)
    return found.indices > 1 and next(kinks(found.node), None) is not None


def is_constant_between_jumps(link: str) -> bool:
    """Whether a link varies by jumps only."""
    found = link_of(link)
    return all(jumps_only(found.node, name) for name in found.variables)


def nodes_given_kappa(
    link: str, gamma: Array, lower: Array, kappa: Array, finer: int, rough: bool, averaged: Averaged = "smooth"
) -> tuple[Array, Array]:
    """Weights [N, J] and places t [N, J, m] between the kinks of a link; weights fill up rows that have fewer nodes.

    finer: halvings; -1 for half of the nodes along each t, which lead to a solution. averaged: functions of label and t
    that are smooth between kinks, or have poles near the axis, or no more than the moments E y, E y t and E y^2. Raises
    NotConverged where there are too many nodes.
    """
    found = link_of(link)
    still = is_constant_between_jumps(link)
    fine, rougher, parts = (STILL, STILL_ROUGH, 1) if still else (_ORDER, _ROUGH, 2)
    nodes = rougher if rough else fine
    axes = axes_of(found, lower)
    power = axes.degree_along_the_last(found.node) if averaged == "moments" else None
    reach, far = ends_of(link, gamma, lower)
    rule = Rule(
        max(finer, 0),
        nodes if finer >= 0 else round(_LEADING * nodes),
        averaged == "poles",
        parts=parts,
        innermost=power + 1 if power in (0, 1) else 0,
        outwards="curved" if power in (0, 1) else "leaving" if still else "none",
        trapezoids=round(_TRAPEZOIDS * nodes / fine),  # fewer where rough, or their error would not show
        light=LIGHT if averaged == "moments" else 1e-16,
        reach=reach,
        far=far,
    )
    kinked = Kinks(axes.names, tuple(dict.fromkeys(kinks(found.node))), axes.lower, rule.reach)
    weight, t = nodes_along(link, kinked, gamma[:, axes.places], kappa, rule)
    return weight, t if axes.back is None else t @ axes.back


def ends_of(link: str, gamma: Array, lower: Array) -> tuple[float, float]:
    """Where t and kappa end for a label with kinks."""
    label = Beside(link, rows_of(gamma), rows_of(lower))
    return reach_beside(label, REACH, _NOTHING), far_of_kappa(label)


class Axes(NamedTuple):
    """Directions of t, one after the other: indices in their order, at places among those of the link, L, and what
    turns t back, None for nothing.
    """

    names: tuple[str, ...]
    places: list[int]
    lower: Array
    back: Array | None

    def degree_along_the_last(self, node: Node) -> int | None:
        """Of the polynomials along the last direction that a tree is between kinks; None where it is none."""
        moved = [name for name, step in zip(self.names, self.lower[:, -1], strict=True) if step != 0.0]
        return degree(along_a_line(node, moved), LINE, pieces=True)


def axes_of(link: Link, lower: Array) -> Axes:
    """Directions along which kinks are met most easily."""
    every = list(range(len(lower)))
    _, sizes, turned = np.linalg.svd(lower)
    thin = int(np.sum(sizes < _THIN * sizes[0]))
    if thin:  # along directions that vary most, which come last
        axes = turned[::-1].T
        axes[:, thin:] = axes[:, thin:] @ _nested(lower @ axes[:, thin:])
        return Axes(link.variables, every, lower @ axes, axes.T)
    if np.all(np.diag(lower) > 0.0) and (order := nesting(link.node, link.variables)) != link.variables:
        # along the variable that they know as a polynomial
        return in_order(link, order, lower)
    return Axes(link.variables, every, lower, None)


def _nested(lower: Array) -> Array:
    """The turn of several directions [m, r] after which the first index knows one of them, the next one two, and so on,
    in the order that lets each depend least on others than its last: its kinks move slowly along those.
    """
    best, least = np.eye(lower.shape[1]), math.inf
    for order in permutations(range(len(lower))) if lower.shape[1] > 1 else ():
        turn = np.linalg.qr(lower[list(order)].T)[0]
        steepest = max(_steepness(row) for row in np.abs(lower @ turn))
        if steepest < least * (1.0 - _SURELY):  # whatever rounding says
            best, least = turn, steepest
    return best


def _steepness(row: Array) -> float:
    """How fast a kink moves along the last direction that an index knows as it does along others, of sizes [r]."""
    known = np.flatnonzero(row > _SURELY)
    return float(row[: known[-1]].max(initial=0.0) / row[known[-1]]) if len(known) else 0.0


def in_order(link: Link, order: tuple[str, ...], lower: Array) -> Axes:
    """Directions of the indices in another order."""
    places = [link.variables.index(name) for name in order]
    other = np.linalg.cholesky((lower @ lower.T)[np.ix_(places, places)])
    return Axes(order, places, other, np.linalg.solve(lower[places], other).T)


def turns_along(link: str, gamma: Array, probit: float) -> list[tuple[float, float]]:
    """Where the mean of a label turns as kappa passes a kink or jump of the link, and within which width.

    gamma [m]: overlaps with the one direction of kappa, on which z is ``gamma kappa`` beside its fluctuations, which
    are small where these make up most of theta.
    """
    found, names = link_of(link), link_of(link).variables
    covariance = np.eye(len(gamma)) * (1.0 + probit) - np.outer(gamma, gamma)
    turns = []
    for kink in dict.fromkeys(kinks(found.node)):

        def at(kappa: Array, kink: Node = kink) -> Array:
            return np.asarray(jet(kink, names[0], dict(zip(names, gamma[:, None] * kappa.ravel(), strict=True)), 0)[0])

        for place in bracketed_zeros(lambda kappa: at(kappa).reshape(1, -1), (-REACH, REACH))[:, 0].tolist():
            values = {name: np.array([g * place]) for name, g in zip(names, gamma, strict=True)}
            slope = np.array([jet(kink, name, values, 1)[1][0] for name in names])
            along, spread = abs(float(slope @ gamma)), math.sqrt(max(0.0, float(slope @ covariance @ slope)))
            if along > 0.0 and math.isfinite(spread):
                turns.append((place, spread / along))
    return turns


def meetings_along(link: str, gamma: Array, probit: float) -> list[tuple[float, float]]:
    """Where kinks or jumps of a link of two indices meet, begin or end as kappa passes, and within which width.

    Given kappa they lie along the direction across gamma [2]. Along gamma itself z varies by little beside kappa where
    most of theta is in the spike: that blurs the places.
    """
    found, length = link_of(link), float(np.hypot(*gamma)) if len(gamma) == 2 else 0.0
    if length == 0.0:
        return []
    across = math.sqrt(1.0 + probit) * np.array([-gamma[1], gamma[0]]) / length
    kinked = Kinks(found.variables, tuple(dict.fromkeys(kinks(found.node))), np.column_stack([gamma, across]))
    places, _ = kinked.meetings(0, np.zeros((1, 2)))
    width = math.sqrt(max(0.0, (1.0 - length) * (1.0 + length) + probit)) / length
    return [(place, width) for place in places[:, 0].tolist()]


def nodes_along(link: str, kinked: Kinks, gamma: Array, kappa: Array, rule: Rule) -> tuple[Array, Array]:
    """Weights [N, J] and places [N, J, axes] along one t after the other; gamma: overlaps of the indices of the kinks.

    Raises NotConverged where there are too many nodes.
    """
    base, count, lower = kappa @ gamma, len(kappa), kinked.lower[:, : rule.axes]
    far = np.exp(-0.5 * (kappa**2).sum(axis=1))
    owner, weight, t = np.arange(count), np.ones(count), np.zeros((count, lower.shape[1]))
    for axis in range(lower.shape[1]):
        if not len(owner):  # all kappa are too far out to be felt
            break
        if not moves(lower, axis):  # the label does not know this direction: two nodes have its variance
            line, place, of_place = _same((np.array([-1.0, 1.0]), np.full(2, 0.5)), np.arange(len(owner)))
        else:
            fixed = base[owner] + t @ lower.T  # later directions and this one are zero in t yet
            cuts, (ends, graded) = kinked.roots(axis, fixed), kinked.meetings(axis, fixed, rule.outwards)
            cuts = np.nan_to_num(np.concatenate([cuts, ends]).T, nan=-rule.reach).clip(-rule.reach, rule.reach)
            thin = float(np.linalg.norm(lower[:, axis])) < _THIN
            innermost = rule.innermost if axis == lower.shape[1] - 1 else 0
            poles = rule.poles or kinked.bend_beyond(axis)  # a rule that doubles
            line, place, of_place = _by_line(cuts, replace(rule, graded=graded, innermost=innermost, poles=poles), thin)
        weight = weight[line] * of_place
        keep = weight * far[owner[line]] > rule.negligible
        line, weight = line[keep], weight[keep]
        owner, t = owner[line], t[line]
        t[:, axis] = place[keep]
        if len(owner) > _MOST:
            raise NotConverged(
                f"averages over the label {link!r} need more than {_MOST:.0e} nodes of its indices",
                "use a link of fewer indices, or noise inside it (target.probit), which smooths jumps and kinks",
            )
    return rows_of_nodes(owner, weight, t, count)


@dataclass(frozen=True)
class Rule:
    """``parts`` panels between cuts, of ``order`` nodes each; refined ``finer`` times, by a higher order first and by
    halving from then on. graded: by a map that makes roots of the distance to an end smooth; poles: see
    ``nodes_given_kappa``; innermost: along the last t as many Gauss nodes between cuts in the place of panels, where
    the label is a polynomial of a lower degree; 0 for panels. axes: along which there are nodes, None for all;
    outwards: panels end where such kinks are on their way to infinity; trapezoids: of the rule for poles;
    light: a weight that is left out where nothing grows; reach, far: where t and kappa end.
    """

    finer: int
    order: int
    poles: bool
    graded: bool = False
    parts: int = 2
    innermost: int = 0
    axes: int | None = None
    outwards: Outwards = "none"
    trapezoids: int = _TRAPEZOIDS
    light: float = 1e-16
    reach: float = REACH
    far: float = NARROW.reach

    @property
    def negligible(self) -> float:
        """Weight of a node together with its kappa that is left out."""
        return self.light * share_far_out(self.reach, self.far)

    @property
    def halved(self) -> tuple[int, int]:
        """Nodes of a panel as it is refined, and how many it has become."""
        return (round(_HIGHER * self.order), 2 ** (self.finer - 1)) if self.finer else (self.order, 1)

    def split(self, cuts: Array) -> tuple[Array, Array]:
        """Nodes and weights [I, n] of the standard normal on panels between the cuts [I, C] and the ends."""
        ends = np.full((len(cuts), 1), self.reach)
        edges = np.sort(np.concatenate([-ends, cuts, ends], axis=1), axis=1)
        if self.innermost:
            return truncated_normal(edges, self.innermost)
        order, halved = self.halved
        split = self.parts * (2 if self.graded else 1) * halved
        points, weights = legendre(order)
        x = ((2.0 * np.arange(split)[:, None] + 1.0 + points) / split - 1.0).ravel()
        stretch = np.tile(weights, split) / split
        if self.graded:  # 1 - x becomes a square
            x, stretch = 0.5 * x * (3.0 - x * x), 1.5 * (1.0 - x * x) * stretch
        half, middle = 0.5 * np.diff(edges, axis=1)[..., None], 0.5 * (edges[:, 1:] + edges[:, :-1])[..., None]
        t = (middle + half * x).reshape(len(cuts), half.shape[1] * len(x))
        return t, (half * stretch).reshape(t.shape) * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)

    def whole(self, thin: bool) -> tuple[Array, Array]:
        """The same [n] without a cut; thin: of functions that vary little along the direction."""
        if self.innermost:
            return hermite(self.innermost)
        if self.poles:  # the trapezoidal rule, whose error falls as exp(-2 pi distance/spacing)
            t = np.linspace(-self.reach, self.reach, round(self.trapezoids * self.reach / REACH) * 2**self.finer)
            weight = np.exp(-0.5 * t * t)
            return t, weight / weight.sum()
        return hermite(self.parts * self.order * (2 + self.finer) * (1 if thin else 3) // 4)


def _by_line(cuts: Array, rule: Rule, thin: bool) -> tuple[NDArray[np.intp], Array, Array]:
    """Lines, places and weights of the nodes along one t for the cuts [I, C] of every line, in the order of lines."""
    bare = np.all(np.abs(cuts) == rule.reach, axis=1)
    lines = np.flatnonzero(~bare)
    place, weight = rule.split(cuts[lines])
    cut = np.repeat(lines, place.shape[1]), place.ravel(), weight.ravel()
    parts = (cut, _same(rule.whole(thin), np.flatnonzero(bare)))
    line, place, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    by_line = np.argsort(line, kind="stable")
    return line[by_line], place[by_line], weight[by_line]


def _same(nodes: tuple[Array, Array], lines: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array, Array]:
    """The same places and weights for each of some lines."""
    place, weight = (np.tile(each, len(lines)) for each in nodes)
    return np.repeat(lines, len(nodes[0])), place, weight


def rows_of_nodes(owner: Array, weight: Array, t: Array, count: int) -> tuple[Array, Array]:
    """Nodes by their kappa, rows filled up with nodes of no weight."""
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    shape = (count, int(rank.max(initial=0)) + 1)
    weights, places = np.zeros(shape), np.zeros((*shape, t.shape[1]))
    weights[owner, rank], places[owner, rank] = weight, t
    return weights, places
