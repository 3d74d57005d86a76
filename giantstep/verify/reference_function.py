"""The coefficients of a function at any precision in mpmath, by another path than its emitted module.

The text is printed from the same expression by another printer with exact rationals, and integrated by
mpmath.quad between breakpoints and marks around the features of f. For tests and for `giantstep verify`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import sympy

from codegen.functions import hints_of
from codegen.hints import Hints
from codegen.print.mpmath_scalar import MpmathPrinter
from codegen.stable import stabilised
from derive.gaussian.isolated_zeros import Zero
from derive.scalar import ScalarFunction

_GUARD = 12  # digits beyond those asked for
_MOST_WAVES = 40  # per unit of g
_RATIO = 3  # of the distances of successive marks from a feature
_DIGITS = 150


@dataclass(frozen=True)
class ReferenceFunction:
    """Coefficients of one function at any precision; `text` defines f(z) and breakpoints() with mpmath."""

    name: str
    text: str
    hints: Hints

    def function(self) -> tuple[Callable[[Any], Any], list[Any]]:
        """f of an mpf, at its value on breakpoints, and the breakpoints at the current precision."""
        names: dict[str, Any] = {"mpmath": mpmath}
        exec(compile(self.text, f"<reference of {self.name}>", "exec"), names)  # noqa: S102 - printed node by node
        return names["f"], names["breakpoints"]()

    def coefficients(self, s: Any, c: Any, digits: int = 20) -> tuple[Any, Any, Any, Any]:
        """(mu0, mu1, mu2^2, E f^2) as mpf; s and c are taken as they are, floats as exact binary numbers.

        mu0 and mu1 to about `digits` relative to sqrt(E f^2), mu2^2 from the integral of its square to about
        `digits`
        relative to itself, down to 10^(-digits) E f^2. Raises ValueError where f has too many waves within
        the
        reach of g for quadrature to be a check.
        """
        with mpmath.workdps(digits + _GUARD):
            s, c = mpmath.mpf(s), mpmath.mpf(c)
            f, cuts = self.function()
            if c == 0:
                return f(s), mpmath.mpf(0), mpmath.mpf(0), f(s) ** 2
            root = mpmath.sqrt(c)
            values: dict[Any, Any] = {}

            def at(g: Any) -> Any:
                if g not in values:
                    values[g] = (f(s + root * g), mpmath.npdf(g))
                return values[g]

            marks = self._marks(s, root, f, cuts, digits)

            def mean(integrand: Callable[[Any, Any], Any]) -> Any:
                def weighted(g: Any) -> Any:
                    value, weight = at(g)
                    return weight * integrand(g, value)

                # mpmath.quad is content with absolute accuracy, so the integrand is scaled to 1
                top = max(abs(weighted(x + k * (y - x) / 3)) for x, y in pairwise(marks) for k in (0, 1, 2))
                if top == 0:
                    return top
                return top * mpmath.quad(lambda g: weighted(g) / top, marks, method="gauss-legendre")

            mu0 = mean(lambda g, value: value)
            mu1 = mean(lambda g, value: g * value)
            mu2sq = mean(lambda g, value: (value - mu0 - mu1 * g) ** 2)
            return mu0, mu1, mu2sq, mu0**2 + mu1**2 + mu2sq

    def _marks(self, s: Any, root: Any, f: Callable[[Any], Any], cuts: list[Any], digits: int) -> list[Any]:
        """Ends of the panels: breakpoints, distances from each feature in geometric progression, a grid."""
        spacing = 1 / (1 + root * mpmath.mpf(self.hints.wave) / 3)
        if spacing * _MOST_WAVES < 1:
            raise ValueError(f"{self.name} oscillates too fast at variance {mpmath.nstr(root**2, 5)} to be checked so")
        places = [(cut - s) / root for cut in cuts]
        centres = [((mpmath.mpf(centre) - s) / root, mpmath.mpf(width) / root) for centre, width in self.hints.features]
        near = [abs(x) + 4 for x in [*places, *(centre for centre, _ in centres)] if abs(x) < 40]
        reach = max([mpmath.sqrt(2 * mpmath.log(10) * (3 * digits + 4)) + 1, *near])
        while abs(f(s + root * reach)) + abs(f(s - root * reach)) > mpmath.exp(reach * reach / 4 - 20):
            reach += 2
        inside = {k * spacing for k in range(-int(reach / spacing), int(reach / spacing) + 1)}
        for centre, width in centres:
            inside.add(centre)
            while width < 2 * reach:
                inside |= {centre - width, centre + width}
                width *= _RATIO
        closest = mpmath.mpf(10) ** -digits
        kept = [-reach]
        for x in sorted(x for x in {*inside, *places} if -reach < x < reach):
            if x - kept[-1] > closest:
                kept.append(x)
            elif x in places:
                kept[-1] = x
        return [*kept, reach]


def reference_function(scalar: ScalarFunction) -> ReferenceFunction:
    """The reference of a scalar function. Raises Unprintable where it has no mpmath text."""
    edges = [MpmathPrinter().expression(_with_digits(breakpoint)) for breakpoint in scalar.breakpoints]
    values = scalar.at_breakpoints()
    lines = ["def breakpoints():", f"    return [{', '.join(edges)}]", "", "", "def f(z):"]
    for position, edge in enumerate(edges):
        lines += [f"    if z < {edge}:", *_returned(scalar.pieces[position][2])]
        lines += [f"    if z == {edge}:", *_returned(values[position])]
    lines += [line[4:] for line in _returned(scalar.pieces[-1][2])]
    return ReferenceFunction(scalar.name, "\n".join(lines) + "\n", hints_of(scalar))


def _returned(expression: Any) -> list[str]:
    *shared, last = MpmathPrinter().assignments([("result", stabilised(_with_digits(sympy.sympify(expression))))])
    return [f"        {line}" for line in [*shared, "return " + last.removeprefix("result = ")]]


def _with_digits(expression: Any) -> Any:
    """The expression with more digits of roots, which have no closed form, than are ever asked for."""
    return expression.xreplace({root: sympy.N(root, _DIGITS) for root in expression.atoms(Zero, sympy.CRootOf)})
