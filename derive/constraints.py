"""Equations under which a functional is differentiated, and the multipliers that carry them: the adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, family, fresh_indices, index, rename, used_indices


@dataclass(frozen=True)
class Constraint:
    """The equation of an unknown under which the free energy is differentiated: ``E = 0``, recorded under its name.

    explicit: the recorded side is what the unknown equals, and E the unknown without it.
    """

    name: str
    indices: tuple[sp.Symbol, ...]
    explicit: bool = False

    @property
    def adjoint(self) -> str:
        """Name of the multiplier."""
        return f"adjoint_{self.name}" if self.explicit else "adjoint"

    def response(self, body: sp.Expr, moved: sp.Indexed) -> sp.Expr:
        """The derivative of E in a member, summed with the multiplier: as it is written down."""
        places = fresh_indices(len(self.indices), used_indices(body, moved, *self.indices))
        there = rename(body, dict(zip(self.indices, places, strict=True)))
        equation = family(self.name)[places] - there if self.explicit else there
        return summed(family(self.adjoint)[places] * sp.Derivative(equation, moved, evaluate=False), places)


OF_T = Constraint("T", (index("b"),))


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
