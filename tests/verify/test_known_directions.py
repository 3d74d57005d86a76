"""Links of fewer directions than letters, and models that the second implementation does not take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from giantstep.law.known_indices import in_known
from giantstep.spec.model import Model
from giantstep.system.solve import solve
from giantstep.verify import certificate as module
from giantstep.verify.certificate import certificate, certificate_checks
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.run import law_checks, solution_checks

STEP = {"samples": 2.0, "learning_rate": 1.0}
MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": STEP,
        "target": {"link": "relu(z1 + z2 + z3)"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)


def test_checks_are_taken_in_the_directions_that_the_link_knows() -> None:
    """The certificate is that of the letters."""
    rows = [*law_checks(in_known(MODEL)), *solution_checks(MODEL)]
    assert [row.line() for row in rows if not row.ok] == []
    names = "\n".join(row.name for row in rows)
    for words in ("kernel of the link", "after the step", "of the solver by the interpreter", "second quadrature"):
        assert words in names


def test_a_trained_bulk_is_certified_along_them() -> None:
    result = solve(MODEL.replace({"step": {**STEP, "bulk": "trained"}, "target.link": "relu(0.6*z1 + 0.8*z2)"}))
    found = certificate(result)
    assert found.holds and not found.unsettled, found
    order = {**result.order_parameters, "psi": result.order_parameters["psi"] * (1.0 + 1e-6)}
    assert not certificate(replace(result, order_parameters=order)).holds


def test_what_has_no_second_implementation_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Any) -> Any:
        raise NotEvaluable("a link of more than two indices with kinks")

    monkeypatch.setattr(module, "reference", refused)
    (row,) = certificate_checks(solve(MODEL))
    assert row.outcome == "undecided" and "not taken: a link of more than two indices" in row.line()
