"""Moments of a label of several indices given kappa in R^q, on as few nodes as there need be.

Given kappa the indices are ``z = gamma^T kappa + L t``: the label knows the directions of kappa that have overlaps with
the target, and what all nodes with the same coordinates there have in common is averaged once. Where it is a
polynomial in t it is averaged exactly by a few nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from derive.language.links import link_of
from giantstep.law.directions import noisy_indices, rows_of
from giantstep.law.labels import affordable, smooth_rule
from giantstep.law.moments_given_kappa import LabelMoments, moments_given_kappa
from giantstep.law.multi_index_labels import has_kinks
from giantstep.quadrature.gauss import hermite, products
from giantstep.quadrature.kinks import LINE, along_a_line, degree
from giantstep.quadrature.tensor import coordinates
from giantstep.spec.kernels import coefficients
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_UNSEEN = 1e-13  # of an overlap: rounding
_ROUNDED = 1e-15  # of the root of the largest square: a coefficient
_HIGHEST = 60  # degree of a polynomial that Gauss nodes are taken for
_TOGETHER = 1 << 20  # values of the label at a time
_MOST = 5_000_000  # nodes
_CORNERS = 1.01  # beyond this square of the distance, in reaches of the trapezoids, there is nothing


def label_moments(
    target: Target, overlaps: Rows | tuple[float, ...], kappa: Array, probit: float, finer: int, rough: bool
) -> LabelMoments:
    """Moments of the label without flips, its own noise left out, at kappa [N, q] for overlaps [q, m]; what a channel
    draws is in them.

    probit: variance of the noise inside the link; finer: halvings of the nodes; rough: on fewer of them, for an
    estimate of the error. Raises NotConverged.
    """
    if target.channel is not None:
        return _of_channel(target, lambda text: label_moments(Target(text), overlaps, kappa, probit, finer, rough))
    return _without_rounding(_of_link(target, np.atleast_2d(np.array(overlaps)), kappa, probit, finer, rough))


def _of_link(target: Target, gamma: Array, kappa: Array, probit: float, finer: int, rough: bool) -> LabelMoments:
    """The same of a link's value."""
    seen = np.abs(gamma).max(axis=1) > _UNSEEN
    if seen.all():
        return _at(target, gamma, kappa, probit, finer, rough)
    if not seen.any():
        seen[0] = True
        kappa = np.zeros_like(kappa)
    places, of_each = _distinct(kappa[:, seen])
    found = _at(target, gamma[seen], places, probit, finer, rough)
    return LabelMoments(found.mean[of_each], found.linear[of_each], found.square[of_each])


def _without_rounding(found: LabelMoments) -> LabelMoments:
    """With zero for coefficients that vanish but for rounding at every kappa: equations of nothing else hold to no
    digit.
    """
    size = math.sqrt(float(np.max(found.square, initial=0.0)))
    mean, linear = (np.abs(each).max(axis=0, initial=0.0) <= _ROUNDED * size for each in (found.mean, found.linear))
    return replace(found, mean=np.where(mean, 0.0, found.mean), linear=np.where(linear, 0.0, found.linear))


def clean_moments(
    bare: Array, target: Target, overlaps: Rows | tuple[float, ...], finer: int, rough: bool
) -> LabelMoments:
    """Moments of a clean label of several indices at the nodes of a table, whose columns are yet those of one index."""
    kappa = coordinates(bare, 1, len(np.atleast_2d(np.array(overlaps))))
    return label_moments(target.mean, overlaps, kappa, 0.0, finer, rough)


def moments_at_nodes(
    rows: Array, target: Target, overlaps: Rows | tuple[float, ...], finer: int, rough: bool
) -> LabelMoments:
    """Moments of a label without flips and its own noise, that inside the link included, at the nodes of a table that
    has the columns of the clean one.
    """
    m = target.indices
    if target.probit > 0.0 and m > 1:
        kappa = coordinates(rows, m, len(np.atleast_2d(np.array(overlaps))))
        return label_moments(target, overlaps, kappa, target.probit, finer, rough)
    if target.channel is not None and m == 1:
        return _of_channel(target, lambda text: _noisy_moments(rows, Target(text, probit=target.probit), overlaps))
    if target.channel is not None:
        kappa = coordinates(rows, m, len(np.atleast_2d(np.array(overlaps))))
        return label_moments(target, overlaps, kappa, 0.0, finer, rough)
    if target.probit > 0.0:
        return _noisy_moments(rows, target, overlaps)
    mean, linear, rest = rows[:, 2], rows[:, 3 : 3 + m], rows[:, 3 + m]
    return LabelMoments(mean, linear, mean**2 + (linear**2).sum(axis=1) + rest)


