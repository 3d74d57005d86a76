"""The [metrics] of a model as columns of a table, each with its own name."""

from __future__ import annotations

from derive.language.grammar import shorten
from giantstep.observe.metrics import metrics_of
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.metrics import Metrics
from giantstep.spec.model import Model
from giantstep.system.result import Result

_TAKEN = frozenset({"test_error", "train_error", "free_energy", "training_loss", "residual", "quadrature_error"})
_TAKEN_TOO = frozenset({"status", "reason", "spike_strength", "spike_alignment"})
_BEFORE = ("bulk_variance_", "finite_size_", "random_features_", "simulation_", "best_linear_", "optimal_")
_ORDER = frozenset({"m", "zeta", "psi", "Q1", "Q2", "V1", "V2", "norm"})


def names_of(model: Model) -> tuple[str, ...]:
    """The names of a model's metrics. Raises BadInput for one that is that of another column."""
    if model.metrics is None:
        return ()
    found = tuple(name for name, _ in model.metrics.entries)
    for name in found:
        order = name.rpartition("_")[0] in _ORDER and name.rpartition("_")[2].isdigit()
        if name in _TAKEN | _TAKEN_TOO or name.startswith(_BEFORE) or order:
            raise BadInput(f"metrics.{shorten(name)} has the name of another column", "give it a name of its own")
    return found


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
