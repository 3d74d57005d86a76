"""SymPy to text of functions of numbers: what numba and mpmath have in common.

Text is deterministic: sums and products in SymPy's sorted order, common subexpressions numbered as met.
Only what is listed here is printed; everything else raises `Unprintable`, so no text can smuggle in a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from codegen.print.printer import Unprintable
from derive.gaussian.expectation import Expectation

_PRINTED = (
    sympy.Symbol,
    sympy.Number,
    sympy.NumberSymbol,
    sympy.Add,
    sympy.Mul,
    sympy.Pow,
    sympy.exp,
    sympy.Piecewise,
    sympy.core.relational.Relational,
    sympy.And,
    sympy.Or,
    sympy.Max,
    sympy.Min,
)


class ScalarPrinter(StrPrinter):
    """Shared layout: exact operators, whitelisted calls, conditional expressions."""

    printmethod = "_no_class_prints_itself"
    calls: Mapping[Any, str] = MappingProxyType({})
    root = ""

    def emptyPrinter(self, expr: Any) -> str:
        raise Unprintable(f"{type(expr).__name__} cannot be printed as {self.target}: {sympy.srepr(expr)[:200]}")

    _print_Infinity = _print_NegativeInfinity = _print_NaN = emptyPrinter

    target = ""

    def expression(self, expr: Any) -> str:
        """See ``codegen.print.printer.Printer``."""
        return str(self.doprint(sympy.sympify(expr)))

    def member(self, name: str, indices: Sequence[Any]) -> str:
        """A function of numbers has no families."""
        raise Unprintable(f"{name}{list(indices)} cannot be printed as {self.target}")

    def block_sum(self, node: Any) -> str:
        """Nor sums over them."""
        raise Unprintable(f"{node} cannot be printed as {self.target}")

    def average(self, node: Any) -> str:
        """Nor averages."""
        raise Unprintable(f"{node} cannot be printed as {self.target}")

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """See ``codegen.print.printer.Printer``: common subexpressions come first, as x0, x1, ..."""
        shared, reduced = common_subexpressions([expression for _, expression in targets])
        lines = [f"{symbol.name} = {self.doprint(expression)}" for symbol, expression in shared]
        return lines + [f"{name} = {self.doprint(e)}" for (name, _), e in zip(targets, reduced, strict=True)]

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, Expectation):
            return self.average(expr)
        if not isinstance(expr, _PRINTED) and not (isinstance(expr, sympy.Function) and expr.func in self.calls):
            return self.emptyPrinter(expr)
        return str(super()._print(expr, **kwargs))

    def _print_Function(self, expr: Any) -> str:
        name = self.calls.get(expr.func)
        if name is None:
            return self.emptyPrinter(expr)
        return f"{name}({self._print(expr.args[0])})"

    _print_Abs = _print_sign = _print_Heaviside = _print_log = _print_Function

    def _print_exp(self, expr: Any) -> str:
        return self._print_Function(expr)

    def _print_Exp1(self, expr: Any) -> str:
        return self._print_number(expr)

    _print_Pi = _print_NumberSymbol = _print_Exp1

    def _print_Integer(self, expr: Any) -> str:
        return self._print_number(expr)

    _print_Rational = _print_Float = _print_Half = _print_Zero = _print_One = _print_NegativeOne = _print_Integer

    def _print_number(self, expr: Any) -> str:
        raise Unprintable("no numbers in the abstract printer")

    def _print_Symbol(self, expr: Any) -> str:
        return str(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        text = ""
        for term in self._as_ordered_terms(expr, order=order):
            piece = self._print(term)
            if not text:
                text = piece
            elif piece.startswith("-"):
                text += f" - {piece[1:]}"
            else:
                text += f" + {piece}"
        return text

    def _print_Mul(self, expr: Any) -> str:
        coefficient = expr.as_coeff_Mul()[0]
        if coefficient.is_negative:
            inner = self._print(-expr)
            return f"-({inner})" if precedence(-expr) < PRECEDENCE["Mul"] else f"-{inner}"
        above: list[str] = []
        below: list[str] = []
        for factor in expr.as_ordered_factors():
            if isinstance(factor, sympy.Pow) and factor.exp.is_number and factor.exp.is_negative:
                below.append(self.parenthesize(1 / factor, PRECEDENCE["Mul"] + 1))
            else:
                above.append(self.parenthesize(factor, PRECEDENCE["Mul"]))
        top = "*".join(above) or self._print(sympy.S.One)
        if not below:
            return top
        return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'*'.join(below)})"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, exponent = expr.base, expr.exp
        if exponent.is_number and exponent.is_negative:
            return f"{self._print(sympy.S.One)}/{self.parenthesize(1 / expr, PRECEDENCE['Mul'] + 1)}"
        if exponent == sympy.S.Half:
            return f"{self.root}({self._print(base)})"
        if exponent == 2 and base.is_Symbol:
            return f"{self._print(base)}*{self._print(base)}"
        text = self.parenthesize(base, PRECEDENCE["Pow"] + 1)
        if exponent.is_Integer:
            return f"{text}**{int(exponent)}"
        return f"{text}**({self._print(exponent)})"

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        # numbers are literals and squares of symbols products, whatever SymPy takes them for
        if item.is_number and not item.is_Add:
            text = str(self._print(item))
            return f"({text})" if text.startswith("-") or "*" in text else text
        square = isinstance(item, sympy.Pow) and item.exp == 2 and item.base.is_Symbol
        if square and level > PRECEDENCE["Mul"]:
            return f"({self._print(item)})"
        return str(super().parenthesize(item, level, strict=strict))

    def _print_Piecewise(self, expr: Any) -> str:
        *conditional, (last, condition) = expr.args
        if condition != sympy.true:
            raise Unprintable(f"a piecewise expression needs a last piece for every other case: {expr}")
        text = f"({self._print(last)})"
        for value, test in reversed(conditional):
            text = f"(({self._print(value)}) if {self._print(test)} else {text})"
        return text

    def _print_Relational(self, expr: Any) -> str:
        return f"({self._print(expr.lhs)}) {expr.rel_op} ({self._print(expr.rhs)})"

    def _print_And(self, expr: Any) -> str:
        return " and ".join(f"({self._print(a)})" for a in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Or(self, expr: Any) -> str:
        return " or ".join(f"({self._print(a)})" for a in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Max(self, expr: Any) -> str:
        return self._nested("max", expr)

    def _print_Min(self, expr: Any) -> str:
        return self._nested("min", expr)

    def _nested(self, name: str, expr: Any) -> str:
        *rest, last = sorted(expr.args, key=sympy.default_sort_key)
        text = self._print(last)
        for argument in reversed(rest):
            text = f"{name}({self._print(argument)}, {text})"
        return str(text)


def common_subexpressions(expressions: Sequence[Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """sympy.cse with names x0, x1, ... that avoid the symbols present, in canonical order.

    What holds the variable of an average stays inside it.
    """
    taken = {symbol.name for expression in expressions for symbol in expression.free_symbols}
    names = (sympy.Symbol(f"x{k}", real=True) for k in count() if f"x{k}" not in taken)
    bound = {variable for e in expressions for node in e.atoms(Expectation) for variable in node.variables}
    shared, reduced = sympy.cse(list(expressions), symbols=names, order="canonical", ignore=sorted(bound, key=str))
    return shared, reduced


def operations(expressions: Iterable[Any]) -> int:
    """Number of operations, functions counted as one each."""
    return int(sum(sympy.count_ops(expression) for expression in expressions))
