"""Expressions in numpy: value and derivatives by forward-mode evaluation of the tree, no text evaluated."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from derive.language.catalogue import lookup
from derive.language.grammar import Node, constant_value, parse
from derive.language.substitution import number

Array = NDArray[np.float64]
Dual = tuple[Array, Array]
#: Value and derivatives in one variable, up to the order of the evaluation: (f,), (f, f') or (f, f', f'').
Jet = tuple[Array, ...]
Unary = tuple[Callable[[Array], Array], Callable[[Array, Array], Array], Callable[[Array, Array], Array]]

_ZERO = np.zeros(())


class _Special:
    """Functions of scipy.special, which is imported when one is called: most models need none."""

    def __getattr__(self, name: str) -> Callable[..., Array]:
        def call(*arguments: Any) -> Array:
            from scipy import special

            vars(self)[name] = getattr(special, name)  # found there from now on
            result: Array = vars(self)[name](*arguments)
            return result

        return call


special = _Special()


@lru_cache(maxsize=256)
def numpy_function(text: str) -> Callable[[ArrayLike], Dual]:
    """Function of an array z of any shape that returns (value, first derivative), each of the shape of z.

    Where the function has a kink the derivative is one-sided or the average of both sides; the delta functions
    at jumps are left out. Both are nan where the value is not a real number. Raises
    derive.language.grammar.ExpressionError where the text is neither a registered name nor an expression in z.
    """
    prepared = prepare(parse(lookup(text).expression))

    def evaluate(z: ArrayLike) -> Dual:
        value, slope = jet(prepared, "z", {"z": np.asarray(z, dtype=np.float64)}, 1)
        return value, slope

    return evaluate


@lru_cache(maxsize=256)
def numpy_values(text: str) -> Callable[[ArrayLike], Array]:
    """The values alone of `numpy_function`, the same numbers: derivatives take twice as long as they do."""
    prepared = prepare(parse(lookup(text).expression))
    return lambda z: jet(prepared, "z", {"z": np.asarray(z, dtype=np.float64)}, 0)[0]


def is_linear(text: str) -> bool:
    """Whether a function of z is linear: by its second differences."""
    values = numpy_values(text)(np.linspace(-3.0, 3.0, 13))
    return bool(np.max(np.abs(np.diff(values, 2))) <= 1e-12 * np.max(np.abs(values)))


@dataclass(frozen=True)
class Prepared:
    """A tree ready to be evaluated many times: what does not depend on any variable is a number already."""

    op: str
    value: object
    constant: float | None
    args: tuple["Prepared", ...]


def prepare(node: Node) -> Prepared:
    """The tree with its constant parts as numbers, and log(1+exp), log(cosh), log(Phi) as stable functions."""
    constant = constant_value(node)
    stable = node if constant is not None else _stable(node)
    return Prepared(stable.op, stable.value, constant, tuple(prepare(argument) for argument in stable.args))


def jet(node: Node | Prepared, variable: str, values: Mapping[str, ArrayLike], order: int) -> Jet:
    """Value and derivatives up to ``order`` (0, 1 or 2) in one variable, the other names held fixed.

    values: an array or a number for each name in the tree. The arrays returned have the common shape of the
    values. At kinks derivatives are averages of both sides, or one-sided; all are nan where the value is not a
    real number.
    """
    inputs = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
    shape = np.broadcast_shapes(*(value.shape for value in inputs.values()))
    fixed = (_ZERO,) * order
    names = {name: (value, *fixed) for name, value in inputs.items()}
    if order:
        names[variable] = (inputs[variable], np.ones_like(inputs[variable]), *fixed[1:])
    prepared = node if isinstance(node, Prepared) else prepare(node)
    with np.errstate(all="ignore"):
        found = _evaluate(prepared, names, order)
    arrays = tuple(np.broadcast_to(array, shape).copy() for array in found)
    for derivative in arrays[1:]:
        derivative[np.isnan(arrays[0])] = np.nan
    return arrays


def _evaluate(node: Prepared, names: Mapping[str, Jet], order: int) -> Jet:
    if node.constant is not None:
        return (np.asarray(node.constant), *(_ZERO,) * order)
    if node.op == "variable":
        return names[str(node.value)]
    if node.op == "pow":
        return _power(node, names, order)
    parts = [_evaluate(argument, names, order) for argument in node.args]
    if node.op == "call" and node.value in _UNARY:
        function, slope, curvature = _UNARY[str(node.value)]
        value = function(parts[0][0])
        return _composed(parts[0], value, slope, curvature)
    return _COMBINED[str(node.value) if node.op == "call" else node.op](*parts)


def _composed(
    inner: Jet,
    value: Array,
    slope: Callable[[Array, Array], Array],
    curvature: Callable[[Array, Array], Array],
) -> Jet:
    """The chain rule: (f, f' s, f'' s^2 + f' s') for an inner function of derivatives s, s'."""
    if len(inner) == 1:
        return (value,)
    outer = slope(inner[0], value)
    first = _times(outer, inner[1])
    if len(inner) == 2:
        return value, first
    second = _times(curvature(inner[0], value), inner[1] * inner[1]) + _times(outer, inner[2])
    return value, first, second


def _times(outer: Array, inner: Array) -> Array:
    """Product of two slopes; an infinite one-sided slope times a slope of zero averages to zero."""
    return np.where(inner == 0.0, 0.0, outer * inner)


def _power(node: Prepared, names: Mapping[str, Jet], order: int) -> Jet:
    exponent = node.args[1].constant
    if exponent is None:
        growth = math.log(node.args[0].constant or math.nan)
        inner = _evaluate(node.args[1], names, order)
        value = np.exp(growth * inner[0])
        return _composed(inner, value, lambda x, f: growth * f, lambda x, f: growth**2 * f)
    base, k = _evaluate(node.args[0], names, order), exponent
    return _composed(
        base,
        base[0] ** k,
        lambda x, f: k * x ** (k - 1.0) if k else np.zeros_like(x),
        lambda x, f: k * (k - 1.0) * x ** (k - 2.0) if k * (k - 1.0) else np.zeros_like(x),
    )


def _sum(left: Jet, right: Jet) -> Jet:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _negative(inner: Jet) -> Jet:
    return tuple(-a for a in inner)


def _multiply(left: Jet, right: Jet) -> Jet:
    found = [left[0] * right[0]]
    if len(left) > 1:
        found.append(_times(right[0], left[1]) + _times(left[0], right[1]))
    if len(left) > 2:
        cross = 2.0 * _times(left[1], right[1])
        found.append(_times(right[0], left[2]) + cross + _times(left[0], right[2]))
    return tuple(found)


def _divide(left: Jet, right: Jet) -> Jet:
    found = [left[0] / right[0]]
    # (a/b)' = (a' - (a/b) b')/b; a/b = 0 next to an infinite b' means that b has overflowed.
    if len(left) > 1:
        found.append((left[1] - _times(right[1], found[0])) / right[0])
    if len(left) > 2:
        cross = 2.0 * _times(right[1], found[1])
        found.append((left[2] - cross - _times(right[2], found[0])) / right[0])
    return tuple(found)


def _larger(left: Jet, right: Jet) -> Jet:
    above, below = left[0] > right[0], left[0] < right[0]
    derivatives = (
        np.where(above, a, np.where(below, b, (a + b) / 2)) for a, b in zip(left[1:], right[1:], strict=True)
    )
    return np.maximum(left[0], right[0]), *derivatives


def _smaller(left: Jet, right: Jet) -> Jet:
    return _negative(_larger(_negative(left), _negative(right)))


def _hermite(degree: Jet, inner: Jet) -> Jet:
    k = int(degree[0])

    def lower(x: Array, times: int) -> Array:
        scale = math.perm(k, times)
        return scale * special.eval_hermitenorm(k - times, x) if scale else np.zeros_like(x)

    value = special.eval_hermitenorm(k, inner[0])
    return _composed(inner, value, lambda x, f: lower(x, 1), lambda x, f: lower(x, 2))


_COMBINED: Mapping[str, Callable[..., Jet]] = MappingProxyType(
    {
        "neg": _negative,
        "add": _sum,
        "sub": lambda a, b: tuple(x - y for x, y in zip(a, b, strict=True)),
        "mul": _multiply,
        "div": _divide,
        "max": _larger,
        "min": _smaller,
        "clip": lambda a, low, high: _smaller(_larger(a, low), high),
        "He": _hermite,
    }
)


def _stable(node: Node) -> Node:
    """The same function where a naive evaluation overflows, underflows or cancels."""
    if node.op == "pow" or node.value == "sqrt":
        return _root_of_power(node)
    if node.op != "call" or node.value != "log":
        return node
    inner = node.args[0]
    if inner.op == "call" and inner.value in ("cosh", "Phi"):
        return Node("call", inner.args, f"log_{inner.value}")
    if inner.op == "add":
        for one, grown in (inner.args, inner.args[::-1]):
            if constant_value(one) == 1.0 and grown.op == "call" and grown.value == "exp":
                return Node("call", grown.args, "softplus")
    return node


def _root_of_power(node: Node) -> Node:
    """(x**2)**a as abs(x)**(2 a): the square of a small number is zero, long before its root is."""
    inner, exponent = node.args[0], 0.5 if node.op == "call" else constant_value(node.args[1])
    power = constant_value(inner.args[1]) if inner.op == "pow" else None
    if exponent is None or power is None:
        return node
    base = inner.args[0]
    if base.value != "abs":
        if power % 2.0 != 0.0:
            return node
        base = Node("call", (base,), "abs")
    return Node("pow", (base, number(power * exponent)))


def _bell(x: Array) -> Array:
    return np.exp(-x * x)


def _sech_squared(x: Array) -> Array:
    # 1 - tanh^2 cancels for large |x|, 1/cosh^2 overflows; this does neither.
    decay = np.exp(-2.0 * np.abs(x))
    return 4.0 * decay / (1.0 + decay) ** 2


def _sigmoid_slope(x: Array, f: Array) -> Array:
    return special.expit(x) * special.expit(-x)


def _inverse_mills(x: Array) -> Array:
    """Normal density over normal distribution function, of full relative accuracy in both tails."""
    return math.sqrt(2.0 / math.pi) / special.erfcx(-_ROOT_HALF * x)


def _gauss(x: Array) -> Array:
    return 0.5 * _ROOT_HALF * _TWO_OVER_ROOT_PI * _bell(_ROOT_HALF * x)


def _flat(x: Array, f: Array) -> Array:
    return np.zeros_like(x)


_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)

#: name -> (value of x, first and second derivative from x and the value), stable as far as doubles go.
_UNARY: Mapping[str, Unary] = MappingProxyType(
    {
        "exp": (np.exp, lambda x, f: f, lambda x, f: f),
        "log": (np.log, lambda x, f: 1.0 / x, lambda x, f: -1.0 / (x * x)),
        "sqrt": (np.sqrt, lambda x, f: 0.5 / f, lambda x, f: -0.25 / (x * f)),
        "sin": (np.sin, lambda x, f: np.cos(x), lambda x, f: -f),
        "cos": (np.cos, lambda x, f: -np.sin(x), lambda x, f: -f),
        "sinh": (np.sinh, lambda x, f: np.cosh(x), lambda x, f: f),
        "cosh": (np.cosh, lambda x, f: np.sinh(x), lambda x, f: f),
        "tanh": (np.tanh, lambda x, f: _sech_squared(x), lambda x, f: -2.0 * f * _sech_squared(x)),
        "arctan": (
            np.arctan,
            lambda x, f: 1.0 / (1.0 + x * x),
            lambda x, f: -2.0 / (1.0 + x * x) * (x / (1.0 + x * x)),
        ),
        "erf": (
            special.erf,
            lambda x, f: _TWO_OVER_ROOT_PI * _bell(x),
            lambda x, f: -2.0 * _TWO_OVER_ROOT_PI * x * _bell(x),
        ),
        "erfc": (
            special.erfc,
            lambda x, f: -_TWO_OVER_ROOT_PI * _bell(x),
            lambda x, f: 2.0 * _TWO_OVER_ROOT_PI * x * _bell(x),
        ),
        "Phi": (special.ndtr, lambda x, f: _gauss(x), lambda x, f: -x * _gauss(x)),
        "log_Phi": (
            special.log_ndtr,
            lambda x, f: _inverse_mills(x),
            lambda x, f: -_inverse_mills(x) * (x + _inverse_mills(x)),
        ),
        "log_cosh": (
            lambda x: np.abs(x) + np.log1p(np.exp(-2.0 * np.abs(x))) - math.log(2.0),
            lambda x, f: np.tanh(x),
            lambda x, f: _sech_squared(x),
        ),
        "sign": (np.sign, _flat, _flat),
        "step": (lambda x: 0.5 * (1.0 + np.sign(x)), _flat, _flat),
        "abs": (np.abs, lambda x, f: np.sign(x), _flat),
        "relu": (lambda x: np.maximum(x, 0.0), lambda x, f: 0.5 * (1.0 + np.sign(x)), _flat),
        "sigmoid": (special.expit, _sigmoid_slope, lambda x, f: _sigmoid_slope(x, f) * (1.0 - 2.0 * f)),
        "softplus": (lambda x: np.logaddexp(0.0, x), lambda x, f: special.expit(x), _sigmoid_slope),
    }
)
