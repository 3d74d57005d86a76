"""Matrix expressions as mpmath matrices: symbols are random, symmetric and positive, dimensions are two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import sympy as sp

SIDE = 2  # of a symbolic dimension
_CONSTANT = {sp.Identity: lambda n, _: mpmath.eye(n), sp.OneMatrix: mpmath.ones, sp.ZeroMatrix: mpmath.zeros}


def matrix_value(expression: Any, number: Callable[[Any], Any], drawn: Callable[..., Any]) -> Any:
    """The matrix; number: of a scalar factor; drawn: a random number for a name."""

    def value(e: Any) -> Any:
        if isinstance(e, sp.MatrixSymbol):
            return _symbol(e, drawn)
        for kind, numbers in _CONSTANT.items():
            if isinstance(e, kind):
                return numbers(*map(_side, e.shape))
        if isinstance(e, sp.ImmutableDenseMatrix):
            return mpmath.matrix([[number(entry) for entry in row] for row in e.tolist()])
        if isinstance(e, sp.Transpose):
            return value(e.arg).T
        if isinstance(e, sp.Inverse):
            return value(e.arg) ** -1
        if isinstance(e, sp.MatPow):
            return value(e.base) ** int(e.exp)
        if isinstance(e, sp.MatAdd | sp.MatMul | sp.KroneckerProduct):
            return _combined(e, [value(a) if _is_matrix(a) else number(a) for a in e.args])
        raise TypeError(f"{type(e).__name__} is no matrix of numbers")

    return value(expression)


def _combined(expression: Any, parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        if isinstance(expression, sp.KroneckerProduct):
            total = _kronecker(total, part)
        else:
            total = total + part if isinstance(expression, sp.MatAdd) else total * part
    return total


def _kronecker(one: Any, other: Any) -> Any:
    found = mpmath.matrix(one.rows * other.rows, one.cols * other.cols)
    for i in range(found.rows):
        for j in range(found.cols):
            found[i, j] = one[i // other.rows, j // other.cols] * other[i % other.rows, j % other.cols]
    return found


def _symbol(symbol: Any, drawn: Callable[..., Any]) -> Any:
    rows, columns = map(_side, symbol.shape)
    found = mpmath.matrix(rows, columns)
    for i in range(rows):
        for j in range(columns):
            found[i, j] = drawn(symbol.name, *sorted((i, j))) / 5 + (i == j)
    return found


def _side(dimension: Any) -> int:
    return int(dimension) if dimension.is_Integer else SIDE


def _is_matrix(expression: Any) -> bool:
    return isinstance(expression, sp.MatrixExpr)
