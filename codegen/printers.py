"""SymPy to text: numba bodies on `math.*`, and mpmath bodies that keep rationals exact.

Text is deterministic: sums and products in SymPy's sorted order, common subexpressions numbered as met.
Only what is listed here is printed; everything else raises `Unprintable`, so no text can smuggle in a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from codegen.print.printer import Unprintable
from codegen.stable import Expm1, Log1p, LogCosh, Sigmoid, Softplus, Tail
from derive.gaussian.expectation import Expectation
from derive.gaussian.special import InverseMillsRatio, LogNormalCdf, NormalCdf, TruncatedMean

#: Functions of `runtime.special` that printed expressions may call.
_SPECIAL = (
    "inverse_mills",
    "log_cosh",
    "log_normal_cdf",
    "sigmoid",
    "sign",
    "softplus",
    "step",
    "truncated_mean",
)
_NUMBA_CALLS: Mapping[Any, str] = MappingProxyType(
    {
        sympy.exp: "math.exp",
        sympy.log: "math.log",
        sympy.sin: "math.sin",
        sympy.cos: "math.cos",
        sympy.sinh: "math.sinh",
        sympy.cosh: "math.cosh",
        sympy.tanh: "math.tanh",
        sympy.atan: "math.atan",
        sympy.erf: "math.erf",
        sympy.erfc: "math.erfc",
        Tail: "math.erfc",
        sympy.Abs: "abs",
        sympy.sign: "sign",
        sympy.Heaviside: "step",
        Sigmoid: "sigmoid",
        Softplus: "softplus",
        LogCosh: "log_cosh",
        Expm1: "math.expm1",
        Log1p: "math.log1p",
        NormalCdf: "math.erfc",
        LogNormalCdf: "log_normal_cdf",
        InverseMillsRatio: "inverse_mills",
        TruncatedMean: "truncated_mean",
    }
)
_MPMATH_NAMES = ("exp", "log", "sin", "cos", "sinh", "cosh", "tanh", "atan", "erf", "erfc", "sign")
_MPMATH_CALLS: Mapping[Any, str] = MappingProxyType(
    {getattr(sympy, name): f"mpmath.{name}" for name in _MPMATH_NAMES}
    | {sympy.Heaviside: "", Sigmoid: "", Softplus: "", LogCosh: ""}  # written out below
    | {
        sympy.Abs: "abs",
        Tail: "mpmath.erfc",
        NormalCdf: "mpmath.ncdf",
        Expm1: "mpmath.expm1",
        Log1p: "mpmath.log1p",
    }
)


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

    def assignment(self, target: str, expr: Any) -> list[str]:
        """See ``codegen.print.printer.Printer``: common subexpressions come first."""
        return _assignments([(target, expr)], "x", self)

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


class NumbaPrinter(ScalarPrinter):
    """Text of a float expression on `math.*` and the functions of `runtime.special`."""

    calls = _NUMBA_CALLS
    root = "math.sqrt"
    target = "numba text"

    def expression(self, expr: Any) -> str:
        """Constants are numbers of 30 digits."""
        return super().expression(with_literals(sympy.sympify(expr)))

    def assignment(self, target: str, expr: Any) -> list[str]:
        """The same."""
        return super().assignment(target, with_literals(expr))

    def _print_number(self, expr: Any) -> str:
        if not (expr.is_real and expr.is_finite):
            return self.emptyPrinter(expr)
        return repr(float(expr.evalf(30)))

    def _print_NormalCdf(self, expr: Any) -> str:
        return f"(0.5*math.erfc({self._print(with_literals(-expr.args[0] / sympy.sqrt(2)))}))"


class MpmathPrinter(ScalarPrinter):
    """Text of an expression at mpmath's current precision; rationals stay fractions of integers."""

    calls = _MPMATH_CALLS
    root = "mpmath.sqrt"
    target = "mpmath text"

    def _print_number(self, expr: Any) -> str:
        if expr.is_Rational and expr.is_finite:
            whole = f"mpmath.mpf({expr.p})"
            return whole if expr.q == 1 else f"({whole}/{expr.q})"
        if expr is sympy.pi or expr is sympy.E:
            return f"+mpmath.{'pi' if expr is sympy.pi else 'e'}"
        if expr.is_Float:
            exact = sympy.Rational(expr)
            return f"(mpmath.mpf({exact.p})/{exact.q})"
        return self.emptyPrinter(expr)

    def _print_Function(self, expr: Any) -> str:
        argument = self._print(expr.args[0])
        if isinstance(expr, sympy.Heaviside):
            return f"((1 + mpmath.sign({argument}))/2)"
        if isinstance(expr, Sigmoid):
            return f"(1/(1 + mpmath.exp(-({argument}))))"
        if isinstance(expr, Softplus):
            return f"mpmath.log1p(mpmath.exp({argument}))"
        if isinstance(expr, LogCosh):
            return f"mpmath.log(mpmath.cosh({argument}))"
        return super()._print_Function(expr)

    _print_Heaviside = _print_Abs = _print_sign = _print_log = _print_Function


