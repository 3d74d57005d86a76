"""What systems have of features and level: one object, whatever samples and ridge; others where these differ."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system import coupled_solver
from giantstep.system.at_level import _remembered
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved
from giantstep.system.kink_crossings import cuts_at, passes_unseen
from giantstep.system.problem import problem_of
from giantstep.system.resolution import FINE
from giantstep.system.square_start import unknowns_of_square_loss
from giantstep.system.stretched_system import StretchedSystem

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


def test_nothing_keeps_the_laws_of_a_system_whose_labels_were_chosen() -> None:
    """They may be large: neither its certificate nor anything else outlives it."""
    problem = problem_of(Model.from_dict(MODEL))
    laws = replace(resolved(problem, FINE[0]), kept=False)
    chosen = CoupledSystem(problem, FINE[0], laws)
    x = np.full(len(chosen.first), 0.7)
    assert chosen.certificate(x) > 0.0
    left = weakref.ref(chosen.at), weakref.ref(laws)
    del chosen, laws
    gc.collect()
    assert [each() for each in left] == [None, None]


def test_systems_of_one_record_write_nothing_into_it() -> None:
    """The residuals of one stay when another is evaluated."""
    first, other = system(), system(**{"fit.samples": 3.0, "fit.ridge": 0.5})
    x = np.full(len(first.first), 0.7)
    found = first.residual(x).copy()
    assert not np.allclose(other.residual(1.3 * x), found)
    assert np.array_equal(first.residual(x), found)


def test_rows_of_a_trained_bulk_are_found_once() -> None:
    """The residuals of a system are those of one that was made first, at other samples and ridge."""
    problem = problem_of(Model.from_dict(MODEL).replace({"step.bulk": "trained", "fit.loss": "square"}))
    other = problem.with_parameters(samples=1.1, ridge=0.7)
    first = StretchedSystem(problem, FINE[0])
    x = unknowns_of_square_loss(other, first)
    first.residual(x)
    second = StretchedSystem(other, FINE[0])
    assert second.exchange is first.exchange and second.numbers.value is not first.numbers.value
    found = second.residual(x)
    _remembered.cache_clear()
    alone = StretchedSystem(other, FINE[0])
    assert alone.at is not second.at
    assert np.array_equal(alone.residual(x), found) and not np.allclose(first.residual(x), found)


def test_averages_of_the_square_loss_turn_nowhere() -> None:
    """Those of a loss that is as steep do, where its output passes zero."""
    bulk = {"step.bulk": "trained", "network.readout": {"values": [1.0]}, "network.activation": "tanh"}
    square = problem_of(Model.from_dict(MODEL).replace({**bulk, "fit.loss": "square"}))
    system = StretchedSystem(square, FINE[1])
    x = unknowns_of_square_loss(square, system)
    system.residual(x)
    assert cuts_at(square, x) == () and not passes_unseen(system)
    hinge = problem_of(Model.from_dict(MODEL).replace({**bulk, "fit.loss": "hinge", "fit.ridge": 1e3}))
    assert len(cuts_at(hinge, unknowns_of_square_loss(hinge, CoupledSystem(hinge, FINE[1])))) > 0


def test_no_coarser_system_leads_to_a_trained_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair of levels is enough; the answer is that which a coarser system leads to."""
    model = Model.from_dict(MODEL).replace({"step.bulk": "trained", "fit.loss": "square"})
    problem, asked = problem_of(model), []
    first = coupled_solver.first_solution
    monkeypatch.setattr(coupled_solver, "first_solution", lambda *given: asked.append(1) or first(*given))
    found = solve_coupled(problem, 1e-10)
    assert not asked
    monkeypatch.setattr(coupled_solver, "_beside", lambda *_: None)
    led = solve_coupled(problem, 1e-10)
    assert asked and found.test_error == pytest.approx(led.test_error, rel=2e-10)
