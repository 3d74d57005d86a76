"""Equations under which a functional is differentiated, and the multipliers that carry them: the adjoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, family, fresh_indices, index, rename, used_indices


@dataclass(frozen=True)
class Constraint:
    """The equation of an unknown under which the free energy is differentiated: ``E = 0``, recorded under its name.

    explicit: the recorded side is what the unknown equals, and E the unknown without it; inverse: the recorded side is
    the matrix whose inverse the unknown equals.
    """

    name: str
    indices: tuple[sp.Symbol, ...]
    explicit: bool = False
    inverse: bool = False

    @property
    def adjoint(self) -> str:
        """Name of the multiplier."""
        return f"adjoint_{self.name}" if self.explicit else "adjoint"

    @property
    def multiplier(self) -> str:
        """Name of what multiplies derivatives of the recorded side, of an inverse by ``carried``."""
        return f"adjoint_matrix_{self.name}" if self.inverse else self.adjoint

    def carried(self) -> sp.Expr:
        """The adjoint of the matrix itself by that of its inverse G: ``G^T adjoint G^T``, as ``dG = -G dA G``."""
        (row, column, *over), inverse = self.indices, family(self.name)
        i, j = fresh_indices(2, {*self.indices})
        inner = BlockSum(family(self.adjoint)[(i, j, *over)] * inverse[(column, j, *over)], j)
        return BlockSum(inverse[(i, row, *over)] * inner, i)

    def response(self, body: sp.Expr, moved: sp.Indexed) -> sp.Expr:
        """The derivative of E in a member, summed with the multiplier: as it is written down."""
        if self.inverse and moved.base.label.name == self.name:
            return family(self.adjoint)[moved.indices]
        places = fresh_indices(len(self.indices), used_indices(body, moved, *self.indices))
        there = rename(body, dict(zip(self.indices, places, strict=True)))
        equation = family(self.name)[places] - there if self.explicit and not self.inverse else there
        return summed(family(self.multiplier)[places] * sp.Derivative(equation, moved, evaluate=False), places)


OF_T = Constraint("T", (index("b"),))


def constraint_of(unknown: Definition | MatrixInverse) -> Constraint:
    """The equation of an unknown that is given by what it equals, or by the matrix whose inverse it is."""
    if isinstance(unknown, MatrixInverse):
        return Constraint(unknown.name, (unknown.row, unknown.column, *unknown.over), explicit=True, inverse=True)
    return Constraint(unknown.name, unknown.indices, explicit=True)


def definitions_in(unknowns: Iterable[Definition | MatrixInverse]) -> tuple[Definition, ...]:
    """Those that are given by what they equal."""
    return tuple(each for each in unknowns if isinstance(each, Definition))


def summed(body: sp.Expr, places: Sequence[sp.Symbol]) -> sp.Expr:
    """The sum over all places."""
    for place in places:
        body = BlockSum(body, place)
    return body


def within(factor: sp.Expr, expr: sp.Expr, places: Sequence[sp.Symbol]) -> sp.Expr:
    """The sum over places of the product, inside of the sums of the expression: those over samples stay outermost."""
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand_mul(expr)):
        outside, inside = term.as_independent(BlockSum, as_Add=False)
        if isinstance(inside, BlockSum) and not outside.free_symbols:
            total += outside * BlockSum(within(factor, inside.body, places), inside.bound)
        else:
            total += summed(factor * term, places)
    return total
