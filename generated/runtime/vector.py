"""Elementary functions in plain arithmetic, without branches: loops over them become vector instructions.

Polynomials are Taylor's, or sums of Chebyshev polynomials written in powers; each ends where double precision does.
Four terms together, then two of these, do not wait for each other.

Written by hand, in codegen/runtime/vector.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import bits_of, of_bits, within
from generated.runtime.gaussian import NORM

_ROUNDER = 6755399441055744.0  # 1.5 2^52: a sum with it is a whole number in its last bits
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
_BIAS, _SHIFT = 1023, 52  # of the exponent of a number, and its place among the bits
_LEAST, _MOST = -745.5, 709.9  # beyond, the exponential is zero and infinite
_FARTHEST = 60.0  # standard deviations: nothing is left beyond


@within
def exp(x):
    """The exponential, to a unit in the last place: 2^n exp(r) with |r| < 0.35."""
    x = min(max(x, _LEAST), _MOST)
    shifted = x * _LOG2_E + _ROUNDER
    turns = shifted - _ROUNDER
    r = (x - turns * _LN2_HIGH) - turns * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    p0 = 0.5 + r * (1.0 / 6.0) + (1.0 / 24.0 + r * (1.0 / 120.0)) * r2
    p1 = 1.0 / 720.0 + r * (1.0 / 5040.0) + (1.0 / 40320.0 + r * (1.0 / 362880.0)) * r2
    p2 = 1.0 / 3628800.0 + r * (1.0 / 39916800.0) + (1.0 / 479001600.0 + r * (1.0 / 6227020800.0)) * r2
    p = (p0 + p1 * r4) + p2 * r4 * r4
    n = bits_of(shifted) - bits_of(_ROUNDER)
    half = n >> 1  # 2^n may be no number where the result is one
    return (1.0 + (r + r2 * p)) * of_bits((half + _BIAS) << _SHIFT) * of_bits((n - half + _BIAS) << _SHIFT)


@within
def log1p(x):
    """log(1 + x) for x in [-1/2, 1]: 2 artanh of x/(2 + x), in powers of its square."""
    share = x / (2.0 + x)
    s = share * share
    s2 = s * s
    s4 = s2 * s2
    p0 = 2.0 + 0.6666666666666669 * s + (0.39999999999992725 + 0.2857142857264299 * s) * s2
    p1 = 0.22222222117655244 + 0.18181823483479495 * s + (0.1538444546032505 + 0.13336903770608344 * s) * s2
    p2 = 0.11714983059356142 + 0.10978575119069149 * s + (0.06972958668100727 + 0.1650046227520304 * s) * s2
    return share * ((p0 + p1 * s4) + p2 * s4 * s4)


@within
def log(x):
    """The logarithm of x > 0: 2^n (1 + y) with y between sqrt(1/2) - 1 and sqrt(2) - 1."""
    bits = bits_of(x)
    n = (bits - bits_of(0.7071067811865476)) >> _SHIFT
    return n * _LN2_HIGH + (n * _LN2_LOW + log1p(of_bits(bits - (n << _SHIFT)) - 1.0))


@within
def scaled_tail(x):
    """The probability of a standard normal beyond x >= 0 over exp(-x^2/2), to all digits however large x is.

    exp(z^2) erfc(z) (1 + 2 z)/2 is smooth in (z - 3.75)/(z + 3.75), z = x/sqrt(2).
    """
    z = 0.7071067811865476 * x
    y = (z - 3.75) / (z + 3.75)
    y2 = y * y
    y4 = y2 * y2
    y8 = y4 * y4
    p0 = 0.6187563154189137 - 0.07012029929277348 * y + (0.001792707742732207 + 0.041138369245072665 * y) * y2
    p1 = -0.054401965070874025 + 0.046152160580187104 * y + (-0.029346699294826646 + 0.014181138709498326 * y) * y2
    p2 = -0.004873289778929105 + 0.0008778129263124656 * y + (0.00014685683228066608 - 0.0001450770397244065 * y) * y2
    p3 = 2.5824551385031775e-05 + 1.1192118181321914e-05 * y + (-5.722077863314804e-06 - 4.867776362489827e-07 * y) * y2
    p4 = 8.758264868409679e-07 - 2.861158761999785e-08 * y + (-1.293423547795441e-07 + 1.1633402055894445e-08 * y) * y2
    p5 = (
        1.9343060312707745e-08 - 1.872727554565824e-09 * y + (-2.5890462726937013e-09 + 1.5567351904173275e-10 * y) * y2
    )
    p6 = 2.1291343436282483e-10
    p = ((p0 + p1 * y4) + (p2 + p3 * y4) * y8) + ((p4 + p5 * y4) + p6 * y8) * y8 * y8
    return p / (1.0 + 2.0 * z)


@within
def tail(x):
    """The probability of a standard normal beyond x >= 0, and its density there."""
    x = min(x, _FARTHEST)
    weight = exp(-0.5 * x * x)
    return scaled_tail(x) * weight, NORM * weight

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
