"""The directions of the indices that a link knows: relu(z1 + z2 + z3) is one of a single index."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import sympy as sp

from derive.labels import index_function

Array = np.ndarray
_NONE = 1e-12  # of a singular value beside the largest


@lru_cache(maxsize=64)
def known_directions(text: str) -> tuple[str, Array]:
    """(link, A): the link as a function of u = A z, A [r, m] with orthonormal rows, r as few as its linear forms show.

    Where these span all indices the link is as it was.
    """
    found = index_function(text)
    m = len(found.variables)
    forms = np.array(_forms(found.expr, found.variables)).reshape(-1, m)
    _, sizes, rows = np.linalg.svd(forms)
    rows = np.where(np.abs(rows) > _NONE, rows, 0.0)
    r = int((sizes > _NONE * sizes.max(initial=1e-300)).sum())
    if r in (0, m):
        return text, np.eye(m)
    names = ["z"] if r == 1 else [f"z{i + 1}" for i in range(r)]

    def in_them(index: re.Match[str]) -> str:
        column = rows[:r, int(index.group(1)) - 1]
        return "(" + " + ".join(f"({a:.17g})*{name}" for a, name in zip(column, names, strict=True)) + ")"

    return re.sub(r"\bz(\d+)\b", in_them, text), rows[:r]


def _forms(expr: sp.Basic, variables: tuple[sp.Symbol, ...]) -> list[list[float]]:
    """Linear forms that an expression is a function of: the linear part of a sum is one, whatever it is added to."""
    if expr in variables:
        return [[float(expr == z) for z in variables]]
    if not expr.is_Add:
        return [form for part in expr.args for form in _forms(part, variables)]
    linear, others = np.zeros(len(variables)), []
    for term in expr.args:
        factor, rest = term.as_coeff_Mul()
        if rest in variables:
            linear[variables.index(rest)] += float(factor)
        else:
            others += _forms(term, variables)
    return [*others, *([linear.tolist()] if linear.any() else [])]
