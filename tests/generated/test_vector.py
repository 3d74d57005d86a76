"""Elementary functions in plain arithmetic: those of mpmath, to a few units in the last place."""

from __future__ import annotations

import mpmath
import numpy as np
from numba import njit

from generated.runtime.special import inverse_mills, log_normal_cdf, truncated_mean
from generated.runtime.vector import exp, log, log1p, tail

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


@njit
def _filled_of_phi(u: Array, out: Array) -> None:
    for i in range(u.size):
        out[0, i], out[1, i], out[2, i] = log_normal_cdf(u[i]), inverse_mills(u[i]), truncated_mean(u[i])
        out[3, i] = log(abs(u[i]))


def test_functions_of_a_normal_distribution_function_keep_their_digits_far_below() -> None:
    u = np.concatenate([np.linspace(-45.0, 12.0, 200), -np.geomspace(50.0, 1e6, 20), [-20.0, 1e-9, 35.0]])
    found = np.empty((4, u.size))
    _filled_of_phi(u, found)
    with mpmath.workdps(60):
        for place, column in zip(u.tolist(), found.T.tolist(), strict=True):
            z, size = -mpmath.mpf(place) / mpmath.sqrt(2), abs(place)
            scaled = mpmath.erfc(z) * mpmath.exp(z * z) if place > -1e3 else _far_scaled(z)
            mills = mpmath.sqrt(2 / mpmath.pi) / scaled
            logarithm = mpmath.log1p(-mpmath.erfc(-z) / 2) if place > 0.0 else mpmath.log(scaled / 2) - z * z
            exact = logarithm, mills, place + mills, mpmath.log(size)
            above = (1 + size**2 / 2) if place > 0.0 else 1.0  # rounding of an exponent
            cancels = min(size, 20.0) ** 2 if place < 0.0 else 0.0  # of u and the ratio
            allowed = above * ROUNDING, above * ROUNDING, ROUNDING * (1 + cancels), ROUNDING
            for one, right, error in zip(column, exact, allowed, strict=True):
                assert abs(one - right) <= error * abs(right), (place, one, right)


def _far_scaled(z: mpmath.mpf) -> mpmath.mpf:
    """exp(z^2) erfc(z) by Laplace's continued fraction, which converges quickly far out."""
    fraction = z
    for k in range(60, 0, -1):
        fraction = z + mpmath.mpf(k) / 2 / fraction
    return 1 / (mpmath.sqrt(mpmath.pi) * fraction)
