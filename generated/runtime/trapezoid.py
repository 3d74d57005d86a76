"""Trapezoid rule for smooth f: exponentially accurate where its step resolves f.

Written by hand, in codegen/runtime/trapezoid.py.
Generated; do not edit. Signature 45d63db53d5c2cd0, runtime cf0259ee717db900.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, values_at
from generated.runtime.gaussian import EPS, NORM, REACH, TINY

_STEP = 0.32  # of the coarse rule, at unit steepness and without waves, whose f^2 has twice their frequency
_MOST_NODES = 2000  # as far as the weight matters; beyond, panels are faster
_NOTHING = 1e-280  # E f^2 whose parts underflow


def trapezoid_nodes(q, reach, steepness, wave):
    """Places and weights up to `reach`, with room for values: [3, n]; None where there would be too many."""
    step = 0.5 / (max(1.0, steepness * q) / _STEP + wave * q / math.pi)
    if not 2.0 * REACH / step <= _MOST_NODES:
        return None
    half = 2.0 * math.ceil(0.5 * reach / step)
    nodes = np.empty((3, int(2.0 * half) + 1))
    nodes[0] = step * np.arange(-half, half + 1.0)
    nodes[1] = step * NORM * np.exp(-0.5 * nodes[0] ** 2)
    return nodes


@entry
def trapezoid(f, shifts, q, raw, nodes):
    """Coefficients and errors; points where two steps do not confirm each other are marked.

    The difference D of the rules with steps 2h and h is the error of the coarse one. The fine one has about
    D^2; D^(3/2) is what is claimed, all relative to the size of the integrand.
    """
    count = nodes.shape[1]
    span = q * (nodes[0, 1] - nodes[0, 0])
    for i in range(shifts.shape[0]):
        s = shifts[i]
        mu0 = mu1 = second = change0 = change1 = rough = 0.0
        sign = 1.0  # even nodes are those of the coarse rule
        for j in range(count):
            nodes[2, j] = s + q * nodes[0, j]
        values_at(f, nodes[2], nodes[2])
        last = nodes[2, 0]
        for j in range(count):
            g = nodes[0, j]
            value = nodes[2, j]
            a = nodes[1, j] * value
            mu0 += a
            mu1 += a * g
            second += a * value
            change0 += sign * a
            change1 += sign * a * g
            sign = -sign
            # rounding of f, and of its argument at the slope seen here
            slack = 4.0 * abs(value) + abs((s + q * g) * (value - last) / span)
            rough += nodes[1, j] * slack * slack
            last = value
        scale = math.sqrt(second)
        noise = EPS * math.sqrt(rough)
        residual = change2 = 0.0
        sign = 1.0
        for j in range(count):
            r = nodes[2, j] - mu0 - mu1 * nodes[0, j]
            a = nodes[1, j] * r * r
            residual += a
            change2 += sign * a
            sign = -sign
        error0 = abs(change0) * math.sqrt(abs(change0) / (scale + TINY))
        error1 = abs(change1) * math.sqrt(abs(change1) / (scale + TINY))
        error2 = 0.0
        if abs(change2) > noise * (2.0 * math.sqrt(residual) + noise):
            error2 = abs(change2) * math.sqrt(abs(change2) / (residual + TINY))
        ends = nodes[1, 0] * nodes[2, 0] ** 2 + nodes[1, count - 1] * last * last
        bound = 1e-14 * scale
        fine = error0 <= bound and error1 <= bound and error2 <= 1e-13 * residual and ends <= 1e-30 * second
        if second < _NOTHING:  # in all of the tail, or as far as these nodes go
            fine = nodes[0, count - 1] > 2.0 * REACH
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = residual if fine else math.nan
        raw[3, i] = error0 + noise
        raw[4, i] = error1 + 2.0 * noise
        raw[5, i] = error2
        raw[6, i] = noise

SIGNATURE = "45d63db53d5c2cd0b9511a9cf97f66703c805aa55142794d668a04fc1c447b5b"
