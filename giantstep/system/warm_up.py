"""Compiling what a model needs before it is needed."""

from __future__ import annotations

from contextlib import suppress

from giantstep.spec.errors import NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.system.solve import solve


@takes_model
def warm_up(model: Model, *, dimension: int | None = None) -> None:
    """Derive and compile all that a model is solved with, so that the next solve of its kind is fast.

    Processes that start later find it on disk. Raises BadInput for a model that cannot be solved at all.
    """
    with suppress(NotConverged):  # of this point: what it needs is compiled
        solve(model, dimension=dimension)
