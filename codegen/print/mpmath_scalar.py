"""Functions of numbers for mpmath: rationals stay exact."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sympy

from codegen.print.scalar import ScalarPrinter
from codegen.stable import Expm1, Log1p, LogCosh, Sigmoid, Softplus, Tail
from derive.gaussian.special import NormalCdf

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
