"""Inputs of a given covariance: where the rows, the spike and the target lie over its eigenvalues.

Source: THEORY section 10. Derived in derive.structured_inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from derive.directions import weight_name
from generated import structured_inputs as derived
from giantstep.law.directions import directions_of_spike, mixing
from giantstep.law.gradient_step import StepArguments, arguments_of
from giantstep.spec.inputs_table import Inputs
from giantstep.spec.model import Model, Network, Step, Target
from giantstep.spec.spike_table import Spike

Array = np.ndarray
_NOTHING = 1e-7  # of a unit vector: what is left of it beside others is rounding


@dataclass(frozen=True)
class InputLaw:
    """The law of the features over the eigenvalues of the inputs.

    covariance [K, J]: of the rows of unit norm around the spike; chi [K]: d times the variance of their squared norms,
    which is that of ``Sigma_b^(1/2) w`` of initial rows w; weights [J] by name, law_tr, law_vv, law_vo, law_oo,
    numbered where there are several directions. along [q, m, J], random [q, q, J]: parts of the spike's directions
    along those of the target, and without direction; overlaps [q, m]: their products.
    """

    covariance: Array
    chi: Array
    weights: Mapping[str, Array]
    along: Array
    random: Array
    overlaps: Array


@dataclass(frozen=True)
class SpikeOfStep:
    """What one step leaves: strength, alignments with all indices, bulk variances [K], and the law of the features."""

    strength: float
    alignments: tuple[float, ...]
    bulk_variance: tuple[float, ...]
    law: InputLaw


def law_of_spike(model: Model) -> InputLaw:
    """The law of a model with [inputs] whose spike is given, or that has none."""
    assert model.inputs is not None
    x, trace, theta = model.inputs.spectrum(model.target.indices)
    gamma = _overlaps(model.spike, model.target.indices)
    basis, sizes, _ = np.linalg.svd(gamma)
    rest = np.ones(len(gamma))
    rest[: len(sizes)] = np.sqrt(np.maximum((1.0 - sizes) * (1.0 + sizes), 0.0))
    root = (basis * rest) @ basis.T
    parts = tuple(np.repeat(part[:, :, None], len(x), axis=2) for part in (gamma, root))
    weights = weights_of(trace, theta, (parts[0], parts[1]), gamma)
    rows = np.tile(x, (len(model.network.readout.values), 1))
    return InputLaw(rows, derived.norms(rows, trace, model.network.radial), weights, parts[0], parts[1], gamma)


def spike_of_step(model: Model) -> SpikeOfStep:
    """What the step of a model with [inputs] leaves. Raises BadInput where it is not defined."""
    assert model.inputs is not None and model.step is not None
    return after_step(model.inputs, model.network, model.step, model.target)


@lru_cache(maxsize=64)
def after_step(inputs: Inputs, network: Network, step: Step, target: Target) -> SpikeOfStep:
    """What the first step leaves on rows of one bias."""
    of, (x, trace, theta) = arguments_of(network, step, target), inputs.spectrum(target.indices)
    s1 = np.array(of.overlaps)
    length, strength, gamma = derived.spike_after_step(x, trace, theta, s1, of.samples, of.e2, of.rate, of.mu1)
    rows, variances = _rows_after_step(x, trace, np.array(network.readout.values), of)
    sign = -1.0 if strength < 0.0 else 1.0  # v absorbs it
    along, random = derived.direction_after_step(x, s1, of.samples, of.e2, length)
    along, random, overlaps = sign * along[None], sign * random[None, None], sign * gamma[None]
    weights = weights_of(trace, theta, (along, random), overlaps)
    rows = rows / variances[:, None]
    law = InputLaw(rows, derived.norms(rows, trace, network.radial), weights, along, random, overlaps)
    return SpikeOfStep(float(sign * strength), tuple(overlaps[0].tolist()), tuple(variances.tolist()), law)


def _rows_after_step(x: Array, trace: Array, values: Array, of: StepArguments) -> tuple[Array, Array]:
    """Covariances [K, J] of rows of these readout values, not yet over their means; the means [K]."""
    rows, means = derived.rows_after_step(x, trace, values, of.rate, of.samples, of.s0, of.e2, of.sigma2, of.variance)
    return np.asarray(rows), np.asarray(means)


def variance_by_value(model: Model) -> Callable[[Any], Any]:
    """The bulk variance after the step of a model with [inputs], by the readout value and in any arithmetic: it is of
    the second degree.
    """
    assert model.inputs is not None and model.step is not None
    of, (x, trace, _) = arguments_of(model.network, model.step, model.target), model.inputs.spectrum(1)
    _, found = _rows_after_step(x, trace, np.array([-1.0, 0.0, 1.0]), of)
    negative, none, positive = (float(c) for c in found)
    first, second = 0.5 * (positive - negative), 0.5 * (positive + negative) - none
    return lambda u: none + first * u + second * (u * u)


def norms_of_isotropic_rows(network: Network) -> float:
    """d times the variance of the squared norms of rows of mean one, in isotropic inputs."""
    return float(derived.norms(np.ones((1, 1)), np.ones(1), network.radial)[0])


def _overlaps(spike: Spike | None, indices: int) -> Array:
    """<v_j, theta_i> [q, m] of the directions that the features know; of no spike any direction stands for one."""
    if spike is None:
        return np.zeros((1, indices))
    if spike.loadings is None:
        return np.array([spike.alignments])
    return np.array(directions_of_spike(spike).reduced()[1])


def rest_of_target(spike: tuple[Array, Array], gamma: Array) -> tuple[Array, Array]:
    """What the spike leaves of the target, by its parts along [m, m, J] and random [m, q, J]; zero where it leaves
    nothing.
    """
    lower = mixing(gamma)
    left = lower.diagonal() > _NOTHING
    across = np.zeros_like(lower)
    across[np.ix_(left, left)] = np.linalg.inv(lower[np.ix_(left, left)])
    along, random = derived.rest_of_target(*spike, gamma, across)
    return along, random


def weights_of(trace: Array, theta: Array, spike: tuple[Array, Array], gamma: Array) -> Mapping[str, Array]:
    """The weights by name; zero for a direction of which the spike leaves nothing, as no label depends on it."""
    spikes, indices = gamma.shape
    rest = rest_of_target(spike, gamma)
    along, random = (np.concatenate(both) for both in zip(spike, rest, strict=True))
    products = derived.products(trace, theta, along, random, along, random)
    count = spikes + indices
    pairs = ((i, j) for i in range(count) for j in range(i, count))
    found = {weight_name(i, j, spikes, indices): products[i, j] for i, j in pairs}
    return MappingProxyType({"law_tr": trace, **found})
