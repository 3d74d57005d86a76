"""Moments of a standard normal pair on rectangles in closed form: x between two ends, y below a place.

Gauss's theorem leaves normal laws along the sides, and of the probability Owen's function at the corners.
Source: Owen (1956), Ann. Math. Stat. 27, 1075, eqs. 2.1, 2.3 and 3.2.

Written by hand, in codegen/runtime/rectangle_moments.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

from generated.runtime.compiling import inner
from generated.runtime.gaussian import NORM
from generated.runtime.polygons import NODES, WEIGHTS
from generated.runtime.vector import exp, tail

ROWS = 4  # of room
_TURN = 2.0 * math.pi
_FARTHEST = 9.0  # Owen's function is below 1e-19 there


class Place(NamedTuple):
    """A place of a standard normal: what is beyond it, away from zero, what is below it, and the density there."""

    at: float
    beyond: float
    below: float
    density: float


class Pair(NamedTuple):
    """Two standard normals and the ends of x."""

    correlation: float
    root: float  # of one less its square
    low: Place
    high: Place


class Below(NamedTuple):
    """Moments of a pair with x between its ends and y below a place."""

    place: float
    mass: float
    y: float
    x: float
    yy: float
    xy: float
    xx: float
    density: float  # of y at the place, with x between its ends
    density_x: float  # the mean of x times it
    slope: float  # the derivative of the density


class Strip(NamedTuple):
    """Moments of a pair with x between its ends and y between two places, of y from a place there."""

    mass: float
    y: float
    yy: float
    x: float
    xy: float
    xx: float


class _Corner(NamedTuple):
    """The law of a pair at an end of x and a place of y."""

    both: float  # the probability that both are below
    side: float  # of y below its place at the end of x, times the density of x there
    side_x: float  # the same times x, and with the mean of y
    side_y: float
    law: float  # the probability of x below its end where y is at its place, and the density there
    density: float


class _Triangle(NamedTuple):
    """Owen's T(h, u/h): ``rest``, and ``share`` of an integral over (0, 1) of exp(exponent q)/q, q = 1 + square t^2."""

    rest: float
    share: float
    exponent: float
    square: float


@inner
def place_of(x):
    """What is known of a place."""
    beyond, density = tail(abs(x))
    return Place(x, beyond, 1.0 - beyond if x > 0.0 else beyond, density)


@inner
def _triangle(h, u):
    """T(h, u/h) by the longer of h and u."""
    far, near = max(abs(h.at), abs(u.at)), min(abs(h.at), abs(u.at))
    ratio = near / far if 0.0 < far < _FARTHEST else 0.0
    sign = 1.0 if (h.at >= 0.0) == (u.at >= 0.0) else -1.0
    if abs(u.at) > abs(h.at):
        rest = 0.5 * (h.beyond + u.beyond) - h.beyond * u.beyond
        return _Triangle(sign * rest, -sign * ratio / _TURN, -0.5 * far * far, ratio * ratio)
    return _Triangle(0.0, sign * ratio / _TURN, -0.5 * far * far, ratio * ratio)


@inner
def _owen(one, other, room):
    """The sum of Owen's function of two triangles; room [ROWS, nodes]."""
    for i in range(NODES.shape[0]):
        square = NODES[i] * NODES[i]
        q, p = 1.0 + one.square * square, 1.0 + other.square * square
        value = one.share * exp(one.exponent * q) / q + other.share * exp(other.exponent * p) / p
        room[0, i] = WEIGHTS[i] * value
    found = 0.0
    for i in range(NODES.shape[0]):
        found += room[0, i]
    return one.rest + other.rest + found


