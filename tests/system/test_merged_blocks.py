"""Blocks that are one up to a sign are merged before solving; the answer for those given is the unmerged one."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system.merged_blocks import Members, merged, parted
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.square_loss import solve_direct

MODEL = {
    "network": {
        "activation": "relu",
        "width": 0.5,
        "readout": {"values": [1.0, -1.0, 1.0], "fractions": [0.2, 0.5, 0.3]},
    },
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1},
    "spike": {"strength": 1.2, "alignment": 0.9, "bulk_variance": 1.3},
}
ROUNDING = 1e-11  # of two Newton iterations, each to rounding of systems with a condition number below 1e4


def unmerged(model: Model, dimension: int, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The solution with every block kept apart; a finite dimension shares the overlaps of equal blocks."""
    module = sys.modules["giantstep.system.solve"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "merged", lambda problem, opposite: (problem, _apart(problem)))
        return solve(model, dimension=dimension)


def _apart(problem: Problem) -> Members:
    one = np.ones(len(problem.blocks))
    return Members(np.arange(len(one)), one, one)


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "abs"])  # neither odd nor even, odd, even
def test_merging_changes_nothing(activation: str, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model.from_dict(MODEL).replace({"fit.loss": loss, "network.activation": activation})
    assert len(merged(problem_of(model))[0].blocks) == (2 if activation == "relu" else 1)
    ours, theirs = solve(model, dimension=500), unmerged(model, 500, monkeypatch)
    assert ours.test_error == pytest.approx(theirs.test_error, rel=ROUNDING)
    for name, values in ours.order_parameters.items():
        other = theirs.order_parameters[name]
        assert values.shape == other.shape
        np.testing.assert_allclose(values, other, rtol=0.0, atol=ROUNDING * np.abs(other).max() + 1e-14, err_msg=name)


def test_the_limit_of_equal_blocks_is_solved_and_shared() -> None:
    """Without a finite-size term the overlaps of equal blocks are not determined one by one."""
    result = solve(Model.from_dict(MODEL))
    m = result.order_parameters["m"]
    assert m[0] / 0.2 == pytest.approx(m[2] / 0.3, rel=1e-12)


def test_opposite_blocks_of_several_directions_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    loadings = [[1.0, 0.3], [-1.0, -0.3], [0.2, 0.8]]
    spike = {"strength": 1.2, "loadings": loadings, "alignment": [0.6, 0.5], "bulk_variance": 1.3}
    model = Model.from_dict({**MODEL, "spike": spike}).replace({"network.activation": "tanh"})
    assert len(merged(problem_of(model))[0].blocks) == 2
    ours, theirs = solve(model, dimension=500), unmerged(model, 500, monkeypatch)
    for name, values in ours.order_parameters.items():
        other = theirs.order_parameters[name]
        np.testing.assert_allclose(values, other, rtol=0.0, atol=ROUNDING * np.abs(other).max() + 1e-14, err_msg=name)


def test_a_bias_tells_opposite_blocks_apart() -> None:
    model = Model.from_dict(MODEL).replace({"network.activation": "tanh", "network.bias": 0.2})
    assert len(merged(problem_of(model))[0].blocks) == 2
    assert len(merged(problem_of(model.replace({"network.bias": 0.0})), opposite=False)[0].blocks) == 2


def test_order_parameters_of_merged_blocks_add_up_again() -> None:
    model = Model.from_dict(MODEL).replace({"network.activation": "abs"})
    problem, members = merged(problem_of(model))
    found = solve_direct(problem, 1e-10)
    again = members.gathered(parted(found, members, problem_of(model).fraction).order_parameters)
    for name, values in found.order_parameters.items():
        # Q2 and V2 of the parts: what each has by itself; Q1, V1 add up to the whole
        np.testing.assert_allclose(again[name], values, rtol=1e-13, atol=1e-15, err_msg=name)


def test_distinct_blocks_are_left_alone() -> None:
    problem = problem_of(Model.from_dict(MODEL).replace({"network.readout.values": [1.0, -1.0, 0.5]}))
    same, members = merged(problem)
    assert same is problem
    assert members.block.tolist() == [0, 1, 2]


def test_blocks_of_plain_random_features_are_one() -> None:
    """Without a spike the readout at initialisation does not matter."""
    problem, members = merged(problem_of(Model.from_dict(MODEL).replace({"spike": None})))
    assert len(problem.blocks) == 1
    assert members.block.tolist() == [0, 0, 0]
    assert problem.fraction.sum() == pytest.approx(1.0, abs=1e-15)


def test_a_solution_of_as_many_blocks_is_returned_as_it_is() -> None:
    problem = problem_of(Model.from_dict(MODEL).replace({"network.readout.values": [1.0, -1.0, 0.5]}))
    found = solve_direct(problem, 1e-10)
    assert parted(found, _apart(problem), problem.fraction) is found
