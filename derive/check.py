"""Recorded steps put to the test: what each claims, as numbers on both sides at a random point."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal

import mpmath

from derive.free_indices import free_indices
from derive.high_precision import WORKING, NotEvaluable
from derive.operations import COMPOSED
from derive.random_values import SIZE, RandomValues
from derive.trace import Derivation, DerivationStep

Outcome = Literal["compared", "given", "assumed", "not evaluable"]
_OUTCOME: dict[str, Outcome] = {"given": "given", "notation": "given", "assumption": "assumed"}


@dataclass(frozen=True)
class StepCheck:
    """What became of a step. error: |left - right| relative to the larger of them and 1 (mpf), of a step that was
    compared; reason: in words, why a derived one was not.
    """

    label: str
    outcome: Outcome
    error: Any = None
    reason: str = ""


def check_derivation(derivation: Derivation, seed: int = 1) -> tuple[StepCheck, ...]:
    """Every step: compared, given, assumed, or not evaluable."""
    return tuple(check_step(step, seed) for step in derivation.steps)


def check_step(step: DerivationStep, seed: int = 1) -> StepCheck:
    """One step at a random point, for all values of its indices: sides that are equal if it is right."""
    if step.kind != "derived":
        return StepCheck(step.label, _OUTCOME[step.kind])
    if step.sides is None:
        return StepCheck(step.label, "not evaluable", reason=step.untested or "no test is written down")
    if step.sides[0] == step.sides[1] == step.rhs:  # what was not carried out is the result: no test
        return StepCheck(step.label, "not evaluable", reason=step.untested or COMPOSED)
    try:
        with mpmath.workdps(WORKING):
            return StepCheck(step.label, "compared", _difference(step, seed))
    except NotEvaluable as missing:
        return StepCheck(step.label, "not evaluable", reason=str(missing))


def _difference(step: DerivationStep, seed: int) -> Any:
    assert step.sides is not None
    values, indices = RandomValues(step.definitions, seed=seed), free_indices(*step.sides)
    worst = mpmath.mpf(0)
    for places in itertools.product(range(SIZE), repeat=len(indices)):
        where = dict(zip(indices, places, strict=True))
        left, right = (_listed(values.number(side, where)) for side in step.sides)
        for one, other in zip(left, right, strict=True):
            worst = max(worst, abs(one - other) / max(abs(one), abs(other), mpmath.mpf(1)))
    return worst


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]
