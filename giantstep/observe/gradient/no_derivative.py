"""Why ``gradient`` has no derivative in a number of a model."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.spec.model import Model

_LABEL = "the law of the label changes, of which no derivative is made"
_BLOCKS = "it moves the spike of each readout value by another amount, which no derivative follows yet"
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


def reasons(model: Model) -> dict[str, str]:
    """Key -> why there is no derivative in it where there is none, of all numbers that have no derivative in some
    models.
    """
    found = {key: reason for key, reason in _REASONS.items() if _is_number(model, key)}
    if model.bulk == "matrix":
        found["network.width"] = _MATRIX
    found |= {f"fit.loss.{name}": _LOSS for name, _ in model.fit.loss.parameters}
    still = {} if model.fit.penalty is None else model.fit.penalty.still
    return found | {f"fit.penalty.{name}": reason for name, reason in still.items()}


def _is_number(model: Model, key: str) -> bool:
    table, _, name = key.partition(".")
    return isinstance(getattr(getattr(model, table), name, None), float | tuple)
