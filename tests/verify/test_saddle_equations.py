"""Every saddle-point equation makes a derivative of the functional vanish, and a wrong one does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from derive.loss.quadratic import SQUARE
from derive.saddle import SaddleSystem, coupled_system, saddle_system
from giantstep.spec.model import Model
from giantstep.verify.derivation_steps import derivation_checks
from giantstep.verify.saddle_equations import equation_checks

SYSTEMS = {
    "square": lambda: saddle_system(SQUARE),
    "square, labels that are drawn": lambda: saddle_system(SQUARE, 2, drawn=True),
    "any loss": coupled_system,
    "two indices, two directions": lambda: coupled_system(2, 2),
    "structured inputs": lambda: coupled_system(bulk="inputs"),
    "stretched bulk": lambda: coupled_system(bulk="stretched"),
    "given bulk": lambda: coupled_system(bulk="matrix"),
    "given bulk, several blocks": lambda: coupled_system(bulk="neurons"),
    "given bulk, several blocks, two indices": lambda: coupled_system(2, bulk="neurons"),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_all_equations_to_fifty_digits(name: str) -> None:
    found = list(equation_checks(SYSTEMS[name]()))
    assert len(found) >= 13 and all(check.error < 1e-50 for check in found), found


@pytest.mark.parametrize("unknown", ["V1_hat", "zeta_hat", "psi_hat", "Q1_hat", "V1", "psi", "Q1", "adjoint", "m"])
def test_a_wrong_factor_is_found(unknown: str) -> None:
    """One in a million of the body: of the equation that it belongs to, or of one that builds on it."""

    def wrong(system: SaddleSystem) -> SaddleSystem:
        body = {
            e.unknown: e.body + (e.body.args[0] / 10**6 if unknown in ("adjoint", "m") else e.body / 10**6)
            for e in system.equations
        }
        changed = [replace(e, body=body[e.unknown]) if e.unknown == unknown else e for e in system.equations]
        return replace(system, equations=tuple(changed))

    found = [check.label for check in equation_checks(wrong(coupled_system())) if check.error > 1e-12]
    assert found


def test_the_report_tells_checked_from_given_and_assumed() -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0},
            "target": {"link": "sign"},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "fit": {"samples": 1.0, "ridge": 0.1},
        }
    )
    rows = list(derivation_checks(model))
    assert all(row.ok for row in rows), [row.line() for row in rows]
    equations = next(row for row in rows if row.name.startswith("Saddle-point equations"))
    count = int(equations.name.partition(": ")[2].split()[0])
    assert count >= 55
    for words in ("given or defined", "assumed", "cannot be compared", ": earlier results put together"):
        assert words in equations.note
    assert "1: an average written down, which is computed later" in equations.note
