"""The least value of a function of one variable, and where it is, as expressions."""

from __future__ import annotations

from typing import Any

import sympy as sp


class Minimum(sp.Expr):
    """``min over x of phi(x)`` for a function with one minimum."""

    is_commutative = True
    is_real = True

    def __new__(cls, function: sp.Expr, variable: sp.Symbol) -> sp.Expr:
        return sp.Expr.__new__(cls, function, variable)

    @property
    def bound_symbols(self) -> list[sp.Symbol]:
        return [self.args[1]]

    def numerical_value(self, values: Any, where: Any) -> Any:
        """At a random point; the function is to be smooth and convex."""
        function, variable = self.args
        return values.least(lambda x: values.at(function, {**where, variable: x}))

    @property
    def free_symbols(self) -> set[sp.Basic]:
        found: set[sp.Basic] = self.args[0].free_symbols - {self.args[1]}
        return found

    def _latex(self, printer: Any) -> str:
        return rf"\min_{{{printer._print(self.args[1])}}}\left[{printer._print(self.args[0])}\right]"

    def _sympystr(self, printer: Any) -> str:
        return f"min_{printer._print(self.args[1])}[{printer._print(self.args[0])}]"


class Minimiser(sp.Expr):
    """Where ``phi(x)`` is least, for a convex function that may have kinks."""

    is_commutative = True
    is_real = True

    def __new__(cls, function: sp.Expr, variable: sp.Symbol) -> sp.Expr:
        return sp.Expr.__new__(cls, function, variable)

    @property
    def bound_symbols(self) -> list[sp.Symbol]:
        return [self.args[1]]

    def numerical_value(self, values: Any, where: Any) -> Any:
        """At a random point."""
        function, variable = self.args
        return values.place_of_least(lambda x: values.at(function, {**where, variable: x}))
