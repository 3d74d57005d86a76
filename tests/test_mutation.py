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
from giantstep.solve import problem_of

CHANGES = (
    (" - ", " + "), (" + ", " - "), ("**2", "**3"), ("alpha*", ""), ("/beta", ""), ("2*", "3*"),
    ("table[node, 6", "table[node, 5"),
)  # fmt: skip


def solve_lines(text: str) -> list[int]:
    """Lines of ``solve`` that hold equations, without those that set only the speed of a Newton block."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def solve("))
    last = next(i for i, line in enumerate(lines) if i > first and line.startswith("def "))
    kept: list[int] = []
    block: list[int] = []
    newton = False
    for i in range(first, last + 1):
        line = lines[i].strip()
        if line.startswith(("# block", "# observables")) or i == last:
            kept += without_jacobian(lines, block) if newton else block
            block, newton = [], "nonlinear" in line
        target = re.match(r"(work\[o_\w+[^]]*\]|E\w+(\[[^]]*\])?|x\d+|w\d+|sum\d+|\w+_here|residual\[[^]]*\]|"
                          r"jacobian\[[^]]*\]|out\[\d\]) \+?= ", line)  # fmt: skip
        if target and not re.match(r"(kappa|weight)_here|\w+_here = work", line):
            block.append(i)
    return kept


def without_jacobian(lines: list[str], block: list[int]) -> list[int]:
    """Lines whose value reaches something else than the Jacobian."""
    words = {i: [re.findall(r"\w+", part) for part in lines[i].split("= ", 1)] for i in block}
    # what a line sets: a local name, or the place of a family in the workspace
    name = {i: left[1] if left[0] == "work" else left[0] for i, (left, _) in words.items()}
    live = {i for i in block if re.match(r"o_(?!E)|residual", name[i])}
    while True:
        read = {word for i in live for word in words[i][1]}
        more = {i for i in block if name[i] in read - {"jacobian"}} - live
        if not more:
            return sorted(live)
        live |= more


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
    plain = text.replace("from numba import njit", "njit = lambda **options: lambda function: function")
    assert plain != text
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
        except (ZeroDivisionError, OverflowError, IndexError):
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
