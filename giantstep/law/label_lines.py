"""Labels of several indices that are linear in one of them, as ``z1*z2``, ``relu(z1)*z2`` and ``abs(z1) + z2`` are.

Given kappa and the other indices, output and label are jointly Gaussian: a loss of the residual knows that index by the
variance of the residual, and only the others need nodes. These are panels that grow away from kinks of the link, and
from where the slope in that index vanishes: the spread of the residual turns there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from derive.language.grammar import Node
from derive.language.links import link_of
from derive.language.substitution import number, substituted
from giantstep.law.directions import noisy_indices
from giantstep.law.kink_roots import Kinks
from giantstep.law.labels import Labels, Points, enough_memory, reach_of
from giantstep.law.multi_index_labels import Rule, nodes_along
from giantstep.quadrature.gauss import hermite, normal_between
from giantstep.quadrature.kinks import degree, kinks
from giantstep.spec.expressions import jet
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_BESIDE = 1.0  # end of the panels at both sides of a cut
_ORDER, _ROUGH = 26, 24  # nodes of a panel; of the estimate of their error
_PROBES = 64  # places at which slopes are compared
_ON_A_LINE = 40  # nodes of a line for those who ask for labels one by one


@dataclass(frozen=True)
class Lines:
    """Labels ``label + slope x`` with t about ``t + axis x``, x standard normal, at nodes of every kappa.

    weight, label and slope [N, J], t [N, J, D], axis [D]; rest [D, D]: the covariance of t beside x.
    """

    weight: Array
    label: Array
    slope: Array
    t: Array
    axis: Array
    rest: Array

    @property
    def directions(self) -> int:
        """Number of directions of the target beside the spike."""
        return int(self.t.shape[2])

    @cached_property
    def points(self) -> Points:
        """The same labels one by one."""
        x, share = hermite(_ON_A_LINE)
        n, d = len(self.weight), self.directions
        enough_memory(n, self.weight.shape[1] * len(x), d)
        weight, label = self.weight[..., None] * share, self.label[..., None] + self.slope[..., None] * x
        t = self.t[:, :, None] + x[:, None] * self.axis
        return Points(weight.reshape(n, -1), label.reshape(n, -1), t.reshape(n, -1, d), self.rest)


LabelLaw = Labels | Lines


def are_lines(target: Target, form: str) -> bool:
    """Whether a loss of that form takes the label as lines: it is linear in an index, and nothing is drawn after it."""
    return form == "residual" and target.channel is None and _linear_in(target.link) is not None


@lru_cache(maxsize=256)
def _linear_in(link: str) -> str | None:
    """The index of several that a link is linear in, with the largest slope at some places where there is a choice."""
    found = link_of(link)
    places = np.random.default_rng(0).standard_normal((found.indices, _PROBES))
    given, slopes = dict(zip(found.variables, places, strict=True)), {}
    for name in found.variables if found.indices > 1 else ():
        if degree(found.node, name) == 1:
            slopes[name] = float(np.mean(np.abs(jet(found.node, name, given, 1)[1])))
    return max(slopes, key=lambda name: slopes[name], default=None)


def lines_given_kappa(target: Target, overlaps: Rows, kappa: Array, finer: int, rough: bool) -> Lines:
    """The law of a label that is linear in an index, at kappa [N, q] for overlaps [q, m].

    Raises NotConverged where there are too many nodes.
    """
    found, gamma, last = link_of(target.link), np.array(overlaps), _linear_in(target.link)
    assert last is not None
    noisy = noisy_indices(gamma, target.probit)
    order = (*(name for name in found.variables if name != last), last)
    places = [found.variables.index(name) for name in order]
    turn, upper = np.linalg.qr(noisy.lower[places].T)  # the last of turn^T t moves the last index only
    lower = upper.T
    kinked = Kinks(order, (*dict.fromkeys(kinks(found.node)), _slope_in(found.node, last)), lower[:, :-1])
    reach = reach_of(target.link, overlaps, target.probit)
    rule = _About(finer, _ROUGH if rough else _ORDER, False, reach=reach)
    weight, t = nodes_along(target.link, kinked, gamma[:, places], kappa, rule)
    z = (kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", noisy.lower @ turn[:, :-1], t)
    label, slope = jet(found.node, last, dict(zip(found.variables, z, strict=True)), 1)
    carried = noisy.carry @ turn
    mean = np.einsum("ij,nkj->nki", carried[:, :-1], t)
    return Lines(weight, label, slope * lower[-1, -1], mean, np.ascontiguousarray(carried[:, -1]), noisy.rest)


def _slope_in(node: Node, name: str) -> Node:
    """The slope of a tree in a variable that it is linear in."""
    one, zero = (substituted(node, {name: number(value)}) for value in (1.0, 0.0))
    return Node("sub", (one, zero))


@dataclass(frozen=True)
class _About(Rule):
    """A short panel at each side of a cut and long ones beyond; about zero where there is none."""

    reach: float = 0.0

    @property
    def negligible(self) -> float:
        """Weight of a node together with its kappa that is left out."""
        return 1e-16 * math.exp(min(0.0, 0.5 * (81.0 - self.reach**2)))

    def split(self, cuts: Array) -> tuple[Array, Array]:
        """Nodes and weights [I, n] of the standard normal on panels about the cuts [I, C]."""
        ends = np.full((len(cuts), 1), self.reach)
        around = [cuts - _BESIDE, cuts, cuts + _BESIDE]
        edges = np.sort(np.clip(np.concatenate([-ends, *around, ends], axis=1), -self.reach, self.reach), axis=1)
        parts = 2**self.finer
        cut = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * (np.arange(parts + 1) / parts)
        t, weight = normal_between(cut[:, :, :-1], cut[:, :, 1:], self.order)
        shape = len(cuts), t.shape[1] * t.shape[2] * t.shape[3]
        return t.reshape(shape), weight.reshape(shape)

    def whole(self, thin: bool) -> tuple[Array, Array]:
        """The same [n] without a cut."""
        t, weight = self.split(np.zeros((1, 1)))
        return t[0], weight[0]