@inner
def _corner(pair, end, y, room):
    """The corner at an end of x and a place of y; both places are turned together, so that what is rounded of one is
    rounded of all.
    """
    if end.at == -math.inf:
        return _Corner(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if end.at == math.inf:
        return _Corner(y.below, 0.0, 0.0, 0.0, 1.0, 0.0)
    rho, root, x = pair.correlation, pair.root, end.at
    place = (y.at - rho * x) / root
    u, turned = place_of(place), place_of(root * x - rho * place)
    if x == 0.0 and y.at == 0.0:
        both = 0.25 + math.atan2(rho, root) / _TURN
    else:
        apart = x * y.at < 0.0 or (x * y.at == 0.0 and x + y.at < 0.0)
        both = 0.5 * (end.below + y.below) - (0.5 if apart else 0.0)
        both -= _owen(_triangle(end, u), _triangle(y, turned), room)
    side = end.density * u.below
    side_y = rho * x * side - root * end.density * u.density
    return _Corner(both, side, x * side, side_y, turned.below, turned.density)


@inner
def nothing():
    """The moments below minus infinity."""
    return Below(-math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def moments_of_all(pair):
    """The moments of all y."""
    rho, low, high = pair.correlation, pair.low, pair.high
    arm = high.at * high.density if high.at < math.inf else 0.0
    if low.at > -math.inf:
        arm -= low.at * low.density
    mass = low.beyond - high.beyond if low.at > 0.0 else high.below - low.below
    side = high.density - low.density
    kept = mass - rho * rho * arm
    return Below(math.inf, mass, -rho * side, -side, kept, rho * (mass - arm), mass - arm, 0.0, 0.0, 0.0)


@inner
def moments_below(pair, place, room):
    """The moments of y below a place; room [ROWS, nodes]."""
    rho, root, y = pair.correlation, pair.root, place_of(place)
    low, high = _corner(pair, pair.low, y, room), _corner(pair, pair.high, y, room)
    mass, side = high.both - low.both, high.side - low.side
    side_x, side_y = high.side_x - low.side_x, high.side_y - low.side_y
    law, change = high.law - low.law, high.density - low.density
    density = y.density * law
    density_x = y.density * (rho * place * law - root * change)
    return Below(
        place,
        mass,
        -rho * side - density,
        -side - rho * density,
        mass - rho * side_y - place * density,
        rho * (mass - side_x) - density_x,
        mass - side_x - rho * density_x,
        density,
        density_x,
        -place * density - y.density * change * rho / root,
    )


@inner
def between(start, end, anchor):
    """The moments between two places, about an anchor."""
    mass, y, x = end.mass - start.mass, end.y - start.y, end.x - start.x
    yy, xy = end.yy - start.yy, end.xy - start.xy
    return Strip(
        mass, y - anchor * mass, yy - anchor * (2.0 * y - anchor * mass), x, xy - anchor * x, end.xx - start.xx
    )


@inner
def _fill_end(pair, end, sign, middle, width, room):
    """Add what an end of x has of the law of x at nodes of y, of its mean and of its mean square."""
    rho, inverse = pair.correlation, 1.0 / pair.root
    for i in range(NODES.shape[0]):
        mean = rho * (middle + width * (NODES[i] - 0.5))
        u = (end - mean) * inverse
        beyond, density = tail(abs(u))
        room[1, i] += sign * (1.0 - beyond if u > 0.0 else beyond)
        room[2, i] -= sign * pair.root * density
        room[3, i] -= sign * pair.root * (end + mean) * density


@inner
def moments_near(pair, middle, width, room):
    """The moments of y on a short interval, about its middle: where differences have few digits."""
    for i in range(NODES.shape[0]):
        room[1, i] = 1.0 if pair.high.at == math.inf else 0.0
        room[2, i] = room[3, i] = 0.0
    if pair.low.at > -math.inf:
        _fill_end(pair, pair.low.at, -1.0, middle, width, room)
    if pair.high.at < math.inf:
        _fill_end(pair, pair.high.at, 1.0, middle, width, room)
    mass = y = yy = x = xy = xx = 0.0
    variance = pair.root * pair.root
    for i in range(NODES.shape[0]):
        away = width * (NODES[i] - 0.5)
        place = middle + away
        mean = pair.correlation * place
        weight = NORM * width * WEIGHTS[i] * exp(-0.5 * place * place)
        law = weight * room[1, i]
        moment = mean * law + weight * room[2, i]
        mass += law
        y += away * law
        yy += away * away * law
        x += moment
        xy += away * moment
        xx += (variance + mean * mean) * law + weight * room[3, i]
    return Strip(mass, y, yy, x, xy, xx)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
