"""The law of the residual of a later step given the coordinates kappa along the spike, at a few nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.few_nodes import Laws, on_few_nodes
from giantstep.law.multi_index_labels import has_kinks, is_constant_between_jumps, nodes_given_kappa
from giantstep.law.residual import ORDER, Panels, turns_of_target
from giantstep.quadrature.gauss import evenly_cut, normal_between, products
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_OUTERMOST = 9.0  # of t given kappa
_NEGLIGIBLE = 1e-18  # share of the squared residuals that is left out
_WIDE, _FEWEST = 4.4, 8  # width of a law in asinh(e) that has as many nodes as asked; the least number of them
_NARROW = 0.5  # the share of these that a narrow law has: its ends are sharp
_COUNT, _GROWTH, _BETWEEN = 25, 1.6, 0.15  # the least count; by what pairs of them grow; what parts a pair
_PANEL = 0.4  # width at that count of panels, on which residuals go through zero, next to poles
_STILL = 2.0  # width of panels between jumps: these resolve the normal density
_POINTS, _REACH = 96, 8.5  # at that count, along each index of a link without kinks; where they end
_EVEN, _MANY = 32, 2  # panels that many points are brought to; times as many points as theirs
_AT_A_TIME = 1 << 20  # points of laws


def residuals_given(
    target: Target, overlaps: Rows, kappa: Array, output: Array, shares: Array, count: int
) -> tuple[Array, Array, Array]:
    """The law of y - output at every kappa [P, q], at ``count`` nodes or fewer: of all nodes which kappa [N], e [N],
    and weights [R, N] of averages with 1, t and t t^T, t those of the rest of the target, of which
    theta_i = sum_j gamma_ji v_j + sum_l L_il t_l. output: of the network there, [P]; shares [P]: weights of kappa.
    """
    source = _Source(target, np.array(overlaps), _Fineness.of(count), kappa, output)
    # what is averaged has its poles about zero, wherever kappa is
    squares = [(laws.weight * laws.e**2).sum(axis=1) for _, laws in source.parts()]
    unit = math.sqrt(float(shares @ np.concatenate(squares)))
    found: list[tuple[Array, Array, Array]] = []
    for part, every in source.parts():
        laws = _on_panels(every, unit, _EVEN + count // 2)
        kept = shares[part, None] * np.abs(laws.weight) * (1.0 + (laws.e / unit) ** 2) > _NEGLIGIBLE
        kept |= ~kept.any(axis=1, keepdims=True)
        share = _NARROW + (1.0 - _NARROW) * _width(laws.e / unit, kept) / _WIDE
        counts = np.maximum(_FEWEST, np.ceil(count * share)).astype(int)
        for each in np.unique(counts).tolist():
            of = np.flatnonzero(counts == each)
            few = _on_few(laws[of].only(kept[of]), target.noise, (each, unit))
            law, node = np.nonzero(few.rows.any(axis=1))
            found.append((part[of[law]], few.e[law, node], few.rows[law, :, node].T))
    kappas, e, rows = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    order = np.argsort(kappas, kind="stable")
    return kappas[order], e[order], rows[:, order]


def _on_panels(laws: Laws, unit: float, count: int) -> Laws:
    """The laws at the nodes of so many panels in asinh(e), where they have many more points: averages of what panels
    resolve stay.
    """
    if laws.e.shape[1] < _MANY * count * ORDER:
        return laws
    place, found = np.arcsinh(laws.e / unit), []
    for u, rows in zip(place, laws.rows, strict=True):
        some = rows.any(axis=0)  # of a law without weight nothing
        low, high = (float(end(u[some], initial=float(u[some.argmax()]))) for end in (np.min, np.max))
        panels = Panels(low, high, count)
        found.append((unit * np.sinh(panels.nodes), panels.gathered(u[some], rows[:, some])))
    return Laws(*(np.stack(each) for each in zip(*found, strict=True)))


def _width(e: Array, kept: Array) -> Array:
    """Of every law what it spans in asinh(e): [P]."""
    place = np.arcsinh(e)
    return np.asarray(np.where(kept, place, -np.inf).max(axis=1) - np.where(kept, place, np.inf).min(axis=1))


@dataclass(frozen=True)
class _Fineness:
    """How finely labels are followed: by the count of nodes that is asked for, so that two counts show the error of
    this too. width: of panels of one index; points: of a trapezoid along each of several; finer, rough: of nodes
    between kinks.
    """

    width: float
    points: int
    finer: int
    rough: bool

    @classmethod
    def of(cls, count: int) -> _Fineness:
        """That of a count."""
        times = math.log(count / _COUNT) / math.log(_GROWTH)
        finer = max(0, round(times))
        return cls(
            _PANEL * math.sqrt(_COUNT / count),
            round(_POINTS * math.sqrt(count / _COUNT)),
            1 + finer,
            times < finer + _BETWEEN,
        )


@dataclass(frozen=True)
class _Source:
    """The laws of the label less the output, without noise, at every kappa [P, q]."""

    target: Target
    gamma: Array
    fineness: _Fineness
    kappa: Array
    output: Array

    def parts(self) -> Iterator[tuple[Array, Laws]]:
        """Some of the laws at a time, and which these are."""
        yield self._first
        many = len(self._first[0])
        for start in range(many, len(self.kappa), many):
            part = np.arange(start, min(start + many, len(self.kappa)))
            yield part, self._at(part)

    @cached_property
    def _first(self) -> tuple[Array, Laws]:
        """The first part, all of them where these are few."""
        many = max(1, _AT_A_TIME // self._at(np.arange(1)).e.shape[1])
        part = np.arange(min(many, len(self.kappa)))
        return part, self._at(part)

    def _at(self, part: Array) -> Laws:
        target, noisy = self.target, noisy_indices(self.gamma, self.target.probit)
        label, weight, t = self._labels(noisy, self.kappa[part])
        along = (t @ noisy.carry.T).swapaxes(1, 2)
        both = along[:, :, None] * along[:, None] + noisy.rest[:, :, None] * bool(target.probit)
        rows = np.concatenate([np.ones((len(t), 1, t.shape[1])), along, both.reshape(len(t), -1, t.shape[1])], axis=1)
        laws = Laws(label, weight[:, None] * rows)
        laws = (laws.by_value() if is_constant_between_jumps(target.link) else laws).drawn(target)
        return Laws(laws.e - self.output[part, None], laws.rows)

    def _labels(self, noisy: NoisyIndices, kappa: Array) -> tuple[Array, Array, Array]:
        """At kappa [P, q] labels, weights [P, N] and t' [P, N, m] of indices with noise, z' = gamma kappa + L' t'."""
        target, gamma, fineness = self.target, self.gamma, self.fineness
        base = kappa @ gamma
        if target.indices == 1:
            spread = float(noisy.lower[0, 0])
            width = _STILL if is_constant_between_jumps(target.link) else fineness.width
            weight, t = _panels(turns_of_target(target), base[:, 0], spread, width)
        elif has_kinks(target.link):
            finer, rough = fineness.finer, fineness.rough
            weight, t = nodes_given_kappa(target.link, gamma, noisy.lower, kappa, finer, rough, "poles")
        else:
            points = np.linspace(-_REACH, _REACH, fineness.points)
            density = np.exp(-0.5 * points**2)
            nodes, weights = products([(points, density / density.sum())] * target.indices)
            weight, t = (np.broadcast_to(each, (len(kappa), *each.shape)) for each in (weights, nodes))
        z = base[:, None] + t @ noisy.lower.T
        return link_values(target.link)(np.moveaxis(z, 2, 0)), weight, t


def _panels(turns: list[float], shifts: Array, spread: float, width: float) -> tuple[Array, Array]:
    """Weights [P, N] and nodes t [P, N, 1] of the panels that resolve a link at shift + spread t."""
    ends = evenly_cut(_OUTERMOST, width, ())
    even = np.broadcast_to(ends, (len(shifts), len(ends)))
    turning = (np.array(turns) - shifts[:, None]) / spread if spread > 0.0 else np.empty((len(shifts), 0))
    edges = np.sort(np.concatenate([even, np.clip(turning, -_OUTERMOST, _OUTERMOST)], axis=1), axis=1)
    t, weight = normal_between(edges[:, :-1], edges[:, 1:], ORDER)
    weight = weight.reshape(len(shifts), -1)
    return weight / weight.sum(axis=1, keepdims=True), t.reshape(len(shifts), -1, 1)


def _on_few(laws: Laws, noise: float, resolved: tuple[int, float]) -> Laws:
    """The laws on a count of nodes, of residuals in a unit, with noise then."""
    count, unit = resolved
    if noise == 0.0:
        return on_few_nodes(laws, count, (0.0, unit))
    points, probability = roots_hermitenorm(count)
    some = on_few_nodes(laws, 2 * count, (0.0, unit)).plus(math.sqrt(noise) * points, probability / probability.sum())
    return on_few_nodes(some, count, (0.0, unit))
