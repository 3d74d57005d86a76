"""The law of the features of a model with structured inputs, whatever its spike comes from."""

from __future__ import annotations

from giantstep.law.spike import by_blocks
from giantstep.law.steps_on_inputs import rows_after_steps
from giantstep.law.structured_inputs import InputLaw, law_of_spike, spike_of_step
from giantstep.spec.model import Model


def input_law(model: Model) -> InputLaw:
    """The law of a model with [inputs]. Raises BadInput where its step is not defined."""
    if model.step is None:
        return law_of_spike(model)
    if not by_blocks(model):
        return spike_of_step(model).law
    assert model.inputs is not None
    return rows_after_steps(model.inputs, model.network, model.steps, model.target).law
