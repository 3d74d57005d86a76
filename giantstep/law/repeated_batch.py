"""The first layer after two giant steps on one batch: at the second one the rows have seen the samples.

Given a sample, the pre-activations of the rows of a block are ``M_b + a g + k sigma'(h) + sqrt(s) xi``: h, a function of
g, is the one before the steps, and k what the sample has added. Over samples M_b varies along one direction of the
blocks, M_b = known + way_b tau, and averages over g and xi are functions of tau and of the first residual.
Source: THEORY section 12. Derived in derive.repeated_batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from generated import repeated_batch as derived
from giantstep.law.directions import noisy_indices
from giantstep.law.few_nodes import Laws
from giantstep.law.further_steps import Gain, Layer, gain_of_step
from giantstep.law.layer_state import LayerState
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import turns_of
from giantstep.quadrature.gauss import evenly_cut, hermite, normal_nodes, products
from giantstep.quadrature.interpolation import between, chebyshev_table
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import slope_averages
from giantstep.quadrature.tensor import coordinates
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import link_values
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray
_FINENESS = (1.0, 1.4, 2.0, 2.8, 4.0)
_REACH = 8.5
_NEGLIGIBLE = 1e-17  # weight of a node
_ONE_WAY = 1e-9  # of the largest: how far the means of the blocks vary along a second direction
_ORDER = 12  # of panels
_STEP = 0.3  # of the trapezoid in g
_BLUR, _SCALE = 1.4, 0.5  # steps in tau to its noise, and in units of what the averages vary on
_NOISES, _LABELS = 20, 36  # nodes of the label's noise; of a smooth index
_PANEL, _POINTS = 1.0, 12  # width of panels in asinh(e_0), and their points
_TABLE = 0.25  # squared width of the panels that averages over xi are interpolated on, over its variance
_MOST, _CHUNK, _SAMPLES = 60_000_000, 1 << 20, 1 << 17  # points of g, e and tau; at a time; samples at a time


@lru_cache(maxsize=64)
def state_after_both(
    network: Network, before: LayerState, steps: tuple[Step, Step], target: Target, finer: int = 0
) -> LayerState:
    """The rows after two steps on the batch of the first; before: those before both. ``finer``: the first resolution.

    Raises NotConverged, and BadInput where the law is not solved.
    """
    layer, first = Layer(network, before, target), gain_of_step(network, before, steps[0], target)
    previous: Gain | None = None
    for fineness in _FINENESS[finer:]:
        gain = _Both(layer, steps, first, fineness).gain()
        if previous is not None and layer.agrees(previous, gain):
            return replace(layer.state(gain, steps[1]), own=())
        previous = gain
    raise NotConverged(
        "the averages of a step on the batch of the step before do not settle",
        'soften activation or link, take other samples and rates, or batch = "fresh"',
    )


class _Label(NamedTuple):
    """Nodes of a sample given kappa: weight [N], label [N], mean of t [N, m] given its index with noise."""

    weight: Array
    label: Array
    t: Array


@dataclass(frozen=True, eq=False)
class _Both:
    """Two steps at a resolution; first: what the first of them adds."""

    layer: Layer
    steps: tuple[Step, Step]
    first: Gain
    fineness: float

    # --- the model ------------------------------------------------------------------------------------------------------

    @cached_property
    def values(self) -> Array:
        """Readout values [K]."""
        return np.array(self.layer.network.readout.values)

    @cached_property
    def offsets(self) -> Array:
        """The bias of each block."""
        return np.array(self.layer.offsets)

    @cached_property
    def rates(self) -> tuple[float, float]:
        """Of both steps."""
        first, second = self.steps
        return first.learning_rate / self.layer.network.width, second.learning_rate / self.layer.network.width

    @cached_property
    def noisy(self) -> tuple[Array, Array, Array]:
        """(L, carry, rest) of the indices with noise inside the link."""
        found = noisy_indices(np.array(self.layer.before.overlaps), self.layer.target.probit)
        return found.lower, found.carry, found.rest * bool(self.layer.target.probit)

    @cached_property
    def way(self) -> tuple[Array, Array, float]:
        """How M_b varies over samples, way [K]: with tau = along.t and noise of a standard deviation.

        Raises BadInput where it varies along several directions.
        """
        indices = self.first.across.shape[1]
        left, sizes, right = np.linalg.svd(np.concatenate([self.first.across, self.first.common], axis=1))
        if len(sizes) > 1 and sizes[1] > _ONE_WAY * sizes[0]:
            raise BadInput(
                'step.batch = "same": the first of the two steps moves rows of different readout values along '
                "different directions, and samples that they have seen are averaged over along one",
                'take the batch of the first step, one readout value, or batch = "fresh"; '
                "giantstep simulate takes the steps",
            )
        along, noise = right[0, :indices], right[0, indices:]
        spread = math.sqrt(float(noise @ noise + along @ self.noisy[2] @ along))
        return left[:, 0] * sizes[0], along, spread

    # --- samples --------------------------------------------------------------------------------------------------------

    def gain(self) -> Gain:
        """What both steps add to the rows."""
        kappa, share = self._kappa()
        sums: tuple[Array, ...] | None = None
        triangle = np.zeros((0, 2 * len(self.values)))
        for place, weight in zip(kappa, share, strict=True):
            for phi, common, added, of_node in self._at(place, weight):
                sums = added if sums is None else tuple(a + b for a, b in zip(sums, added, strict=True))
                columns = np.sqrt(of_node) * np.concatenate([phi, common])
                triangle = np.linalg.qr(np.concatenate([triangle, columns.T]), mode="r")
        assert sums is not None
        return self._gain(sums, triangle.T)

    def _gain(self, sums: tuple[Array, ...], weights: Array) -> Gain:
        """By sums over samples, and their common weights in both steps up to a rotation [2K, 2K]."""
        first, readout, blocks = self.first, self.layer.network.readout, len(self.values)
        sizes = (*self.rates, self.steps[0].samples)
        pull, across, response, drift, spread = derived.rows(
            np.eye(blocks),
            np.array(self.layer.before.bulk_variance),
            self.values,
            np.array(readout.fractions),
            first.drift,
            first.spread,
            *sizes,
            sums,
        )
        noise = derived.noise(weights[:blocks], weights[blocks:], response, self.values, *sizes)
        common = np.linalg.qr(noise.T, mode="r").T
        return Gain(first.pull + pull, first.across + across, common, drift, spread)

    def _kappa(self) -> tuple[Array, Array]:
        """Points [P, q] along the spike before the steps, and their weights; one where there is none."""
        before = self.layer.before
        if not np.any(before.loadings):
            return np.zeros((1, before.rank)), np.ones(1)
        rows = self.layer.nodes(2 * round(4.0 * math.log2(self.fineness)))
        kept = rows[:, 1] > _NEGLIGIBLE * rows[:, 1].max()
        return coordinates(rows, 1, before.rank)[kept], rows[kept, 1]

    def _at(self, kappa: Array, share: float) -> Iterator[tuple[Array, Array, tuple[Array, ...], Array]]:
        """Samples at kappa [q], some at a time: phi, G, sums and weights of the nodes, as ``derived.samples``."""
        network, shift = self.layer.network, np.array(self.layer.before.loadings) @ kappa + self.offsets
        before = [self._term(c) for c in self.layer.before.bulk_variance]
        found = np.array([slope_averages(term, np.array([s]))[:, 0] for term, s in zip(before, shift, strict=True)])
        readout = self.values, np.array(network.readout.fractions)
        output = float((readout[0] * readout[1]) @ found[:, 0])
        label = self._label(kappa)
        e = label.label - output
        (_, along, spread), (_, _, rest) = self.way, self.noisy
        tau, step = self._places(label.t @ along)
        nodes, from_nodes = _residual_nodes(e, self._unit(e), self.fineness)
        averages = self._averages(kappa, shift, nodes, tau)  # [6, K, E, T]
        height = max(1, _SAMPLES // len(tau))
        for start in range(0, len(e), height):
            part = slice(start, start + height)
            beside = tau - (label.t[part] @ along)[:, None]
            weight = share * label.weight[part, None] * _density(beside, step, spread)
            turn = np.zeros(len(along)) if spread == 0.0 else rest @ along / spread**2
            t = label.t[part].T[:, :, None] + turn[:, None, None] * beside
            here = np.einsum("ie,abet->abit", from_nodes[part], averages, optimize=True)
            here = here.reshape(*averages.shape[:2], -1)
            count = here.shape[2]
            phi, common, sums = derived.samples(
                weight.ravel(),
                np.repeat(kappa[:, None], count, axis=1),
                t.reshape(len(along), -1),
                np.repeat(e[part], len(tau)),
                np.full(count, output),
                np.repeat(found[:, 1:2], count, axis=1),
                *here,
                *readout,
            )
            yield phi, common, sums, weight.ravel()

    def _label(self, kappa: Array) -> _Label:
        """Nodes of label and t at kappa, noise and flips included."""
        target, (lower, carry, _) = self.layer.target, self.noisy
        gamma = np.array(self.layer.before.overlaps)
        if target.indices == 1:
            weight, t = self._line(float(kappa @ gamma[:, 0]), float(lower[0, 0]))
        elif has_kinks(target.link):
            level = round(2.0 * math.log2(self.fineness))
            weights, places = nodes_given_kappa(target.link, gamma, lower, kappa[None], level, False, "poles")
            weight, t = weights[0], places[0]
        else:
            t, weight = products([_trapezoid(2.0 * _REACH / (_LABELS * self.fineness))] * target.indices)
        kept = weight > _NEGLIGIBLE
        weight, t = weight[kept] / weight[kept].sum(), t[kept]
        clean = link_values(target.link)((kappa @ gamma + t @ lower.T).T)
        rows = np.concatenate([weight[None], (t @ carry.T).T * weight])
        laws = Laws(clean[None], rows[None]).drawn(target)
        if target.noise > 0.0:
            points, probability = hermite(round(_NOISES * self.fineness))
            laws = laws.plus(math.sqrt(target.noise) * points, probability)
        kept = laws.rows[0, 0] > _NEGLIGIBLE
        weight = laws.rows[0, 0, kept]
        return _Label(weight, laws.e[0, kept], (laws.rows[0, 1:, kept].T / weight).T)

    def _line(self, shift: float, size: float) -> tuple[Array, Array]:
        """Nodes of the one index at shift + size t: panels between kinks, or a trapezoid."""
        turns = turns_of(self.layer.target.mean_link)
        if not turns:
            points, weight = _trapezoid(self._finest(_STEP))
            return weight, points[:, None]
        breaks = [(turn - shift) / size for turn in turns] if size > 0.0 else []
        points, weight = normal_nodes(evenly_cut(_REACH, self._finest(1.0), breaks), _ORDER)
        return weight, points[:, None]

    def _finest(self, width: float) -> float:
        """Steps in t that see what tau blurs."""
        _, along, spread = self.way
        blur = spread / max(float(np.linalg.norm(along)), 1e-300)
        return min(width, 2.0 * width * blur if blur > 0.0 else width) / self.fineness

    def _places(self, centres: Array) -> tuple[Array, float]:
        """Nodes of tau about the places that the target gives it, and their step."""
        way, _, spread = self.way
        if spread == 0.0:
            return np.zeros(1), 0.0
        blurred = self.kinked * self.first.spread + (not self.kinked) * (self.own_part**2 + self.first.spread)
        with np.errstate(divide="ignore"):
            scale = float((np.sqrt(blurred) / np.abs(way)).min())
        step = min(spread / _BLUR, _SCALE * scale) / self.fineness
        low, high = float(centres.min()) - _REACH * spread, float(centres.max()) + _REACH * spread
        count = math.ceil((high - low) / step)
        if count > 4000:
            raise self._too_fine()
        return low + step * np.arange(count + 1), step

    def _unit(self, e: Array) -> float:
        """The change of the residual by which a sample moves the rows as much as their noise does."""
        own = np.abs(derived.own_term(np.ones(1), self.values, self.rates[0], self.steps[0].samples)[:, 0])
        noise = np.sqrt(self.first.spread)
        units = [float(s / k) for s, k in zip(noise, own, strict=True) if s > 0.0 < k]
        return min(units, default=float(np.abs(e).max()) or 1.0)

    @cached_property
    def kinked(self) -> bool:
        """Whether the activation has kinks."""
        return bool(function_kernel(self.layer.network.activation).BREAKPOINTS)

    # --- rows, given a sample -------------------------------------------------------------------------------------------

    @cached_property
    def own_part(self) -> Array:
        """What is left of a row's bulk after the first step, [K]."""
        return (1.0 + self.first.drift) * np.sqrt(np.array(self.layer.before.bulk_variance))

    def _averages(self, kappa: Array, shift: Array, e: Array, tau: Array) -> Array:
        """S_0, S_1, S_2, S_g, S_s, S_q of every block at first residuals [E] and tau [T]: [6, K, E, T]."""
        before, (way, _, _) = self.layer.before, self.way
        known = (np.array(before.loadings) + self.first.pull) @ kappa + self.offsets
        own = derived.own_term(e, self.values, self.rates[0], self.steps[0].samples)
        found = np.empty((6, len(known), len(e), len(tau)))
        slopes = numpy_function(self.layer.network.activation)
        for b, c in enumerate(before.bulk_variance):
            table = self._table(b)
            g, weight = self._rule(b, float(shift[b]))
            if len(g) * len(e) * len(tau) > _MOST:
                raise self._too_fine()
            then = slopes(shift[b] + math.sqrt(c) * g)[1]
            columns = np.stack([weight, weight * g, weight * then], axis=1)
            mean = known[b] + way[b] * tau[:, None] + self.own_part[b] * g
            height = max(1, _CHUNK // mean.size)
            for start in range(0, len(e), height):
                part = slice(start, start + height)
                at = mean + (own[b, part, None] * then)[:, None]
                of = table(at.ravel()).reshape(4, *at.shape)
                found[0, b, part], found[2, b, part], found[5, b, part] = (of[k] @ weight for k in (0, 2, 3))
                found[[1, 3, 4], b, part] = np.moveaxis(of[1] @ columns, -1, 0)
        return found

    def _table(self, block: int) -> Callable[[Array], Array]:
        """Averages over xi of sigma, sigma', sigma'' and sigma'^2 at any shifts; linear features know nothing of it."""
        spread = float(self.first.spread[block]) or 1.0
        term = self._term(spread)
        width = (_TABLE / self.fineness**2) * spread
        return partial(between, partial(_chebyshev, term, width), width)

    def _rule(self, block: int, shift: float) -> tuple[Array, Array]:
        """Nodes and weights of g: a trapezoid, or panels cut at the kinks of sigma' before the steps."""
        if not self.kinked:
            return _trapezoid(_STEP / self.fineness)
        breaks = function_kernel(self.layer.network.activation).BREAKPOINTS
        deviation = math.sqrt(self.layer.before.bulk_variance[block])
        blur = 2.0 * math.sqrt(float(self.first.spread[block])) / abs(float(self.own_part[block])) or 1.0
        width = min(1.0, blur) / self.fineness
        if _REACH / width * _ORDER * 2.0 > _MOST:
            raise self._too_fine()
        return normal_nodes(evenly_cut(_REACH, width, [(place - shift) / deviation for place in breaks]), _ORDER)

    def _term(self, variance: float) -> Term:
        return Term(self.layer.network.activation, 1.0, 0.0, variance)

    @staticmethod
    def _too_fine() -> NotConverged:
        return NotConverged(
            "a step on the batch of the step before needs too many nodes: what a sample has added to the rows, or their "
            "noise, is small or large beside the rest",
            'take other samples or rates in the first step, or batch = "fresh"',
        )


@lru_cache(maxsize=32)
def _chebyshev(term: Term, width: float, low: int, high: int) -> Array:
    return chebyshev_table(lambda shifts: slope_averages(term, shifts), width, low, high)


def _trapezoid(step: float) -> tuple[Array, Array]:
    """Nodes and weights of a standard normal variable."""
    points = step * np.arange(-math.ceil(_REACH / step), math.ceil(_REACH / step) + 1)
    weight = np.exp(-0.5 * points**2)
    return points, weight / weight.sum()


def _density(beside: Array, step: float, spread: float) -> Array:
    """Weights of nodes of tau at distances from its mean."""
    if spread == 0.0:
        return np.ones_like(beside)
    return np.asarray(step / (math.sqrt(2.0 * math.pi) * spread) * np.exp(-0.5 * (beside / spread) ** 2))


def _residual_nodes(e: Array, unit: float, fineness: float) -> tuple[Array, Array]:
    """Nodes [E] for functions of residuals that vary on a unit, and ever more slowly far out, and what brings their
    values there to the residuals, [N, E].

    The residuals themselves where they are few; else Chebyshev points on panels in asinh(e).
    """
    place = np.arcsinh(e / unit)
    low, high = float(place.min()), float(place.max())
    panels = max(1, math.ceil(fineness * (high - low) / _PANEL))
    distinct, of_each = np.unique(e, return_inverse=True)
    if len(distinct) <= panels * _POINTS:
        return distinct, np.eye(len(distinct))[of_each]
    width = (high - low) / panels
    panel = np.clip(((place - low) / width).astype(int), 0, panels - 1)
    points = np.cos(math.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    to_coefficients = chebvander(points, _POINTS - 1).T * (2.0 / _POINTS)
    to_coefficients[0] *= 0.5
    inside = chebvander(2.0 * ((place - low) / width - panel) - 1.0, _POINTS - 1) @ to_coefficients
    found = np.zeros((len(e), panels, _POINTS))
    found[np.arange(len(e)), panel] = inside
    used = np.unique(panel)
    nodes = low + width * (used[:, None] + 0.5 * (points + 1.0))
    return unit * np.sinh(nodes).ravel(), found[:, used].reshape(len(e), -1)
