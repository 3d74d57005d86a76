"""Links of two indices that are straight in one of them, w, or made of straight pieces, given the other one, u."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from derive.language.grammar import Node
from derive.language.links import link_of
from generated.runtime.straight_labels import Lines, means_by_lines, told_by_lines, variance_by_lines
from giantstep.law.kink_roots import Kinks
from giantstep.law.label_lines import pieces_beside
from giantstep.law.multi_index_labels import Axes as Directions
from giantstep.observe.optimal.known_pair import NoisyPair
from giantstep.quadrature.gauss import legendre
from giantstep.quadrature.kinks import degree, kinks, roots_and_logarithms
from giantstep.spec.expressions import jet
from giantstep.spec.matrix import Rows

Array = np.ndarray
_PROBES, _SAME = 24, 1e-9  # places of slopes, and their difference where they are one
_REACH, _ORDER, _FINEST = 6.4, 10, 0.02  # of u: reach, nodes of a panel, and steps at which its width is chosen
# of a panel of u over that of what varies in it: at most, at least, and by how much it falls for each tenth of what
# labels tell of u, which is a difference of averages
_WIDTHS, _FALL = (7.0, 4.2), 0.75
_LIKELY, _TURNED = (-2.0, 0.0, 2.0), 1.5  # of w, and of y over its deviation, where slopes count
_RARE = 40.0  # u^2 where panels are twice as wide or more
_LABEL, _TAIL, _FAR = 0.85, 5.6, 6.4  # step of y over the least deviation of a piece, reach over each, and that of x
_OF_SQUARES = 7.4  # reach of x for x^2 - 1, which grows


@lru_cache(maxsize=256)
def straight_in(link: str) -> int | None:
    """The place of an index of two that a link is straight in, or made of straight pieces; None where none is.

    One without pieces where there is a choice, and of these that with the largest slope at some places.
    """
    found = link_of(link)
    if found.indices != 2:
        return None
    places, ranks = np.random.default_rng(0).standard_normal((2, _PROBES)), {}
    given = dict(zip(found.variables, places, strict=True))
    for place, name in enumerate(found.variables):
        if degree(found.node, name, pieces=True) in (0, 1):
            slope = float(np.mean(np.abs(jet(found.node, name, given, 1)[1])))
            ranks[place] = (degree(found.node, name) == 1, slope)
    return max(ranks, key=lambda place: ranks[place], default=None)


@lru_cache(maxsize=256)
def straight_kinks(link: str) -> Rows:
    """Kinks and jumps of a link of two indices that are straight lines a z1 + b z2 = c: (a, b, c), (a, b) of norm 1."""
    found = link_of(link)
    places, lines = np.random.default_rng(1).standard_normal((2, _PROBES)), []
    given = dict(zip(found.variables, places, strict=True))
    for kink in kinks_of(link):
        jets = [jet(kink, name, given, 1) for name in found.variables]
        slopes = np.array([np.broadcast_to(each[1], _PROBES) for each in jets])
        size = float(np.hypot(*slopes[:, 0]))
        if size > 0.0 and np.ptp(slopes, axis=1).max() <= _SAME * size:
            value = np.broadcast_to(jets[0][0], _PROBES)[0] - slopes[:, 0] @ places[:, 0]
            lines.append((*(slopes[:, 0] / size).tolist(), -float(value) / size))
    return tuple(dict.fromkeys(lines))


@lru_cache(maxsize=256)
def is_uneven(link: str) -> bool:
    """Whether a link has roots or logarithms, beside whose ends there is no series."""
    return bool(list(roots_and_logarithms(link_of(link).node)))


@dataclass(frozen=True, eq=False)
class Straight(NoisyPair):
    """Averages over such a label given kappa: nodes of u, closed forms in w."""

    def values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, P, n, n], the same on all panels: [P, n, n, 4], of t1^2, t1 t2, t2^2, and of
        the square of t^2 - 1.
        """
        means, turn = self._means(kappa), self._lower[1]
        axis = np.zeros(2) if self.squared is None else turn[self.squared]
        squares = np.array([axis[0] ** 2, 2.0 * axis[0] * axis[1], axis[1] ** 2])
        reach = _FAR if self.squared is None else _OF_SQUARES
        found: Array = told_by_lines(
            self._lines(means[:, 0], reach), means, turn, squares, (reach, _LABEL / self.finer, _TAIL)
        )
        return found.reshape(*kappa.shape[1:], 4)

    def variances(self, kappa: Array, low: Array, high: Array) -> Array:
        """The variance of the link at kappa in the first place of [P, n, n, 4], zeros beside it."""
        means = self._means(kappa)
        found = np.zeros((len(means), 4))
        found[:, 0] = variance_by_lines(self._lines(means[:, 0], _FAR), means, _FAR)
        return found.reshape(*kappa.shape[1:], 4)

    def scores(self, y: Array, omega: Array, noise: float) -> Array:
        """d log Z / d omega [N, 2] at labels y [N] where z has the means omega [N, 2], with this noise; none for labels
        that are constant on pieces.
        """
        order, lower = self._order, self._lower[0]
        means = np.ascontiguousarray(omega[:, order])
        lines = self._lines(means[:, 0], _FAR)._replace(noise=noise)
        found = np.empty_like(omega)
        found[:, order] = np.linalg.solve(lower.T, means_by_lines(lines, means, y, _FAR).T).T
        return found

    def _means(self, kappa: Array) -> Array:
        """Of u and w [N, 2], given kappa [2, P, n, n]."""
        found: Array = np.ascontiguousarray((self.root[self._order] @ kappa.reshape(2, -1)).T)
        return found

    @cached_property
    def _order(self) -> list[int]:
        """u, then w."""
        place = straight_in(self.link)
        return [1, 0] if place == 0 else [0, 1]

    @cached_property
    def _rows(self) -> Array:
        found: Array = self.turn[self._order]
        return found

    @cached_property
    def _lower(self) -> tuple[Array, Array]:
        """L [2, 2] of u and w, and what turns x into t."""
        turn, upper = np.linalg.qr((self._rows * self.width).T)
        signs = np.sign(np.diag(upper))
        return np.ascontiguousarray((signs[:, None] * upper).T), np.ascontiguousarray(turn * signs)

    def _lines(self, means: Array, reach: float) -> Lines:
        """Nodes of u, and the link there, within reach of its means [N]."""
        panels = self._panels
        far = np.sort(means), reach * self._lower[0][0, 0]
        near = np.searchsorted(far[0], panels[1] + far[1]) > np.searchsorted(far[0], panels[0] - far[1])
        u, weight = panel_nodes(panels[:, near])
        line, pieces = _pieces(self.link, tuple(self._order), u)
        first = np.searchsorted(line, np.arange(len(u) + 1))
        nodes = np.column_stack([u, weight])
        return Lines(nodes, np.ascontiguousarray(pieces), first, self._lower[0], self.noise)

    @cached_property
    def _panels(self) -> Array:
        """Panels of u [4, P], as wide as what varies there allows, between the cuts: ends, and whether these are cuts
        where pieces come and go as a root.
        """
        reach, edges = _REACH * float(np.linalg.norm(self._rows[0])), []
        cuts, rooted = cuts_along(self.link, tuple(self._order), reach)
        for low, high in cuts:
            share = np.linspace(0.0, 1.0, max(4, math.ceil((high - low) / _FINEST)) + 1)
            ends = low + (high - low) * (_towards(share, low > -reach, high < reach) if rooted else share)
            sharp = self._sharpness(0.5 * (ends[1:] + ends[:-1]))
            narrow = np.concatenate([[0.0], np.cumsum(np.diff(ends) * sharp)])
            number = math.ceil(narrow[-1] * self.finer)
            between = np.interp(np.linspace(0.0, narrow[-1], number + 1), narrow, ends)
            roots = np.zeros((2, number))
            roots[0, 0], roots[1, -1] = rooted and low > -reach, rooted and high < reach
            edges.append(np.concatenate([[between[:-1], between[1:]], roots]))
        return np.concatenate(edges, axis=1)

    def _sharpness(self, u: Array) -> Array:
        """Panels on a length of u [I]: by the width of its density, and of that of y given it."""
        lower = self._lower[0]
        step, tilt = 1e-4, lower[1, 0] / lower[0, 0]
        steepest = np.zeros(len(u))
        beside = [_pieces(self.link, tuple(self._order), u + shift) for shift in (-step, step)]
        (line, first), (other, second) = beside
        if np.array_equal(line, other):
            at = 0.5 * (second + first)
            change = np.subtract(second, first, out=np.zeros_like(at), where=np.isfinite(at)) / (2.0 * step)
            spread = np.sqrt(self.noise + (at[:, 1] * lower[1, 1]) ** 2)
            turned = _TURNED * np.abs(at[:, 1] * change[:, 1]) * (lower[1, 1] / spread) ** 2
            for w in _LIKELY:
                slope = np.abs(change[:, 0] + change[:, 1] * w + at[:, 1] * tilt) / spread
                np.maximum.at(steepest, line, np.hypot(slope, turned))
            rest = lower[1, 1] * math.sqrt(self.noise) / spread
            for end in (2, 3):
                moves = np.abs(change[:, end] - tilt) / rest
                np.maximum.at(steepest, line, np.where(np.abs(at[:, end]) < _REACH, moves, 0.0))
        told = np.maximum(steepest * lower[0, 0], 1e-300)
        width = np.clip(_WIDTHS[0] + _FALL * np.log10(told), _WIDTHS[1], _WIDTHS[0])
        found: Array = np.hypot(1.0 / lower[0, 0], steepest) * np.sqrt(np.maximum(1.0 - u * u / _RARE, 0.2)) / width
        return found


