"""Mutations of the coupled kernels: averages at a solution, losses, equations.

A change of a line that holds mathematics changes what is computed at a solution, or makes it none.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from interpreted import interpreted, runtime_text
from loss_cases import loss_table, model, solved

from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.problem import problem_of

CHANGES = (
    (" - ", " + "),
    (" + ", " - "),
    ("*", "/"),
    ("2.0", "3.0"),
    ("0.5", "0.4"),
    ("sign", "-sign"),
    ("2*", "3*"),
    ("alpha*", ""),
)
#: Lines of the averages that hold mathematics; the others choose nodes, or bracket the proximal map.
EQUATIONS = re.compile(
    r"\s*(omega = |g = |scratch\[[A-Z_]+, i\] |law\[.*, i\] \+?= |density\[\d, i\] = |sums\[\d\] \+= |out\[.* \+= "
    r"|s\d \+= |p[012] = |p0, |p1 = -p1|p = scale|m = |x = (sign|\(scratch)|first, last = \(low|x0, x1 = "
    r"|t1, t2 = |t = ratio|a = of_off|inverse, of_off|mixed = |a, b = |stretch = 1|ratio = "
    r"|variance = rest|inner = |carried = |kept = correl|kept = variance|center|z = \(omega|value\[i\]|slope\[i\]"
    r"|curvature\[i\]|x\d+ = |bell\[k\] = |share\[k|rate = |tilt = "
    r"|rows\[.*= |mass|flat = |low = |xx, xy|m, x|lack|z, o|narrow|fixed = d|scale = \(|s0|x0, y0|length = |off, center"
    r"|along \+= |rest\[d|base, |moves\.car|resid.*spr|return -?[a-z(\d])"
)


def mutants(
    text: str, functions: tuple[str, ...], count: int, equations: re.Pattern[str] = EQUATIONS
) -> Iterator[tuple[str, str]]:
    """``count`` texts with one change each in these functions, spread evenly over all changes there are."""
    lines = text.splitlines()
    found, inside = [], False
    for i, line in enumerate(lines):
        if line.startswith("def "):
            inside = line[4 : line.index("(")] in functions
        if not inside or not equations.match(line):
            continue
        code = line.split("  #")[0].replace("**", "^")
        for old, new in CHANGES:
            place = code.find(old, code.find("= ") + 1)
            if place >= 0:
                found.append((i, (code[:place] + new + code[place + len(old) :]).replace("^", "**")))
    count = min(count, len(found))
    for i, changed in [found[k * len(found) // count] for k in range(count)]:
        yield f"{lines[i].strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def use(system: CoupledSystem, loss: ModuleType) -> None:
    """Let a system average with another module."""
    system.loss = loss
    system.at = replace(system.at, loss=loss)
    vars(system).pop("averaging", None)


def survivors(
    loss: str,
    changes: dict[str, Any],
    where: tuple[str, ...],
    functions: tuple[str, ...],
    among: list[str] | None = None,
    count: int = 40,
) -> list[str]:
    """Changes of a loss module, or of modules of the runtime (``among`` those named), that leave all averages at a
    solution as they are.
    """
    system, x = solved(problem_of(model(loss_table(loss), **changes)), 2, Level(8, 24))
    own = inspect.getsource(system.loss)
    system.residual(x)
    right = system.averages.copy()
    size = np.abs(right).max(axis=1, keepdims=True)
    use(system, interpreted(own))
    assert np.abs(system.residual(x)).max() < 1e-12
    found = []
    for name in where or ("",):
        text = runtime_text(name) if name else own
        for change, mutant in mutants(text, functions, count):
            if among is not None and change not in among:
                continue
            try:
                with np.errstate(all="ignore"):
                    use(system, interpreted(own, {name: mutant}) if name else interpreted(mutant))
                    system.residual(x)
                    noticed = not np.all(np.abs(system.averages - right) < 1e-9 * size)
            except (ZeroDivisionError, OverflowError, ValueError, IndexError):
                noticed = True
            found += [] if noticed else [change]
    return found


QUARTIC = "abs(f-y) + (f-y)**4/50"  # with a kink, and no closed form
#: What averages are made of, by rule: modules of the runtime and their functions.
NODES = ("_fill_values", "_fill_kink", "_fill_products")
SUMS = ("add_sums",)
AVERAGES = {
    "intervals": (
        ("nodes", "label_intervals", "output_sums"),
        (*NODES, *SUMS, "_fill_law", "_fill_between", "_fill_beyond_one", "_below", "_given", "_edges"),
    ),
    "points": (
        ("nodes", "label_points", "label_sums", "centre_panels", "output_sums"),
        (*NODES, *SUMS, "sum_up", "add", "_fill_centres", "variance_of", "_gathered", "_add_from_panels"),
    ),
    "quadratic": (
        ("quadratic", "quadratic_rows", "label_points", "centre_panels"),
        ("find_knots", "from_knot", "_add_part", "_fill_end", "_fill_wide", "_fill_narrow", "_inside", "add"),
    ),
    "lines": (
        ("nodes", "label_lines", "label_points"),
        (*NODES, "sum_up", "add", "variance_of", "_find_residuals", "_add_line"),
    ),
    "cells": (
        ("polygons", "label_cells", "label_points"),
        (
            *("_line_in", "_fill_distance", "_add_infinity", "_fill_sum", "_add_corner", "_add_edge", "_sector"),
            *("across", "_residual", "_fill_law", "_add_sums", "add"),
        ),
    ),
}


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("rule", "cases"),
    [
        (
            "intervals",
            [
                ("logistic", {"target__flips": 0.1, "target__probit": 0.2}),
                ("huber", {"target__noise": 0.2, "target__probit": 0.2}),
                ("hinge", {"target__flips": 0.1}),
            ],
        ),
        (
            "points",
            [
                (QUARTIC, {"target__link": "tanh", "target__noise": 0.2}),
                (
                    QUARTIC,
                    {"target__link": "tanh(z1) + tanh(z2)/2", "target__probit": 0.3, "spike__alignment": [0.5, 0.3]},
                ),
                ("logistic", {"target__link": "sign(1+z1**2+z2**2)", "spike__alignment": [0.5, 0.3]}),
            ],
        ),
        (
            "lines",
            [
                ("huber", {"target__link": "tanh(z1) + z1*z2", "target__noise": 0.2, "spike__alignment": [0.5, 0.3]}),
                (QUARTIC, {"target__link": "tanh(z1) + z1*z2", "target__probit": 0.3, "spike__alignment": [0.5, 0.3]}),
            ],
        ),
        (
            "cells",
            [
                (
                    "huber",
                    {
                        "target__link": "relu(z1) + max(z1, z2)",
                        "target__noise": 0.1,
                        "target__probit": 0.3,
                        "spike__alignment": [0.5, 0.3],
                    },
                )
            ],
        ),
        (
            "quadratic",
            [
                ("huber", {"target__link": "tanh", "target__noise": 0.2, "target__probit": 0.3}),
                ("absolute", {"target__link": "tanh"}),
                (
                    "smoothed_hinge",
                    {"target__link": "sign(1+z1**2+z2**2)", "target__probit": 0.3, "spike__alignment": [0.5, 0.3]},
                ),
            ],
        ),
    ],
)
def test_a_changed_average_is_noticed(rule: str, cases: list[tuple[str, dict[str, Any]]], count: int) -> None:
    """By the averages of the equations or by those of the Jacobian; in a residual or a margin loss.

    The quickest case comes first: the others look at what it leaves.
    """
    left, (modules, functions) = None, AVERAGES[rule]
    for loss, changes in cases:
        left = survivors(loss, changes, modules, (*functions, rule), left, count)
        if not left:
            break
    assert left == []


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "probit", "log_cosh", "quantile"])
def test_a_changed_loss_is_noticed(loss: str) -> None:
    assert survivors(loss, {"target__link": "sign(z-0.4)"}, (), ("rho", "ends")) == []


SYSTEM = re.compile(r"\s*((vector|matrix|field)\[\w+[^]]*\]|x\d+|sum\d+|\w+_n|average_\w+|out\[\d\]) \+?= ")


def test_a_changed_equation_is_noticed() -> None:
    """The solution of the reference does not solve a changed system, or has other errors, or the Jacobian is off.

    Two blocks: the text is the same for one, where a changed index changes nothing.
    """
    problem = problem_of(model("huber", 2, target__noise=0.1, target__link="sign(z-0.4)"), 50)
    system, x = solved(problem, 3)
    text = inspect.getsource(system.kernel)
    system.residual(x)
    out, jacobian, scale = system.observables(), system.jacobian(), system.scale(x)
    left = []
    for change, mutant in mutants(text, ("fields", "residual", "_tangents", "observables"), 60, SYSTEM):
        try:
            with np.errstate(all="ignore"):
                system.kernel = interpreted(mutant)
                error = np.abs(np.linalg.solve(jacobian, system.residual(x)) / scale).max()
                other = np.abs(system.jacobian() - jacobian).max() / np.abs(jacobian).max()
                noticed = not (error < 1e-10 and other < 1e-10 and np.allclose(system.observables(), out, rtol=1e-10))
        except (ZeroDivisionError, OverflowError, ValueError, IndexError, np.linalg.LinAlgError):
            noticed = True
        left += [] if noticed else [change]
    assert left == []
