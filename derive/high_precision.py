"""Minima, Gauss rules and integrals to many digits, for the values that recorded steps are compared by."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath

DIGITS = 50
WORKING = 170  # digits: differences of step 1e-32 in 1e-32, twice, leave 100
STEP = 32  # minus the decimal logarithm of the steps of differences
GAUSS = 40  # nodes


class NotEvaluable(ValueError):
    """An expression without a number, and why."""


def minimum_of(function: Callable[[Any], Any], start: Any) -> Any:
    """Where a smooth convex function is least: Newton's method by differences."""
    step, place = mpmath.mpf(10) ** -STEP, start
    for _ in range(60):
        left, here, right = (function(place + k * step) for k in (-1, 0, 1))
        change = (right - left) * step / (2 * (right - 2 * here + left))
        place -= change
        if abs(change) < mpmath.mpf(10) ** -(DIGITS + 15):
            return place
    raise NotEvaluable("a minimum that Newton's method does not find")


def exponential_integral(logarithm: Callable[[Any], Any]) -> Any:
    """The integral of exp(logarithm) over the line."""
    step, centre = mpmath.mpf(10) ** -STEP, minimum_of(lambda x: -logarithm(x), mpmath.mpf(0))
    top = logarithm(centre)
    curvature = -(logarithm(centre + step) - 2 * top + logarithm(centre - step)) / step**2
    width = 1 / mpmath.sqrt(curvature)
    rule = gauss_rule(2 * GAUSS)
    total = mpmath.fsum(w * mpmath.exp(logarithm(centre + width * x) - top + x**2 / 2) for x, w in rule)
    return mpmath.exp(top) * width * mpmath.sqrt(2 * mpmath.pi) * total


@lru_cache(maxsize=64)
def gauss_rule(count: int) -> list[tuple[Any, Any]]:
    """(node, weight) of the Gauss rule of a standard normal at WORKING digits: roots of He_n by Newton's method."""
    starts = _roots_in_doubles(count)
    with mpmath.workdps(WORKING + 20):
        found = []
        for x in starts:
            if x > -0.01:  # the others are these with the other sign
                _, before = _hermite(count, x := _root(count, x))
                found.append((x, mpmath.factorial(count) / (count * before) ** 2))
        return [(-x, weight) for x, weight in reversed(found) if x] + found


def _root(count: int, x: Any) -> Any:
    """Of He_n, from a place next to it."""
    if abs(x) < 0.01:
        return mpmath.mpf(0)
    while True:
        value, before = _hermite(count, x)
        change = value / (count * before)
        x -= change
        if abs(change) < mpmath.mpf(10) ** -(WORKING // 2 + 15):  # the next would be its square
            return x


def _hermite(count: int, x: Any) -> tuple[Any, Any]:
    """(He_n, He_{n-1}) at x."""
    value, before = x * 0 + 1, x * 0
    for k in range(count):
        value, before = x * value - k * before, value
    return value, before


def _roots_in_doubles(count: int) -> list[Any]:
    """Where He_n changes its sign, on a grid much finer than its roots are apart."""
    edge, step = (4 * count + 2) ** 0.5, 0.01
    grid = [-edge - step / 3 + step * k for k in range(int(2 * edge / step) + 3)]
    signs = [_hermite(count, x)[0] > 0 for x in grid]
    return [mpmath.mpf(x + step / 2) for x, here, there in zip(grid, signs, signs[1:], strict=False) if here != there]
