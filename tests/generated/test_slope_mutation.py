"""Changes in the slopes of the conditional coefficients, and of the map of the gradient step, are noticed.

Each slope is that of what it is the slope of, by central differences: the step of 1e-4 leaves 1e-8 of them.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from interpreted import interpreted
from numpy.polynomial.hermite_e import hermegauss

from generated import step
from generated.systems import slopes

STEP, CLOSE = 1e-4, 1e-6
CHANGES = (
    (r" - ", " + "),
    (r" \+ ", " - "),
    (r"(?<!\*)\*(?!\*)", "/"),
    (r"\b0\.5\b", "0.4"),
    (r"\b1\.0\b", "1.1"),
    (r"\b2\.0\b", "3.0"),
    (r"\*\*3", "**2"),
)
MAP = {"A": 0.7, "alpha_0": 1.9, "u": -0.6}
MOMENTS = {"mu_1": 0.8, "s_11": 0.5, "e_2": 0.9, "s_0": 0.3, "sigma_2": 0.4, "v_sigma": 0.6}
G, WEIGHT = (x / s for x, s in zip(hermegauss(80), (1.0, np.sqrt(2.0 * np.pi)), strict=True))


def coefficients(s: float, c: float) -> tuple[np.ndarray, ...]:
    """(mu0, mu1, mu2^2), f, and what it has beside its mean and its part along g, squared; of a smooth f."""
    z = s + np.sqrt(c) * G
    phi = np.tanh(z) + 0.3 * z * z
    mu0, mu1 = WEIGHT @ phi, WEIGHT @ (G * phi)
    rest = (phi - mu0 - mu1 * G) ** 2
    return np.array([mu0, mu1, WEIGHT @ rest]), phi, rest


def values_of(module: ModuleType) -> np.ndarray:
    """All slopes of a module."""
    _, phi, rest = coefficients(0.4, 0.8)
    found = [*module.coefficient_slopes(G, WEIGHT, phi, rest, 0.8)]
    for name in ("strength", "bulk_variance"):
        function = getattr(module, f"{name}_slope")
        found.append(function(**{key: (MAP | MOMENTS)[key] for key in inspect.signature(function).parameters}))
    return np.array(found)


def differences() -> np.ndarray:
    """The same, of what they are the slopes of."""
    found: list[float] = []
    for along in ((STEP, 0.0), (0.0, STEP)):
        ends = [coefficients(0.4 + sign * along[0], 0.8 + sign * along[1])[0] for sign in (1.0, -1.0)]
        found += [*(ends[0] - ends[1]) / (2.0 * STEP)]
    for name in ("strength", "bulk_variance"):
        function = getattr(step, name)
        given = {key: (MAP | MOMENTS)[key] for key in inspect.signature(function).parameters}
        up, down = (function(**{**given, "A": given["A"] + sign * STEP}) for sign in (1.0, -1.0))
        found.append((up - down) / (2.0 * STEP))
    return np.array(found)


def mutants() -> Iterator[tuple[str, str]]:
    """Every text with one change of the right side of a line."""
    lines = ast.unparse(ast.parse(inspect.getsource(slopes))).splitlines()  # a statement on a line
    for i, line in enumerate(lines):
        if re.match(r"\s+(x\d+|\w+_(s|c|slope)) = ", line):
            start = line.index("= ")
            for old, new in CHANGES:
                for found in re.finditer(old, line[start:]):
                    changed = line[: start + found.start()] + new + line[start + found.end() :]
                    yield f"{line.strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def test_a_changed_slope_is_noticed() -> None:
    exact, left, count = differences(), [], 0
    assert values_of(interpreted(inspect.getsource(slopes))) == pytest.approx(exact, rel=CLOSE, abs=CLOSE)
    for change, mutant in mutants():
        count += 1
        try:
            with np.errstate(all="ignore"):
                noticed = not np.allclose(values_of(interpreted(mutant)), exact, rtol=CLOSE, atol=CLOSE)
        except (ZeroDivisionError, ValueError):
            noticed = True
        left += [] if noticed else [change]
    assert count > 40 and left == []
