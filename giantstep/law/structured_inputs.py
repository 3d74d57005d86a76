"""Inputs of a given covariance: where the rows, the spike and the target lie over its eigenvalues.

Source: THEORY section 10. Derived in derive.structured_inputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from generated import structured_inputs as derived
from giantstep.law.gradient_step import arguments_of
from giantstep.spec.inputs_table import Inputs
from giantstep.spec.model import Model, Network, Step, Target

Array = np.ndarray
_ALIGNED = 1e-12  # of 1 - gamma^2: there is no rest of the target


@dataclass(frozen=True)
class InputLaw:
    """The law of the features over the eigenvalues of the inputs.

    strength, alignment, bulk_variance [K]: of the spiked features. covariance [K, J]: of the rows of unit norm around
    the spike; weights [J] by name, law_tr, law_vv, law_vo, law_oo; spike: parts of v along theta and without direction.
    """

    strength: float
    alignment: float
    bulk_variance: tuple[float, ...]
    covariance: Array
    weights: Mapping[str, Array]
    spike: tuple[Array, Array]


def input_law(model: Model) -> InputLaw:
    """The law of a model with [inputs]. Raises BadInput where its step is not defined."""
    assert model.inputs is not None
    if model.step is not None:
        return _after_step(model.inputs, model.network, model.step, model.target)
    values, spike = model.network.readout.values, model.spike
    strength, gamma = (0.0, 0.0) if spike is None else (spike.strength, spike.alignments[0])
    c = 1.0 if spike is None else spike.bulk_variance
    x, trace, theta = model.inputs.spectrum()
    weights = _named(trace, gamma, derived.weights_of_spike(trace, theta, gamma))
    direction = (np.full(len(x), gamma), np.full(len(x), math.sqrt(max(0.0, 1.0 - gamma * gamma))))
    variances = tuple((1.0 - u * u) + u * u * c for u in values)
    return InputLaw(strength, gamma, variances, np.tile(x, (len(values), 1)), weights, direction)


@lru_cache(maxsize=64)
def _after_step(inputs: Inputs, network: Network, step: Step, target: Target) -> InputLaw:
    of, (x, trace, theta) = arguments_of(network, step, target), inputs.spectrum()
    (s1,) = of.overlaps
    length, strength, gamma = derived.spike_after_step(x, trace, theta, of.samples, s1, of.e2, of.rate, of.mu1)
    rows, variances = derived.rows_after_step(
        x, trace, np.array(network.readout.values), of.rate, of.samples, of.s0, of.e2, of.sigma2, of.variance
    )
    vv, vo, oo = derived.weights_after_step(x, trace, theta, of.samples, s1, of.e2, gamma, length)
    along, random = derived.direction_after_step(x, of.samples, s1, of.e2, length)
    sign = -1.0 if strength < 0.0 else 1.0  # v absorbs it
    weights = _named(trace, gamma, (vv, sign * vo, oo))
    return InputLaw(
        float(sign * strength),
        float(sign * gamma),
        tuple(variances.tolist()),
        rows / variances[:, None],
        weights,
        (sign * along, sign * random),
    )


def _named(trace: Array, gamma: float, weights: tuple[Array, Array, Array]) -> Mapping[str, Array]:
    """The weights by name; where the spike is the target, any direction stands for the rest of the target."""
    vv, vo, oo = weights
    if 1.0 - gamma * gamma < _ALIGNED:
        vo, oo = np.zeros_like(trace), trace
    return MappingProxyType({"law_tr": trace, "law_vv": vv, "law_vo": vo, "law_oo": oo})
