"""Defects in the equations themselves: a term of one that differs is found."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sp
from certified_models import SPIKED

from derive.saddle import Equation, SaddleSystem
from giantstep.system.solve import solve
from giantstep.verify.reference import reference
from giantstep.verify.stationarity import gradient_checks

FACTORS = {"sign": -1, "coefficient": sp.Rational(1_000_001, 1_000_000)}


def changed_in(system: SaddleSystem, unknown: str, factor: Any) -> SaddleSystem:
    """One term of one equation times a factor."""

    def body(equation: Equation) -> Any:
        first, *rest = sp.Add.make_args(equation.body)
        return sp.Add(factor * first, *rest)

    found = tuple(replace(e, body=body(e)) if e.unknown == unknown else e for e in system.equations)
    return replace(system, equations=found)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("unknown", ["T", "adjoint", "m", "zeta", "psi", "V1", "V1_hat", "V2_hat", "Q1", "Q1_hat"])
def test_a_solver_of_other_equations(unknown: str, factor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the generated text solves is not what was derived: by a sign, or by one in a million."""
    result = solve(SPIKED.replace({"fit.loss": "square"}), dimension=100)
    module = import_module("giantstep.verify.solver_equations")
    right = module.system_of(result.model)
    assert all(check.ok for check in module.solver_checks(result.model, result))
    monkeypatch.setattr(module, "system_of", lambda _: changed_in(right, unknown, FACTORS[factor]))
    first, _ = module.solver_checks(result.model, result)
    assert not first.ok and first.name.endswith(f"worst {unknown}"), first.line()


@pytest.mark.parametrize("unknown", ["m", "zeta", "psi", "Q1", "V1", "V1_hat"])
def test_a_reported_solution_of_other_equations(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve(SPIKED, dimension=100)
    module = import_module("giantstep.verify.reference")
    right = module.coupled_system_of(1, 1, "isotropic")
    monkeypatch.setattr(module, "coupled_system_of", lambda *_: changed_in(right, unknown, FACTORS["coefficient"]))
    residuals = reference(result).residuals()
    assert max(residuals.values()) > 1e-7, residuals


def test_a_free_energy_of_other_equations() -> None:
    """The functional with a term wrong by one in ten thousand, three of nine: no longer stationary."""
    sound = reference(solve(SPIKED, dimension=20))
    assert all(check.ok for check in gradient_checks(sound))
    terms = sp.Add.make_args(sp.expand(sound.system.free_energy))
    assert len(terms) == 9
    for number in (0, 4, 8):
        energy = sp.Add(*(t * (1 + sp.Rational(k == number, 10_000)) for k, t in enumerate(terms)))
        wrong = reference(sound.result)
        known = {"system": replace(sound.system, free_energy=energy), "nodes": sound.nodes, "width": sound.width}
        vars(wrong).update(known)  # the averages are the same
        assert not all(check.ok for check in gradient_checks(wrong)), terms[number]


def test_large_m_that_cancel_are_no_error_and_hide_none() -> None:
    """Readout values that differ by 1e-5: m of some 1e4 of either sign, whose features are nearly the same."""
    values = {"network.readout": {"values": [1.0, 1.00001], "fractions": [0.5, 0.5]}, "fit.loss": "square"}
    sound = reference(solve(SPIKED.replace(values)))
    assert np.abs(sound.order["m"]).max() > 1e4
    assert all(check.ok for check in gradient_checks(sound))
    known = {"nodes": sound.nodes, "width": sound.width}
    energy = sound.system.free_energy
    first = next(t for t in sp.Add.make_args(sp.expand(energy)) if "alpha" in map(str, t.free_symbols))
    wrong = reference(sound.result)
    vars(wrong).update(known | {"system": replace(sound.system, free_energy=energy + first / 10_000)})
    assert [check.outcome for check in gradient_checks(wrong)][0] == "FAILED"
    hidden = reference(sound.result)
    vars(hidden).update(known | {"point": sound.point.moved(m=1e6 * sound.point.families["m"])})
    assert [check.outcome for check in gradient_checks(hidden)][0] == "undecided"
