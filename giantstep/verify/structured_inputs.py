"""Structured inputs: weights and moments of their law against explicit vectors over the modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantstep.law.structured_inputs import input_law
from giantstep.spec.model import Model
from giantstep.verify.check import Check

_EXACT = 1e-12


def input_checks(model: Model) -> Iterator[Check]:
    """Spike and rest of the target as vectors along theta and a direction orthogonal to it in every mode."""
    assert model.inputs is not None
    law, (x, trace, theta) = input_law(model), model.inputs.spectrum()
    along, random = law.spike
    # [mode, (theta, what has no direction)]: within a mode both are orthogonal to each other
    v = np.stack([along * np.sqrt(theta), random * np.sqrt(trace)], axis=1)
    target = np.stack([np.sqrt(theta), np.zeros_like(x)], axis=1)
    gamma = float(np.sum(v * target))
    rest = (target - gamma * v) / np.sqrt(max(1.0 - gamma * gamma, 1e-300))
    vectors = {"law_vv": (v, v), "law_vo": (v, rest), "law_oo": (rest, rest)}
    wanted = {name: np.sum(a * b, axis=1) for name, (a, b) in vectors.items()}
    if 1.0 - gamma * gamma > _EXACT:
        gap = max(float(np.max(np.abs(law.weights[name] - values))) for name, values in wanted.items())
        yield Check("weights of spike and target over the inputs' spectrum", gap, _EXACT)
    lengths = [abs(float(np.sum(v * v)) - 1.0), abs(gamma - law.alignment), abs(float(trace @ x) - 1.0)]
    yield Check("length and alignment of the spike, mean of the inputs' spectrum", max(lengths), _EXACT)
    mean = law.covariance @ trace
    yield Check("mean square norm of the rows around the spike", float(np.max(np.abs(mean - 1.0))), _EXACT)
