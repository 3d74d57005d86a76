"""What a step gains over random features, in training and in test error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.law.intermediate_steps import is_intermediate, order_of, powers_of
from giantstep.observe.baselines import random_features
from giantstep.spec.errors import BadInput
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown, number
from giantstep.system.result import Result
from giantstep.system.solve import solve


@dataclass(frozen=True, repr=False, eq=False)
class Gains(Shown):
    """Errors of random features minus those after the step. train and test: of the errors of the results; objective:
    of the minimum of (1/n)(2 sum loss + ridge |a|^2), which [MON23] calls training loss. order and powers: of kappa, in
    the limit of a step below the giant one, else None.
    """

    train: float
    test: float
    objective: float
    order: int | None
    powers: tuple[int, ...] | None
    after: Result
    before: Result

    def summary(self) -> list[Row]:
        """The gains, the powers of kappa, the model."""
        powers = [] if self.powers is None else [("powers of kappa", " ".join(map(str, self.powers)) or "none")]
        return [
            ("in test error", number(self.test)),
            ("in train error", number(self.train)),
            ("in objective", number(self.objective)),
            *powers,
            ("model", outline(self.after.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The part ``gains`` of ``solve --json``."""
        powers = None if self.powers is None else list(self.powers)
        return {
            "train": self.train,
            "test": self.test,
            "objective": self.objective,
            "order": self.order,
            "powers": powers,
        }


@takes_model
def gains(model: Model, *, dimension: int | None = None, tolerance: float = 1e-10) -> Gains:
    """What the step of a model gains over the same network without it. Raises BadInput, NotConverged. [MON23]"""
    if model.step is None and model.spike is None:
        raise BadInput("the model has neither [step] nor [spike]: there is nothing to gain", "add one of them")
    after = solve(model, dimension=dimension, tolerance=tolerance)
    return gains_of(after, solve(random_features(model), dimension=dimension, tolerance=tolerance))


def gains_over_random_features(after: Result, tolerance: float) -> Gains | None:
    """Of a solution after a step below the giant one; None for other models."""
    if not is_intermediate(after.model):
        return None
    before = solve(random_features(after.model), dimension=after.dimension, tolerance=tolerance)
    return gains_of(after, before)


def gains_of(after: Result, before: Result) -> Gains:
    """The gains from the solutions with and without the step."""
    model = after.vocabulary
    limit = is_intermediate(model) and after.dimension is None
    scale = 2.0 / model.fit.samples
    return Gains(
        before.train_error - after.train_error,
        before.test_error - after.test_error,
        scale * (before.free_energy - after.free_energy),
        order_of(model) if limit else None,
        powers_of(model, after.bias) if limit else None,
        after,
        before,
    )
