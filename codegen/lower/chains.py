"""Products of three matrices as two products of two: K^3 operations in place of K^4.

``A_bc = sum_a (sum_d X_bd Y_da) Z_ac`` has an inner sum that does not depend on c. It becomes a family of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import sympy as sp

from codegen.lower.nests import LETTERS, Assignment
from derive.blocks import BlockSum, family, rebuild, rename

_NAME = "product_"


def in_pairs(assignments: Iterable[Assignment]) -> list[Assignment]:
    """The assignments with inner sums of matrix products before them, where they need not be taken for each member."""
    found: list[Assignment] = []
    known: dict[sp.Expr, str] = {}
    for given in assignments:
        new = given
        if len(given.indices) == 2:
            before = len(known)
            new = replace(given, body=_apart(given.body, frozenset(given.indices), frozenset(), known))
            found += [Assignment(name, LETTERS, inner) for inner, name in list(known.items())[before:]]
        found.append(new)
    return found


def products_of(assignments: Iterable[Assignment]) -> Iterator[str]:
    """Names of the families that ``in_pairs`` has added."""
    return (a.target for a in assignments if a.target.startswith(_NAME))


def _apart(
    expr: sp.Expr, outer: frozenset[sp.Symbol], open_sums: frozenset[sp.Symbol], known: dict[sp.Expr, str]
) -> sp.Expr:
    """The expression with members of families for inner sums; open_sums: the indices of the sums around it."""
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    if not isinstance(expr, BlockSum):
        return rebuild(expr, [_apart(arg, outer, open_sums, known) for arg in expr.args])
    own, summed = outer & expr.free_symbols, open_sums & expr.free_symbols
    if len(own) == len(summed) == 1:
        (first,), (second,) = own, summed
        general = rename(expr, {first: LETTERS[0], second: LETTERS[1]})
        known.setdefault(general, f"{_NAME}{len(known) + 1}")
        return family(known[general])[first, second]
    return BlockSum(_apart(expr.body, outer, open_sums | {expr.bound}, known), expr.bound)