def _towards(share: Array, low: bool, high: bool) -> Array:
    """Places between 0 and 1 that are close next to 0, to 1 or to both."""
    if low and high:
        return np.asarray(np.sin(0.5 * math.pi * share) ** 2)
    return share**2 if low else 1.0 - (1.0 - share) ** 2 if high else share


def panel_nodes(panels: Array) -> tuple[Array, Array]:
    """Nodes and weights on panels [4, P]: in a square from an end where there is a root, in a sine where both are."""
    x, weight = legendre(_ORDER)
    share = 0.5 * (1.0 + x)
    plain = np.stack([share, np.ones_like(share)])
    first = np.stack([share**2, 2.0 * share])
    last = np.stack([1.0 - first[0, ::-1], first[1, ::-1]])
    both = np.stack([np.sin(0.5 * math.pi * share) ** 2, 0.5 * math.pi * np.sin(math.pi * share)])
    place, slope = np.stack([plain, first, last, both])[(panels[2] + 2.0 * panels[3]).astype(int)].swapaxes(0, 1)
    low, wide = panels[0][:, None], (panels[1] - panels[0])[:, None]
    return (low + wide * place).ravel(), (0.5 * wide * weight * slope).ravel()


def _pieces(link: str, order: tuple[int, ...], u: Array) -> tuple[Array, Array]:
    """At u [I] the lines and pieces (a, b, low, high) [P, 4] in w."""
    directions, kinked = along_an_index(link, order)
    fixed = np.zeros((len(u), 2))
    fixed[:, order[0]] = u
    line, pieces = pieces_beside(link_of(link).node, directions, kinked, fixed)
    return np.asarray(line), pieces


