# mypy: ignore-errors
"""Trapezoid rule of the function modules whose f is smooth: exponentially accurate where its step resolves f.

The emitter copies everything below the marker line; what is above it stands for names of the other parts.
"""

import math

from numba import njit

from codegen.templates.quadrature import _EPS, _NORM, _REACH, _RESERVED, _TINY, _adaptive, _f, _relative

_STEEPNESS = 1.0
_WAVE = 0.0

# --- copied into the emitted modules from here ---
_STEP = 0.32  # of the coarse rule, at unit steepness and without waves, whose f^2 has twice their frequency
_MOST_NODES = 500 if _WAVE == 0.0 else 2000  # beyond, panels are faster
# node j lives in row j // 16 of scratch, columns 3 (j % 16) and following: place, weight, value


@njit(error_model="numpy", nogil=True)
def _prepare(q, scratch):
    """Places and weights of the fine rule; returns their number, zero where there would be too many."""
    step = 0.5 / (max(1.0, _STEEPNESS * q) / _STEP + _WAVE * q / math.pi)
    half = 2.0 * math.ceil(0.5 * _REACH / step)
    if not 2.0 * half + 1.0 <= _MOST_NODES:
        return 0
    count = 2 * int(half) + 1
    for j in range(count):
        g = step * (j - half)
        scratch[j >> 4, 3 * (j & 15)] = g
        scratch[j >> 4, 3 * (j & 15) + 1] = step * _NORM * math.exp(-0.5 * g * g)
    return count


@njit(error_model="numpy", nogil=True)
def _trapezoid(s, q, scratch, count):
    """mu0, mu1, mu2^2 and error; the error is negative where two steps do not confirm each other.

    The difference D of the rules with steps 2h and h is the error of the coarse one. The fine one has about
    D^2;
    D^(3/2) is what is claimed, all relative to the size of the integrand.
    """
    a0 = a1 = b0 = b1 = second = steepest = ends = 0.0
    last = _f(s + q * scratch[0, 0])
    for j in range(count):
        g = scratch[j >> 4, 3 * (j & 15)]
        value = _f(s + q * g)
        scratch[j >> 4, 3 * (j & 15) + 2] = value
        a = scratch[j >> 4, 3 * (j & 15) + 1] * value
        # even nodes are those of the coarse rule
        if j & 1 == 0:
            a0 += a
            a1 += a * g
        else:
            b0 += a
            b1 += a * g
        second += a * value
        if j == 0 or j == count - 1:
            ends += a * value
        steepest = max(steepest, abs(value - last))
        last = value
    scale = math.sqrt(second)
    mu0 = a0 + b0
    mu1 = a1 + b1
    noise = _EPS * (4.0 * scale + abs(s) * steepest / (q * (scratch[0, 3] - scratch[0, 0])))
    even = odd = rounding = 0.0
    for j in range(count):
        r = scratch[j >> 4, 3 * (j & 15) + 2] - mu0 - mu1 * scratch[j >> 4, 3 * (j & 15)]
        weight = scratch[j >> 4, 3 * (j & 15) + 1]
        rounding += weight * noise * (2.0 * abs(r) + noise)
        if j & 1 == 0:
            even += weight * r * r
        else:
            odd += weight * r * r
    residual = even + odd
    difference = abs(a0 - b0)
    error0 = difference * math.sqrt(difference / (scale + _TINY))
    difference = abs(a1 - b1)
    error1 = difference * math.sqrt(difference / (scale + _TINY))
    difference = abs(even - odd)
    error2 = 0.0 if difference <= rounding else difference * math.sqrt(difference / (residual + _TINY))
    bound = 1e-14 * scale
    if error0 <= bound and error1 <= bound and error2 <= 1e-13 * residual and ends <= 1e-30 * second:
        return mu0, mu1, residual, _relative(error0 + noise, error1 + 2.0 * noise, error2, noise, residual,
        scale)
    return mu0, mu1, residual, -1.0


@njit(error_model="numpy", nogil=True)
def _quadrature(s, q, scratch, count):
    """Trapezoid rule where it resolves f, panels otherwise."""
    if count > 0:
        mu0, mu1, residual, error = _trapezoid(s, q, scratch, count)
        if error >= 0.0:
            return mu0, mu1, residual, error
    return _adaptive(s, q, scratch[_RESERVED:])
