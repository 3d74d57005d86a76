"""What is said where equations are not solved: the cause that was measured, or that none was found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.system.problem import problem_of
from giantstep.system.slight_response import largest_response, slight_hint
from giantstep.system.square_loss import rounding_hint
from giantstep.system.stalled import hint

SEVERAL = {"network.readout.values": [1.0, -0.5], "network.readout.fractions": [0.3, 0.7]}


@pytest.mark.parametrize("changes", [{}, SEVERAL])
def test_the_largest_response_is_that_without_data(changes: dict[str, Any]) -> None:
    """V of a solution is below it, and tends to it as the ridge takes over: 1 - O(1/ridge)."""
    kappa = np.linspace(-3.0, 3.0, 13)
    for ridge in (0.1, 10.0, 1e6):
        model = gs.Model.from_toml("examples/tanh_sign.toml").replace({**changes, "fit.ridge": ridge})
        found, problem = gs.solve(model).order_parameters, problem_of(model)
        mu1, rest = np.array([term.coefficients(kappa)[1:3] for term in problem.blocks]).swapaxes(0, 1)
        response = np.einsum("bk,bc,ck->k", mu1, found["V1"], mu1) + found["V2"] @ rest
        assert response.max() <= largest_response(problem) * (1.0 + 1e-9)
    assert response.max() == pytest.approx(largest_response(problem), rel=1e-5)


def test_a_slight_response_is_told_with_its_size() -> None:
    model = gs.Model.from_toml("examples/tanh_sign.toml")
    small, usual = (problem_of(model.replace({"fit.ridge": ridge})) for ridge in (1e6, 20.0))
    assert f"{largest_response(small):.0e}" in slight_hint(small) and slight_hint(small).startswith("lower fit.ridge")
    assert rounding_hint(small) == hint(small) == slight_hint(small)
    assert slight_hint(usual) == ""


@pytest.mark.parametrize(("loss", "further"), [("huber", False), ("logistic", True)])
def test_where_no_cause_is_found_that_is_said(loss: str, further: bool) -> None:
    problem = problem_of(gs.Model.from_toml("examples/tanh_sign.toml").replace({"fit.loss": loss}))
    for found in (rounding_hint(problem), hint(problem)):
        assert found.startswith("the cause is not known") and "ruled out" in found and "larger fit.ridge" in found
    assert ("Not looked for: whether samples are separable" in hint(problem)) == further
