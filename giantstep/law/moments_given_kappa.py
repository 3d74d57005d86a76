"""Moments of a label of several indices given kappa where it jumps or has kinks.

Given kappa the indices are ``z = gamma^T kappa + L t``, L lower triangular. Where the link is straight between kinks
along the last direction the moments are exact there, and smooth in the others but where kinks meet; any others are
integrated one t inside the other by adaptive panels between the kinks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node
from derive.language.links import Link, link_of
from derive.language.substitution import linear_form, substituted
from giantstep.law.directions import noisy_indices, rows_of
from giantstep.law.kink_roots import Kinks
from giantstep.law.multi_index_labels import (
    LIGHT,
    Axes,
    Rule,
    axes_of,
    ends_of,
    in_order,
    nodes_along,
    nodes_given_kappa,
)
from giantstep.quadrature.cubature import Unsettled, average_given, nesting
from giantstep.quadrature.kinks import kinks
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows

Array = np.ndarray
_BY_NODES = 2  # indices: of more, nodes have to settle
_TOGETHER = 256  # kappa of which moments are taken at a time
_AT_A_TIME = 1 << 21  # nodes of kappa and label of three indices and more
_COARSEST, _STEPS = (64, 24), 6  # trapezoids and nodes of a panel at first; factors of the root of two that follow
_PLACES, _AGREE = 5, 2e-12  # kappa at which moments settle, and what fewer nodes may change them by
_MOST_HALVINGS = 5  # of the nodes of two indices
_ROUGH = 15 / 16  # of the nodes, for the estimate of their error


@dataclass(frozen=True)
class LabelMoments:
    """E y [N], E y t [N, m] and E y^2 [N] of a clean label, or of one with noise inside the link, given kappa."""

    mean: Array
    linear: Array
    square: Array

    @property
    def rest(self) -> Array:
        """What mean and linear part leave of E y^2."""
        left = self.square - self.mean**2 - (self.linear**2).sum(axis=1)
        return np.asarray(np.maximum(left, 0.0))


def moments_given_kappa(
    link: str, gamma: Array, kappa: Array, probit: float, finer: int, rough: bool, adaptive: bool = False
) -> LabelMoments:
    """Moments at kappa [N, q] for overlaps gamma [q, m]; ``rough``: on another set of panels.

    Of two indices from nodes that settle at a few kappa; so of more where the link is straight between kinks along a
    direction. Any others (and where ``adaptive``) by panels halved until they agree. With noise inside the link, z has
    the covariance ``L L^T + probit``, and E[t|z] is linear. Raises NotConverged.
    """
    noisy = noisy_indices(gamma, probit)
    lower = noisy.lower
    settled = None if adaptive or len(lower) <= _BY_NODES else _settled(link, rows_of(gamma), probit)
    if settled is not None:
        mean, linear, square = _straight(link, gamma, lower, kappa, settled.finer(finer, rough))
    elif adaptive or len(lower) > _BY_NODES:
        mean, linear, square = _joined(_adaptive(link, gamma, lower, part, rough) for part in _parts(kappa))
    else:
        halvings = finer if finer < 0 else max(finer, _halvings(link, rows_of(gamma), probit))
        mean, linear, square = _joined(_from_nodes(link, gamma, lower, part, halvings, rough) for part in _parts(kappa))
    return LabelMoments(mean, linear @ noisy.carry.T, square)


def _joined(parts: Iterable[tuple[Array, Array, Array]]) -> tuple[Array, ...]:
    """Moments of points that were handled in parts."""
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def _parts(kappa: Array) -> list[Array]:
    """Points of kappa that are handled together."""
    return np.array_split(kappa, max(1, math.ceil(len(kappa) / _TOGETHER)))


@dataclass(frozen=True)
class _Fineness:
    """Trapezoids along a direction that meets no kink, nodes of each panel along others."""

    trapezoids: int
    order: int

    def finer(self, halvings: int, rough: bool) -> _Fineness:
        """With more nodes, or a few less."""
        factor = _ROUGH if rough else 2.0 ** (0.5 * max(halvings, 0))
        return _Fineness(round(factor * self.trapezoids), round(factor * self.order))


def _few(gamma: Array) -> Array:
    """A few kappa at which moments settle."""
    kappa = np.random.default_rng(3).standard_normal((_PLACES, len(gamma)))
    kappa[:, 0] = np.linspace(-3.0, 3.5, _PLACES)
    return kappa


@lru_cache(maxsize=256)
def _halvings(link: str, gamma: Rows, probit: float) -> int:
    """Halvings of the nodes of two indices after which moments at a few kappa have settled: panels between kinks know
    nothing of what is steep in between.
    """
    overlaps = np.array(gamma)
    lower, kappa = noisy_indices(overlaps, probit).lower, _few(overlaps)
    for halvings in range(_MOST_HALVINGS):
        fine, rough = (_felt(_from_nodes(link, overlaps, lower, kappa, halvings, few), kappa) for few in (False, True))
        if np.max(np.abs(fine - rough)) <= _AGREE * np.max(np.abs(fine)):
            return halvings
    return _MOST_HALVINGS


def _felt(moments: tuple[Array, Array, Array], kappa: Array) -> Array:
    """Moments at kappa times the density there, in one row."""
    felt = np.exp(-0.5 * (kappa**2).sum(axis=1))[:, None]
    return np.concatenate([(each.reshape(len(kappa), -1) * felt).ravel() for each in moments])


@lru_cache(maxsize=256)
def _settled(link: str, gamma: Rows, probit: float) -> _Fineness | None:
    """Where moments at a few kappa settle, of a link that is straight between kinks along the last direction; None of
    any other, and where too many nodes are needed.
    """
    overlaps, previous = np.array(gamma), np.zeros(1)
    lower, found = noisy_indices(overlaps, probit).lower, link_of(link)
    if _axes_of_moments(found, lower).degree_along_the_last(found.node) not in (0, 1):
        return None
    kappa = _few(overlaps)
    for step in range(_STEPS):
        fineness = _Fineness(*_COARSEST).finer(step, rough=False)
        try:
            found_here = _straight(link, overlaps, lower, kappa, fineness)
        except NotConverged:
            return None
        current = _felt(found_here, kappa)
        if len(previous) > 1 and np.max(np.abs(current - previous)) <= _AGREE * np.max(np.abs(current)):
            return fineness
        previous = current
    return None


def _axes_of_moments(link: Link, lower: Array) -> Axes:
    """Directions along the variable that is known as a polynomial, also where these vary by little."""
    if np.all(np.diag(lower) > 0.0) and (order := nesting(link.node, link.variables)):
        return in_order(link, order, lower)
    return axes_of(link, lower)


def _straight(link: str, gamma: Array, lower: Array, kappa: Array, fineness: _Fineness) -> tuple[Array, Array, Array]:
    """E y, E y t and E y^2 from nodes of all directions but the last, along which the label is straight between kinks:
    there one node or two of each piece are exact.
    """
    found = link_of(link)
    axes = _axes_of_moments(found, lower)
    pieces = 1 + (axes.degree_along_the_last(found.node) or 0)
    reach, far = ends_of(link, gamma, lower)
    rule = Rule(
        0,
        fineness.order,
        poles=True,
        parts=1,
        innermost=pieces,
        trapezoids=fineness.trapezoids,
        light=LIGHT,
        reach=reach,
        far=far,
    )
    kinked = Kinks(axes.names, tuple(dict.fromkeys(kinks(found.node))), axes.lower, rule.reach)
    values = link_values(link)
    many = max(1, _AT_A_TIME // (pieces * fineness.trapezoids ** (len(lower) - 1)))
    parts = []
    for part in np.array_split(kappa, math.ceil(len(kappa) / many)):
        weight, t = nodes_along(link, kinked, gamma[:, axes.places], part, rule)
        z = (part @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", lower, t if axes.back is None else t @ axes.back)
        y = values(z)
        weighted = weight * y
        linear = np.einsum("nj,njd->nd", weighted, t)
        parts.append((weighted.sum(axis=1), linear, (weighted * y).sum(axis=1)))
    mean, linear, square = (np.concatenate(each) for each in zip(*parts, strict=True))
    return mean, linear if axes.back is None else linear @ axes.back, square


def _from_nodes(
    link: str, gamma: Array, lower: Array, kappa: Array, finer: int, rough: bool
) -> tuple[Array, Array, Array]:
    """E y, E y t and E y^2 by panels between the kinks."""
    weight, t = nodes_given_kappa(link, gamma, lower, kappa, finer, rough, "moments")
    y = link_values(link)((kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", lower, t))
    weighted = weight * y
    return weighted.sum(axis=1), np.einsum("nj,njd->nd", weighted, t), (weighted * y).sum(axis=1)


def _adaptive(link: str, gamma: Array, lower: Array, kappa: Array, rough: bool) -> tuple[Array, Array, Array]:
    """E y, E y t and E y^2 by panels halved until they agree."""
    names, given = [f"t{i}" for i in range(len(lower))], [f"k{i}" for i in range(len(gamma))]
    node = _given(link, gamma, lower, given, names)
    try:
        mean, square, linear = average_given(node, given, names, kappa.T, int(rough))
    except Unsettled as error:
        raise NotConverged(
            f"the moments of the label {link!r} given the spike do not settle: {error}",
            "use a smoother link, or one of fewer indices",
        ) from None
    return mean, linear.T, square


def _given(link: str, gamma: Array, lower: Array, outer: list[str], names: list[str]) -> Node:
    """The tree of the link in the variables kappa and t."""
    found = link_of(link)
    weights = zip(found.variables, gamma.T.tolist(), lower.tolist(), strict=True)
    return substituted(found.node, {name: linear_form([*g, *row], [*outer, *names]) for name, g, row in weights})


def square_nodes(moments: LabelMoments, flips: float) -> tuple[Array, Array, Array]:
    """Weights [N, J], labels [N, J] and t [N, J, m] with the first and second moments of (y, t), which is all that the
    square loss knows of them; odd where the label is.
    """
    kept = 1.0 - 2.0 * flips
    law = LabelMoments(kept * moments.mean, kept * moments.linear, moments.square)
    count, m = law.linear.shape
    axes = np.sqrt(m + 1.0) * np.concatenate([np.eye(m + 1), -np.eye(m + 1)[::-1]])  # the last are minus the first
    t = np.broadcast_to(axes[:, :m], (count, 2 * m + 2, m)).copy()
    label = law.mean[:, None] + law.linear @ axes[:, :m].T + np.sqrt(law.rest)[:, None] * axes[:, m]
    return np.full(label.shape, 0.5 / (m + 1)), np.ascontiguousarray(label), t
