"""Scalar functions (activations and links): breakpoints, pieces and parity derived from the expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import mpmath
import sympy

from derive.gaussian.breakpoints import Pieces, split
from derive.gaussian.numeric import mpmath_function
from derive.language.catalogue import Entry, lookup
from derive.language.grammar import ExpressionError, parse
from derive.to_sympy import to_sympy

Parity = Literal["odd", "even", "none"]

_PROBES = ("0.3137", "1.0731", "2.4142", "4.6692")  # where validity and parity are confirmed, in units of 1
_DIGITS = 30


@dataclass(frozen=True)
class ScalarFunction:
    """A function of one real variable `z`.

    `pieces` are (lower, upper, smooth expression) from left to right, cut at `breakpoints` (increasing,
    exact).
    """

    name: str
    expr: Any
    z: sympy.Symbol
    breakpoints: tuple[Any, ...]
    parity: Parity
    pieces: tuple[tuple[Any, Any, Any], ...]
    citation: str

    def at(self, argument: Any) -> Any:
        """The expression at another argument."""
        return self.expr.subs(self.z, argument)

    def at_breakpoints(self) -> list[Any]:
        """The values at the breakpoints. SymPy cannot compare a number that is zero, as a polynomial at its root in
        max(0, .), with zero: what is continuous there has the value of the piece before.
        """
        found = []
        for place, (_, _, before) in zip(self.breakpoints, self.pieces, strict=False):
            try:
                found.append(self.at(place).replace(_jumps_at_zero, lambda e: e.func(0, *e.args[1:])))
            except ValueError:
                found.append(before.subs(self.z, place))
        return found

    def shifted(self, bias: Any) -> ScalarFunction:
        """z -> f(z + bias), bias a number; breakpoints and parity derived again."""
        bias = sympy.sympify(bias)
        if bias == 0:
            return self
        if bias.is_Float:
            bias = sympy.Rational(str(bias))
        return analyse(f"{self.name}_shifted", self.at(self.z + bias), self.z, self.citation)

    @property
    def is_polynomial(self) -> bool:
        return bool(self.expr.is_polynomial(self.z))

    def derivative(self, order: int = 1) -> Any:
        """The derivative away from the breakpoints (their jumps are in `jumps`), as an expression in z."""
        if not self.breakpoints:
            return sympy.diff(self.expr, self.z, order)
        return sympy.Piecewise(
            *((sympy.diff(e, self.z, order), self.z < upper) for _, upper, e in self.pieces[:-1]),
            (sympy.diff(self.pieces[-1][2], self.z, order), True),
        )

    def jumps(self, order: int = 0) -> tuple[tuple[Any, Any], ...]:
        """(breakpoint, right limit minus left limit) of the derivative of that order, nonzero ones only."""
        found = []
        for left, right in zip(self.pieces, self.pieces[1:], strict=False):
            here = left[1]
            jump = sympy.simplify(sympy.diff(right[2] - left[2], self.z, order).subs(self.z, here))
            if jump != 0:
                found.append((here, jump))
        return tuple(found)


def _jumps_at_zero(expression: Any) -> bool:
    """Whether an expression is the jump of a number that is zero, but for what SymPy knows of it."""
    jumps = isinstance(expression, sympy.sign | sympy.Heaviside) and expression.is_number
    return jumps and bool(abs(expression.args[0].evalf(_DIGITS)) < 10.0 ** (-_DIGITS // 2))


def scalar_function(text_or_entry: str | Entry) -> ScalarFunction:
    """The function of a registered name, an expression in z, or a catalogue entry.

    Raises ExpressionError where the text is no expression, is not real for all real z, or has kinks whose
    places cannot be found exactly.
    """
    entry = lookup(text_or_entry) if isinstance(text_or_entry, str) else text_or_entry
    z = sympy.Symbol("z", real=True)
    return analyse(entry.name, to_sympy(parse(entry.expression), {"z": z}), z, entry.citation)


def analyse(name: str, expr: Any, z: sympy.Symbol, citation: str = "") -> ScalarFunction:
    """A scalar function from a SymPy expression in the real symbol z. Raises as scalar_function."""
    pieces = split(expr, z)
    _check_real(expr, z)
    return ScalarFunction(name, expr, z, pieces.breakpoints, _parity(expr, pieces), pieces.intervals(), citation)


def _check_real(expr: Any, z: sympy.Symbol) -> None:
    function = mpmath_function(expr, (z,))
    with mpmath.workdps(_DIGITS):
        for probe in [s * mpmath.mpf(p) * k for p in _PROBES for s in (1, -1) for k in (1, 3)]:
            try:
                value = function(probe)
                fine = not isinstance(value, mpmath.mpc) and bool(mpmath.isfinite(value))
            except (ZeroDivisionError, ValueError, OverflowError):
                fine = False
            if not fine:
                raise ExpressionError(
                    f"{expr} has no finite real value at z = {mpmath.nstr(probe, 5)}",
                    "an activation or link must be real for every real z; restrict the argument",
                )


def _parity(expr: Any, pieces: Pieces) -> Parity:
    """Odd or even where every piece is mirrored exactly, confirmed by numbers; otherwise none."""
    z = pieces.variable
    guess = _numeric_parity(expr, z)
    if guess == "none":
        return "none"
    mirrored = tuple(-b for b in reversed(pieces.breakpoints))
    same = len(mirrored) == len(pieces.breakpoints) and all(
        sympy.simplify(a - b) == 0 for a, b in zip(mirrored, pieces.breakpoints, strict=True)
    )
    factor = -1 if guess == "odd" else 1
    pairs = zip(pieces.expressions, reversed(pieces.expressions), strict=True)
    return guess if same and all(_vanishes(a - factor * b.subs(z, -z), z) for a, b in pairs) else "none"


def _numeric_parity(expr: Any, z: sympy.Symbol) -> Parity:
    function = mpmath_function(expr, (z,))
    with mpmath.workdps(_DIGITS):
        pairs = [(function(mpmath.mpf(p)), function(-mpmath.mpf(p))) for p in _PROBES]
        close = mpmath.mpf(10) ** (4 - _DIGITS)
        if all(abs(a + b) <= close * (1 + abs(a)) for a, b in pairs):
            return "odd"
        if all(abs(a - b) <= close * (1 + abs(a)) for a, b in pairs):
            return "even"
    return "none"


def _vanishes(difference: Any, z: sympy.Symbol) -> bool:
    difference = difference.rewrite(sympy.erf)  # of erfc and Phi, whose values at x and -x SymPy does not compare
    if sympy.expand(difference) == 0:
        return True
    return bool(sympy.simplify(difference.rewrite(sympy.exp)) == 0)
