"""What a noisy label tells of its two indices given kappa where its link has kinks and is straight in no index.

Nodes of both t. Where no kink is felt they are those of a smooth link. Else the index that the nearest kink moves most
with, w, has panels between the kinks it meets, at nodes of the other one, u; these are even where kinks only cross w,
and on panels that begin where kinks do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generated.runtime.noisy_labels import told_by_lines_of_nodes
from giantstep.observe.optimal.kink_curve import KinkCurve
from giantstep.observe.optimal.known_pair import NoisyPair
from giantstep.observe.optimal.pair_nodes import PairNodes, deviation
from giantstep.observe.optimal.straight import along_an_index, cuts_along, kinks_of, panel_nodes
from giantstep.quadrature.gauss import normal_between
from giantstep.spec.expressions import prepare
from giantstep.spec.link import link_gradient, link_values

Array = np.ndarray
_REACH, _OF_SQUARES = 6.4, 7.4  # of t, and of t^2 - 1, which grows
_ORDER, _STEP, _WIDE = 8, 0.95, 0.75  # of panels of w: nodes; widest step, and length over the steps of as many nodes
_WIDTHS = (1.4, 0.58)  # step over the width in t of noise, and over that of the deviation of the link
_LADDER = 1.4  # between two numbers of nodes
_BESIDE = 0.25  # of a panel: ends that are nearer to a cut go there
_LABEL, _TAIL = 0.85, 5.6  # step of a noisy label, and its reach
_AT_A_TIME = 1 << 16  # nodes
_FELT = 6.4  # deviations of t within which kinks are looked for
_RINGS = 6  # of places about kappa where kinks are looked for
_AROUND = np.concatenate(
    [
        _FELT * k / _RINGS * np.stack([np.cos(x), np.sin(x)])
        for k in range(1, _RINGS + 1)
        for x in (np.arange(4 * k + 2) * (2.0 * math.pi / (4 * k + 2)),)
    ],
    axis=1,
)
_LOOK = np.stack(np.meshgrid(*[np.linspace(-1.8, 1.8, 3)] * 2)).reshape(2, -1)  # t where slopes are taken
_ALL = 1e9  # of z: as far as there are cuts


@dataclass(frozen=True, eq=False)
class Nodes:
    """Lines at x [I] of u, with nodes y [I, K] of what is left of w, their weights and the link there; the lines of
    kappa n from first[n] on. t = turn (x, y).
    """

    x: Array
    y: Array
    weight: Array
    label: Array
    first: Array
    turn: Array


@dataclass(frozen=True, eq=False)
class CutNodes(NoisyPair):
    """Nodes of both t, between kinks."""

    def values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, N, 1, 1]: [N, 1, 1, 4], of t1^2, t1 t2, t2^2, and of the square of t^2 - 1."""
        kappa = kappa.reshape(2, -1)
        found, felt = np.empty((kappa.shape[1], 4)), self._felt(kappa)
        if not felt.all():
            smooth = PairNodes(self.link, self.noise, self.turn, self.width, self.root, self.finer, self.squared)
            far = kappa[:, ~felt][:, :, None, None]
            found[~felt] = smooth.values(far, far[:, :, 0, 0], far[:, :, 0, 0])[:, 0, 0]
        for some, nodes in self._nodes(kappa, felt):
            found[some] = self._told(nodes)
        return found[:, None, None]

    def variances(self, kappa: Array, low: Array, high: Array) -> Array:
        """The variance of the link at kappa in the first place of [N, 1, 1, 4], zeros beside it."""
        kappa = kappa.reshape(2, -1)
        found = np.zeros((kappa.shape[1], 4))
        for some, nodes in self._nodes(kappa, np.ones(kappa.shape[1], dtype=bool)):
            start, owner = nodes.first[:-1], np.repeat(np.arange(len(some)), np.diff(nodes.first))
            whole = np.add.reduceat(nodes.weight.sum(axis=1), start)
            mean = np.add.reduceat((nodes.weight * nodes.label).sum(axis=1), start) / whole
            squares = nodes.weight * (nodes.label - mean[owner, None]) ** 2
            found[some, 0] = np.add.reduceat(squares.sum(axis=1), start) / whole
        return found[:, None, None]

    def of_signs(self, kappa: Array) -> Array:
        """Of a link +-1 the chances, means of t and of t^2 - 1 of both signs at kappa [2, ...]: [N, 2, 4]; one sign for
        sure where no kink is within reach.
        """
        kappa = kappa.reshape(2, -1)
        found, felt = np.zeros((kappa.shape[1], 2, 4)), self._felt(kappa)
        found[~felt, 1, 0] = 1.0
        for some, nodes in self._nodes(kappa, felt):
            x = np.broadcast_to(nodes.x[:, None], nodes.y.shape)
            t = np.einsum("ab,bik->aik", nodes.turn, np.stack([x, nodes.y]))
            square = np.zeros_like(x) if self.squared is None else t[self.squared] ** 2 - 1.0
            parts = nodes.weight * np.stack([np.ones_like(x), t[0], t[1], square])
            for place, here in enumerate((nodes.label < 0.0, nodes.label > 0.0)):
                sums = np.add.reduceat((parts * here).sum(axis=2), nodes.first[:-1], axis=1)
                found[some, place] = sums.T
        return found

    def _told(self, nodes: Nodes) -> Array:
        step, turn = _LABEL / self.finer, nodes.turn
        squares = np.zeros(2) if self.squared is None else turn[self.squared]
        label, grid = nodes.label / math.sqrt(self.noise), (step, math.ceil(_TAIL / step))
        found = told_by_lines_of_nodes(label, nodes.weight, nodes.x, nodes.y, nodes.first, squares, grid)
        matrix = turn @ found[:, [[0, 1], [1, 2]]] @ turn.T
        return np.column_stack([matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 1], found[:, 3]])

    @cached_property
    def _kinks(self) -> tuple[KinkCurve, ...]:
        names = along_an_index(self.link, (0, 1))[1].names
        return tuple(KinkCurve(prepare(kink), names, self.root, self.turn * self.width) for kink in kinks_of(self.link))

    def _felt(self, kappa: Array) -> Array:
        """Where [N] a kink is within reach."""
        found = np.zeros(kappa.shape[1], dtype=bool)
        steps = (self.turn * self.width @ _AROUND)[:, None, :]
        for kink in self._kinks:
            above = kink.values(kappa) > 0.0
            found |= ((kink.values(kappa[:, :, None], steps) > 0.0) != above[:, None]).any(axis=1)
        return found

    def _places(self, kappa: Array) -> Array:
        """The index [N] that the nearest kink moves most with."""
        away, place = np.full(kappa.shape[1], math.inf), np.ones(kappa.shape[1], dtype=int)
        for kink in self._kinks:
            steps = 1e-3 * float(self.width.max()) * np.eye(2)
            slopes = np.abs([kink.values(kappa, step) - kink.values(kappa, -step) for step in steps])
            here = np.abs(kink.away(kappa)[0])
            nearer = here < away
            away, place = np.where(nearer, here, away), np.where(nearer, np.argmax(slopes, axis=0), place)
        return place

    def _nodes(self, kappa: Array, felt: Array) -> Iterator[tuple[Array, Nodes]]:
        """Nodes of some kappa after the other, those that are felt."""
        places = self._places(kappa)
        for place in (0, 1):
            which = np.flatnonzero(felt & (places == place))
            if not len(which):
                continue
            line = _Line.of(self, (1 - place, place))
            numbers = line.numbers(kappa[:, which])
            for pair in np.unique(numbers, axis=1).T:
                some = which[(numbers == pair[:, None]).all(axis=0)]
                dear = int(np.prod(2 * pair + 3)) * 3
                for few in np.array_split(some, min(len(some), math.ceil(len(some) * dear / _AT_A_TIME))):
                    yield few, line.nodes(kappa[:, few], pair)


