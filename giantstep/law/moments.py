"""Moments of an activation and of a link under N(0, 1): what the map of the gradient step needs, in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermevander

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from giantstep.quadrature.gauss import evenly_cut, gathered_nodes, normal_nodes, with_places
from giantstep.quadrature.steep_places import has_root, may_be_infinite, turns
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import numpy_function, numpy_values

_ORDER = 20
_REACH, _FARTHEST = 14.0, 38.0  # the weight is 1e-43 at the first
_NEGLIGIBLE = 1e-17
_TOLERANCE = 1e-13
_SHARE = 1e-3  # of the largest of what is integrated together: what is less need not settle for itself
# bits that distances from a root are below its place, or below one at zero: of nodes, and two that tell how slopes grow
_BITS_BESIDE, _BITS_AT_ZERO = (52, 26, 16), (890, 800, 600)
_MISSED = 1e-11  # of an average, what may lie closer to a root than all nodes
_NO_POWER = 1e-4  # of the distance: rounding, or a logarithm
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

    def integrands(z: np.ndarray, own: np.ndarray) -> np.ndarray:
        value, slope = function(own)
        return np.stack([value, z * value, (z * z - 1.0) * value, slope * slope])

    argument = _Argument(text, breakpoints, shift=bias)
    place, share = argument.missed(2)
    if share == math.inf:
        raise BadInput(
            f"the slope of {text!r} is not square integrable: E sigma'(z)^2, which the variance of rows after a "
            "gradient step has, is infinite",
            "take a power above 1/2, smooth the root, as (z**2 + 1e-4)**0.25 for abs(z)**0.5, or leave out [step]",
        )
    try:
        found = ActivationMoments(*_settled(integrands, argument, squares=1))
    except BadInput as error:
        raise _beyond_digits(text, place, share) if share > 0.0 else error from None
    if share > _MISSED * found.slope_square:
        raise _beyond_digits(text, place, share / found.slope_square)
    return found


@lru_cache(maxsize=256)
def rest_moments(
    text: str, breakpoints: tuple[float, ...], bias: float, powers: tuple[tuple[int, int], ...]
) -> tuple[float, ...]:
    """E[rho^i z^j] for pairs (i, j), rho what the slope of an activation with a fixed bias has beside 1 and z.

    Raises BadInput where they do not settle.
    """
    function, argument = numpy_function(text), _Argument(text, breakpoints, shift=bias)

    def integrands(z: np.ndarray, own: np.ndarray) -> np.ndarray:
        slope = function(own)[1]
        return np.stack([slope, z * slope])

    mean, linear = _settled(integrands, argument)

    def rests(z: np.ndarray, own: np.ndarray) -> np.ndarray:
        slope = function(own)[1]
        rest = slope - mean - linear * z
        rest[np.abs(rest) <= _ROUNDING * (np.abs(slope) + abs(mean) + np.abs(linear * z))] = 0.0
        return np.stack([rest**i * z**j for i, j in powers])

    highest = max(i for i, _ in powers)
    place, share = argument.missed(highest)
    if share == math.inf:
        raise BadInput(
            f"powers of the slope of {text!r}, up to {highest}, have no average, and norms of rows and the trained "
            "bulk need these",
            'take a higher power, smooth the root, as (z**2 + 1e-4)**0.25 for abs(z)**0.5, or step.bulk = "isotropic"',
        )
    found = _settled(rests, argument)
    if share > _MISSED * max(map(abs, found)):
        raise _beyond_digits(text, place, share / max(map(abs, found)))
    return tuple(found)


@lru_cache(maxsize=64)
def hermite_moments(text: str, breakpoints: tuple[float, ...], order: int, bias: float = 0.0) -> tuple[float, ...]:
    """E[He_k f] for k = 0 ... order of f(z) = activation(z + bias), zero where it vanishes.

    Raises BadInput where they do not settle.
    """
    function = numpy_values(text)

    def integrands(z: np.ndarray, own: np.ndarray) -> np.ndarray:
        value = function(own)
        return np.asarray(hermevander(z, order).T * value)

    return tuple(_settled(integrands, _Argument(text, breakpoints, shift=bias)))


@lru_cache(maxsize=256)
def link_moments(text: str, breakpoints: tuple[float, ...], probit: float = 0.0) -> LinkMoments:
    """Moments of a link of one index. Raises BadInput where they do not settle."""
    function = numpy_values(text)

    def integrands(z: np.ndarray, own: np.ndarray) -> np.ndarray:
        value = function(own)
        return np.stack([value, z * value, value * value])

    mean, linear, square = _settled(integrands, _Argument(text, breakpoints, scale=math.sqrt(1.0 + probit)), squares=1)
    return LinkMoments(mean, (linear,), square)


@dataclass(frozen=True)
class _Argument:
    """What a function is taken of, scale z + shift, and the breakpoints it has there."""

    text: str
    breaks: tuple[float, ...]
    scale: float = 1.0
    shift: float = 0.0

    def missed(self, power: int) -> tuple[float, float]:
        """(place, integral) of a power of the slope closer to a root than the nodes are: the most of any root.

        The slope goes like a power of the distance there, which two distances tell; infinite where that is not
        integrable.
        """
        slope, found = numpy_function(self.text), (0.0, 0.0)
        for place in self.breaks if may_be_infinite(self.text) else ():
            unit = abs(place) or 1.0
            nearest, *told = (math.ldexp(unit, -bits) for bits in (_BITS_BESIDE if place else _BITS_AT_ZERO))
            for side in (-1.0, 1.0):
                with np.errstate(all="ignore"):
                    one, other = np.abs(slope(place + side * np.array(told))[1]).tolist()
                if not one > other > 0.0:
                    continue
                grows = math.log(one / other) / math.log(told[1] / told[0])
                left = 1.0 - power * grows
                if left <= _NO_POWER:
                    return place, math.inf
                z = (place - self.shift) / self.scale
                size = power * math.log(one) + math.log(told[0]) + left * math.log(nearest / told[0]) - 0.5 * z * z
                if grows > _NO_POWER:
                    found = max(found, (place, math.exp(size) / left / self.scale), key=lambda each: each[1])
        return found

    def nodes(self, reach: float, level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(z, scale z + shift, weights) on panels between breakpoints, halved at every level; beside roots gathered at
        their ends, so that a function that is infinite there, and has an average, needs no other rule.
        """
        width = 2.0 if may_be_infinite(self.text) else 2.0 ** (1 - level)
        places = *self.breaks, *turns(self.text, self.scale)  # of what turns sharply panels would see nothing
        edges = evenly_cut(reach, width, [(place - self.shift) / self.scale for place in places])
        if not may_be_infinite(self.text):
            z, weight = normal_nodes(edges, _ORDER)
            return z, self.scale * z + self.shift, weight
        inside = np.array([b for b in self.breaks if abs(b - self.shift) < reach * self.scale])
        own, weight = gathered_nodes(with_places(self.scale * edges + self.shift, inside), level)
        z = (own - self.shift) / self.scale
        return z, own, weight / self.scale * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _beyond_digits(text: str, place: float, share: float) -> BadInput:
    """The refusal of a slope of which too much lies closer to a root than numbers next to it can be told apart."""
    at_zero = f", with network.bias = {-place:g} and the root at z = 0, where numbers have more digits" * (place != 0.0)
    return BadInput(
        f"the slope of {text!r} grows so fast towards z = {place:g} that a share of {share:.0e} of its square, or of a "
        "higher power, lies closer than double precision tells apart",
        f"take a higher power, or smooth the root, as (z**2 + 1e-4)**0.25 for abs(z)**0.5{at_zero}",
    )


