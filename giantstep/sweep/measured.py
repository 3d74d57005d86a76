"""The [metrics] of a model as columns of a table, each with its own name."""

from __future__ import annotations

from giantstep.observe.metrics import measured_at
from giantstep.spec.model import Model
from giantstep.system.result import Result


def names_of(model: Model) -> tuple[str, ...]:
    """The names of a model's metrics, which no other column has."""
    return () if model.metrics is None else tuple(name for name, _ in model.metrics.entries)


def measured(result: Result) -> tuple[dict[str, float], str]:
    """The metrics of a solution by name, without those that do not settle, and why these do not."""
    if result.model.metrics is None:
        return {}, ""
    found = measured_at(result, result.model.metrics)
    return dict(found.values), " | ".join(map(str, found.left_out.values()))