@dataclass(frozen=True, eq=False)
class _Line:
    """Nodes along w at nodes of u, with (u, w) = means + lower x and t = turn x."""

    rule: CutNodes
    order: tuple[int, int]
    lower: Array
    turn: Array

    @classmethod
    def of(cls, rule: CutNodes, order: tuple[int, int]) -> _Line:
        turn, upper = np.linalg.qr((rule.turn[list(order)] * rule.width).T)
        signs = np.sign(np.diag(upper))
        return cls(rule, order, (signs[:, None] * upper).T, turn * signs)

    @property
    def _far(self) -> float:
        return _REACH if self.rule.squared is None else _OF_SQUARES

    def numbers(self, kappa: Array) -> Array:
        """How many steps of x there are on each side of 0 [2, N], on a ladder."""
        rule, order = self.rule, list(self.order)
        beside = (rule.turn * rule.width) @ (self.turn @ _LOOK)
        slope = link_gradient(rule.link)((rule.root @ kappa)[:, :, None] + beside[:, None])[order]
        along = np.abs(np.einsum("ij,ink->jnk", self.lower, slope)).max(axis=2)
        varies = min(_WIDTHS[0] * math.sqrt(rule.noise), _WIDTHS[1] * deviation(rule.link))
        number = rule.finer * self._far / np.minimum(varies / np.maximum(along, 1e-300), _STEP)
        found: Array = np.ceil(_LADDER ** np.ceil(np.log(number) / math.log(_LADDER))).astype(int)
        return found

    def nodes(self, kappa: Array, numbers: Array) -> Nodes:
        """Those of kappa [2, N], for so many steps of x on each side of 0."""
        means = (self.rule.root @ kappa)[list(self.order)]
        owner, x, share = self._first(means[0], int(numbers[0]))
        u, w = means[0, owner] + self.lower[0, 0] * x, means[1, owner] + self.lower[1, 0] * x
        y, weight = self._second(u, w, int(numbers[1]))
        weight *= share[:, None] * ((x * x)[:, None] + y * y < self._far**2)
        z = np.empty((2, *y.shape))
        z[self.order[0]], z[self.order[1]] = u[:, None], w[:, None] + self.lower[1, 1] * y
        label = link_values(self.rule.link)(z)
        return Nodes(x, y, weight, label, np.searchsorted(owner, np.arange(kappa.shape[1] + 1)), self.turn)

    def _first(self, means: Array, number: int) -> tuple[Array, Array, Array]:
        """Nodes of x of u: whose they are [I], x and weights."""
        reach, width = self._far, float(self.lower[0, 0])
        pieces, rooted = cuts_along(self.rule.link, self.order, _ALL)
        cuts = np.array([high for _, high in pieces[:-1]])
        away = (cuts[:, None] - means) / width
        met = (np.abs(away) < reach).any(axis=0)
        step = reach / number
        even = np.arange(-number, number + 1) * step
        bell = np.exp(-0.5 * even * even) * (step / math.sqrt(2.0 * math.pi))
        plain, owner = np.flatnonzero(~met), np.flatnonzero(met)
        found = [(np.repeat(plain, len(even)), np.tile(even, len(plain)), np.tile(bell, len(plain)))]
        if len(owner):
            count = math.ceil(2.0 * number / (_WIDE * 10)) + 1
            edges, is_cut = _with_cuts(np.linspace(-reach, reach, count + 1), away[:, met].T, reach)
            is_cut *= rooted
            by_place = np.argsort(edges, axis=1, kind="stable")
            edges, is_cut = (np.take_along_axis(each, by_place, axis=1) for each in (edges, is_cut))
            panels = np.stack([edges[:, :-1], edges[:, 1:], is_cut[:, :-1], is_cut[:, 1:]]).reshape(4, -1)
            whose = np.repeat(owner, edges.shape[1] - 1)[panels[1] > panels[0]]
            x, weight = panel_nodes(panels[:, panels[1] > panels[0]])
            weight = weight * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
            found.append((np.repeat(whose, len(x) // max(len(whose), 1)), x, weight))
        whose, x, weight = (np.concatenate(each) for each in zip(*found, strict=True))
        by_owner = np.argsort(whose, kind="stable")
        return whose[by_owner], x[by_owner], weight[by_owner]

    def _second(self, u: Array, w: Array, number: int) -> tuple[Array, Array]:
        """Nodes of y and weights [I, K] on lines at u [I], where w has these means."""
        reach = self._far
        fixed = np.zeros((len(u), 2))
        fixed[:, self.order[0]] = u
        roots = along_an_index(self.rule.link, self.order)[1].roots(1, fixed)
        away = np.nan_to_num((roots - w) / self.lower[1, 1], nan=reach).T
        count = math.ceil(2.0 * number / (_WIDE * _ORDER))
        ends = np.tile(np.linspace(-reach, reach, count + 1), (len(u), 1))
        edges = np.sort(np.concatenate([ends, np.clip(away, -reach, reach)], axis=1), axis=1)
        y, weight = normal_between(edges[:, :-1], edges[:, 1:], _ORDER)
        return y.reshape(len(u), -1), weight.reshape(len(u), -1)


def _with_cuts(even: Array, cuts: Array, reach: float) -> tuple[Array, Array]:
    """Ends [N, P] of panels: even ones [E], cuts [N, C] in order and places between these, and which are cuts. Those
    beside a cut go there, so that no panel begins a little way from a root.
    """
    ends = np.tile(even, (len(cuts), 1))
    nearest = np.argmin(np.abs(ends[:, :, None] - cuts[:, None, :]), axis=2)
    cut = np.take_along_axis(cuts, nearest, axis=1)
    moved = np.abs(ends - cut) < _BESIDE * (even[1] - even[0])
    moved[:, [0, -1]] = False
    between = 0.5 * (cuts[:, 1:] + cuts[:, :-1])
    edges = np.concatenate(
        [np.where(moved, cut, ends), np.clip(cuts, -reach, reach), np.clip(between, -reach, reach)], axis=1
    )
    return edges, np.concatenate([moved, np.abs(cuts) < reach, np.zeros(between.shape)], axis=1).astype(float)
