"""Truncated Gaussian moments of piecewise linear f.

Written by hand, in codegen/runtime/piecewise.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import inner, making_entry
from generated.runtime.gaussian import EPS
from generated.runtime.truncated import moments_beyond

# rows of `segments`
PLACES, BLUR, JUMPS, KINKS, SLOPES, ROOTS, ROOT_BLUR, LEVELS = range(8)


@inner
def _add_side(segments, here, side, place, sums):
    """Add what h has beyond the breakpoints on one side of place = (s, q): E h, E g h, E h^2, and their rounding."""
    s, q = place
    breaks = segments.shape[1] - 1
    y = a = b = 0.0  # h = a + b (g - y), g counted outwards
    j = here if side > 0 else here - 1
    while 0 <= j < breaks:
        last = y
        y = min(side * (segments[PLACES, j] - s) / q, 60.0)  # nothing is left beyond
        a += b * (y - last)
        phi, j0, j1, j2, bulk1, bulk2 = moments_beyond(y, 2.0)
        jump = side * segments[JUMPS, j]
        kink = q * segments[KINKS, j]
        # h^2 beyond y less what it would be without this breakpoint: c0 + c1 (g - y) + c2 (g - y)^2
        c0 = jump * (2.0 * a + jump)
        c1 = 2.0 * (a * kink + b * jump + jump * kink)
        c2 = kink * (2.0 * b + kink)
        sums[0] += jump * j0 + kink * j1
        sums[1] += side * (jump * phi + kink * j0)
        sums[2] += c0 * j0 + c1 * j1 + c2 * j2
        rounding = EPS * (4.0 + (y + 1.0) * (2.0 * y + segments[BLUR, j] / q))  # of y, where phi magnifies it
        sums[3] += rounding * (abs(jump) * j0 + abs(kink) * bulk1)
        sums[4] += rounding * (abs(jump) * phi + abs(kink) * j0)
        sums[5] += rounding * (
            abs(jump) * (2.0 * abs(a) + abs(jump)) * j0
            + 2.0 * (abs(a * kink) + abs(b * jump) + abs(jump * kink)) * bulk1
            + abs(kink) * (2.0 * abs(b) + abs(kink)) * bulk2
        )
        a += jump
        b += kink
        j += side


@making_entry
def piecewise(segments, shifts, q, raw):
    """Truncated moments of what f is beyond the breakpoints, seen from s; where they cancel points are marked, counted.

    segments[8, pieces]: of the end of each piece its place, what rounding did to it, the jump of f and of its slope
    (of the last piece nothing is read); of each piece its slope, where it is zero, what rounding did to that, and its
    level where it is constant.
    The linear function that f is around s, h = 0 there, leaves mu2^2 as it is: mu2^2 = E h^2 - (E h)^2 -
    (E g h)^2, which does not cancel however far the breakpoints are.
    """
    breaks = segments.shape[1] - 1
    marked = 0
    sums = np.empty(6)  # E h, E g h, E h^2 and their rounding
    for i in range(shifts.shape[0]):
        s = shifts[i]
        here = 0
        while here < breaks and segments[PLACES, here] <= s:
            here += 1
        for k in range(6):
            sums[k] = 0.0
        _add_side(segments, here, -1, (s, q), sums)
        _add_side(segments, here, 1, (s, q), sums)
        line = segments[LEVELS, here] + segments[SLOPES, here] * (s - segments[ROOTS, here])
        slope = q * segments[SLOPES, here]
        mu0, mu1 = line + sums[0], slope + sums[1]
        mu2sq = sums[2] - sums[0] * sums[0] - sums[1] * sums[1]
        error2 = sums[5] + 2.0 * (abs(sums[0]) * sums[3] + abs(sums[1]) * sums[4])
        error2 += EPS * (sums[0] * sums[0] + sums[1] * sums[1])
        error0 = sums[3] + 4.0 * EPS * abs(line) + abs(segments[SLOPES, here]) * segments[ROOT_BLUR, here]
        error1 = sums[4] + 4.0 * EPS * abs(slope)
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2sq)
        fine = error0 <= 1e-13 * scale and error1 <= 1e-13 * scale and error2 <= 1e-12 * mu2sq
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = mu2sq if fine else math.nan
        marked += not fine
        raw[3, i] = error0
        raw[4, i] = error1
        raw[5, i] = error2
        raw[6, i] = 0.0
    return marked

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
