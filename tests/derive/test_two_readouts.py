"""The equations of two fits: every recorded step."""

from __future__ import annotations

import pytest

from derive.check import check_derivation
from derive.replica.two_kinds import two_kinds_derivation
from derive.two_readouts import pair_system

COMPOSED = {"weights of two kinds", "conjugate pairs of two fits", "functional of two fits"}


@pytest.mark.parametrize(
    "law",
    [
        "isotropic",
        pytest.param("penalised", marks=pytest.mark.slow),
        pytest.param("norms", marks=pytest.mark.slow),
        pytest.param("inputs", marks=pytest.mark.slow),
    ],
)
def test_every_step_holds_at_a_random_point(law: str) -> None:
    system = pair_system(1, 1, law)  # type: ignore[arg-type]
    for part in (system.derivation, two_kinds_derivation()):
        for step in check_derivation(part):
            if step.outcome == "compared":
                assert float(step.error) < 1e-45, step.label
            else:
                assert step.outcome in ("given", "assumed") or step.label in COMPOSED, step.label
