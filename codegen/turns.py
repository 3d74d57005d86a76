"""Where the argument of a function makes the function turn, by search: an argument that is no polynomial has no formula
for its zeros.

Signs of the argument and of its slope are compared on a grid, which is finer about the features of functions within it.
The argument varies slowly where a function of it turns fast: so a feature is found however narrow it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

import sympy

Kind = Literal["zero", "maximum", "division"]
Feature = tuple[float, float]  # centre and width
Function = Callable[[float], float]
_FARTHEST, _PLACES = 2000.0, 2001  # |z| looked at; places, evenly in asinh z
_RATIO, _NARROW = 2.0, 0.5  # of distances of places from a feature; width that needs no hint
_HALVINGS = 100  # of a bracket
_FELT = 40.0  # a value of an argument from which on functions no longer turn
_GONE = 700.0  # exp of minus that is next to nothing
_POLE = 1e-6  # width about a zero of what is divided by
_NAMES = {"NormalCdf": lambda x: 0.5 * math.erfc(-x / math.sqrt(2.0))}


def turns(argument: Any, z: sympy.Symbol, kind: Kind, inner: tuple[Feature, ...]) -> list[Feature]:
    """Narrow features of a function of an argument that turns at its zero (as tanh), grows without bound and vanishes
    (exp), or is singular at zero (division, logarithm); inner: those of functions within the argument.
    """
    value, slope, bend = (_in_doubles(sympy.diff(argument, z, order), z) for order in range(3))
    places = _places(inner)
    found = []
    for place in _zeros(value, places):
        steep = abs(slope(place))
        if kind == "division":
            found.append((place, _POLE))
        elif steep > 0.0:
            found.append((place, 1.0 / steep))
    for place in _zeros(slope, places):
        level, curvature = value(place), bend(place)
        if not abs(curvature) > 0.0:
            continue
        if kind == "division" and level * curvature >= 0.0:
            found.append((place, max(math.sqrt(2.0 * level / curvature), _POLE)))
        elif _is_felt(kind, level, curvature):
            found.append((place, math.sqrt(2.0 / abs(curvature))))
    return [(place, width) for place, width in found if 0.0 < width < _NARROW]


def _is_felt(kind: Kind, level: float, curvature: float) -> bool:
    """Whether a function turns where its argument, of that value there, has an extreme."""
    if kind == "maximum":
        return curvature < 0.0 and level > -_GONE
    return level * curvature >= 0.0 and abs(level) < _FELT


def _in_doubles(expression: Any, z: sympy.Symbol) -> Function:
    """An expression as a function of doubles; nan where it is no number."""
    function = sympy.lambdify([z], expression, modules=[_NAMES, "math"])

    def value(x: float) -> float:
        try:
            return float(function(x))
        except (ArithmeticError, TypeError, ValueError):
            return math.nan

    return value


def _places(inner: tuple[Feature, ...]) -> list[float]:
    end = math.asinh(_FARTHEST)
    found = {math.sinh(end * (2.0 * k / (_PLACES - 1) - 1.0)) for k in range(_PLACES)}
    for centre, width in inner:
        found.add(centre)
        while 0.0 < width < _NARROW:
            found |= {centre - width, centre + width}
            width *= _RATIO
    return sorted(found)


def _zeros(function: Function, places: list[float]) -> Iterator[float]:
    """A place between neighbours at which a function has opposite signs, or at which it vanishes, for each of these."""
    values = [function(place) for place in places]
    for k, (low, high) in enumerate(zip(places, places[1:], strict=False)):
        if values[k] == 0.0:
            yield low
        elif values[k] * values[k + 1] < 0.0:
            yield _bisected(function, low, high, values[k] > 0.0)


def _bisected(function: Function, low: float, high: float, falls: bool) -> float:
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if (function(middle) > 0.0) == falls else (low, middle)
    return 0.5 * (low + high)
