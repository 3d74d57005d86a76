"""Changed coefficients in a generated solver are noticed: by its twin, by its own check, by the check of the check."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from solver_cases import distance, model, plan, run, small_table, twin_of

from generated.solvers import square_blocks, square_single
from giantstep.system.solve import problem_of

CHANGES = (
    (" - ", " + "), (" + ", " - "), ("**2", "**3"), ("alpha*", ""), ("/beta", ""), ("2*", "3*"),
    ("table[node, 6", "table[node, 5"),
)  # fmt: skip


def solve_lines(text: str) -> list[int]:
    """Lines that hold equations or observables; the tangents of a Newton block set only its speed."""
    kept: list[int] = []
    inside = False
    for i, line in enumerate(text.splitlines()):
        if line.startswith("def "):
            inside = line.startswith(("def _equations_", "def _observables("))
        target, found, value = line.strip().partition("= ")
        loads = re.fullmatch(r"(table|work|fraction)\[[^]]*\]|[\w.*+ ]+", value) is not None
        if inside and found and not loads and not re.match(r"(o_|c_|K|N)\w* ", target):
            kept.append(i)
    return kept


def check_lines(text: str) -> list[int]:
    """Lines of ``check`` that evaluate an equation."""
    return [i for i, line in enumerate(text.splitlines()) if line.strip().startswith("worst = _worse(")]


def mutants(text: str, where: list[int], count: int) -> Iterator[tuple[str, str]]:
    """``count`` texts with one change each, spread evenly over all changes there are."""
    lines = text.splitlines()
    found = []
    for i in where:
        for old, new in CHANGES:
            start = lines[i].find("=") + 1
            position = lines[i].find(old, start)
            if position >= 0:
                found.append((i, lines[i][:position] + new + lines[i][position + len(old) :]))
    chosen = [found[k * len(found) // count] for k in range(count)] if len(found) > count else found
    for i, changed in chosen:
        yield f"{lines[i].strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def interpreted(text: str) -> ModuleType:
    """A kernel module without its compiler: plain Python, the same arithmetic."""
    module = ModuleType("mutant")
    plain = text.replace("from numba.extending import intrinsic", "intrinsic = lambda function: lambda: None")
    plain = re.sub("from numba import njit.*", "njit = lambda **options: lambda function: function", plain)
    assert plain.count("lambda") >= 2
    with np.errstate(all="ignore"):
        exec(compile(plain, "<mutant>", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(("kernel", "blocks", "count"), [(square_single, 1, 60), (square_blocks, 2, 25)])
def test_a_changed_coefficient_is_noticed(kernel: ModuleType, blocks: int, count: int) -> None:
    problem = problem_of(model(blocks, spike__alignment=0.6), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    text = inspect.getsource(kernel)
    unchanged = run(interpreted(text), *data)
    twin = twin_of(unchanged, *data)
    assert distance(unchanged, twin) < 1e-10
    survivors = []
    for change, mutant in mutants(text, solve_lines(text), count):
        try:
            with np.errstate(all="ignore"):
                solved = run(interpreted(mutant), *data)
                noticed = solved.status < 0 or not distance(solved, twin) < 1e-9
                noticed = noticed or not kernel.check(*data, solved.work) < 1e-10
        except (ZeroDivisionError, OverflowError, IndexError, NameError):
            noticed = True
        if not noticed:
            survivors.append(change)
    assert survivors == []


@pytest.mark.parametrize(("kernel", "blocks"), [(square_single, 1), (square_blocks, 2)])
def test_the_check_notices_its_own_mutations(kernel: ModuleType, blocks: int) -> None:
    """A changed equation in ``check`` refuses the right solution: no equation is left out of it."""
    problem = problem_of(model(blocks, spike__alignment=0.6), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    text, solved = inspect.getsource(kernel), run(kernel, *data)
    assert kernel.check(*data, solved.work) < 1e-12
    where = check_lines(text)
    assert len(where) == len(plan().system.equations) + 1  # and the matrix inverse
    checked = {
        change: interpreted(mutant).check(*data, solved.work) for change, mutant in mutants(text, where, 60)
    }
    survivors = [change for change, residual in checked.items() if not residual > 1e-6]
    assert survivors == []


def test_the_check_notices_every_changed_unknown() -> None:
    """Each family of the solution in turn made wrong by 1e-6."""
    problem = problem_of(model(2), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    fields = {definition.name for definition in plan().system.fields}
    for name, (start, shape) in square_blocks.layout(2, len(table)).items():
        if name in fields:
            continue
        solved = run(square_blocks, *data)
        solved.work[start : start + math.prod(shape)] *= 1.0 + 1e-6
        # what is accepted is 1e-10 of the sum of all terms, which may cancel to 1e-3 of it here
        assert square_blocks.check(*data, solved.work) > 1e-9, name
