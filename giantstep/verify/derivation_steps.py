"""The recorded derivation: which of its steps are checked by numbers, which are given or assumed, which are neither."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath

from derive.check import check_step
from derive.gaussian.expectation import Expectation
from derive.printing import plain_text
from derive.trace import Derivation, DerivationStep
from giantstep.law.derivation import derive, system_of
from giantstep.spec.model import Model
from giantstep.verify.check import Check
from giantstep.verify.saddle_equations import DIGITS, equation_checks

_AVERAGES = 25  # digits of identities between averages
_WIDTH = 46


def derivation_checks(model: Model) -> Iterator[Check]:
    """One row for every part of the derivation: the worst difference of two sides, in units of what digits allow.

    A step is checked where its operation and the result are numbers at a random point (averages by a quadrature of
    their own), or where its equation makes the derivative of the functional vanish. What a user gives, a notation and
    an assumption have nothing to compare; the note counts them, and the steps that cannot be evaluated.
    """
    system = system_of(model)
    equations = {check.label: check.error * 10.0 ** (DIGITS - 5) for check in equation_checks(system)}
    for part in derive(model).parts:
        found = {**_of_sides(part), **{s.label: equations[s.label] for s in part.steps if s.label in equations}}
        if found:
            name = f"{_shortened(part.title)}: {len(found)} of {len(part.steps)} steps"
            yield Check(name, max(found.values()), 1.0, note=_counted(part, found))


def _of_sides(part: Derivation) -> dict[str, float]:
    ratios = {s.label: _ratio(s) for s in part.steps if s.kind == "derived"}
    return {label: ratio for label, ratio in ratios.items() if ratio is not None}


def _ratio(step: DerivationStep) -> float | None:
    """The operation not carried out against its result, in units of what their digits allow.

    None where a side is no number, or where both are the same expression, which would prove nothing.
    """
    left = step.before
    if left is None or left == step.rhs:
        return None
    averaged = left.has(Expectation) or step.rhs.has(Expectation)
    digits = _AVERAGES if averaged else DIGITS
    error = check_step(step, digits).error
    return None if error is None else float(error * mpmath.mpf(10) ** (digits - 5))


def _counted(part: Derivation, found: dict[str, float]) -> str:
    left = [s for s in part.steps if s.label not in found]
    kinds = {
        "given or defined": sum(s.kind in ("given", "notation") for s in left),
        "assumed": sum(s.kind == "assumption" for s in left),
        "not evaluable": sum(s.kind == "derived" for s in left),
    }
    return ", ".join(f"{count} {words}" for words, count in kinds.items() if count)


def _shortened(title: str) -> str:
    words = plain_text(title)
    return words if len(words) <= _WIDTH else words[: _WIDTH - 3] + "..."
