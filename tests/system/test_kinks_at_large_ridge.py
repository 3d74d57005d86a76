"""Losses with kinks where the ridge leaves the output next to no variance: its mean passes a kink in a narrow place.

Against the same equations on thousands of equal panels, which need not know where.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of

MANY = Level(8, 64, 9)  # panels of a few thousandths, several in the spread of each output below
CASE = {
    "network": {"activation": "tanh", "width": 1.0},
    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
    "target": {"link": "sign"},
    "fit": {"samples": 1.5, "loss": "hinge", "ridge": 30.0},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},  # once refused, with the hint to raise the ridge; so were the next two
        {"fit.ridge": 100.0},
        {"fit.ridge": 10.0, "fit.samples": 0.05},
        {"fit.loss": "huber", "fit.ridge": 300.0, "fit.samples": 0.5},  # once wrong by 8e-10, with an error of 8e-14
        {"fit.loss": "absolute", "fit.ridge": 100.0, "fit.samples": 0.5},
        {"fit.ridge": 100.0, "target.link": "sign(z-0.4)", "target.flips": 0.2, "network.activation": "gelu"},
    ],
    ids=["hinge", "hinge-100", "few-samples", "huber", "absolute", "flips"],
)
def test_solutions_solve_the_equations_on_many_panels(changes: dict[str, Any]) -> None:
    """Newton's step there moves no unknown by more than 1e-9 of its size: ten times the error that is asked."""
    result = gs.solve(gs.Model.from_dict(CASE).replace(changes))
    system = CoupledSystem(problem_of(result.model), MANY)
    x = system.unknowns(order_of(system.problem, result)).copy()
    outcome = newton(system, x, most=1)
    assert np.max(np.abs(outcome.x - x) / system.scale(x)) < 1e-9
    assert system.observables()[1] == pytest.approx(result.train_error, rel=1e-10)
    assert result.quadrature_error < 1e-10


def test_a_huge_ridge_leaves_the_sign_of_the_spike() -> None:
    """arccos(gamma)/pi, with corrections of the order of the spread of the output, 1e-6."""
    result = gs.solve(gs.Model.from_dict(CASE).replace({"fit.ridge": 1e6}))
    assert result.test_error == pytest.approx(np.arccos(0.8) / np.pi, abs=1e-6)