def _settled(
    integrands: Callable[[np.ndarray, np.ndarray], np.ndarray], argument: _Argument, squares: int = 0
) -> list[float]:
    """Integrals of a function of z and of scale z + shift on panels between the breakpoints, halved until two answers
    agree.

    squares: how many integrands, the last ones, are squares, whose size says nothing of that of the others.
    """
    previous: np.ndarray | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        reach = _reach(integrands, argument)
        for level in range(12 if not may_be_infinite(argument.text) else 6):
            z, own, weight = argument.nodes(reach, level)
            values = integrands(z, own)
            current, size = values @ weight, np.abs(values) @ weight
            scale = np.concatenate([np.maximum(part, _SHARE * part.max()) for part in _parted(size, squares)])
            if previous is not None and np.all(np.abs(current - previous) <= _TOLERANCE * scale):
                # what cancels to below the resolution vanishes: a moment of the other parity, say
                return [float(x) if abs(x) > _TOLERANCE * y else 0.0 for x, y in zip(current, scale, strict=True)]
            previous = current
    raise BadInput(
        f"the moments of {argument.text!r} under a standard normal do not settle: {previous}", _unsettled_hint(argument)
    )


def _unsettled_hint(argument: _Argument) -> str:
    """What to change: by the parts that the text has."""
    if has_root(parse(lookup(argument.text).expression)):
        return "smooth the root, beside which nodes are of no use: abs(z)**0.5 as (z**2 + 1e-4)**0.25"
    return "use a function that grows more slowly than exp(z^2/4) and does not oscillate on scales below 1e-3"


def _reach(integrands: Callable[[np.ndarray, np.ndarray], np.ndarray], argument: _Argument) -> float:
    """Where the Gaussian weight has made the integrands negligible."""
    reach = _REACH
    while reach < _FARTHEST:
        z = np.linspace(-reach, reach, 113)
        weighted = np.abs(integrands(z, argument.scale * z + argument.shift)) * np.exp(-0.5 * z * z)
        ends = weighted[:, [0, -1]] <= _NEGLIGIBLE * np.nanmax(weighted, axis=1, keepdims=True)
        if np.all(ends):
            break
        reach += 4.0
    return reach


def _parted(size: np.ndarray, squares: int) -> list[np.ndarray]:
    """Integrands that are comparable in size."""
    count = len(size) - squares
    return [part for part in (size[:count], size[count:]) if len(part)]
