"""Scalar functions in numpy: value and first derivative of a registered name or a user expression."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from derive.catalogue import lookup
from derive.grammar import Node, constant_value, parse

Array = NDArray[np.float64]
Dual = tuple[Array, Array]
Unary = tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]


def numpy_function(text: str) -> Callable[[ArrayLike], Dual]:
    """Function of an array z of any shape that returns (value, first derivative), each of the shape of z.

    Forward-mode evaluation of the expression tree. Where the function has a kink the derivative is one-sided
    or the average of both sides; the delta functions at jumps are left out. Both are nan where the value is
    not a real number. Raises derive.grammar.ExpressionError where the text is neither a registered name nor
    an expression in z.
    """
    node = parse(lookup(text).expression)

    def evaluate(z: ArrayLike) -> Dual:
        points = np.asarray(z, dtype=np.float64)
        with np.errstate(all="ignore"):
            value, slope = _evaluate(node, points)
        value = np.broadcast_to(value, points.shape).copy()
        slope = np.broadcast_to(slope, points.shape).copy()
        slope[np.isnan(value)] = np.nan
        return value, slope

    return evaluate


def _evaluate(node: Node, z: Array) -> Dual:
    constant = constant_value(node)
    if constant is not None:
        return np.asarray(constant), np.zeros(())
    if node.op == "variable":
        return z, np.ones_like(z)
    if node.op == "pow":
        return _power(node, z)
    parts = [_evaluate(argument, z) for argument in node.args]
    if node.op == "call" and node.value in _UNARY:
        function, derivative = _UNARY[str(node.value)]
        inner, slope = parts[0]
        value = function(inner)
        return value, _chain(derivative(inner, value), slope)
    return _COMBINED[str(node.value) if node.op == "call" else node.op](*parts)


def _chain(outer: Array, inner: Array) -> Array:
    """Product of two slopes; an infinite one-sided slope times a slope of zero averages to zero."""
    return np.where(inner == 0.0, 0.0, outer * inner)


def _power(node: Node, z: Array) -> Dual:
    exponent = constant_value(node.args[1])
    if exponent is not None:
        base, slope = _evaluate(node.args[0], z)
        return base**exponent, _chain(exponent * base ** (exponent - 1.0), slope) if exponent else np.zeros(
            ()
        )
    growth = math.log(constant_value(node.args[0]) or math.nan)
    power, slope = _evaluate(node.args[1], z)
    value = np.exp(growth * power)
    return value, _chain(growth * value, slope)


def _multiply(left: Dual, right: Dual) -> Dual:
    return left[0] * right[0], _chain(right[0], left[1]) + _chain(left[0], right[1])


def _divide(left: Dual, right: Dual) -> Dual:
    ratio = left[0] / right[0]
    # (a/b)' = (a' - (a/b) b')/b; a/b = 0 next to an infinite b' means that b has overflowed.
    return ratio, (left[1] - _chain(right[1], ratio)) / right[0]


def _larger(left: Dual, right: Dual) -> Dual:
    slope = np.where(
        left[0] > right[0], left[1], np.where(left[0] < right[0], right[1], (left[1] + right[1]) / 2)
    )
    return np.maximum(left[0], right[0]), slope


def _smaller(left: Dual, right: Dual) -> Dual:
    value, slope = _larger((-left[0], -left[1]), (-right[0], -right[1]))
    return -value, -slope


def _hermite(degree: Dual, inner: Dual) -> Dual:
    k = int(degree[0])
    value = special.eval_hermitenorm(k, inner[0])
    lower = k * special.eval_hermitenorm(k - 1, inner[0]) if k else np.zeros(())
    return value, _chain(lower, inner[1])


_COMBINED: Mapping[str, Callable[..., Dual]] = MappingProxyType(
    {
        "neg": lambda a: (-a[0], -a[1]),
        "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
        "sub": lambda a, b: (a[0] - b[0], a[1] - b[1]),
        "mul": _multiply,
        "div": _divide,
        "max": _larger,
        "min": _smaller,
        "clip": lambda a, low, high: _smaller(_larger(a, low), high),
        "He": _hermite,
    }
)


def _bell(x: Array) -> Array:
    return np.exp(-x * x)


def _sech_squared(x: Array) -> Array:
    # 1 - tanh^2 cancels for large |x|, 1/cosh^2 overflows; this does neither.
    decay = np.exp(-2.0 * np.abs(x))
    return 4.0 * decay / (1.0 + decay) ** 2


_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)

#: name -> (value of x, derivative from x and the value); each stable for |x| as large as doubles go.
_UNARY: Mapping[str, Unary] = MappingProxyType(
    {
        "exp": (np.exp, lambda x, f: f),
        "log": (np.log, lambda x, f: 1.0 / x),
        "sqrt": (np.sqrt, lambda x, f: 0.5 / f),
        "sin": (np.sin, lambda x, f: np.cos(x)),
        "cos": (np.cos, lambda x, f: -np.sin(x)),
        "sinh": (np.sinh, lambda x, f: np.cosh(x)),
        "cosh": (np.cosh, lambda x, f: np.sinh(x)),
        "tanh": (np.tanh, lambda x, f: _sech_squared(x)),
        "arctan": (np.arctan, lambda x, f: 1.0 / (1.0 + x * x)),
        "erf": (special.erf, lambda x, f: _TWO_OVER_ROOT_PI * _bell(x)),
        "erfc": (special.erfc, lambda x, f: -_TWO_OVER_ROOT_PI * _bell(x)),
        "Phi": (special.ndtr, lambda x, f: 0.5 * _ROOT_HALF * _TWO_OVER_ROOT_PI * _bell(_ROOT_HALF * x)),
        "sign": (np.sign, lambda x, f: np.zeros_like(x)),
        "step": (lambda x: 0.5 * (1.0 + np.sign(x)), lambda x, f: np.zeros_like(x)),
        "abs": (np.abs, lambda x, f: np.sign(x)),
        "relu": (lambda x: np.maximum(x, 0.0), lambda x, f: 0.5 * (1.0 + np.sign(x))),
        "sigmoid": (special.expit, lambda x, f: f * special.expit(-x)),
        "softplus": (lambda x: np.logaddexp(0.0, x), lambda x, f: special.expit(x)),
    }
)
