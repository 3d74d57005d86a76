"""Index expressions of one block, as the published equations have them."""

from __future__ import annotations

import sympy as sp

from derive.blocks import BlockSum, rebuild


def at_one_block(expr: sp.Expr) -> sp.Expr:
    """An index expression with the single block 0."""
    if isinstance(expr, BlockSum):
        return at_one_block(expr.body)
    if isinstance(expr, sp.Symbol):
        return sp.S.Zero if expr.is_integer else expr
    return rebuild(expr, [at_one_block(arg) for arg in expr.args]) if expr.args else expr
