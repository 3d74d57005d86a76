"""Fluctuations between draws: every recorded step at a random point."""

from __future__ import annotations

from derive.check import check_derivation
from derive.draws import draws


def test_every_step_holds_at_a_random_point() -> None:
    found = check_derivation(draws().derivation)
    compared = {step.label: float(step.error) for step in found if step.outcome == "compared"}
    assert max(compared.values()) < 1e-45, compared
    untested = {step.label for step in found if step.outcome == "not evaluable"}
    assert untested == {"readouts of two fits that differ"}
    assert len(compared) == 7
