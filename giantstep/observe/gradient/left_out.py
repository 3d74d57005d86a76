"""Which numbers of a model ``gradient`` has no derivative in, and why."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.observe.gradient.parameter_directions import keys_for
from giantstep.spec.model import Model

_LABEL = "the law of the label changes, of which no derivative is made"
_BLOCKS = "blocks move in ways of their own"
_REASONS: Mapping[str, str] = {
    "network.width": _BLOCKS,
    "network.bias": "features of untrained neurons change with it",
    "step.samples": "the alignment of spike and target changes, and labels given the spike with it",
    "step.learning_rate": _BLOCKS,
    "step.exponent": "the giant step is the end of its range, and below it the limit is another one",
    "spike.alignment": "labels given the spike change",
    "spike.bulk_variance": "it is a list, one number for each block",
    "target.noise": _LABEL,
    "target.flips": _LABEL,
    "target.probit": _LABEL,
    "inputs.capacity": "the spectrum of the inputs changes",
    "inputs.source": "the target changes",
}
_MATRIX = "it is the number of rows of step.matrix"
_LOSS = "the loss itself changes"
_PENALTY = "it is at the end of its range, or stands for a bound"


def left_out(model: Model) -> dict[str, str]:
    """Key -> why it is not among the derivatives, of all numbers that the model has."""
    made = keys_for(model)
    reasons = {key: reason for key, reason in _REASONS.items() if _is_number(model, key)}
    if model.bulk == "matrix":
        reasons["network.width"] = _MATRIX
    reasons |= {f"fit.loss.{name}": _LOSS for name, _ in model.fit.loss.parameters}
    if model.fit.penalty is not None:
        reasons |= {f"fit.penalty.{name}": _PENALTY for name, _ in model.fit.penalty.parameters}
    return {key: reason for key, reason in reasons.items() if key not in made}


def _is_number(model: Model, key: str) -> bool:
    table, _, name = key.partition(".")
    return isinstance(getattr(getattr(model, table), name, None), float | tuple)
