"""Losses beside a ridge that holds all but the mean features: outputs that vary by next to nothing about their mean."""

from __future__ import annotations

import pytest

import giantstep as gs

RIDGES = (1e6, 1e8, 1e10, 1e12)


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "hinge", "huber", "log_cosh"])
@pytest.mark.parametrize("learning_rate", [1.0, None])
def test_errors_approach_their_limit_as_one_over_the_ridge(loss: str, learning_rate: float | None) -> None:
    """What is left of the way falls in proportion, to the share that its own rounding is of it."""
    found = [gs.solve(gs.model(loss=loss, ridge=ridge, learning_rate=learning_rate)) for ridge in RIDGES]
    limit = found[-1].test_error
    left = [one.test_error - limit for one in found[:-1]]
    assert all(one.residual < 1e-11 for one in found)
    assert left[1] == pytest.approx(left[0] / 100.0, rel=1e-3, abs=1e-13)
    assert left[2] == pytest.approx(left[1] / 100.0, rel=0.05, abs=1e-13)


def test_without_a_step_all_losses_are_their_slope_at_zero() -> None:
    """Which signs have in common; the squared error of regression is that of no output."""
    wrong = [gs.solve(gs.model(loss=loss, ridge=1e12, learning_rate=None)).test_error for loss in ("logistic", "hinge")]
    assert wrong[0] == pytest.approx(wrong[1], abs=1e-12)
    for loss in ("huber", "log_cosh"):
        assert gs.solve(gs.model(loss=loss, ridge=1e12, learning_rate=None)).test_error == pytest.approx(1.0, abs=1e-11)
