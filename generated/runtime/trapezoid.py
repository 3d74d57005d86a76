"""Trapezoid rule for smooth f: exponentially accurate where its step resolves f.

Written by hand, in codegen/runtime/trapezoid.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import inner, kept, making_entry, values_at
from generated.runtime.contractions import INNER
from generated.runtime.gaussian import EPS, NORM, REACH, TINY

_STEP = 0.32  # of the coarse rule, at unit steepness and without waves, whose f^2 has twice their frequency
_MOST_NODES = 2000  # as far as the weight matters; beyond, panels are faster
_NOTHING = 1e-280  # E f^2 whose parts underflow


def trapezoid_nodes(q, reach, steepness, wave):
    """Places and weights up to `reach`, room for values and weights: [4, n]; None where there would be too many."""
    step = 0.5 / (max(1.0, steepness * q) / _STEP + wave * q / math.pi)
    if not 2.0 * REACH / step <= _MOST_NODES:
        return None
    half = 2.0 * math.ceil(0.5 * reach / step)
    nodes = np.empty((4, int(2.0 * half) + 1))
    nodes[0] = step * np.arange(-half, half + 1.0)
    nodes[1] = step * NORM * np.exp(-0.5 * nodes[0] ** 2)
    return nodes


@kept(**INNER)
def _shift_weights(nodes, offset):
    """The weights at places moved by an offset of less than a step, from those in row 1."""
    half = nodes.shape[1] // 2
    ratio, inverse = math.exp(-offset * nodes[0, half + 1]), math.exp(offset * nodes[0, half + 1])
    left = right = math.exp(-0.5 * offset * offset)
    for j in range(half + 1):
        weight = nodes[1, half + j]  # the same on both sides
        nodes[3, half + j] = weight * right
        nodes[3, half - j] = weight * left
        right *= ratio
        left *= inverse  # each waits for the last, and a quotient takes four times as long


# in strict order: sums in any order may differ between a process that compiles them and one that loads them
@kept(**INNER)
def _moments(nodes, s, q, offset, parity):
    """Sums of f, g f, f^2 and of the rounding over every other node; the even ones are those of the coarse rule."""
    mu0 = mu1 = second = rough = 0.0
    over = 1.0 / (q * (nodes[0, 1] - nodes[0, 0]))
    for j in range(parity, nodes.shape[1], 2):
        g, value, last = nodes[0, j] + offset, nodes[2, j], nodes[2, max(j - 1, 0)]
        a = nodes[3, j] * value
        mu0 += a
        mu1 += a * g
        second += a * value
        # rounding of f, and of its argument at the slope seen here
        slack = 4.0 * abs(value) + abs((s + q * g) * (value - last) * over)
        rough += nodes[3, j] * slack * slack
    return mu0, mu1, second, rough


@kept(**INNER)
def _rest(nodes, mu0, mu1, offset, parity):
    """The square of what f has beside 1 and g, summed over every other node."""
    residual = 0.0
    for j in range(parity, nodes.shape[1], 2):
        r = nodes[2, j] - mu0 - mu1 * (nodes[0, j] + offset)
        a = nodes[3, j] * r * r
        residual += a
    return residual


@inner
def _claimed(change, size):
    """The error that is claimed of the fine rule, by the difference of two."""
    return abs(change) * math.sqrt(abs(change) / (size + TINY))


@inner
def _ends(shifts):
    """The least and the largest; numba's own take longer to compile than all of the rule."""
    least = most = shifts[0]
    for s in shifts:
        least, most = min(least, s), max(most, s)
    return least, most


@making_entry
def trapezoid(f, shifts, q, raw, nodes):
    """Coefficients and errors; points where two steps do not confirm each other are marked, and counted.

    The difference D of the rules with steps 2h and h is the error of the coarse one. The fine one has about
    D^2; D^(3/2) is what is claimed, all relative to the size of the integrand.

    Wherever the nodes begin, the rule is as exact: where shifts are close, all take the values of f from one grid of
    half steps. A node is never farther than a quarter of a step from where it would be around the shift alone, so that
    the coarse rule does not happen to agree.
    """
    count = nodes.shape[1]
    half, marked = count // 2, 0
    apart_by = 0.5 * q * nodes[0, half + 1]  # a difference of others would be rounded
    least, most = _ends(shifts)
    low, high = least / apart_by - count, most / apart_by + count
    together = high - low < 0.25 * count * shifts.shape[0]
    first = math.floor(low) if together else 0.0
    grid = np.empty(int(high - first) + 3 if together else 0)
    for k in range(grid.shape[0]):
        grid[k] = (first + k) * apart_by
    values_at(f, grid, grid)
    for i in range(shifts.shape[0]):
        s, offset = shifts[i], 0.0
        if together:
            nearest = math.floor(s / apart_by + 0.5)
            offset = (nearest * apart_by - s) / q
            start = int(nearest - first) - 2 * half
            for j in range(count):
                nodes[2, j] = grid[start + 2 * j]
        else:
            for j in range(count):
                nodes[2, j] = s + q * nodes[0, j]
            values_at(f, nodes[2], nodes[2])
        _shift_weights(nodes, offset)
        even0, even1, even2, even_rough = _moments(nodes, s, q, offset, 0)
        odd0, odd1, odd2, odd_rough = _moments(nodes, s, q, offset, 1)
        mu0, mu1, second = even0 + odd0, even1 + odd1, even2 + odd2
        change0, change1 = even0 - odd0, even1 - odd1
        scale = math.sqrt(second)
        noise = EPS * math.sqrt(even_rough + odd_rough)
        even2, odd2 = _rest(nodes, mu0, mu1, offset, 0), _rest(nodes, mu0, mu1, offset, 1)
        residual, change2 = even2 + odd2, even2 - odd2
        error0, error1 = _claimed(change0, scale), _claimed(change1, scale)
        error2 = 0.0
        if abs(change2) > noise * (2.0 * math.sqrt(residual) + noise):
            error2 = _claimed(change2, residual)
        ends = nodes[3, 0] * nodes[2, 0] ** 2 + nodes[3, count - 1] * nodes[2, count - 1] ** 2
        bound = 1e-14 * scale
        fine = error0 <= bound and error1 <= bound and error2 <= 1e-13 * residual and ends <= 1e-30 * second
        if second < _NOTHING:  # in all of the tail, or as far as these nodes go
            fine = nodes[0, count - 1] > 2.0 * REACH
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = residual if fine else math.nan
        marked += not fine
        raw[3, i] = error0 + noise
        raw[4, i] = error1 + 2.0 * noise
        raw[5, i] = error2
        raw[6, i] = noise
    return marked

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
