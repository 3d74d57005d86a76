"""Averages to many digits: those that nearly cancel, as E[sin(5z)] He_k, which is 1e-16 of sin(5z) and less, and those
that features of nearly equal readout values are told apart by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import mpmath
import numpy as np

from derive.language.catalogue import lookup
from derive.language.grammar import Node, constant_value, parse
from giantstep.spec.kernels import function_kernel

Array = np.ndarray
_BITS, _DIGITS, _SETTLED = 300, 95, 31  # of the sums, of what is summed, and to which they agree beside the largest
_ONE = 1 << _BITS
_TOGETHER = 16  # orders, of which tables are remembered
_COARSEST, _HALVINGS = 8, 4  # nodes of a trapezoid in one unit of g, and how often they are doubled
_REACH = 26  # of g: its weight beyond is 1e-147, and with He_72 1e-45
_ORDERS = 20, 26, 36, 50  # of Gauss's rule on panels of one unit of g beside a kink
_DYADIC = 1 << 20  # of kinks that double precision has all digits of

_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "exp": mpmath.exp,
        "log": mpmath.log,
        "sqrt": mpmath.sqrt,
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
        "abs": mpmath.fabs,
        "sign": mpmath.sign,
        "step": lambda x: mpmath.mpf(x > 0),
        "relu": lambda x: max(x, mpmath.mpf(0)),
        "max": max,
        "min": min,
        "clip": lambda x, low, high: min(max(x, low), high),
    }
)


@lru_cache(maxsize=64)
def exact_averages(function: str, variance: Any, offset: Any, order: int) -> tuple[Any, ...] | None:
    """D_k = E[f(offset + sqrt(c) g) He_k(g)] / c^(k/2) for k up to ``order``, numbers of many digits, each with those
    that it has beside the largest; None where f turns too sharply or has kinks at rounded places, or where all averages
    are rounding of these digits.
    """
    node, breaks = parse(lookup(function).expression), function_kernel(function).BREAKPOINTS
    if not kinks_are_exact(breaks):
        return None
    with mpmath.workdps(_DIGITS):
        place = mpmath.mpf(offset), mpmath.sqrt(mpmath.mpf(variance))
        try:
            sums = _between_kinks(node, place, breaks, order) if len(breaks) else _settled_sums(node, place, order)
        except KeyError:
            return None
        if sums is None:
            return None
        return tuple(x * mpmath.sqrt(mpmath.factorial(k)) / place[1] ** k for k, x in enumerate(sums))


def kinks_are_exact(breaks: Sequence[float]) -> bool:
    """Whether double precision has all digits of these kinks."""
    return all(place * _DYADIC == round(place * _DYADIC) for place in breaks)


def _settled_sums(node: Node, place: tuple[Any, Any], order: int) -> list[Any] | None:
    """E f(offset + root g) he_k(g) by the trapezoid rule, he_k = He_k/sqrt(k!); None where it does not settle."""
    sums = _sums(node, place, _even(_COARSEST, False, order), order)
    for halving in range(_HALVINGS):
        shifted = _sums(node, place, _even(_COARSEST << halving, True, order), order)
        previous, sums = sums, [(a + b) / 2 for a, b in zip(sums, shifted, strict=True)]
        if _agree(sums, previous):
            return sums
    return None


def _between_kinks(node: Node, place: tuple[Any, Any], breaks: Sequence[float], order: int) -> list[Any] | None:
    """The same by Gauss's rule on panels that end at kinks."""
    offset, root = place
    inside = ((mpmath.mpf(z) - offset) / root for z in breaks)
    edges = sorted({*range(-_REACH, _REACH + 1), *(g for g in inside if abs(g) < _REACH)})
    coarser: list[Any] | None = None
    for number in _ORDERS:
        each = (_sums(node, place, _panel(low, high, number, order), order) for low, high in pairwise(edges))
        sums = [sum(parts) for parts in zip(*each, strict=True)]
        if coarser is not None and _agree(sums, coarser):
            return sums
        coarser = sums
    return None


def _agree(sums: list[Any], others: list[Any]) -> bool:
    allowed = mpmath.mpf(10) ** -_SETTLED * max(map(abs, sums))
    return all(abs(a - b) <= allowed for a, b in zip(sums, others, strict=True))


class _Rule(NamedTuple):
    """Places g [n], and w he_k(g) phi(g) there in fixed point, [order + 1, n]."""

    places: tuple[Any, ...]
    weights: Array


