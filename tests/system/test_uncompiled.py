"""Kernels in plain Python: the same numbers."""

import numpy as np
import pytest
from solver_cases import model, small_table

from generated.systems import square
from giantstep.system import uncompiled as plain
from giantstep.system.many_digits import certified, in_many_digits, many, solver
from giantstep.system.solve import problem_of
from giantstep.system.state import run_points, run_solver, slices_by_name


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


def test_many_digits_are_the_same_solution_and_satisfy_more_of_the_equations() -> None:
    problem = problem_of(model(2), 300)
    node = np.array(small_table(problem, 12).T, order="C")
    table = square.CERTIFICATE.on(node, slices_by_name(square, 2))
    numbers = problem.parameters.array()[None]
    compiled = run_points(square, (node[:, :0], node), problem.fraction, numbers)
    given = many(problem.fraction), many(numbers)
    longer = run_points(square, (many(node[:, :0]), many(node)), *given, solve=solver(square.solve))
    assert np.allclose(longer.work.astype(float), compiled.work, rtol=1e-11, atol=1e-13)
    residual = certified(table, problem.fraction, numbers, longer.work)[0]
    assert residual < 1e-20 < table.check(problem.fraction, numbers, compiled.work)[0]
    with in_many_digits():
        off = longer.work * (1 + many(np.array([1e-15])))
    assert 1e-18 < certified(table, problem.fraction, numbers, off)[0] < 1e-14


def test_many_digits_divide_by_zero_as_compiled_code_does() -> None:
    problem = problem_of(model())
    node = np.array(small_table(problem, 4).T, order="C")
    node[5:] = 0.0  # features that vanish
    numbers = problem.parameters.array()[None]
    given = many(problem.fraction), many(numbers)
    longer = run_points(square, (many(node[:, :0]), many(node)), *given, solve=solver(square.solve))
    compiled = run_points(square, (node[:, :0], node), problem.fraction, numbers)
    assert longer.status[0] == compiled.status[0]
    one, zero = many(np.array([1.0, 0.0]))
    with in_many_digits():
        assert 1 / zero == -(-1 / zero) == one / zero == np.inf
        assert np.isnan(float(zero / 0))
