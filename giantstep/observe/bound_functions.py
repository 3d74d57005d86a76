"""The functions that attain the bounds on the test error, along the spike.

Source: [CUI24] Fig. 3, App. E; [LOU24]. Their coefficients stand in ``Bound``, the formula in ``observe.bounds``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.observe.bound import Bound
from giantstep.observe.learned import Profile, checked_places, target_and_jumps
from giantstep.observe.output_law import Output, moments_along, spike_lines
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number
from giantstep.system.problem import Problem, problem_of
from giantstep.system.reduced_order import reduced_order

Array = np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class BoundFunctions(Pictured):
    """What attains the lower and the upper bound along v (v_1 of several directions), beside the target.

    values: of the two bounds.
    """

    model: Model
    lower: Profile
    upper: Profile
    values: tuple[float, float]

    def summary(self) -> list[Row]:
        """How far each is from the target."""
        rows = []
        for name, profile, value in zip(("lower", "upper"), (self.lower, self.upper), self.values, strict=True):
            off = float(np.abs(profile.mean - profile.target).max())
            rows.append((f"{name} bound", f"{number(value)}; along v at most {off:.3g} off the target"))
        return [*rows, ("model", outline(self.model))]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists."""
        return {"lower": self.lower.to_dict(), "upper": self.upper.to_dict(), "values": list(self.values)}


def bound_functions(
    model: Model, dimension: int | None, lower: Bound, upper: Bound, at: Sequence[float] | Array | None = None
) -> BoundFunctions:
    """The functions of two bounds of a model at points ``at`` of v.x, E[f | v.x] and the rest's spread.

    Raises BadInput where the features know no direction, NotConverged where rounding hides them.
    """
    places = checked_places(at)
    below, above = (
        _profile(problem_of(one.model, dimension, one.bias, intermediate=True), one, places) for one in (lower, upper)
    )
    return BoundFunctions(model, below, above, (lower.value, upper.value))


def _profile(problem: Problem, bound: Bound, at: Array) -> Profile:
    lines = spike_lines(problem)
    if not lines:
        raise BadInput(
            "the features of this model know no direction, so there is no function along a spike",
            "give [step] or [spike] with a strength",
        )
    output, target = Output(problem, _order(problem, bound)), problem.model.target
    return Profile(at, *moments_along(output, lines[0], at), *target_and_jumps(target, lines[0].overlaps, at))


def _order(problem: Problem, bound: Bound) -> dict[str, Array]:
    """The function as order parameters of an output without a rest."""
    none = np.zeros(len(bound.m))
    order = {"m": bound.m, "zeta": bound.zeta, "psi": bound.psi, "norm": bound.norm, "Q2": none, "V2": none}
    order |= {"Q1": np.zeros((len(none), len(none))), "V1": np.zeros((len(none), len(none)))}
    found = reduced_order(problem, order)
    assert found is not None
    return {**found, "Q1": found["psi"] @ found["psi"].T}
