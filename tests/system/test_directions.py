"""Models of many readout values and any loss: directions against the matrix of all derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system import directions
from giantstep.system.result import Result
from giantstep.system.solve import solve


def many(**fit: Any) -> Model:
    """Seven readout values, two of them rare."""
    readout = {"values": [-1.9, -1.1, -0.4, 0.2, 0.7, 1.3, 1.8], "fractions": [1e-8, 0.2, 0.2, 0.2, 0.2, 0.2, 1e-4]}
    readout["fractions"][-2] -= 1e-4 + 1e-8  # type: ignore[index]
    data = {
        "network": {"activation": "tanh", "width": 1.0, "bias": 0.2, "readout": readout},
        "step": {"samples": 2.0, "learning_rate": 1.0},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.05, **fit},
    }
    return Model.from_dict(data)


@pytest.mark.parametrize("fit", [{"loss": "logistic"}, {"loss": "huber", "ridge": 1e-4}])
@pytest.mark.parametrize("dimension", [None, 400])
def test_the_solution_is_that_of_the_matrix(
    fit: dict[str, Any], dimension: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both solve the equations to a tenth of the tolerance, the last step that may be left out; unknowns of rare blocks
    have as many digits.
    """
    taken: list[int] = []
    known_along = directions.known_along

    def counted(*given: Any) -> int:
        taken.append(known_along(*given))
        return taken[-1]

    monkeypatch.setattr("giantstep.system.newton.known_along", counted)
    found = solve(many(**fit), dimension=dimension)
    assert taken and min(taken) > 0  # no step took the matrix
    monkeypatch.setattr(directions, "_FEW", 10_000)
    by_matrix = solve(many(**fit), dimension=dimension)
    assert taken[-1] == 0
    assert found.residual < 1e-11
    assert found.test_error == pytest.approx(by_matrix.test_error, rel=2e-11)
    for name in ("Q2", "V2", "zeta", "psi"):
        _same(found, by_matrix, name)


def _same(found: Result, other: Result, name: str) -> None:
    """To 1e-9 of each entry: the step that both stop after is 1e-7 of an unknown, and the next one its square; of
    overlaps that vanish, of the root of the norm of their block.
    """
    here, there = found.order_parameters[name], other.order_parameters[name]
    floor = np.sqrt(np.diag(other.order_parameters["Q1"])) if name in ("zeta", "psi") else 0.0
    assert np.all(np.abs(here - there) <= 1e-9 * np.maximum(np.abs(there), floor))
