"""A changed number or sign in a function module, or in the rules that it shares with the others, is noticed.

All texts run as plain Python; a change is noticed where a coefficient moves by more than 1e-9 of sqrt(E f^2), a hundred
times what the rules allow themselves, or where the rule gives up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from interpreted import interpreted, runtime_text

from codegen.functions import emit
from giantstep.spec.kernels import function_kernel

CHANGES = (
    (r" - ", " + "),
    (r" \+ ", " - "),
    (r"(?<!\*)\*(?!\*)", "/"),
    (r"\b0\.5", "0.4"),
    (r"\b2\.0\b", "3.0"),
    (r"\b1\.0\b", "1.1"),
)
PANELS = 60  # more than are needed; a change may let them be split until there is no more room
SHIFTS, WIDTH = np.array([-0.9, 0.3]), 1.1
CLOSE = np.linspace(-0.9, 0.3, 12)  # so many that they share the values of the function
STAIRS = "sign(z+2) + abs(z+1.5)/2 - sign(z-1.7)/3 + abs(z-1.3) + abs(z)/5"  # jumps and kinks on both sides of a shift
#: Lines that compute coefficients, by module; the others estimate errors or choose panels.
MATHEMATICS = {
    "trapezoid": r"nodes\[\d\] = |nodes\[[23], |a = nodes|mu[01] \+=|r = nodes|residual \+=|grid\[k|offset = |start = "
    r"|ratio = |(left|right) (= |.= ratio)|apart_by = |even2, odd2 = |(mu0|residual), ",
    "coefficients": r"mu2 -= mu0",
    "panels": r"(value|r) = row|weight = |k[01] \+=|a = weight|a = row.*r$|(kronrod|residual|mu[01]) \+=|raw\[[012]",
    "piecewise": r"y = side|[ab] \+= |j0 = 0|j[12] = (phi|j0)|(jump|kink) = |c[012] = |sum[012] \+= |line = |mu.* = ",
}


def rule_values(module: ModuleType, rule: str) -> np.ndarray:
    """mu0, mu1, mu2^2 by one rule; nan where it gives up."""
    scratch, found = np.full((PANELS, module.SCRATCH_SHAPE[1]), np.nan), []
    for shifts in (SHIFTS, CLOSE) if rule == "near" else (SHIFTS,):
        raw = np.full((7, shifts.size), np.nan)
        getattr(module.FUNCTION, rule)(shifts, WIDTH, raw, scratch)
        found.append(raw[:3])
    return np.concatenate(found, axis=1)


def mutants(text: str, pattern: str, most: int) -> Iterator[tuple[str, str]]:
    """At most ``most`` texts with one change each, spread evenly over all that there are.

    Of lines that are alike the first is changed: where a rule repeats one, it estimates its error.
    """
    lines, found = text.splitlines(), []
    for i, line in enumerate(lines):
        if line not in lines[:i] and re.match(rf"\s*({pattern})", line):
            code = line.split("  #")[0]
            start = max(code.find("= ") + 1, 0)
            for old, new in CHANGES:
                changed, count = re.subn(old, new, code[start:], count=1)
                found += [(i, code[:start] + changed)] * count
    for i, changed in [found[k * len(found) // most] for k in range(most)] if len(found) > most else found:
        yield f"{lines[i].strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def survivors(function: str, rule: str, name: str, pattern: str, most: int = 60) -> list[str]:
    """Changes of the function's own text ("") or of a module of the runtime that move no coefficient."""
    own = emit(function).text
    right = rule_values(interpreted(own), rule)
    assert np.all(np.isfinite(right))
    scale = np.sqrt(right[0] ** 2 + right[1] ** 2 + right[2])
    left = []
    for change, mutant in mutants(runtime_text(name) if name else own, pattern, most):
        try:
            with np.errstate(all="ignore"):
                module = interpreted(own, {name: mutant}) if name else interpreted(mutant)
                moved = np.abs(rule_values(module, rule) - right) / np.array([scale, scale, scale**2])
            noticed = not np.all(moved < 1e-9)
        except (ZeroDivisionError, OverflowError, ValueError, IndexError, TypeError):
            noticed = True
        left += [] if noticed else [change]
    return left


@pytest.mark.parametrize(
    ("function", "rule", "name"),
    [
        ("gelu", "near", "trapezoid"),
        ("abs(z)*z", "closed_form", "coefficients"),
        ("gelu", "panels", "panels"),
        (STAIRS, "piecewise", "piecewise"),
    ],
)
def test_a_changed_rule_is_noticed(function: str, rule: str, name: str) -> None:
    assert survivors(function, rule, name, MATHEMATICS[name]) == []


@pytest.mark.parametrize(
    ("function", "rule", "pattern"),
    [
        ("gelu", "near", r"out\[i\] = |x\d+ = "),
        ("cubic", "closed_form", r"sums\[|t\d_\d+ = |x\d+ = "),
        ("sin", "closed_form", r"sums\[|t\d_\d+ = |x\d+ = "),
        ("hard_tanh", "piecewise", r"    \(.*\),  # (ends|slopes|jumps|of its)"),
        ("log(cosh(z))", "near", r"out\[i\] = |x\d+ = "),
    ],
)
def test_a_changed_function_is_noticed(function: str, rule: str, pattern: str) -> None:
    assert survivors(function, rule, "", pattern) == []


@pytest.mark.parametrize(("function", "rule"), [("sign", "piecewise"), ("erf", "near")])
def test_plain_python_is_what_is_compiled(function: str, rule: str) -> None:
    """The arithmetic that the changes are made in is that of the kernels, to the last digits."""
    found = rule_values(interpreted(emit(function).text), rule)
    other = rule_values(function_kernel(function), rule)
    assert np.allclose(found, other, rtol=1e-13, atol=1e-15) and math.isfinite(found.sum())
