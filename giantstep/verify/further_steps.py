"""The rows after each of several gradient steps, once more on finer nodes of kappa, t and the pre-activation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantstep.law.further_steps import before_steps
from giantstep.law.layer_state import LayerState
from giantstep.law.repeated_batch import state_after_steps
from giantstep.law.spike import states_after_steps
from giantstep.spec.model import Model
from giantstep.verify.check import Check

_ALLOWED = 1e-9  # relative, of products of loadings, overlaps and variances
_FINER = 3  # resolutions above the one where the theory starts


def further_step_checks(model: Model) -> Iterator[Check]:
    """A check for every step after the first one, each from the rows that the one before left."""
    states = states_after_steps(model)
    start = before_steps(model.network, model.target)
    first = 1 if model.network.readout.biases is not None else 2
    for number in range(first, len(states) + 1):
        finer = _FINER - (model.steps[number - 1].batch == "same")  # whose resolutions lie further apart
        before, steps = (start, *states[: number - 1]), model.steps[:number]
        again = state_after_steps(model.network, before, steps, model.target, finer)
        yield Check(f"rows after step {number}: finer quadrature", _apart(states[number - 1], again), _ALLOWED)


def _apart(found: LayerState, again: LayerState) -> float:
    """The largest difference of what does not depend on the choice of directions, relative to the largest number."""
    pairs = zip(_invariant(found), _invariant(again), strict=True)
    return max(float(np.abs(one - other).max() / np.abs(one).max()) for one, other in pairs if one.any())


def _invariant(state: LayerState) -> tuple[np.ndarray, ...]:
    loadings, overlaps = np.array(state.loadings), np.array(state.overlaps)
    return loadings @ loadings.T, loadings @ overlaps, np.array(state.bulk_variance)
