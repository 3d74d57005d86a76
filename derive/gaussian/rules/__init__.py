"""Closed forms of Gaussian expectations: rules, tried in order. No rule calls `sympy.integrate`.

An expectation that no rule closes stays what it is and becomes quadrature.
"""

from __future__ import annotations

from typing import Any

import sympy

from derive.gaussian.expectation import Expectation, resolve_deltas
from derive.gaussian.rules import parity, piecewise, polynomial, smooth
from derive.gaussian.rules.tidy import tidy

__all__ = ["RULES", "close"]

#: Each rule gives (closed form, its names) for an integrand and one variable, or None.
RULES = (polynomial.close, parity.close, piecewise.close, smooth.close)


def close(node: Any) -> tuple[Any, tuple[str, ...]]:
    """The closed form of an expectation and the names of the rules used; the expectation itself and () if
    none.

    Several variables are integrated one after the other, those without a rule stay.
    """
    if not isinstance(node, Expectation):
        return node, ()
    expression = node.integrand
    inner = sorted(expression.atoms(Expectation), key=sympy.default_sort_key)
    closed = {e: close(e) for e in inner}
    expression = expression.xreplace({e: result for e, (result, _) in closed.items()})
    names = [name for _, used in closed.values() for name in used]
    if expression.has(sympy.DiracDelta):
        resolved = resolve_deltas(Expectation(expression, *node.variables))
        pieces = sorted(resolved.atoms(Expectation), key=sympy.default_sort_key)
        parts = {e: close(e) for e in pieces}
        names += ["sampling by the delta function", *(name for _, used in parts.values() for name in used)]
        return resolved.xreplace({e: result for e, (result, _) in parts.items()}), _once(names)
    left: list[sympy.Symbol] = []
    for variable in node.variables:
        found = close_one(expression, variable)
        if found is None:
            left.append(variable)
        else:
            expression = found[0]
            names.extend(found[1])
    return Expectation(expression, *left), _once(names)


def close_one(integrand: Any, g: sympy.Symbol) -> tuple[Any, tuple[str, ...]] | None:
    """The expectation over one variable by the first rule that applies, tidied; None if there is none."""
    if not integrand.has(g):
        return integrand, ()
    for rule in RULES:
        found = rule(integrand, g)
        if found is not None:
            return tidy(found[0]), found[1]
    return None


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
