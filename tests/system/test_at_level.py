"""What systems have of features and level: one object, whatever samples and ridge; others where these differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system import coupled_solver
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import problem_of
from giantstep.system.resolution import FINE

MODEL = {
    "network": {"activation": "relu", "width": 1.2, "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}},
    "target": {"link": "sign"},
    "step": {"samples": 2.0, "learning_rate": 1.0},
    "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
}


def system(level: Any = FINE[0], dimension: int | None = None, **changed: Any) -> CoupledSystem:
    return CoupledSystem(problem_of(Model.from_dict(MODEL).replace(changed), dimension), level)


def test_what_no_number_of_a_fit_changes_is_found_once() -> None:
    known = system()
    assert system(**{"fit.samples": 3.0, "fit.ridge": 2.0}).at is known.at
    changes = {"fit.loss": "hinge"}, {"target.link": "sign(z - 0.3)"}, {"step.learning_rate": 1.1}
    others = (system(FINE[1]), system(dimension=1000), *(system(**changed) for changed in changes))
    assert all(other.at is not known.at for other in others)
    assert known.span is not None and others[1].span is None


def test_systems_of_one_record_write_nothing_into_it() -> None:
    """The residuals of one stay when another is evaluated."""
    first, other = system(), system(**{"fit.samples": 3.0, "fit.ridge": 0.5})
    x = np.full(len(first.first), 0.7)
    found = first.residual(x).copy()
    assert not np.allclose(other.residual(1.3 * x), found)
    assert np.array_equal(first.residual(x), found)


def test_no_coarser_system_leads_to_a_trained_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair of levels is enough; the answer is that which a coarser system leads to."""
    model = Model.from_dict(MODEL).replace({"step.bulk": "trained", "fit.loss": "square"})
    problem, asked = problem_of(model), []
    first = coupled_solver._first_solution
    monkeypatch.setattr(coupled_solver, "_first_solution", lambda *given: asked.append(1) or first(*given))
    found = solve_coupled(problem, 1e-10)
    assert not asked
    monkeypatch.setattr(coupled_solver, "_beside", lambda *_: None)
    led = solve_coupled(problem, 1e-10)
    assert asked and found.test_error == pytest.approx(led.test_error, rel=2e-10)
