"""What a noisy label tells of its two indices: averages over t given kappa, and over kappa along axes of the overlap.

Where the link is straight in one index that one is averaged in closed form (``straight``), else both are at nodes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from derive.language.links import link_of
from giantstep.law.label_cells import plane_of
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.curves import Curves
from giantstep.observe.optimal.cut_nodes import CutNodes
from giantstep.observe.optimal.few_values import Signs, noise_of
from giantstep.observe.optimal.fineness import KAPPA, Fineness
from giantstep.observe.optimal.known_pair import KnownPair
from giantstep.observe.optimal.on_polygons import OnPolygons
from giantstep.observe.optimal.pair_nodes import PairNodes, deviation
from giantstep.observe.optimal.parity import size_of
from giantstep.observe.optimal.straight import Straight, is_uneven, kinks_of, straight_in, straight_kinks
from giantstep.observe.optimal.strips import REACH, Strips
from giantstep.quadrature.kinks import jumps_only
from giantstep.spec.link import link_values, takes_only_signs
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target
from giantstep.spec.probes import alike, places

Array = np.ndarray
_SAME = 1e-12  # of a link that does not see a sign
_NODES, _FEW = 11, 9  # of a panel of kappa about a strip; first fineness there, with 8 nodes of a panel
_SHARP = 1.6  # widths of t that a step of one along kappa is, from which on strips have fewer nodes than even steps
_LONGEST, _EVEN = 2.6, 2.0 / 3.0  # where a link is not linear on polygons: panels, and steps over those where it is
_WIDTH = 5.0  # first panels of kappa over the width of t
_SCORED = 1.5  # how many times more panels a single label has
_PART = 0.3  # of the deviation of a link: changes that panels of it follow


@lru_cache(maxsize=64)
def by_two(target: Target) -> bool:
    """Whether a label is averaged here: of two indices, with noise or of few values, and smooth in the indices between
    kinks and jumps, or straight in one of them where the other one has a root or a logarithm.
    """
    if target.indices != 2 or target.channel is not None or size_of(target) is not None:
        return False
    even = not is_uneven(target.link) or (straight_in(target.link) is not None and lines_of(target.link) is not None)
    return noise_of(target) > 0.0 and even


def first_of_two(target: Target) -> Fineness:
    """What such averages are tried on first."""
    return Fineness(_FEW) if kinks_of(target.link) else Fineness().more_kappa()


def told_by_pairs(target: Target, known: Array, fineness: Fineness) -> Array:
    """E[E[t|y] E[t|y]^T] [2, 2] where the overlap Q is known."""
    axes = Axes.of(known, target.probit)
    found = _average(target, axes, fineness)
    matrix = np.array([[found[0], found[1]], [found[1], found[2]]])
    turned = axes.to_t(known) * axes.share
    told: Array = turned @ matrix @ turned.T
    return told


def told_of_one_axis(target: Target, known: Array, axis: Array, fineness: Fineness) -> tuple[float, float]:
    """E[E[t|y]^2] and E[E[t^2 - 1|y]^2] of t along an axis [2] of which nothing is known, where the overlap is Q."""
    axes = Axes.of(known, target.probit)
    place = int(np.argmax(np.abs(axes.turn.T @ axis)))
    found, share = _average(target, axes, fineness, place), float(axes.share[place])
    return share**2 * float(found[2 * place]), share**4 * float(found[3])


@lru_cache(maxsize=64)
def by_pieces(target: Target) -> bool:
    """Whether the least error is averaged here: of a link with kinks, or straight in one index."""
    return by_two(target) and _nodes_of(target.link) is not PairNodes


def error_by_pieces(target: Target, known: Array, fineness: Fineness) -> float:
    """E Var(f_* | kappa) of such a link for the overlap Q. It has no noise: panels follow changes by a part of it."""
    axes, changes = Axes.of(known), (_PART * deviation(target.link)) ** 2
    nodes, over_kappa = _rule(target.link, changes, axes, fineness)
    assert not isinstance(nodes, PairNodes)
    return float(over_kappa.average(nodes.variances)[0])


@lru_cache(maxsize=64)
def scored_by_pieces(target: Target) -> bool:
    """Whether the score of a label follows from pieces: with noise, or of few values, without noise inside the link."""
    if target.indices != 2 or target.probit > 0.0 or target.flips > 0.0 or target.channel is not None:
        return False
    place = straight_in(target.link)
    if place is None:
        return False
    return target.noise > 0.0 or jumps_only(link_of(target.link).node, link_of(target.link).variables[place])


def score_by_pieces(target: Target, y: Array, omega: Array, variance: Array) -> Array:
    """L^-T E[t | y] [N, 2] for z = omega + L t, L L^T the variance, at labels y [N]."""
    axes = Axes.of(np.eye(2) - variance)
    changes = target.noise or (_PART * deviation(target.link)) ** 2
    rule = Straight(target.link, changes, axes.turn, axes.spread, np.zeros((2, 2)), _SCORED)
    return rule.scores(y, omega, target.noise)


def _average(target: Target, axes: Axes, fineness: Fineness, squared: int | None = None) -> Array:
    """E over kappa of what labels tell [4] along the axes: of t1^2, t1 t2 and t2^2, and the square of t^2 - 1 along one
    axis, 0 for none.
    """
    nodes, over_kappa = _rule(target.link, noise_of(target), axes, fineness, target.probit, squared)
    if isinstance(nodes, OnPolygons | CutNodes) and (signs := Signs.of(target, nodes.of_signs)) is not None:
        return over_kappa.average(signs.values)
    return over_kappa.average(nodes.values)


def _rule(
    link: str, noise: float, axes: Axes, fineness: Fineness, probit: float = 0.0, squared: int | None = None
) -> tuple[PairNodes | CutNodes | Straight | OnPolygons, KnownPair | Strips | Curves]:
    """Nodes of t, and of kappa: in strips along straight kinks, or along the axes."""
    half, mixed = _signs(link, tuple(map(tuple, axes.turn.tolist())))
    scale, step, finer = math.sqrt(1.0 + probit), KAPPA / fineness.kappa, math.sqrt(2.0) ** fineness.labels
    turn, root = axes.turn * scale, axes.turn * (scale * np.sqrt(axes.known))
    rule = _nodes_of(link)
    nodes = rule(link, noise, turn, axes.spread, root, finer, squared)
    lines, sharp = np.array(lines_of(link) or ()), np.sqrt(axes.known) / axes.spread
    if len(lines) and np.any(sharp > _SHARP):
        longest = REACH if rule is OnPolygons else _LONGEST
        return nodes, Strips(
            lines, root, turn * axes.spread, round(_NODES / step), longest, half, mixed, is_uneven(link)
        )
    curves = kinks_of(link)
    if curves and np.any(sharp > _SHARP):
        about = Curves.of(curves, link_of(link).variables, root, turn * axes.spread, (round(_NODES / step), _LONGEST))
        return nodes, replace(about, even=half, mixed=mixed)
    even = step if rule is OnPolygons or not len(lines) else _EVEN * step
    return nodes, KnownPair(sharp, _kinks(link, root), half, mixed, _WIDTH * step, even)


def _nodes_of(link: str) -> type[OnPolygons | Straight | CutNodes | PairNodes]:
    """What averages over t: in closed form as far as there is one, between kinks, or with none."""
    if plane_of(link) is not None:
        return OnPolygons
    if straight_in(link) is not None and not takes_only_signs(link):
        return Straight
    return CutNodes if kinks_of(link) else PairNodes


@lru_cache(maxsize=256)
def lines_of(link: str) -> Rows | None:
    """Kinks and jumps of a link, where all are lines a z1 + b z2 = c: (a, b, c), (a, b) of norm 1; None where they are
    not.
    """
    plane = plane_of(link)
    if plane is not None:
        return tuple(map(tuple, plane.kinks.tolist()))
    lines = straight_kinks(link)
    return lines if len(lines) == len(kinks_of(link)) else None


def _kinks(link: str, root: Array) -> tuple[Array, Array]:
    """Where straight kinks of a link of z = root kappa are met along the kappa that they depend on most."""
    found: tuple[list[float], list[float]] = ([], [])
    for a, b, c in straight_kinks(link):
        slope = np.array([a, b]) @ root
        axis = int(np.argmax(np.abs(slope)))
        if slope[axis] != 0.0:
            found[axis].append(c / float(slope[axis]))
    return np.unique(found[0]), np.unique(found[1])


@lru_cache(maxsize=64)
def _signs(link: str, turn: Rows) -> tuple[tuple[bool, bool], bool]:
    """Along which axes one sign of what is known is enough, and whether t1 t2 has a mean: by the signs of the indices
    along these axes that a link, but for its sign, does not see.
    """
    axes, values = np.array(turn), link_values(link)
    x = places(2)
    here = values(axes @ x)

    def unseen(*signs: float) -> bool:
        there = values(axes @ (np.array(signs)[:, None] * x))
        return any(alike(here, sign * there, _SAME) for sign in (1.0, -1.0))

    first, second = unseen(-1.0, 1.0), unseen(1.0, -1.0)
    if first or second:
        return (first, second), False
    return (unseen(-1.0, -1.0), False), True
