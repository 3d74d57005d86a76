"""Changed coefficients in a generated solver are noticed: by the reference, by its own check, by that of the check."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from types import ModuleType

import numpy as np
import pytest
from interpreted import interpreted
from solver_cases import SCRATCH, distance, model, plan, reference_of, residual, run, small_table

from generated.runtime.certificate import Certificate
from generated.runtime.equation_text import lines_of
from generated.systems import square
from giantstep.system.solve import problem_of

CHANGES = (
    (" - ", " + "),
    (" + ", " - "),
    (" ** 2", " ** 3"),
    ("alpha / ", "1 / "),
    (" / beta", ""),
    ("2.0 * ", "3.0 * "),
    ("node, mu1 + ", "node, mu2sq + "),
)
IN_TEXT = (
    (" - ", " + "),
    (" + ", " - "),
    ("= -", "= "),
    ("(-mean", "(mean"),
    ("**2", "**3"),
    ("alpha*", ""),
    ("/beta", ""),
    ("beta*", ""),
    ("mu1[", "mu2sq["),
    ("T[", "zeta_hat["),
)  # in the equations of ``check``
COLUMNS = ("kappa", "weight", "nu0", "nu1", "nu2sq")


def source(module: ModuleType) -> str:
    """The text of a module with each statement on one line."""
    return ast.unparse(ast.parse(inspect.getsource(module)))


def solve_lines(text: str) -> list[int]:
    """Lines that hold equations or observables; the tangents of a Newton block set only its speed."""
    kept: list[int] = []
    inside = False
    for i, line in enumerate(text.splitlines()):
        if line.startswith("def "):
            inside = line.startswith(("def _equations_", "def _observables("))
        computes = " = " in line or " += " in line or line.strip().startswith("add")
        if inside and computes and not re.match(r"\s+(K|N|mu0|mu1|mu2sq|alpha|beta)\b.* = ", line):
            kept.append(i)
    return kept


def mutants(
    text: str, where: list[int], count: int, changes: Sequence[tuple[str, str]] = CHANGES
) -> Iterator[tuple[str, str]]:
    """``count`` texts with one change each, spread evenly over all changes there are."""
    lines = text.splitlines()
    found = []
    for i in where:
        for old, new in changes:
            start = max(lines[i].find("= "), 0)
            position = lines[i].find(old, start)
            if position >= 0:
                found.append((i, lines[i][:position] + new + lines[i][position + len(old) :]))
    chosen = [found[k * len(found) // count] for k in range(count)] if len(found) > count else found
    for i, changed in chosen:
        yield f"{lines[i].strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def test_a_changed_coefficient_is_noticed() -> None:
    problem = problem_of(model(2, spike__alignment=0.6), dimension=50)
    data = (small_table(problem, 8), problem.fraction, problem.parameters.array())
    text = source(square)
    unchanged = run(interpreted(text), *data)
    reference = reference_of(unchanged, *data)
    assert distance(unchanged, reference) < 1e-10
    survivors = []
    for change, mutant in mutants(text, solve_lines(text), 60):
        try:
            with np.errstate(all="ignore"):
                solved = run(interpreted(mutant), *data)
                noticed = solved.status < 0 or not distance(solved, reference) < 1e-9
                noticed = noticed or not residual(square, solved, *data) < 1e-10
        except (ZeroDivisionError, OverflowError, IndexError, NameError):
            noticed = True
        if not noticed:
            survivors.append(change)
    assert survivors == []


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_check_notices_its_own_mutations(blocks: int) -> None:
    """A changed equation in ``check`` refuses the right solution: no equation is left out of it."""
    problem = problem_of(model(blocks, spike__alignment=0.6), dimension=50)
    table = small_table(problem, 12)
    data, solved = (
        (problem.fraction, problem.parameters.array()),
        run(square, table, problem.fraction, problem.parameters.array()),
    )
    text, node = "\n".join(" ".join(sides) for sides in lines_of(square.EQUATIONS)), np.array(table.T, order="C")

    def residual_of(equations: str) -> float:
        return float(Certificate(equations, COLUMNS).check(node, *data, solved.state))

    assert residual_of(text) == residual(square, solved, table, *data) < 1e-12
    assert len(text.splitlines()) == len(plan().system.fields) + len(plan().system.equations) + 2  # a matrix, inverted
    checked = {
        change: residual_of(mutant)
        for change, mutant in mutants(text, list(range(len(text.splitlines()))), 99, IN_TEXT)
    }
    survivors = [change for change, found in checked.items() if not found > 1e-6]
    assert len(checked) > 60 and survivors == []


def test_the_check_notices_every_changed_unknown() -> None:
    """Each family of the solution in turn made wrong by 1e-6."""
    problem = problem_of(model(2), dimension=50)
    data = (small_table(problem, 12), problem.fraction, problem.parameters.array())
    for name in (*square.VECTORS, *square.MATRICES):
        if name.startswith(SCRATCH):
            continue
        solved = run(square, *data)
        solved.state[name][...] *= 1.0 + 1e-6
        # what is accepted is 1e-10 of the sum of all terms, which may cancel to 1e-3 of it here
        assert residual(square, solved, *data) > 1e-9, name