def with_literals(expression: Any) -> Any:
    """Products and powers of constants as one 30-digit number each, rounded once and never computed."""
    if not isinstance(expression, sympy.Expr) or not expression.args:
        return expression
    if expression.is_number and not expression.is_Rational:
        value = expression.evalf(30)
        return value if value.is_Float else expression
    if isinstance(expression, sympy.Mul):
        numbers = [factor for factor in expression.args if factor.is_number]
        rest = [with_literals(factor) for factor in expression.args if not factor.is_number]
        product = sympy.Mul(*numbers)
        return sympy.Mul(product if product.is_Rational else product.evalf(30), *rest)
    return expression.func(*[with_literals(argument) for argument in expression.args])


def numba_text(expression: Any) -> str:
    """One expression as numba text. Raises Unprintable."""
    return NumbaPrinter().expression(expression)


def mpmath_text(expression: Any) -> str:
    """One expression as mpmath text. Raises Unprintable."""
    return MpmathPrinter().expression(expression)


def numba_assignments(targets: Sequence[tuple[str, Any]], prefix: str = "x") -> list[str]:
    """Lines `name = text`, common subexpressions first as x0, x1, ... Raises Unprintable."""
    return _assignments([(name, with_literals(e)) for name, e in targets], prefix, NumbaPrinter())


def mpmath_assignments(targets: Sequence[tuple[str, Any]], prefix: str = "x") -> list[str]:
    """As `numba_assignments`, at mpmath's current precision."""
    return _assignments(targets, prefix, MpmathPrinter())


def _assignments(targets: Sequence[tuple[str, Any]], prefix: str, printer: ScalarPrinter) -> list[str]:
    shared, reduced = common_subexpressions([expression for _, expression in targets], prefix)
    lines = [f"{symbol.name} = {printer.doprint(expression)}" for symbol, expression in shared]
    return lines + [f"{name} = {printer.doprint(e)}" for (name, _), e in zip(targets, reduced, strict=True)]


def common_subexpressions(expressions: Sequence[Any], prefix: str = "x") -> tuple[list[tuple[Any, Any]], list[Any]]:
    """sympy.cse with names `prefix0, prefix1, ...` that avoid the symbols present, in canonical order."""
    taken = {symbol.name for expression in expressions for symbol in expression.free_symbols}
    names = (sympy.Symbol(f"{prefix}{k}", real=True) for k in range(10**9) if f"{prefix}{k}" not in taken)
    shared, reduced = sympy.cse(list(expressions), symbols=names, order="canonical")
    return shared, reduced


def imported_helpers(expressions: Iterable[Any]) -> str:
    """The line that imports what the numba text of these expressions calls, or nothing."""
    found = {_NUMBA_CALLS.get(node.func, "") for e in expressions for node in e.atoms(sympy.Function)}
    names = sorted(found & set(_SPECIAL))
    return f"from generated.runtime.special import {', '.join(names)}\n" if names else ""


def operations(expressions: Iterable[Any]) -> int:
    """Number of operations, functions counted as one each."""
    return int(sum(sympy.count_ops(expression) for expression in expressions))
