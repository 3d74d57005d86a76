"""Moments of a standard normal g beyond a place and between two.

Written by hand, in codegen/runtime/truncated.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

from generated.runtime.compiling import inner
from generated.runtime.gaussian import FARTHEST, NORM

_NARROW = 0.5  # of an interval times max(1, its distance), where differences of tails would cancel


class Tail(NamedTuple):
    """Moments (|g - place|)^n beyond a place, away from 0."""

    place: float
    phi: float  # the density
    j0: float
    j1: float
    j2: float


@inner
def moments_beyond(y, far):
    """phi(y), the moments J_0, J_1, J_2 of (g - y)^n beyond y >= 0, and bounds of the terms of the last two.

    J_(n+1) = n J_(n-1) - y J_n; from `far` on, where these cancel, by its continued fraction.
    """
    phi = NORM * math.exp(-0.5 * y * y)
    if y < far:
        j0 = 0.5 * math.erfc(0.7071067811865476 * y)
        j1 = phi - y * j0
        bulk1 = phi + y * j0
        return phi, j0, j1, j0 - y * j1, bulk1, j0 + y * bulk1
    n = math.ceil(8.0 + 210.0 / (y * math.sqrt(y)))
    ratio = 0.5 * (math.sqrt(y * y + 4.0 * n + 4.0) - y)  # what the rest converges to
    while n > 2.0:
        ratio = n / (y + ratio)
        n -= 1.0
    ratio2 = 2.0 / (y + ratio)
    ratio1 = 1.0 / (y + ratio2)
    j0 = phi / (y + ratio1)
    j1 = ratio1 * j0
    j2 = ratio2 * j1
    return phi, j0, j1, j2, j1, j2


@inner
def tail_at(place):
    """The tail beyond a place, to 2e-13 of each moment."""
    if abs(place) > FARTHEST:
        return Tail(place, 0.0, 0.0, 0.0, 0.0)
    phi, j0, j1, j2, _, _ = moments_beyond(abs(place), 3.0)
    return Tail(place, phi, j0, j1, j2)


@inner
def between(near, far):
    """Integrals of |g - near.place|^n between two places on the same side of 0."""
    w = abs(far.place - near.place)
    if far.phi == 0.0:
        return near.j0, near.j1, near.j2
    k1, k2 = near.j1 - far.j1 - w * far.j0, near.j2 - far.j2 - w * (2.0 * far.j1 + w * far.j0)
    return near.j0 - far.j0, k1, k2


@inner
def is_narrow(a, width):
    """Whether moments of the interval from a are sums over nodes."""
    return width < _NARROW and width * max(1.0, abs(a) + width) < _NARROW


@inner
def moments_nearby(gauss, middle, width):
    """Integrals of (g - middle)^n over an interval that is narrow."""
    k0 = k1 = k2 = 0.0
    for i in range(gauss.shape[1]):
        t = 0.5 * width * gauss[0, i]
        weight = 0.5 * width * gauss[1, i] * NORM * math.exp(-0.5 * (middle + t) * (middle + t))
        k0 += weight
        k1 += weight * t
        k2 += weight * t * t
    return k0, k1, k2

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
