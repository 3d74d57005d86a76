"""Bias and variance along a sweep of one key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.observe.decompose import Decomposition, decompose
from giantstep.spec.bars import GivenMessages, messages_of
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number
from giantstep.sweep.grid import Sweep, sweep_of


@dataclass(frozen=True, repr=False, eq=False)
class Decompositions(Pictured):
    """Decompositions at the values of a key; None where there is no solution, with the reason beside it."""

    model: Model
    sweep: Sweep
    points: tuple[Decomposition | None, ...]
    reasons: tuple[str, ...]

    @property
    def solved(self) -> tuple[tuple[float, Decomposition], ...]:
        """(value of the key, decomposition) of the points that have one."""
        pairs = zip(self.sweep.values, self.points, strict=True)
        return tuple((float(value), point) for value, point in pairs if point is not None)

    def summary(self) -> list[Row]:
        """What is swept, the largest test error and what it is made of, the model."""
        rows = [("points", f"{len(self.solved)} of {len(self.points)} solved, {self.sweep.key}")]
        if self.solved:
            value, worst = max(self.solved, key=lambda pair: pair[1].test_error)
            rows.append(("largest test error", f"{number(worst.test_error)} at {self.sweep.key} = {value:g}"))
            if worst.bias_squared is not None:
                largest = max(worst.variance.items(), key=lambda item: item[1])
                told = f"bias squared {worst.bias_squared:.4g}, largest variance {largest[0]} {largest[1]:.4g}"
                rows.append(("made of", told))
        return [*rows, ("model", outline(self.model))]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``decompose --sweep --json``."""
        points = []
        for value, point, reason in zip(self.sweep.values, self.points, self.reasons, strict=True):
            points.append({self.sweep.key: value, **({"reason": reason} if point is None else point.to_dict())})
        return {"sweep": self.sweep.key, "points": points, "model": self.model.to_dict()}


@hands_over
def decompose_along(
    model: Model, /, sweep: str | Sweep, *, progress: GivenMessages = None, **options: Any
) -> Decompositions:
    """``decompose`` at every value of a key, given as in ``curve``: "fit.samples=0.2:3:30". Points without a solution
    say why.

    options: those of ``decompose``. progress(done, total, message) follows; "auto": a bar. Raises BadInput for a key or
    values that are none, and what no point can answer.
    """
    chosen = sweep_of(sweep)
    if not chosen.numeric:
        raise BadInput(f"{chosen.key} has no numbers to be swept over", "sweep a key with numbers")
    points: list[Decomposition | None] = []
    reasons: list[str] = []
    with messages_of(progress, "points") as told:
        for number_, value in enumerate(chosen.values):
            if told is not None:
                told(number_, len(chosen.values), f"{chosen.key} = {value:g}")
            try:
                points.append(decompose(model.replace({chosen.key: value}), **options))
                reasons.append("")
            except GiantstepError as error:
                if isinstance(error, BadInput):
                    raise
                points.append(None)
                reasons.append(error.message)
    return Decompositions(model, chosen, tuple(points), tuple(reasons))
