"""Blocks with equal features are merged before solving; the answer for the original blocks is the unmerged one."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system.merged_blocks import merged, parted
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

MODEL = {
    "network": {
        "activation": "relu", "width": 0.5, "readout": {"values": [1.0, -1.0, 1.0], "fractions": [0.2, 0.5, 0.3]},
    },
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1},
    "spike": {"strength": 1.2, "alignment": 0.9, "bulk_variance": 1.3},
}  # fmt: skip
ROUNDING = 1e-11  # of two Newton iterations, each to rounding of systems with a condition number below 1e4


def unmerged(model: Model, dimension: int, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The solution with every block kept apart; a finite dimension shares the overlaps of equal blocks."""
    module = sys.modules["giantstep.system.solve"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "merged", lambda problem: (problem, np.arange(len(problem.blocks))))
        return solve(model, dimension=dimension)


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_merging_changes_nothing(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model.from_dict(MODEL).replace({"fit.loss": loss})
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


def test_distinct_blocks_are_left_alone() -> None:
    problem = problem_of(Model.from_dict(MODEL).replace({"network.readout.values": [1.0, -1.0, 0.5]}))
    same, members = merged(problem)
    assert same is problem
    assert members.tolist() == [0, 1, 2]


def test_blocks_of_plain_random_features_are_one() -> None:
    """Without a spike the readout at initialisation does not matter."""
    problem, members = merged(problem_of(Model.from_dict(MODEL).replace({"spike": None})))
    assert len(problem.blocks) == 1
    assert members.tolist() == [0, 0, 0]
    assert problem.fraction.sum() == pytest.approx(1.0, abs=1e-15)


def test_a_solution_of_as_many_blocks_is_returned_as_it_is() -> None:
    problem = problem_of(Model.from_dict(MODEL).replace({"network.readout.values": [1.0, -1.0, 0.5]}))
    from giantstep.system.square_loss import solve_direct

    found = solve_direct(problem, 1e-10)
    assert parted(found, np.arange(3), problem.fraction) is found
