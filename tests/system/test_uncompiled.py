"""Kernels in plain Python: the same numbers."""

import numpy as np
import pytest
from solver_cases import model, small_table

from generated.systems import square
from giantstep.system import uncompiled as plain
from giantstep.system.solve import problem_of
from giantstep.system.state import run_solver


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_solver_without_its_compiler_is_the_solver(blocks: int) -> None:
    problem = problem_of(model(blocks), 300)
    given = np.array(small_table(problem, 12).T, order="C"), problem.fraction, problem.parameters.array()
    compiled = run_solver(square, *given)
    interpreted = run_solver(square, *given, solve=plain.uncompiled(square.solve))
    assert min(interpreted.status, compiled.status) > 0
    assert np.allclose(interpreted.state.work, compiled.state.work, rtol=1e-11, atol=1e-13)
    assert np.allclose(interpreted.out, compiled.out, rtol=1e-12)


def test_a_division_by_zero_is_that_of_compiled_code() -> None:
    problem = problem_of(model())
    node = np.array(small_table(problem, 4).T, order="C")
    node[5:] = 0.0  # features that vanish
    status = run_solver(
        square, node, problem.fraction, problem.parameters.array(), solve=plain.uncompiled(square.solve)
    ).status
    assert status == run_solver(square, node, problem.fraction, problem.parameters.array()).status