@lru_cache(maxsize=256)
def kinks_of(link: str) -> tuple[Node, ...]:
    """Expressions whose zeros are the kinks and jumps of a link, and where roots and logarithms end."""
    node = link_of(link).node
    return tuple(dict.fromkeys([*kinks(node), *roots_and_logarithms(node)]))


@lru_cache(maxsize=64)
def along_an_index(link: str, order: tuple[int, ...]) -> tuple[Directions, Kinks]:
    """The second index of an order at places of the first one, and kinks along both."""
    found, lower = link_of(link), np.eye(2)[:, list(order)]
    kinked = Kinks(found.variables, kinks_of(link), lower)
    return Directions(found.variables, list(order), lower, None), kinked


@lru_cache(maxsize=64)
def cuts_along(link: str, order: tuple[int, ...], reach: float) -> tuple[Rows, bool]:
    """Intervals of u between which pieces do not come and go, and their values have no kinks; and whether pieces come
    and go as a root.
    """
    _, kinked = along_an_index(link, order)
    nowhere = np.zeros((1, 2))
    meetings, rooted = kinked.meetings(0, nowhere)
    places = np.concatenate([kinked.roots(0, nowhere).ravel(), meetings.ravel()])
    inside = sorted({float(place) for place in places if abs(place) < reach})
    kept = [place for i, place in enumerate(inside) if i == 0 or place - inside[i - 1] > 1e-9]
    ends = [-reach, *kept, reach]
    return tuple(zip(ends[:-1], ends[1:], strict=True)), rooted or is_uneven(link)
