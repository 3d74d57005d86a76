"""Directional derivatives of index expressions: every unknown X has a tangent dX."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from derive.blocks import KAPPA, block_field, family, member_indices
from derive.calculus import Calculus, contract
from derive.canonical import canonical


def tangent_name(name: str) -> str:
    """Name of the tangent of an unknown."""
    return f"d_{name}"


@dataclass(frozen=True)
class Tangent(Calculus):
    """A calculus whose ``unknowns`` (families) and ``functions`` (of kappa) vary independently, by their tangents."""

    unknowns: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    def of(self, expr: sp.Expr) -> sp.Expr:
        """The derivative of an expression along the tangents of what it contains."""
        return self._tidy(self._raw(expr, sp.S.Zero))

    def through(self, member: sp.Expr) -> sp.Expr:
        """The derivative of a member by its own rule (definition, inverse, partials, ...), not by its tangent."""
        name = str(member.base.label) if isinstance(member, sp.Indexed) else str(member.func.__name__)
        inner = replace(self, unknowns=self.unknowns - {name}, functions=self.functions - {name})
        rule = Calculus._member(inner, member, name, sp.S.Zero)
        return self._tidy(rule)

    def _tidy(self, expr: sp.Expr) -> sp.Expr:
        return canonical(contract(expr), self.symmetric | {tangent_name(name) for name in self.symmetric})

    def _member(self, expr: sp.Expr, name: str, target: sp.Indexed) -> sp.Expr:
        if name in self.unknowns:
            return family(tangent_name(name))[expr.indices]
        if name in self.functions:
            return block_field(tangent_name(name))(*member_indices(expr), KAPPA)
        return super()._member(expr, name, target)
