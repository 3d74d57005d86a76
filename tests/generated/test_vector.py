"""Elementary functions in plain arithmetic: those of mpmath, to a few units in the last place."""

from __future__ import annotations

import mpmath
import numpy as np
from numba import njit

from generated.runtime.vector import exp, log1p, tail

Array = np.ndarray
UNIT = 2.0**-53
#: Of tail: the rounding of x^2/2 in its exponent, and that of the polynomial.
ROUNDING = 8.0 * UNIT


@njit
def _filled(x: Array, out: Array) -> None:
    for i in range(x.size):
        out[0, i], out[1, i] = exp(x[i]), log1p(min(abs(x[i]), 1.0))
        out[2, i], out[3, i] = tail(abs(x[i]))


def values(x: Array) -> Array:
    """exp(x), log(1 + min(|x|, 1)), and the tail and the density at |x|."""
    out = np.empty((4, x.size))
    _filled(x, out)
    return out


def test_functions_are_those_of_mpmath() -> None:
    x = np.concatenate([np.linspace(-37.0, 37.0, 401), np.geomspace(1e-12, 1.0, 100), -np.geomspace(1e-12, 1.0, 100)])
    found = values(x)
    with mpmath.workdps(40):
        for place, column in zip(x.tolist(), found.T.tolist(), strict=True):
            far, size = abs(mpmath.mpf(place)), abs(place)
            exact = (
                mpmath.exp(place),
                mpmath.log1p(min(far, 1)),
                mpmath.erfc(far / mpmath.sqrt(2)) / 2,
                mpmath.npdf(far),
            )
            allowed = 2 * UNIT, 6 * UNIT, (1 + size**2 / 2) * ROUNDING, (1 + size**2 / 2) * ROUNDING
            for one, right, error in zip(column, exact, allowed, strict=True):
                assert abs(one - right) <= error * right


def test_ends_of_the_exponential() -> None:
    x = np.array([-np.inf, -746.0, -744.0, -710.0, 709.7, 710.0, np.inf, np.nan, 0.0])
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(values(x)[0], np.exp(x), rtol=2 * UNIT, atol=0.0)
    assert values(np.array([1e300, np.inf]))[2].tolist() == [0.0, 0.0]