def _even(per_unit: int, between: bool, order: int) -> _Rule:
    """Of the trapezoid rule, with so many nodes in one unit of g; between: half a step beside these."""
    return _trapezoid(per_unit, between, -(-order // _TOGETHER) * _TOGETHER)


@lru_cache(maxsize=8)
def _trapezoid(per_unit: int, between: bool, order: int) -> _Rule:
    step, count = mpmath.mpf(1) / per_unit, _REACH * per_unit
    places = [(i + between / mpmath.mpf(2)) * step for i in range(-count, count + 1)]
    return _rule(places, [step] * len(places), order)


def _panel(low: Any, high: Any, number: int, order: int) -> _Rule:
    """Of Gauss's rule with so many nodes between two ends, remembered where these are whole numbers."""
    make = _unit if isinstance(low, int) and isinstance(high, int) else _unit.__wrapped__
    return make(low, high, number, -(-order // _TOGETHER) * _TOGETHER)


@lru_cache(maxsize=2 * _REACH * len(_ORDERS))  # all that one function may take
def _unit(low: Any, high: Any, number: int, order: int) -> _Rule:
    half, middle = (high - low) / mpmath.mpf(2), (high + low) / mpmath.mpf(2)
    nodes = _gauss(number)
    return _rule([middle + half * x for x, _ in nodes], [half * weight for _, weight in nodes], order)


@lru_cache(maxsize=4)
def _gauss(number: int) -> tuple[tuple[Any, Any], ...]:
    return gauss(number)


def gauss(number: int) -> tuple[tuple[Any, Any], ...]:
    """Nodes and weights on (-1, 1) in the precision at hand, by Newton's method from those in double precision."""
    found = []
    for start in np.polynomial.legendre.leggauss(number)[0].tolist():
        x = mpmath.mpf(start)
        for _ in range(4):
            before, here = mpmath.mpf(1), x
            for k in range(1, number):
                before, here = here, ((2 * k + 1) * x * here - k * before) / (k + 1)
            slope = number * (before - x * here) / (1 - x * x)
            x -= here / slope
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return tuple(found)


def _rule(places: list[Any], weights: list[Any], order: int) -> _Rule:
    """Without the places whose weight is zero in fixed point, where all w he_k(g) phi(g) are."""
    weighed = _fixed([w * mpmath.npdf(x) for x, w in zip(places, weights, strict=True)])
    places = [x for x, weight in zip(places, weighed, strict=True) if weight]
    g, here = _fixed(places), weighed[weighed != 0]
    before = 0 * g
    found = [here]
    for k in range(order):
        root, over = (int(mpmath.sqrt(x) * _ONE) for x in (k, 1 / mpmath.mpf(k + 1)))
        before, here = here, ((g * here - root * before) >> _BITS) * over >> _BITS
        found.append(here)
    return _Rule(tuple(places), np.stack(found))


def _sums(node: Node, place: tuple[Any, Any], rule: _Rule, order: int) -> list[Any]:
    """sum_i w_i f(offset + root g_i) he_k(g_i) phi(g_i)."""
    offset, root = place
    values = _fixed([value_at(node, offset + root * g) for g in rule.places])
    sums = rule.weights[: order + 1] @ values
    return [mpmath.mpf(x) / _ONE / _ONE for x in sums.tolist()]


def _fixed(numbers: list[Any]) -> Array:
    return np.array([int(x * _ONE) for x in numbers], dtype=object)


def value_at(node: Node, z: Any) -> Any:
    """An expression in one variable at a number of many digits.

    Raises KeyError for functions that it does not know, and at poles.
    """
    try:
        return _value_at(node, z)
    except ZeroDivisionError:
        raise KeyError("a pole") from None


def _value_at(node: Node, z: Any) -> Any:
    if node.op == "variable":
        return z
    if node.op == "number":
        return mpmath.mpmathify(node.value)
    if node.op == "constant":
        return mpmath.pi if node.value == "pi" else mpmath.e
    if node.op == "pow":
        exponent = constant_value(node.args[1])
        if exponent is not None and exponent == int(exponent):
            return _value_at(node.args[0], z) ** int(exponent)
    if node.op == "call" and node.value == "He":
        degree, root = int(constant_value(node.args[0]) or 0), mpmath.sqrt(2)
        return mpmath.hermite(degree, _value_at(node.args[1], z) / root) / root**degree
    parts = [_value_at(argument, z) for argument in node.args]
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
