"""Moments of a standard normal beyond a place and on an interval, against quadrature with 40 digits."""

from __future__ import annotations

import mpmath
import pytest

from generated.runtime import truncated
from giantstep.quadrature.gauss import gauss_rule
from giantstep.system.uncompiled import uncompiled

# what is compiled into others cannot be called by Python
NAMES = ("between", "is_narrow", "moments_nearby", "tail_at")
between, is_narrow, moments_nearby, tail_at = (uncompiled(getattr(truncated, name)) for name in NAMES)
# Below 3 moments are differences of terms that are up to 135 times as large, each with up to four roundings;
# differences of two tails lose a digit or two more where the interval is short.
CLOSE = 4 * 135 * 2.0**-52


def exact(anchor: float, before: float, behind: float) -> list[float]:
    """Integrals of (g - anchor)^n from `before` below the anchor to `behind` above it, two lengths that add exactly."""
    with mpmath.workdps(40):
        ends = [mpmath.mpf(x) / (1 + anchor) for x in (1, 4, 16, 50)]  # where the weight falls
        ends = [-mpmath.mpf(before), *(x for x in ends if x < behind), mpmath.mpf(behind)]
        density = mpmath.npdf(anchor)  # outside: mpmath's quadrature is content with small numbers
        found = [mpmath.quad(lambda t, n=n: t**n * mpmath.exp(-t * (anchor + t / 2)), ends) for n in range(3)]
        return [float(density * moment) for moment in found]


@pytest.mark.parametrize("place", [0.0, 0.7, 2.99, 3.0, 4.5, 9.0, 30.0])
def test_tails(place: float) -> None:
    tail = tail_at(place)
    assert (tail.j0, tail.j1, tail.j2) == pytest.approx(exact(place, 0.0, 40.0), rel=CLOSE, abs=0.0)
    assert tail_at(-place)[1:] == tail[1:]


@pytest.mark.parametrize("low", [0.0, 1.3, 2.9, 6.0])
@pytest.mark.parametrize("width", [1e-9, 0.03, 0.4, 0.6, 3.0])
def test_intervals(low: float, width: float) -> None:
    if is_narrow(low, width):
        middle = low + 0.5 * width
        found, wanted = moments_nearby(gauss_rule(24), middle, width), exact(middle, 0.5 * width, 0.5 * width)
        scale = [1.0, width, width**2]  # the first moment about the middle nearly vanishes
        assert all(abs(a - b) <= CLOSE * wanted[0] * s for a, b, s in zip(found, wanted, scale, strict=True))
    else:
        found = between(tail_at(low), tail_at(low + width))
        assert found == pytest.approx(exact(low, 0.0, (low + width) - low), rel=100.0 * CLOSE, abs=0.0)
