"""The recorded equations evaluated in a state that holds a solution."""

from __future__ import annotations

from typing import Any

from derive.evaluate import EvaluationError, Evaluator, State
from derive.trace import Derivation


def recorded_equations(derivation: Derivation, state: State, floor: float) -> tuple[int, float]:
    """(number of steps, worst difference) of both sides of each step whose symbols the state holds.

    Differences are relative to the terms, or to ``floor`` for what vanishes by symmetry.
    """
    count, worst = 0, 0.0
    for step in derivation.steps:
        try:
            worst = max(worst, _sides_differ(state, step.lhs, step.rhs, floor))
        except (EvaluationError, AttributeError, KeyError):
            continue  # in symbols of its own (the loss, matrices without components)
        count += 1
    return count, worst


def _sides_differ(state: State, left: Any, right: Any, floor: float) -> float:
    evaluator = Evaluator(state)
    indices = tuple(sorted({s for e in (left, right) for s in e.free_symbols if s.is_integer}, key=str))
    kappa = bool({str(s) for e in (left, right) for s in e.free_symbols} & {"kappa"})
    worst = 0.0
    for place in state.places(len(indices)):
        where = dict(zip(indices, place, strict=True))
        sides = [evaluator.nodes(e, where) if kappa else [evaluator.value(e, where)] for e in (left, right)]
        for first, second in zip(*sides, strict=True):
            worst = max(worst, float(abs(first - second) / max(abs(first), floor)))
    return worst
