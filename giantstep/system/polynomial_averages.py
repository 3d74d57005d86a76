"""Averages of polynomials, exact. Their mean features may be dependent, as those of He_n are, which rounding hides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import mpmath

from derive.language.catalogue import lookup
from derive.language.grammar import Node, constant_value, parse
from giantstep.system.exact_averages import value_at

Coefficients = list[Any]  # of z^0, z^1, ...


@lru_cache(maxsize=64)
def degree_of(function: str) -> int | None:
    """The degree of a function that is a polynomial in z; None of any other."""
    found = _coefficients(parse(lookup(function).expression))
    return None if found is None else len(found) - 1


def polynomial_averages(function: str, variance: Any, offset: Any, order: int) -> list[Any]:
    """D_k = E f^(k)(offset + sqrt(c) g), [order + 1] of many digits, of a function that is a polynomial."""
    derivative, found = _coefficients(parse(lookup(function).expression)), []
    for _ in range(order + 1):
        found.append(_mean(derivative or [], variance, offset))
        derivative = [m * p for m, p in enumerate(derivative or [])][1:]
    return found


def polynomial_means(function: str, variance: Any, shifts: Sequence[Any]) -> list[Any]:
    """E f(s + sqrt(c) g) at every shift s, of such a function."""
    coefficients = _coefficients(parse(lookup(function).expression)) or []
    return [_mean(coefficients, variance, shift) for shift in shifts]


def _mean(coefficients: Coefficients, variance: Any, offset: Any) -> Any:
    """E p(offset + sqrt(variance) g), by the recurrence of Gaussian moments."""
    before, here, total = mpmath.mpf(0), mpmath.mpf(1), mpmath.mpf(0)
    for n, p in enumerate(coefficients):
        total += p * here
        before, here = here, offset * here + n * variance * before
    return total


def _coefficients(node: Node) -> Coefficients | None:
    """Those of an expression, None where it is no polynomial; mpmath's working precision is theirs."""
    if node.op == "variable":
        return [mpmath.mpf(0), mpmath.mpf(1)]
    if constant_value(node) is not None:
        return _constant(node)
    if node.op == "call":
        return _hermite(node) if node.value == "He" else None
    parts = [_coefficients(argument) for argument in node.args]
    if node.op == "pow":
        return None if parts[0] is None else _power(parts[0], constant_value(node.args[1]))
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if node.op == "div":
        return [p / known[1][0] for p in known[0]] if len(known[1]) == 1 else None
    if node.op == "mul":
        return _product(*known)
    return _sum(known[0], known[1], -1 if node.op == "sub" else 1) if len(known) == 2 else [-p for p in known[0]]


def _constant(node: Node) -> Coefficients | None:
    try:
        return [value_at(node, mpmath.mpf(0))]
    except KeyError:
        return None


def _hermite(node: Node) -> Coefficients | None:
    """He_k of a polynomial."""
    inner = _coefficients(node.args[1])
    if inner is None:
        return None
    before, here = [mpmath.mpf(0)], [mpmath.mpf(1)]
    for k in range(int(constant_value(node.args[0]) or 0)):
        before, here = here, _sum(_product(inner, here), before, -k)
    return here


def _power(base: Coefficients, exponent: float | None) -> Coefficients | None:
    if exponent is None or exponent != int(exponent) or exponent < 0:
        return None
    found = [mpmath.mpf(1)]
    for _ in range(int(exponent)):
        found = _product(found, base)
    return found


def _sum(a: Sequence[Any], b: Sequence[Any], factor: int) -> Coefficients:
    """a + factor b."""
    return [x + factor * y for x, y in zip_longest(a, b, fillvalue=mpmath.mpf(0))]


def _product(a: Sequence[Any], b: Sequence[Any]) -> Coefficients:
    found = [mpmath.mpf(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return found
