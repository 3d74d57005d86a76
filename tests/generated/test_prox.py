"""The proximal map of a piece of a loss as plain Python, its slope given here: against the root by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from generated.runtime import prox as kernel

# value, slope and curvature of rho
Rho = Callable[[float], tuple[float, float, float]]


def plain(compiled: Any, **names: Any) -> Any:
    """What was compiled, with other functions in the place of those that it calls."""
    function = compiled.py_func
    return FunctionType(function.__code__, {**function.__globals__, **names})


def exponential(x: float) -> tuple[float, float, float]:
    """exp(x), beyond all numbers from 700 on."""
    value = math.exp(x) if x < 700.0 else math.inf
    return value, value, value


def falling(x: float) -> tuple[float, float, float]:
    value, slope, curvature = exponential(-x)
    return value, -slope, curvature


def steep(x: float) -> tuple[float, float, float]:
    """log(cosh(100 x))/100, whose slope turns from -1 to 1."""
    slope = math.tanh(100.0 * x)
    return abs(x), slope, 100.0 * (1.0 - slope) * (1.0 + slope)


def rooted(x: float) -> tuple[float, float, float]:
    """A slope that is the root of x, but next to zero: a step of Newton's method leads to the other side of it, as far
    away.
    """
    square = x * x + 1e-24
    return 0.0, x * square**-0.24, square**-0.24 - 0.48 * x * x * square**-1.24


@pytest.mark.parametrize(
    ("rho", "V", "w", "ends"),
    [
        (steep, 0.5, 0.3, (-math.inf, math.inf)),
        (steep, 0.5, -4.0, (-math.inf, math.inf)),
        (steep, 30.0, 3.0, (-1.0, 2.0)),
        (exponential, 0.7, 0.4, (-math.inf, math.inf)),
        (exponential, 1e3, 2e3, (-math.inf, math.inf)),  # too large at w
        (falling, 1e3, -2e3, (-math.inf, math.inf)),
        (falling, 1e3, -1e5, (-math.inf, 3.0)),
        (rooted, 1e3, 1e-3, (-math.inf, math.inf)),  # 200 steps back and forth do not end
        (rooted, 1e3, 0.1, (-math.inf, math.inf)),
    ],
)
@pytest.mark.parametrize("origin", [0.0, 0.3])
def test_the_prox_solves_its_equation(rho: Rho, V: float, w: float, ends: tuple[float, float], origin: float) -> None:
    """Where the excess changes its sign: bisected to the last bits. It is told to 1e-13 of w."""
    between = plain(kernel._between)
    prox = plain(kernel.prox, at=lambda _, x: rho(x), _between=between)
    piece = kernel.Piece(0, 0, 1.0, np.empty(0), V, origin, 1.0, 0.0)
    found = prox(piece, *ends, w + origin, 1e-13 * abs(w))

    def excess(x: float) -> float:
        return min(max(x + V * rho(x)[1] - ((w + origin) - origin), -1e300), 1e300)

    far = 2.0 * abs(w)
    exact = brentq(excess, max(ends[0], -far), min(ends[1], far), xtol=1e-40, rtol=1e-15)
    allowed = (1e-13 * abs(w) + 1e-16) / (1.0 + V * rho(exact)[2]) + 4e-15 * abs(exact)
    assert abs(found - exact) <= 2.0 * allowed


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [
        (1.0, 4.0, 2.5),
        (0.25, math.inf, 1.25),
        (6.0, math.inf, 12.0),
        (-6.0, math.inf, 0.0),
        (-math.inf, -0.25, -1.25),
        (-math.inf, -6.0, -12.0),
        (-math.inf, 6.0, 0.0),
    ],
)
def test_the_middle_of_a_bracket_that_may_not_end(low: float, high: float, middle: float) -> None:
    assert plain(kernel._between)(low, high) == middle


@pytest.mark.parametrize(
    ("y", "cell"),
    [
        (-2.0, (0, 2)),
        (math.nextafter(-1.0, -2.0), (0, 2)),
        (-1.0, (0, 2)),  # which belongs to the first range
        (math.nextafter(-1.0, 0.0), (2, 1)),
        (math.nextafter(0.5, 0.0), (2, 1)),
        (0.5, (3, 4)),  # which does not belong to the second
        (7.0, (3, 4)),
    ],
)
def test_the_range_that_a_label_is_in(y: float, cell: tuple[int, int]) -> None:
    """Ranges end at -1, with it, and at 0.5, without it: the first piece of each, and how many hold there."""
    ranges = np.array([[-1.0, 1.0, 0.0, 2.0], [0.5, 0.0, 2.0, 1.0], [math.inf, 0.0, 3.0, 4.0]])
    law = kernel.Law(0, 0, np.tile([-1, 0], (7, 1)), ranges, True, False, False, 0.0, 0.0, 0.0, 0.0, True)
    assert plain(kernel.find_cell)(law, y) == cell
