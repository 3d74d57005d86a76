"""What a curve says of what may lie between its points."""

from __future__ import annotations

from typing import Any

import pytest

import giantstep as gs
from giantstep.report.gaps import gaps

PEAKED = gs.model("tanh", link="sign", ridge=1e-4, width=1.0)


def told(sweep: Any, model: gs.Model = PEAKED) -> list[str]:
    return gaps(gs.curve(model, sweep, baselines=False))


def test_a_peak_between_two_points_is_told_with_its_error() -> None:
    peak = gs.solve(PEAKED.replace({"fit.samples": 1.0})).test_error
    (line,) = told("fit.samples=0.22:2.1:7")
    assert line.startswith("at fit.samples = 1,") and f"a peak there, {peak:.6g}" in line
    first, second = told(["network.width=0.31:2.77:7", "fit.samples=1,2"])
    assert first.startswith("fit.samples = 1: at network.width = 1,")
    assert "between network.width = 1.54 and 1.95" in second  # next to the peak at 2


@pytest.mark.parametrize(
    ("sweep", "changes"),
    [
        ("fit.samples=3:6:7", {}),  # beyond the peak
        ("fit.samples=0.22:2.1:4", {}),  # no line
        ("fit.samples=0.22:2.1:7", {"fit.ridge": 3.0}),  # no peak
        ("fit.loss=square,huber", {}),
    ],
)
def test_nothing_is_told_of_other_curves(sweep: str, changes: dict[str, Any]) -> None:
    assert told(sweep, PEAKED.replace(changes)) == []


def test_a_peak_on_a_point_is_a_steep_part() -> None:
    (line,) = told({"fit.samples": [0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]})
    assert line.startswith("the test error changes from") and "add points there" in line


def test_a_steep_start_is_told() -> None:
    """Without an own scale: in the limit a small step already finds the direction."""
    (line,) = told("step.learning_rate=0:3:7", gs.model("tanh", link="linear", ridge=1e-4))
    assert "between step.learning_rate = 0 and 0.5" in line


def test_many_curves_are_told_in_a_few_lines() -> None:
    lines = told(["fit.samples=0.22:2.1:7", "fit.ridge=1e-5,2e-5,3e-5,4e-5,5e-5"])
    assert len(lines) == 4 and lines[-1] == "... and 2 more curves"
