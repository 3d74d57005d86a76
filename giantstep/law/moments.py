"""Moments of an activation and of a link under N(0, 1): what the map of the gradient step needs, in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermevander

from derive.language.grammar import Node, constant_value, parse
from giantstep.quadrature.gauss import evenly_cut, normal_nodes
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import numpy_function

_ORDER = 20
_REACH, _FARTHEST = 14.0, 38.0  # the weight is 1e-43 at the first
_NEGLIGIBLE = 1e-17
_TOLERANCE = 1e-13
_SHARE = 1e-3  # of the largest of what is integrated together: what is less need not settle for itself
_ROUNDING = 1e-14  # of a slope that is linear, beside its terms


@dataclass(frozen=True)
class ActivationMoments:
    """E f, E z f, E (z^2-1) f = E f'' and E f'^2 of f(z) = activation(z + bias), z ~ N(0, 1)."""

    mean: float
    linear: float
    quadratic: float
    slope_square: float


@dataclass(frozen=True)
class LinkMoments:
    """E f, E g f for every index and E f^2 of f = link(sqrt(1 + probit) g), g standard normal."""

    mean: float
    linear: tuple[float, ...]
    square: float


@lru_cache(maxsize=256)
def activation_moments(text: str, breakpoints: tuple[float, ...], bias: float = 0.0) -> ActivationMoments:
    """Moments of an activation with a fixed bias. Raises BadInput where they do not settle."""
    function = numpy_function(text)

    def integrands(z: np.ndarray) -> np.ndarray:
        value, slope = function(z + bias)
        return np.stack([value, z * value, (z * z - 1.0) * value, slope * slope])

    return ActivationMoments(*_settled(integrands, [b - bias for b in breakpoints], text, squares=1))


@lru_cache(maxsize=256)
def rest_moments(
    text: str, breakpoints: tuple[float, ...], bias: float, powers: tuple[tuple[int, int], ...]
) -> tuple[float, ...]:
    """E[rho^i z^j] for pairs (i, j), rho what the slope of an activation with a fixed bias has beside 1 and z.

    Raises BadInput where they do not settle.
    """
    function = numpy_function(text)

    def integrands(z: np.ndarray) -> np.ndarray:
        slope = function(z + bias)[1]
        return np.stack([slope, z * slope])

    cuts = [b - bias for b in breakpoints]
    mean, linear = _settled(integrands, cuts, text)

    def rests(z: np.ndarray) -> np.ndarray:
        slope = function(z + bias)[1]
        rest = slope - mean - linear * z
        rest[np.abs(rest) <= _ROUNDING * (np.abs(slope) + abs(mean) + np.abs(linear * z))] = 0.0
        return np.stack([rest**i * z**j for i, j in powers])

    return tuple(_settled(rests, cuts, text))


@lru_cache(maxsize=64)
def hermite_moments(text: str, breakpoints: tuple[float, ...], order: int, bias: float = 0.0) -> tuple[float, ...]:
    """E[He_k f] for k = 0 ... order of f(z) = activation(z + bias), zero where it vanishes.

    Raises BadInput where they do not settle.
    """
    function = numpy_function(text)

    def integrands(z: np.ndarray) -> np.ndarray:
        value, _ = function(z + bias)
        return np.asarray(hermevander(z, order).T * value)

    return tuple(_settled(integrands, [b - bias for b in breakpoints], text))


@lru_cache(maxsize=256)
def link_moments(text: str, breakpoints: tuple[float, ...], probit: float = 0.0) -> LinkMoments:
    """Moments of a link of one index. Raises BadInput where they do not settle."""
    function, scale = numpy_function(text), math.sqrt(1.0 + probit)

    def integrands(z: np.ndarray) -> np.ndarray:
        value, _ = function(scale * z)
        return np.stack([value, z * value, value * value])

    mean, linear, square = _settled(integrands, [b / scale for b in breakpoints], text, squares=1)
    return LinkMoments(mean, (linear,), square)


def _settled(
    integrands: Callable[[np.ndarray], np.ndarray], breaks: list[float], text: str, squares: int = 0
) -> list[float]:
    """Gauss-Legendre on panels between the breakpoints, halved until two answers agree.

    squares: how many integrands, the last ones, are squares, whose size says nothing of that of the others.
    """
    previous: np.ndarray | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        reach = _reach(integrands)
        for level in range(12):
            current, size = _panels(integrands, breaks, reach, 2.0 ** (1 - level))
            scale = np.concatenate([np.maximum(part, _SHARE * part.max()) for part in _parted(size, squares)])
            if previous is not None and np.all(np.abs(current - previous) <= _TOLERANCE * scale):
                # what cancels to below the resolution vanishes: a moment of the other parity, say
                return [float(x) if abs(x) > _TOLERANCE * y else 0.0 for x, y in zip(current, scale, strict=True)]
            previous = current
    raise BadInput(
        f"the moments of {text!r} under a standard normal do not settle: {previous}",
        _unsettled_hint(text),
    )


def _unsettled_hint(text: str) -> str:
    """What to change: by the parts that the text has."""
    if _has_root(parse(text, ("z",))):
        return "smooth the root, beside which nodes are of no use: abs(z)**0.5 as (z**2 + 1e-4)**0.25"
    return "use a function that grows more slowly than exp(z^2/4) and does not oscillate on scales below 1e-3"


def _has_root(node: Node) -> bool:
    """Whether a tree holds a root, a logarithm or a power that is no whole number."""
    exponent = constant_value(node.args[1]) if node.op == "pow" else None
    broken = exponent is not None and exponent != int(exponent)
    return broken or (node.op == "call" and node.value in ("sqrt", "log")) or any(map(_has_root, node.args))


def _reach(integrands: Callable[[np.ndarray], np.ndarray]) -> float:
    """Where the Gaussian weight has made the integrands negligible."""
    reach = _REACH
    while reach < _FARTHEST:
        z = np.linspace(-reach, reach, 113)
        weighted = np.abs(integrands(z)) * np.exp(-0.5 * z * z)
        if np.all(weighted[:, [0, -1]] <= _NEGLIGIBLE * weighted.max(axis=1, keepdims=True)):
            break
        reach += 4.0
    return reach


def _panels(
    integrands: Callable[[np.ndarray], np.ndarray], breaks: list[float], reach: float, width: float
) -> tuple[np.ndarray, np.ndarray]:
    z, weight = normal_nodes(evenly_cut(reach, width, breaks), _ORDER)
    values = integrands(z)
    return values @ weight, np.abs(values) @ weight


def _parted(size: np.ndarray, squares: int) -> list[np.ndarray]:
    """Integrands that are comparable in size."""
    count = len(size) - squares
    return [part for part in (size[:count], size[count:]) if len(part)]
