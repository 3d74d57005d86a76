"""Averages of smooth functions that nearly cancel, to many digits: E[sin(5z)] He_k is 1e-16 of sin(5z) and less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import mpmath

from derive.language.catalogue import lookup
from derive.language.grammar import Node, constant_value, parse

_DIGITS, _SETTLED = 90, 31  # of the sums, and to which they have to agree beside the largest
_COARSEST, _HALVINGS = 8, 4  # nodes of a trapezoid in one unit of g, and how often they are doubled
_REACH = 26  # of g: its weight beyond is 1e-147, and with He_72 1e-45

_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "exp": mpmath.exp,
        "sin": mpmath.sin,
        "cos": mpmath.cos,
        "sinh": mpmath.sinh,
        "cosh": mpmath.cosh,
        "tanh": mpmath.tanh,
        "arctan": mpmath.atan,
        "erf": mpmath.erf,
        "erfc": mpmath.erfc,
        "Phi": mpmath.ncdf,
        "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    }
)


@lru_cache(maxsize=64)
def exact_averages(function: str, variance: float, offset: float, order: int) -> tuple[float, ...] | None:
    """D_k = E[f(offset + sqrt(c) g) He_k(g)] / c^(k/2) for k up to ``order``, each to all digits that it has beside the
    largest; None where f has kinks or turns too sharply, or where all averages are rounding of these digits.
    """
    node = parse(lookup(function).expression)
    with mpmath.workdps(_DIGITS):
        root = mpmath.sqrt(mpmath.mpf(variance))
        step, previous = mpmath.mpf(1) / _COARSEST, None
        try:
            sums = _sums(node, (offset, root), (step, mpmath.mpf(0)), order)
            for _ in range(_HALVINGS):
                previous = sums
                shifted = _sums(node, (offset, root), (step, step / 2), order)
                sums, step = [(a + b) / 2 for a, b in zip(sums, shifted, strict=True)], step / 2
                allowed = mpmath.mpf(10) ** -_SETTLED * max(map(abs, sums))
                if all(abs(a - b) <= allowed for a, b in zip(sums, previous, strict=True)):
                    return tuple(float(x * mpmath.sqrt(mpmath.factorial(k)) / root**k) for k, x in enumerate(sums))
        except KeyError:
            pass
    return None


def _sums(node: Node, place: tuple[float, Any], grid: tuple[Any, Any], order: int) -> list[Any]:
    """step * sum_i f(offset + root g_i) he_k(g_i) phi(g_i) at g_i = i step + shift, he_k = He_k/sqrt(k!)."""
    (offset, root), (step, shift) = place, grid
    count, roots = int(_REACH / step), [mpmath.sqrt(k) for k in range(order + 2)]
    found = [mpmath.mpf(0)] * (order + 1)
    for i in range(-count, count + 1):
        g = i * step + shift
        before, here = mpmath.mpf(0), value_at(node, offset + root * g) * mpmath.npdf(g) * step
        for k in range(order + 1):
            found[k] += here
            before, here = here, (g * here - roots[k] * before) / roots[k + 1]
    return found


def value_at(node: Node, z: Any) -> Any:
    """An expression in one variable at a number of many digits. Raises KeyError for functions with kinks."""
    if node.op == "variable":
        return z
    if node.op == "number":
        return mpmath.mpmathify(node.value)
    if node.op == "constant":
        return mpmath.pi if node.value == "pi" else mpmath.e
    if node.op == "pow":
        exponent = constant_value(node.args[1])
        if exponent is not None and exponent == int(exponent):
            return value_at(node.args[0], z) ** int(exponent)
    if node.op == "call" and node.value == "He":
        degree, root = int(constant_value(node.args[0]) or 0), mpmath.sqrt(2)
        return mpmath.hermite(degree, value_at(node.args[1], z) / root) / root**degree
    parts = [value_at(argument, z) for argument in node.args]
    if node.op == "call":
        return _FUNCTIONS[str(node.value)](*parts)
    return _OPERATIONS[node.op](*parts)


_OPERATIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "neg": lambda a: -a,
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
    }
)
