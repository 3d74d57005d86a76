"""From a parsed expression tree to SymPy, node by node; no text is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from derive.gaussian.special import NormalCdf, hermite_polynomial
from derive.language.grammar import ExpressionError, Node, canonical


def to_sympy(node: Node, variables: Mapping[str, sympy.Symbol]) -> Any:
    """The SymPy expression of a tree. The symbols should be real, so that kinks and jumps are differentiable.

    Kinked functions become Abs, sign, Heaviside (1/2 at 0), Max and Min, which SymPy differentiates in the
    sense of distributions. Raises ExpressionError for a node that is not of the grammar or has no finite
    value.
    """
    if node.op == "number" and isinstance(node.value, Fraction):
        return sympy.Rational(node.value.numerator, node.value.denominator)
    if node.op == "constant":
        return {"pi": sympy.pi, "e": sympy.E}[str(node.value)]
    if node.op == "variable":
        return variables[str(node.value)]
    arguments = [to_sympy(argument, variables) for argument in node.args]
    is_call = node.op == "call"
    result = _call(str(node.value), arguments) if is_call else _operation(node.op, arguments)
    if result.has(sympy.zoo, sympy.nan, sympy.oo, sympy.S.NegativeInfinity):
        raise ExpressionError(f"{canonical(node)} has no finite value", "check divisions by zero and constant parts")
    return result


def _operation(op: str, arguments: list[Any]) -> Any:
    if op == "pow":
        base, exponent = arguments
        if base.is_number and not exponent.is_number and base != sympy.E:
            return sympy.exp(exponent * sympy.log(base))
        return base**exponent
    if op == "neg":
        return -arguments[0]
    first, second = arguments
    if op == "add":
        return first + second
    if op == "sub":
        return first - second
    return first * second if op == "mul" else first / second


def _call(name: str, arguments: list[Any]) -> Any:
    try:
        function = _FUNCTIONS[name]
    except KeyError:
        raise ExpressionError(f"the function {name} has no SymPy form", f"known: {' '.join(_FUNCTIONS)}") from None
    return function(*arguments)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "arctan": sympy.atan,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "Phi": NormalCdf,
    "sign": sympy.sign,
    "step": sympy.Heaviside,
    "abs": sympy.Abs,
    "relu": lambda x: sympy.Max(0, x),
    "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
    "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
    "max": sympy.Max,
    "min": sympy.Min,
    "clip": lambda x, low, high: sympy.Max(low, sympy.Min(high, x)),
    "He": lambda degree, x: hermite_polynomial(int(degree), x),
}
