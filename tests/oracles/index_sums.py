"""Numbers of index expressions by plain loops over NumPy arrays: a path beside the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from derive.blocks import BlockSum, family_name, member_indices


def number(
    expr: Any,
    arrays: Mapping[str, Any],
    size: Callable[[sp.Symbol, Any], int],
    where: Mapping[Any, int] | None = None,
    functions: Mapping[Any, Callable[[float], float]] | None = None,
) -> float:
    """The value of an expression; ``arrays``: families and symbols by name, ``size(index, body)``: range of a sum."""
    place, known = dict(where or {}), functions or {}

    def at(node: Any) -> float:
        return number(node, arrays, size, place, functions)

    if isinstance(node := expr, BlockSum):
        terms = range(size(node.bound, node.body))
        return sum(number(node.body, arrays, size, {**place, node.bound: n}, functions) for n in terms)
    name = family_name(expr)
    if name is not None:
        indices = tuple(place[i] for i in member_indices(expr))
        return float(np.asarray(arrays[name])[indices])
    if expr.is_Symbol:
        return float(arrays[expr.name])
    if expr.is_number:
        return float(expr)
    if expr.is_Add:
        return sum(at(arg) for arg in expr.args)
    if expr.is_Mul:
        return float(np.prod([at(arg) for arg in expr.args]))
    if expr.is_Pow:
        return at(expr.base) ** at(expr.exp)
    if isinstance(expr, sp.KroneckerDelta):
        return float(place[expr.args[0]] == place[expr.args[1]])
    return known[expr.func](at(expr.args[0]))
