"""Small algebra shared by the rules: affine arguments, quadratic exponents, square roots of quotients."""

from __future__ import annotations

from typing import Any

import sympy


def affine(argument: Any, g: sympy.Symbol) -> tuple[Any, Any] | None:
    """(a, b) with argument = a + b g, or None."""
    coefficients = quadratic(argument, g)
    return coefficients[:2] if coefficients is not None and coefficients[2] == 0 else None


def quadratic(argument: Any, g: sympy.Symbol) -> tuple[Any, Any, Any] | None:
    """(a, b, c) with argument = a + b g + c g^2, or None."""
    expanded = sympy.expand(argument)
    if not expanded.is_polynomial(g):
        return None
    found: dict[int, Any] = {}
    for term in sympy.Add.make_args(expanded):
        power = sympy.degree(term, g) if term.has(g) else 0
        if power > 2:
            return None
        found[int(power)] = found.get(int(power), sympy.S.Zero) + term / g**power
    return tuple(found.get(k, sympy.S.Zero) for k in range(3))


def ratio(expression: Any) -> Any:
    """A rational expression in lowest terms, numerator and denominator factored."""
    return sympy.factor(expression)


def root(expression: Any) -> Any:
    """Square root of a positive rational expression as a quotient of roots of factored polynomials."""
    top, bottom = sympy.fraction(ratio(expression))
    return _roots(top) / _roots(bottom)


def _roots(product: Any) -> Any:
    return sympy.Mul(*(sympy.sqrt(factor) for factor in sympy.Mul.make_args(product)))
