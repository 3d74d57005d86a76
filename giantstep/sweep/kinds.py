"""Which error each row of a dataset holds, where a sweep of the loss makes them errors of several kinds."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Model
from giantstep.sweep.grid import Grid
from giantstep.sweep.points import Points

KINDS = ("test_error_is", "train_error_is")
_NAMES = ("fit.loss", "fit.loss.name")  # of the second one are models whose losses have parameters


def losses(model: Model, grid: Grid | Points) -> tuple[FitLoss, ...]:
    """The loss of every row, with the parameters of the model where it has that loss, else with those by default."""
    known: dict[str, FitLoss] = {model.fit.loss.name: model.fit.loss}
    found = []
    for row in range(len(grid)):
        changes = dict(grid.changes(row))
        name = next((str(changes[key]) for key in _NAMES if changes.get(key)), model.fit.loss.name)
        if name not in known:
            known[name] = FitLoss(name)
        found.append(known[name])
    return tuple(found)


def kinds_of_errors(model: Model, grid: Grid | Points) -> Mapping[str, tuple[str, ...]]:
    """Columns of what the errors are, in words, where the loss is swept; otherwise the loss of the model says it."""
    if not any(key in _NAMES for key in grid.keys):
        return {}
    rows = losses(model, grid)
    errors = tuple(loss.test_error for loss in rows), tuple(_train_error(loss) for loss in rows)
    return dict(zip(KINDS, errors, strict=True))


def _train_error(loss: FitLoss) -> str:
    """Means of different losses are different errors."""
    return loss.train_error if loss.key == "square" else f"{loss.train_error} ({loss})"
