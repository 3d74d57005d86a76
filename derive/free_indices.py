"""Indices of blocks, neurons, samples, components and replicas that an expression depends on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp


def is_index(symbol: Any) -> bool:
    """Whether a symbol counts blocks, neurons, samples, components or replicas."""
    return bool(isinstance(symbol, sp.Symbol) and symbol.is_integer and not symbol.is_positive)


def free_indices(*expressions: Any) -> list[sp.Symbol]:
    """Indices that need a value."""
    return sorted({s for e in expressions for s in depends_on(sp.sympify(e)) if is_index(s)}, key=str)


@lru_cache(maxsize=65536)
def depends_on(expression: Any) -> frozenset[sp.Symbol]:
    """Symbols that the value depends on; SymPy leaves out those in the variable of a derivative."""
    if isinstance(expression, sp.Symbol):
        return frozenset((expression,))
    if isinstance(expression, sp.Derivative):
        return frozenset().union(*map(depends_on, (expression.expr, *expression.variables)))
    if isinstance(expression, sp.Subs):
        inside = depends_on(expression.expr) - frozenset(expression.variables)
        return inside.union(*map(depends_on, expression.point))
    found: frozenset[sp.Symbol] = frozenset().union(*(depends_on(arg) for arg in expression.args))
    bound = getattr(expression, "bound_symbols", ())
    return found - frozenset(bound)
