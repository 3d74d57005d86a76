"""What the rows after a giant step see of the samples of its batch: averages over the rows, given such a sample.

The pre-activations of the rows of a block are ``M_b + a g + k sigma'(h) + sqrt(s) xi``: h, a function of g, is the one
before the step, and k what the sample has added. Over samples M_b varies along one direction of the blocks,
``M_b = known + way_b tau``, so that averages over g and xi are functions of tau and of the residual.
Source: THEORY section 12. Derived in derive.seen_sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from generated import repeated_batch as derived
from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.further_steps import Gain, Layer
from giantstep.quadrature.gauss import evenly_cut, normal_nodes
from giantstep.quadrature.interpolation import UNIT, between, chebyshev_table
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import slope_averages
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Step

Array = np.ndarray
REACH = 8.5  # of Gaussian variables
ORDER = 12  # nodes of a panel
STEP = 0.3  # of trapezoids
_ONE_WAY = 1e-9  # of the largest: how far the means of the blocks vary along a second direction
_BLUR, _SCALE = 1.4, 0.5  # steps in tau to its noise, and in units of what the averages vary on
_PANEL, _POINTS = 1.6, 12  # width of panels in asinh(e), and their points
_TABLE = 0.25  # squared width of the panels that averages over xi are interpolated on, over its variance
_KINKED = 3.0  # deviations of xi that panels of g are wide, beside kinks
_LINEAR, _ANY = 1e-13, 0.01  # variance of sigma' over its square: rounding; the variance that is taken then
_MOST, _CHUNK, _PLACES = 60_000_000, 1 << 20, 4000  # points of g, e and tau; at a time; of tau


class Interpolation(NamedTuple):
    """To residuals in ascending order from the P nodes of a panel each: the first node [N], and coefficients [N, P]."""

    first: Array
    coefficients: Array

    def at(self, residuals: slice, values: Array) -> Array:
        """Of values at nodes [A, K, E, T] those at some of the residuals, [A, K, n, T]."""
        first, coefficients = self.first[residuals], self.coefficients[residuals]
        starts, counts = np.unique(first, return_counts=True)
        panels = zip(starts.tolist(), np.split(coefficients, np.cumsum(counts)[:-1]), strict=True)
        points = coefficients.shape[1]
        return np.concatenate([inside @ values[:, :, start : start + points] for start, inside in panels], axis=2)


@dataclass(frozen=True, eq=False)
class SeenSamples:
    """A layer before a step, what the step adds to it, and the fineness of the nodes, from 1 on."""

    layer: Layer
    step: Step
    gain: Gain
    fineness: float

    @cached_property
    def values(self) -> Array:
        """Readout values [K]."""
        return np.array(self.layer.network.readout.values)

    @property
    def rate(self) -> float:
        """A of the step."""
        return self.step.learning_rate / self.layer.network.width

    @cached_property
    def noisy(self) -> NoisyIndices:
        """The indices of the target with the noise inside the link."""
        return noisy_indices(np.array(self.layer.before.overlaps), self.layer.target.probit)

    @cached_property
    def way(self) -> tuple[Array, Array, float]:
        """way [K], along [m] and spread: M_b varies by way_b tau, tau = along.t and noise, which has the standard
        deviation ``spread`` given the indices with noise.

        Raises BadInput where it varies along several directions.
        """
        indices = self.gain.across.shape[1]
        left, sizes, right = np.linalg.svd(np.concatenate([self.gain.across, self.gain.common], axis=1))
        if len(sizes) > 1 and sizes[1] > _ONE_WAY * sizes[0]:
            raise BadInput(
                'step.batch = "same": the step before moves rows of different readout values along different '
                "directions, and samples that they have seen are averaged over along one",
                "take the same batch right after the first step, or one readout value; giantstep simulate takes the "
                "steps",
            )
        along, noise = right[0, :indices], right[0, indices:]
        return left[:, 0] * sizes[0], along, math.sqrt(float(noise @ noise + along @ self.noisy.rest @ along))

    @cached_property
    def kinked(self) -> bool:
        """Whether the activation has kinks."""
        return bool(function_kernel(self.layer.network.activation).BREAKPOINTS)

    @cached_property
    def remains(self) -> Array:
        """What is left of the bulk of a row, [K]."""
        remains: Array = (1.0 + self.gain.drift) * np.sqrt(np.array(self.layer.before.bulk_variance))
        return remains

    @cached_property
    def straight(self) -> Array:
        """Of every block whether its features are linear, but for rounding: the step adds nothing to a row alone."""
        return np.asarray(self.gain.spread <= _LINEAR * (self.gain.common**2).sum(axis=1))

    @cached_property
    def noise(self) -> Array:
        """The variance of what the step has added to a row alone, [K]; of linear features, whose averages know nothing
        of it, any.
        """
        return np.where(self.straight, _ANY, self.gain.spread)

    def shift(self, kappa: Array) -> Array:
        """The mean pre-activation of every block before the step at kappa [q], [K]."""
        return np.asarray(np.array(self.layer.before.loadings) @ kappa + np.array(self.layer.offsets))

    def before(self, kappa: Array) -> tuple[float, Array]:
        """The output of the network before the step at kappa [q], and E sigma' of every block there [K]."""
        readout, variances = self.layer.network.readout, self.layer.before.bulk_variance
        found = [
            slope_averages(self._term(c), np.array([s]))[:, 0]
            for c, s in zip(variances, self.shift(kappa), strict=True)
        ]
        level, slope = np.array(found).T[:2]
        return float((self.values * np.array(readout.fractions)) @ level), slope

    # --- nodes of samples ---------------------------------------------------------------------------------------------

    def places(self, centres: Array) -> tuple[Array, float]:
        """Nodes of tau about the places that the target gives it, and their step; one place where it does not vary."""
        way, _, spread = self.way
        if spread == 0.0:
            return np.zeros(1), 0.0
        blurred = self.noise + (0.0 if self.kinked else self.remains**2)
        with np.errstate(divide="ignore"):
            scale = float((np.sqrt(blurred) / np.abs(way)).min())
        step = min(spread / _BLUR, _SCALE * scale) / self.fineness
        low, high = float(centres.min()) - REACH * spread, float(centres.max()) + REACH * spread
        if not high - low < _PLACES * step:
            raise _too_fine()
        return low + step * np.arange(math.ceil((high - low) / step) + 1), step

    def finest(self, width: float) -> float:
        """Steps in t that are as wide as that, or see what tau blurs."""
        _, along, spread = self.way
        length = float(np.linalg.norm(along))
        return (min(width, 2.0 * width * spread / length) if spread > 0.0 < length else width) / self.fineness

    def residual_nodes(self, e: Array) -> tuple[Array, Interpolation]:
        """Nodes [E] for functions of residuals e [N] in ascending order, and what brings values there to the residuals.

        The residuals themselves where they are few; else Chebyshev points on panels: averages vary with the residual on
        the scale by which a sample moves the rows as much as their noise does, and ever more slowly far out.
        """
        own = np.abs(derived.own_term(np.ones(1), self.values, self.rate, self.step.samples)[:, 0])
        sizes = zip(np.sqrt(self.noise), own, self.straight, strict=True)
        units = [float(s / k) for s, k, straight in sizes if k > 0.0 and not straight]
        unit = min(units, default=float(np.abs(e).max()) or 1.0)
        place = np.arcsinh(e / unit)
        low, high = float(place.min()), float(place.max())
        panels = max(1, math.ceil(self.fineness * (high - low) / _PANEL))
        distinct, of_each = np.unique(e, return_inverse=True)
        if len(distinct) <= panels * _POINTS:
            return distinct, Interpolation(of_each, np.ones((len(e), 1)))
        width = (high - low) / panels
        panel = np.clip(((place - low) / width).astype(int), 0, panels - 1)
        points = np.cos(math.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
        to_coefficients = chebvander(points, _POINTS - 1).T * (2.0 / _POINTS)
        to_coefficients[0] *= 0.5
        inside = chebvander(2.0 * ((place - low) / width - panel) - 1.0, _POINTS - 1)
        used, of_each = np.unique(panel, return_inverse=True)
        nodes = low + width * (used[:, None] + 0.5 * (points + 1.0))
        return unit * np.sinh(nodes).ravel(), Interpolation(_POINTS * of_each, inside @ to_coefficients)

    # --- averages over the rows ---------------------------------------------------------------------------------------

    def averages(self, kappa: Array, e: Array, tau: Array) -> Array:
        """S_0, S_1, S_2, S_g, S_s, S_q of every block at kappa [q], residuals [E] and tau [T]: [6, K, E, T].

        Raises NotConverged where there are too many nodes.
        """
        way, shift = self.way[0], self.shift(kappa)
        known = shift + self.gain.pull @ kappa
        own = derived.own_term(e, self.values, self.rate, self.step.samples)
        found = np.empty((6, len(known), len(e), len(tau)))
        activation = numpy_function(self.layer.network.activation)
        for b, c in enumerate(self.layer.before.bulk_variance):
            g, weight = self._rule(b, float(shift[b]), len(e) * len(tau))
            slope = activation(shift[b] + math.sqrt(c) * g)[1]
            columns = np.stack([weight, weight * g, weight * slope], axis=1)
            mean, table = known[b] + way[b] * tau[:, None] + self.remains[b] * g, self._table(b)
            reach = np.abs(mean).max() + np.abs(own[b]).max() * np.abs(slope).max()
            if not reach < _PLACES * math.sqrt(self.noise[b]):
                raise _too_fine()
            height = max(1, _CHUNK // mean.size)
            for start in range(0, len(e), height):
                part = slice(start, start + height)
                at = mean + (own[b, part, None] * slope)[:, None]
                of = table(at.ravel()).reshape(4, *at.shape)
                found[[0, 2, 5], b, part] = of[[0, 2, 3]] @ weight
                found[[1, 3, 4], b, part] = np.moveaxis(of[1] @ columns, -1, 0)
        return found

    def _table(self, block: int) -> Callable[[Array], Array]:
        """Averages over xi of sigma, sigma', sigma'' and sigma'^2 at any shifts."""
        width = _TABLE * float(self.noise[block])
        return partial(between, partial(_chebyshev, self._term(float(self.noise[block])), width), width)

    def _rule(self, block: int, shift: float, others: int) -> tuple[Array, Array]:
        """Nodes and weights of g: a trapezoid, or panels cut at the kinks of sigma' before the step."""
        if self.kinked:
            blur = _KINKED * math.sqrt(float(self.noise[block])) / abs(float(self.remains[block]))
            width = min(1.0, blur) / self.fineness
        else:
            width = STEP / self.fineness
        if not 2.0 * REACH / width * (ORDER if self.kinked else 1) * others < _MOST:
            raise _too_fine()
        if not self.kinked:
            return trapezoid(width)
        deviation = math.sqrt(self.layer.before.bulk_variance[block])
        breaks = [(place - shift) / deviation for place in function_kernel(self.layer.network.activation).BREAKPOINTS]
        return normal_nodes(evenly_cut(REACH, width, breaks), ORDER)

    def _term(self, variance: float) -> Term:
        return Term(self.layer.network.activation, 1.0, 0.0, variance)


def trapezoid(step: float) -> tuple[Array, Array]:
    """Nodes and weights of a standard normal variable."""
    points = step * np.arange(-math.ceil(REACH / step), math.ceil(REACH / step) + 1)
    weight = np.exp(-0.5 * points**2)
    return points, weight / weight.sum()


def _too_fine() -> NotConverged:
    return NotConverged(
        "a step on the batch of the step before needs too many nodes: what a sample has added to the rows, or their "
        "noise, is small or large beside the rest",
        'take other samples or rates in the step before, or batch = "fresh"',
    )


def _chebyshev(term: Term, width: float, low: int, high: int) -> Array:
    """``chebyshev_table`` of averages of slopes between multiples of ``UNIT``."""
    return np.concatenate([_panels(term, width, start) for start in range(low, high, UNIT)], axis=2)


@lru_cache(maxsize=1024)
def _panels(term: Term, width: float, start: int) -> Array:
    return chebyshev_table(lambda shifts: slope_averages(term, shifts), width, start, start + UNIT)
