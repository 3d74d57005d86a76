"""The label of several indices given kappa where it jumps or has kinks: its moments, and nodes between the kinks.

Given kappa the indices are ``z = gamma^T kappa + L t`` with L lower triangular. Moments are integrated one t inside the
other by adaptive panels between the kinks; nodes are Gauss-Legendre panels between the kinks met along each t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import Node
from derive.language.links import link_of, variables_of
from giantstep.law.directions import noisy_indices
from giantstep.quadrature.cubature import (
    Unsettled,
    average_given,
    bracketed_zeros,
    degree,
    kinks,
    nesting,
    polynomial_zeros,
)
from giantstep.quadrature.gauss import legendre
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import jet
from giantstep.spec.link import link_values
from giantstep.spec.substitution import linear_form, substituted

Array = np.ndarray
_REACH = 7.5  # of t at nodes: the Gaussian weight beyond is 1e-13
_ORDER, _ROUGH = 14, 13  # nodes of a panel; of the estimate of their error
_NEGLIGIBLE = 1e-16  # weight of a node together with its kappa that is left out
_BY_NODES = 2  # indices: more are averaged adaptively
_FAR = 1e6  # beyond the roots of a polynomial
_GRID, _BISECTIONS = 121, 48  # where kinks of the next axis are looked for
_THIN = 0.3  # share of the largest standard deviation given kappa, below which axes are turned
_STILL, _PROBES = 1e-13, 24  # relative changes that are rounding; places at which kinks are looked at
_MOST = 5_000_000  # nodes of all kappa together


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


def has_kinks(link: str) -> bool:
    """Whether a link of several indices jumps or has kinks."""
    found = link_of(link)
    return found.indices > 1 and next(kinks(found.node), None) is not None


def moments_given_kappa(
    link: str, gamma: Array, kappa: Array, probit: float, finer: int, rough: bool, adaptive: bool = False
) -> LabelMoments:
    """Moments at kappa [N, q] for overlaps gamma [q, m]; ``rough``: on another set of panels.

    Of two indices from the nodes, of more (and where ``adaptive``) by panels halved until they agree. With noise inside
    the link, z has the covariance ``L L^T + probit``, and E[t|z] is linear. Raises NotConverged.
    """
    noisy = noisy_indices(gamma, probit)
    lower = noisy.lower
    if adaptive or len(lower) > _BY_NODES:
        mean, linear, square = _adaptive(link, gamma, lower, kappa, rough)
    else:
        weight, t = nodes_given_kappa(link, gamma, lower, kappa, finer, rough)
        y = link_values(link)((kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", lower, t))
        mean, square = (weight * y).sum(axis=1), (weight * y * y).sum(axis=1)
        linear = np.einsum("nj,nj,njd->nd", weight, y, t)
    return LabelMoments(mean, linear @ noisy.carry.T, square)


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


def nodes_given_kappa(
    link: str, gamma: Array, lower: Array, kappa: Array, finer: int, rough: bool
) -> tuple[Array, Array]:
    """Weights [N, J] and places t [N, J, m] between the kinks of a link; weights fill up rows that have fewer nodes.

    Raises NotConverged where there are too many.
    """
    found = link_of(link)
    _, sizes, turned = np.linalg.svd(lower)
    if sizes[-1] < _THIN * sizes[0]:  # kinks are met along the direction that varies most, which comes last
        axes = turned[::-1].T
        weight, t = _nodes(link, found.variables, gamma, lower @ axes, kappa, finer, rough)
        return weight, t @ axes.T
    if np.all(np.diag(lower) > 0.0) and (order := nesting(found.node, found.variables)) != found.variables:
        # kinks are met most easily along the variable that they know as a polynomial
        places = [found.variables.index(name) for name in order]
        other = np.linalg.cholesky((lower @ lower.T)[np.ix_(places, places)])
        weight, t = _nodes(link, order, gamma[:, places], other, kappa, finer, rough)
        return weight, t @ np.linalg.solve(lower[places], other).T
    return _nodes(link, found.variables, gamma, lower, kappa, finer, rough)


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

        for place in bracketed_zeros(lambda kappa: at(kappa).reshape(1, -1), (-_REACH, _REACH))[:, 0].tolist():
            values = {name: np.array([g * place]) for name, g in zip(names, gamma, strict=True)}
            slope = np.array([jet(kink, name, values, 1)[1][0] for name in names])
            along, spread = abs(float(slope @ gamma)), math.sqrt(max(0.0, float(slope @ covariance @ slope)))
            if along > 0.0 and math.isfinite(spread):
                turns.append((place, spread / along))
    return turns


def _nodes(
    link: str, names: tuple[str, ...], gamma: Array, lower: Array, kappa: Array, finer: int, rough: bool
) -> tuple[Array, Array]:
    """Nodes along one t after the other; gamma and L are those of the indices ``names``, L triangular or not."""
    base, count = kappa @ gamma, len(kappa)
    kinked = _Kinks(names, tuple(dict.fromkeys(kinks(link_of(link).node))), lower)
    far = np.exp(-0.5 * (kappa**2).sum(axis=1))
    owner, weight, t = np.arange(count), np.ones(count), np.zeros((count, len(lower)))
    for axis in range(len(lower)):
        if not _moves(lower, axis):  # the label does not know this direction: two nodes have its variance
            place, of_place = np.tile([[-1.0, 1.0]], (len(owner), 1)), np.full((len(owner), 2), 0.5)
        else:
            fixed = base[owner] + t @ lower.T  # later directions and this one are zero in t yet
            cuts, (ends, graded) = kinked.roots(axis, fixed), kinked.meetings(axis, fixed)
            cuts = np.clip(np.nan_to_num(np.concatenate([cuts, ends]).T, nan=-_REACH), -_REACH, _REACH)
            place, of_place = _panels(cuts, finer, _ROUGH if rough else _ORDER, graded)
        line = np.repeat(np.arange(len(owner)), place.shape[1])
        weight = weight[line] * of_place.ravel()
        keep = weight * far[owner[line]] > _NEGLIGIBLE
        line, weight = line[keep], weight[keep]
        owner, t = owner[line], t[line]
        t[:, axis] = place.ravel()[keep]
        if len(owner) > _MOST:
            raise NotConverged(
                f"averages over the label {link!r}, which jumps or has kinks, need more than {_MOST:.0e} nodes",
                "use a link of fewer indices, noise inside it (target.probit), which smooths, or a larger tolerance",
            )
    return _rows(owner, weight, t, count)


@dataclass(frozen=True)
class _Kinks:
    """The kinks of a link in its indices z = fixed + L t, along one t after the other."""

    names: tuple[str, ...]
    expressions: tuple[Node, ...]
    lower: Array

    def roots(self, axis: int, fixed: Array) -> Array:
        """Places [R, I] in t along an axis where the kinks that end there are met, nan for none; fixed [I, m]."""
        found = []
        for kink in self._ending(axis):
            at, power = self._along(kink, axis, fixed), self._degree(kink, axis)
            if power in (1, 2):
                found.append(np.sort(polynomial_zeros(at)[2 - power :], axis=0))  # of degree 1 the other is infinite
            else:
                found.append(bracketed_zeros(at, (-_REACH, _REACH)))
        return np.concatenate(found) if found else np.empty((0, len(fixed)))

    def _ending(self, axis: int) -> list[Node]:
        """Kinks that no later t moves, and this one does."""
        return [kink for kink, last in zip(self.expressions, self._last, strict=True) if last == axis]

    @cached_property
    def _last(self) -> list[int]:
        """The last axis that moves each kink beyond rounding, -1 for none: by its values at some places."""
        places = np.random.default_rng(0).standard_normal((_PROBES, len(self.names)))
        ones, found = np.ones((1, 1)), []
        for kink in self.expressions:
            still = self._along(kink, 0, places)(0.0 * ones)
            moves = [
                float(np.max(np.abs(self._along(kink, axis, places)(ones) - still))) > _STILL * np.max(np.abs(still))
                for axis in range(len(self.names))
            ]
            found.append(max((axis for axis, does in enumerate(moves) if does), default=-1))
        return found

    def _degree(self, kink: Node, axis: int) -> int | None:
        """The degree of a kink along an axis; None where it is no polynomial, and where more than 2 is a bound."""
        moved = [name for name, row in zip(self.names, self.lower, strict=True) if _moves(row, axis)]
        powers = [degree(kink, name) for name in moved if name in variables_of(kink)]
        bound = None if None in powers else sum(power for power in powers if power is not None)
        return 1 if bound == 2 and self._is_straight(kink, axis) else bound

    def _is_straight(self, kink: Node, axis: int) -> bool:
        """Whether a polynomial has no square along an axis: its second differences are rounding."""
        places = np.random.default_rng(0).standard_normal((_PROBES, len(self.names)))
        low, middle, high = self._along(kink, axis, places)(np.array([[-1.0, 0.0, 1.0]])).T
        bend = np.abs(low + high - 2.0 * middle)
        return bool(np.max(bend) <= _STILL * np.max(np.abs([low, middle, high])))

    def _along(self, kink: Node, axis: int, fixed: Array) -> Callable[[Array], Array]:
        """A kink as a function of t along an axis, [R, n] at places [1, n] or [R, n]."""
        rows = {name: fixed[:, i, None] for i, name in enumerate(self.names)}
        steps = dict(zip(self.names, self.lower[:, axis].tolist(), strict=True))

        def at(x: Array) -> Array:
            moved = {name: row + steps[name] * x for name, row in rows.items()}
            return np.asarray(jet(kink, self.names[axis], moved, 0)[0])

        return at

    def _before(self, axis: int, fixed: Array) -> list[NDArray[np.bool_]]:
        """Whether the kinks that end at an axis are positive before their first root."""
        found = []
        for kink in self._ending(axis):
            first = -_FAR if self._degree(kink, axis) in (1, 2) else -_REACH
            found.append(self._along(kink, axis, fixed)(np.array([[first]]))[:, 0] > 0.0)
        return found

    def meetings(self, axis: int, fixed: Array) -> tuple[Array, bool]:
        """Places [C, I] along an axis where kinks of the next axis begin, end, cross or change their sign as a whole:
        integrals over it have kinks there, or roots where one begins or ends, which the second value tells.
        """
        following = axis + 1
        if following >= len(self.names) or not _moves(self.lower, following):
            return np.empty((0, len(fixed))), False
        grid = np.linspace(-_REACH, _REACH, _GRID)
        lines = np.repeat(np.arange(len(fixed)), _GRID)
        told = self._told(axis, fixed[lines], np.tile(grid, len(fixed))).reshape(-1, len(fixed), _GRID)
        which, owner, place = np.nonzero(told[:, :, 1:] != told[:, :, :-1])
        low, high, first = grid[place], grid[place + 1], told[which, owner, place]
        for _ in range(_BISECTIONS if len(owner) else 0):
            middle = 0.5 * (low + high)
            same = self._told(axis, fixed[owner], middle)[which, np.arange(len(owner))] == first
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        by_line = np.argsort(owner, kind="stable")
        owner, found = owner[by_line], low[by_line]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        places = np.full((int(rank.max(initial=-1)) + 1, len(fixed)), np.nan)
        places[rank, owner] = found
        return places, bool(np.any(which < self._branches(following)))

    def _branches(self, axis: int) -> int:
        return len(self.roots(axis, np.zeros((1, len(self.names)))))

    def _told(self, axis: int, fixed: Array, place: Array) -> Array:
        """Which roots of the next axis there are, which is greater in each pair, and the signs before them: [.., I]."""
        moved = fixed + place[:, None] * self.lower[:, axis]
        roots = self.roots(axis + 1, moved)
        if not roots.size:
            return np.empty((0, len(fixed)), dtype=bool)
        pairs = [roots[a] > roots[b] for a in range(len(roots)) for b in range(a)]
        return np.array([*np.isfinite(roots), *pairs, *self._before(axis + 1, moved)])


def _moves(lower: Array, axis: int | slice) -> bool:
    """Whether t along an axis, or any of several, moves what the rows of L stand for, beyond rounding."""
    return bool(np.any(np.abs(lower[..., axis]) > _STILL))


def _panels(cuts: Array, finer: int, order: int, graded: bool) -> tuple[Array, Array]:
    """Nodes and weights [I, n] of the standard normal on panels between the cuts [I, C] and the ends.

    graded: by a map that makes roots of the distance to an end smooth.
    """
    ends = np.full((len(cuts), 1), _REACH)
    edges = np.sort(np.concatenate([-ends, cuts, ends], axis=1), axis=1)
    bare = bool(np.all(np.abs(cuts) == _REACH))  # no cut at all: what is one gap is long
    edges = edges[:, [0, -1]] if bare else edges
    split = (4 if bare or graded else 2) * 2**finer
    points, weights = legendre(order)
    x = ((2.0 * np.arange(split)[:, None] + 1.0 + points) / split - 1.0).ravel()
    stretch = np.tile(weights, split) / split
    if graded:  # 1 - x becomes a square
        x, stretch = 0.5 * x * (3.0 - x * x), 1.5 * (1.0 - x * x) * stretch
    half, middle = 0.5 * np.diff(edges, axis=1)[..., None], 0.5 * (edges[:, 1:] + edges[:, :-1])[..., None]
    t = (middle + half * x).reshape(len(cuts), -1)
    return t, (half * stretch).reshape(len(cuts), -1) * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)


def _rows(owner: Array, weight: Array, t: Array, count: int) -> tuple[Array, Array]:
    """Nodes by their kappa, rows filled up with nodes of no weight."""
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    shape = (count, int(rank.max()) + 1)
    weights, places = np.zeros(shape), np.zeros((*shape, t.shape[1]))
    weights[owner, rank], places[owner, rank] = weight, t
    return weights, places


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
