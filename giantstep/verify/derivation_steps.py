"""The recorded derivation: which of its steps are checked by numbers, which are given or assumed, which are neither."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import mpmath

from derive.check import StepCheck, check_derivation
from derive.gaussian.expectation import Expectation
from derive.printing import plain_text
from derive.trace import DerivationStep
from giantstep.law.derivation import derive, system_of
from giantstep.spec.model import Model
from giantstep.verify.check import Check
from giantstep.verify.saddle_equations import equation_checks

_WIDTH = 46
_ALLOWED = {True: mpmath.mpf("1e-20"), False: mpmath.mpf("1e-45")}  # with averages over given functions, without
_UNIT = "worst difference of two sides over the largest that rounding explains"
_REASONS = 3


def derivation_checks(model: Model) -> Iterator[Check]:
    """One row for every part of the derivation: the worst difference of two sides, in units of what is allowed.

    A step is compared at a random point: what it claims about its result, by differences, quadrature and sums that
    share no rule with the operation. The equations are also checked to make the derivative of the functional vanish.
    What a user gives, a notation and an assumption have nothing to compare; the note counts them, and the steps that
    cannot be compared, with the reason.
    """
    for part in derive(model).parts:
        found = check_derivation(part)
        compared = [
            _ratio(step, check) for step, check in zip(part.steps, found, strict=True) if check.error is not None
        ]
        name = f"{_shortened(part.title)}: {len(compared)} of {len(part.steps)} steps"
        if not compared:
            yield Check(name, math.nan, math.nan, note=_counted(found), empty=True)
            continue
        yield Check(name, max(compared), 1.0, note="; ".join(filter(None, (_UNIT, _counted(found)))))
    system = system_of(model)
    worst = max(float(check.error) for check in equation_checks(system))
    yield Check("equations: derivatives of the functional at their roots", worst, 1e-45)


def _ratio(step: DerivationStep, check: StepCheck) -> float:
    averaged = any(side.has(Expectation) for side in step.sides or ())
    return float(check.error / _ALLOWED[averaged])


def _counted(found: tuple[StepCheck, ...]) -> str:
    kinds: Counter[str] = Counter(check.outcome for check in found)
    words = {"given": "given or defined", "assumed": "assumed", "not evaluable": "cannot be compared"}
    counts = ", ".join(f"{kinds[kind]} {name}" for kind, name in words.items() if kinds[kind])
    counts = f"other steps: {counts}" if counts else ""
    reasons = Counter(check.reason for check in found if check.reason)
    told = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common(_REASONS))
    return f"{counts} ({told})" if told else counts


def _shortened(title: str) -> str:
    words = plain_text(title)
    return words if len(words) <= _WIDTH else words[: _WIDTH - 3] + "..."