def _noisy_moments(rows: Array, target: Target, overlaps: Rows | tuple[float, ...]) -> LabelMoments:
    """Moments of a label of one index with noise inside the link."""
    gamma = float(np.atleast_2d(np.array(overlaps))[0, 0])
    inside = max(0.0, (1.0 - gamma) * (1.0 + gamma))
    mean, linear, rest = coefficients(target.link, gamma * rows[:, 0], inside + target.probit)
    # t is the share sqrt(inside/(inside + probit)) of what the link sees, and independent of the other part of it
    along = math.sqrt(inside / (inside + target.probit)) * linear if inside > 0.0 else 0.0 * linear
    return LabelMoments(mean, along[:, None], mean**2 + linear**2 + rest)


def _of_channel(target: Target, of: Callable[[str], LabelMoments]) -> LabelMoments:
    """Moments of a label that a channel draws, from those of the links E[y|z] and Var[y|z] or E[y^2|z]."""
    mean, second = of(target.mean_link), target.second_link
    square = of(second).mean if isinstance(second, str) else np.full_like(mean.mean, second)
    if target.channel is not None and target.channel.counts:
        square = square + mean.square
    return LabelMoments(mean.mean, mean.linear, square)


def _distinct(kappa: Array) -> tuple[Array, Array]:
    """The places [M, p] among points [N, p], and the number of each point's place [N]."""
    number = np.zeros(len(kappa), dtype=np.int64)
    for column in kappa.T:
        values, place = np.unique(column, return_inverse=True)
        number = number * len(values) + place
    _, first, of_each = np.unique(number, return_index=True, return_inverse=True)
    return kappa[first], of_each


def _at(target: Target, gamma: Array, kappa: Array, probit: float, finer: int, rough: bool) -> LabelMoments:
    if has_kinks(target.link):
        return moments_given_kappa(target.link, gamma, kappa, probit, finer, rough)
    noisy, (nodes, weight) = noisy_indices(gamma, probit), _nodes(target.link, rows_of(gamma), probit, finer, rough)
    values, centre, away = link_values(target.link), (kappa @ gamma).T, noisy.lower @ nodes.T
    mean, square, linear = np.empty(len(kappa)), np.empty(len(kappa)), np.empty((len(kappa), len(away)))
    height = max(1, _TOGETHER // len(weight))
    for start in range(0, len(kappa), height):
        part = slice(start, start + height)
        y = values(centre[:, part, None] + away[:, None, :])
        mean[part], square[part], linear[part] = y @ weight, (y * y) @ weight, y @ (weight[:, None] * nodes)
    return LabelMoments(mean, linear @ noisy.carry.T, square)


def _nodes(link: str, overlaps: Rows, probit: float, finer: int, rough: bool) -> tuple[Array, Array]:
    """Nodes [J, m] and weights [J] of t for a smooth link, of t' with noise inside it: Gauss nodes where it is a
    polynomial.

    The indices come in an order in which as many t as possible enter as polynomials: the first index knows one of them,
    the last one all.
    """
    found = link_of(link)

    def rule() -> tuple[Array, Array]:
        return smooth_rule(link, overlaps, probit, finer, rough)

    lower = noisy_indices(np.array(overlaps), probit).lower
    names = sorted(found.variables, key=lambda name: (degree(found.node, name) is not None, name))
    if names == list(found.variables) or np.any(np.diag(lower) == 0.0):
        return _ordered_nodes(link, found.variables, lower, rule)
    places = [found.variables.index(name) for name in names]
    other = np.linalg.cholesky((lower @ lower.T)[np.ix_(places, places)])
    nodes, weight = _ordered_nodes(link, tuple(names), other, rule)
    return nodes @ np.linalg.solve(lower[places], other).T, weight


def _ordered_nodes(
    link: str, names: tuple[str, ...], lower: Array, smooth: Callable[[], tuple[Array, Array]]
) -> tuple[Array, Array]:
    """The same for the indices ``names`` in the order of t; smooth: the rule of an axis that is no polynomial."""
    node, rules, reach = link_of(link).node, [], np.full(len(names), math.inf)
    for axis, size in enumerate(np.diag(lower)):
        known = [name for name, part in zip(names, lower[:, axis], strict=True) if part != 0.0]
        total = degree(along_a_line(node, known), LINE)
        if size == 0.0:  # the label does not know this direction
            rules.append((np.zeros(1), np.ones(1)))
        elif total is not None and total <= _HIGHEST:
            rules.append(hermite(total + 1))
        else:
            rules.append(smooth())
            reach[axis] = rules[axis][0].max()
    affordable(link, math.prod(len(points) for points, _ in rules), _MOST)
    nodes, weight = products(rules)
    inside = ((nodes / reach) ** 2).sum(axis=1) <= _CORNERS
    return nodes[inside], weight[inside]
