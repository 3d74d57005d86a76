"""The [metrics] of a model as columns of a table, each with its own name."""

from __future__ import annotations

from giantstep.observe.metrics import metrics_of
from giantstep.spec.errors import NotConverged
from giantstep.spec.metrics import Metrics
from giantstep.spec.model import Model
from giantstep.system.result import Result


def names_of(model: Model) -> tuple[str, ...]:
    """The names of a model's metrics, which no other column has."""
    return () if model.metrics is None else tuple(name for name, _ in model.metrics.entries)


def measured(result: Result) -> tuple[dict[str, float], str]:
    """The metrics of a solution by name, without those that do not settle, and why these do not."""
    if result.model.metrics is None:
        return {}, ""
    found: dict[str, float] = {}
    reasons = []
    for entry in result.model.metrics.entries:
        try:
            found |= metrics_of(result, Metrics((entry,))).values
        except NotConverged as error:
            reasons.append(str(error))
    return found, " | ".join(reasons)
