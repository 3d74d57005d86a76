"""Kernels in plain Python: the same numbers, and only for the first few starts of Newton's method."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from solver_cases import model, small_table

from generated.systems import square
from giantstep.system import uncompiled as plain
from giantstep.system.solve import problem_of
from giantstep.system.state import run_solver


@dataclass(frozen=True)
class _Kernel:
    """A function that has not been compiled."""

    py_func: Callable[..., float] = math.gamma
    signatures: tuple[object, ...] = ()


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


@pytest.mark.parametrize(("kept", "few"), [(False, plain._FEW), (True, 0)])
def test_a_kernel_that_is_called_often_is_compiled(kept: bool, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "is_kept", lambda kernel: kept)
    monkeypatch.setattr(plain, "uncompiled", lambda kernel: kernel.py_func)
    kernel = _Kernel()
    chosen = [plain.sparing(kernel) for _ in range(few + 2)]
    assert chosen == [kernel.py_func] * few + [kernel] * 2


def test_machine_code_that_is_there_is_used() -> None:
    run_solver(square, np.ones((8, 1)), np.ones(1), np.array([1.0, 1.0, 1.0, 0.0, 0.0]))
    assert plain.sparing(square.solve) is square.solve
