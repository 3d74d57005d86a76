"""The first layer after two giant steps on one batch: at the second one the rows have seen the samples.

Source: THEORY section 12. Derived in derive.repeated_batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from generated import repeated_batch as derived
from giantstep.law.few_nodes import Laws
from giantstep.law.further_steps import Gain, Layer, gain_of_step, state_after
from giantstep.law.layer_state import LayerState
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import turns_of_target
from giantstep.law.seen_samples import ORDER, REACH, STEP, SeenSamples, trapezoid
from giantstep.quadrature.gauss import evenly_cut, hermite, normal_nodes, products
from giantstep.quadrature.tensor import coordinates
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray
_FINENESS = (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
_NEGLIGIBLE, _UNSEEN = 1e-17, 1e-15  # weight, against the largest, of a node of the label; of kappa
_NOISES, _LABELS = 20, 36  # nodes of the label's noise; of a smooth index of several
_SAMPLES = 1 << 17  # at a time


def state_after_steps(
    network: Network, states: Sequence[LayerState], steps: Sequence[Step], target: Target, finer: int = 0
) -> LayerState:
    """The rows after all of some steps, by the states before the first one, the second, ... and the last.

    ``finer``: the first resolution. Raises NotConverged, and BadInput where the law is not solved.
    """
    *_, last = steps
    if last.batch == "same" and steps[-2].learning_rate > 0.0:  # else the rows have not moved along their samples
        return _state_after_both(network, states[-2], (steps[-2], last), target, finer)
    return state_after(network, states[-1], last, target, finer)


@lru_cache(maxsize=64)
def _state_after_both(
    network: Network, before: LayerState, steps: tuple[Step, Step], target: Target, finer: int
) -> LayerState:
    """The rows after two steps on the batch of the first; before: those before both."""
    layer, first = Layer(network, before, target), gain_of_step(network, before, steps[0], target)
    previous: Gain | None = None
    for fineness in _FINENESS[finer:]:
        gain = _Both(SeenSamples(layer, steps[0], first, fineness), steps[1]).gain()
        if previous is not None and layer.agrees(previous, gain):
            return replace(layer.state(gain, steps[1]), own=())
        previous = gain
    raise NotConverged(
        "the averages of a step on the batch of the step before do not settle",
        'take batch = "fresh", or an activation and a link that vary less sharply',
    )


class _Labels(NamedTuple):
    """Nodes of a sample given kappa, by label [N] in ascending order: weight [N], and the mean of t given the indices
    with noise [N, m].
    """

    weight: Array
    label: Array
    t: Array


@dataclass(frozen=True)
class _Both:
    """A second step on the samples of another one."""

    seen: SeenSamples
    step: Step

    def gain(self) -> Gain:
        """What both steps add to the rows."""
        sums: tuple[Array, ...] | None = None
        triangle = np.zeros((0, 2 * len(self.seen.values)))
        for kappa, share in self._kappa():
            for weights, added in self._samples(kappa, share):
                sums = added if sums is None else tuple(a + b for a, b in zip(sums, added, strict=True))
                triangle = _triangle(np.concatenate([triangle, weights.T]))
        assert sums is not None
        return self._gain(sums, triangle.T)

    def _gain(self, sums: tuple[Array, ...], weights: Array) -> Gain:
        """By sums over samples, and their common weights in both steps up to a rotation [2K, 2K]."""
        seen, first = self.seen, self.seen.gain
        network, blocks = seen.layer.network, len(seen.values)
        sizes = (seen.rate, self.step.learning_rate / network.width, self.step.samples)
        pull, across, response, drift, spread = derived.rows(
            np.eye(blocks),
            np.array(seen.layer.before.bulk_variance),
            seen.values,
            np.array(network.readout.fractions),
            first.drift,
            first.spread,
            *sizes,
            sums,
        )
        noise = derived.noise(weights[:blocks], weights[blocks:], response, seen.values, *sizes)
        return Gain(first.pull + pull, first.across + across, _triangle(noise.T).T, drift, spread)

    def _kappa(self) -> Iterator[tuple[Array, float]]:
        """Points [q] along the spike before the steps, and their weights; one where there is none."""
        layer = self.seen.layer
        if not np.any(layer.before.loadings):
            yield np.zeros(layer.before.rank), 1.0
            return
        rows = layer.nodes(round(2.0 * math.log2(self.seen.fineness)))
        rows = rows[rows[:, 1] > _UNSEEN * rows[:, 1].max()]
        yield from zip(coordinates(rows, 1, layer.before.rank), rows[:, 1].tolist(), strict=True)

    def _samples(self, kappa: Array, share: float) -> Iterator[tuple[Array, tuple[Array, ...]]]:
        """Samples at kappa [q], some at a time: roots of weights times phi and G [2K, N], and sums."""
        seen = self.seen
        output, slope = seen.before(kappa)
        labels, (_, along, spread) = self._labels(kappa), seen.way
        e = labels.label - output
        tau, step = seen.places(labels.t @ along)
        nodes, to_residuals = seen.residual_nodes(e)
        averages = seen.averages(kappa, nodes, tau)
        turn = seen.noisy.rest @ along / spread**2 if spread > 0.0 else np.zeros(len(along))
        height = max(1, _SAMPLES // len(tau))
        for start in range(0, len(e), height):
            part = slice(start, start + height)
            beside = tau - (labels.t[part] @ along)[:, None]
            weight = (share * labels.weight[part, None] * _density(beside, step, spread)).ravel()
            t = labels.t[part].T[:, :, None] + turn[:, None, None] * beside
            here = to_residuals.at(part, averages)
            phi, common, sums = derived.samples(
                weight,
                np.repeat(kappa[:, None], len(weight), axis=1),
                t.reshape(len(t), -1),
                np.repeat(e[part], len(tau)),
                np.full(len(weight), output),
                np.repeat(slope[:, None], len(weight), axis=1),
                *here.reshape(*here.shape[:2], -1),
                seen.values,
                np.array(seen.layer.network.readout.fractions),
            )
            yield np.sqrt(weight) * np.concatenate([phi, common]), sums

    def _labels(self, kappa: Array) -> _Labels:
        """Nodes of label and t at kappa, noise and flips included."""
        target, noisy = self.seen.layer.target, self.seen.noisy
        gamma = np.array(self.seen.layer.before.overlaps)
        weight, t = self._indices(kappa, gamma)
        kept = weight > _NEGLIGIBLE * weight.max()
        weight, t = weight[kept] / weight[kept].sum(), t[kept]
        clean = link_values(target.link)((kappa @ gamma + t @ noisy.lower.T).T)
        rows = np.concatenate([weight[None], (t @ noisy.carry.T).T * weight])
        laws = Laws(clean[None], rows[None]).drawn(target)
        if target.noise > 0.0:
            points, probability = hermite(round(_NOISES * self.seen.fineness))
            laws = laws.plus(math.sqrt(target.noise) * points, probability)
        kept = np.flatnonzero(laws.rows[0, 0] > _NEGLIGIBLE * laws.rows[0, 0].max())
        order = kept[np.argsort(laws.e[0, kept], kind="stable")]
        weight = laws.rows[0, 0, order]
        return _Labels(weight, laws.e[0, order], (laws.rows[0, 1:, order].T / weight).T)

    def _indices(self, kappa: Array, gamma: Array) -> tuple[Array, Array]:
        """Weights [N] and nodes t' [N, m] of the indices with noise, z' = gamma kappa + L' t'."""
        target, lower, fineness = self.seen.layer.target, self.seen.noisy.lower, self.seen.fineness
        if has_kinks(target.link):
            level = round(2.0 * math.log2(fineness))
            weights, t = nodes_given_kappa(target.link, gamma, lower, kappa[None], level, False, "poles")
            return weights[0], t[0]
        if target.indices > 1:
            t, weight = products([trapezoid(2.0 * REACH / (_LABELS * fineness))] * target.indices)
            return weight, t
        turns, size = turns_of_target(target), float(lower[0, 0])
        if not turns:
            points, weight = trapezoid(self.seen.finest(STEP))
        else:
            breaks = [(turn - float(kappa @ gamma[:, 0])) / size for turn in turns] if size > 0.0 else []
            points, weight = normal_nodes(evenly_cut(REACH, self.seen.finest(1.0), breaks), ORDER)
        return weight, points[:, None]


def _density(beside: Array, step: float, spread: float) -> Array:
    """Weights of nodes of tau at distances from its mean."""
    if spread == 0.0:
        return np.ones_like(beside)
    return np.asarray(step / (math.sqrt(2.0 * math.pi) * spread) * np.exp(-0.5 * (beside / spread) ** 2))


def _triangle(columns: Array) -> Array:
    """R of a QR decomposition: what the products of columns are those of."""
    return np.asarray(np.linalg.qr(columns, mode="r"))
