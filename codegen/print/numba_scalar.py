"""Functions of numbers for numba: text on `math.*` and the functions of `runtime.special`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy

from codegen.print.scalar import ScalarPrinter
from codegen.stable import Expm1, Log1p, LogCosh, Sigmoid, Softplus, Tail
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


class NumbaPrinter(ScalarPrinter):
    """Text of an expression of floats."""

    calls = _NUMBA_CALLS
    root = "math.sqrt"
    target = "numba text"

    def expression(self, expr: Any) -> str:
        """Constants are numbers of 30 digits."""
        return super().expression(with_literals(sympy.sympify(expr)))

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """The same."""
        return super().assignments([(name, with_literals(expr)) for name, expr in targets])

    def _print_number(self, expr: Any) -> str:
        if not (expr.is_real and expr.is_finite):
            return self.emptyPrinter(expr)
        return repr(float(expr.evalf(30)))

    def _print_NormalCdf(self, expr: Any) -> str:
        return f"(0.5*math.erfc({self._print(with_literals(-expr.args[0] / sympy.sqrt(2)))}))"


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


def imported_helpers(expressions: Iterable[Any]) -> str:
    """The line that imports what the numba text of these expressions calls, or nothing."""
    found = {_NUMBA_CALLS.get(node.func, "") for e in expressions for node in e.atoms(sympy.Function)}
    names = sorted(found & set(_SPECIAL))
    return f"from generated.runtime.special import {', '.join(names)}\n" if names else ""
