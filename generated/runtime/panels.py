"""Adaptive panels: expectations over g of f, g f and the squared residual at s + q g, q = sqrt(c).

Written by hand, in codegen/runtime/panels.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, inner, value_at, values_at
from generated.runtime.gaussian import EPS, FARTHEST, NORM, REACH, TINY

_TOLERANCE = 3e-15  # per panel, of E f and E g f relative to sqrt(E f^2)
_RESIDUAL_TOLERANCE = 1e-14  # per panel, of the squared residual relative to itself
# columns of a panel: lower, upper, 2 errors, 3 integrals, noise, mass, residual error, values, weights
_VALUES = 10
_WEIGHTS = 31

# QUADPACK qk21: nodes, 21-point Kronrod weights, 10-point Gauss weights (zero on the nodes Kronrod added)
_NODES = np.array(
    [
        -0.99565716302580808,
        -0.97390652851717172,
        -0.93015749135570823,
        -0.86506336668898451,
        -0.78081772658641690,
        -0.67940956829902441,
        -0.56275713466860468,
        -0.43339539412924719,
        -0.29439286270146020,
        -0.14887433898163121,
        0.0,
        0.14887433898163121,
        0.29439286270146020,
        0.43339539412924719,
        0.56275713466860468,
        0.67940956829902441,
        0.78081772658641690,
        0.86506336668898451,
        0.93015749135570823,
        0.97390652851717172,
        0.99565716302580808,
    ]
)
_KRONROD = np.array(
    [
        0.011694638867371874,
        0.032558162307964727,
        0.054755896574351996,
        0.075039674810919953,
        0.093125454583697606,
        0.109387158802297642,
        0.123491976262065851,
        0.134709217311473326,
        0.142775938577060081,
        0.147739104901338491,
        0.149445554002916906,
        0.147739104901338491,
        0.142775938577060081,
        0.134709217311473326,
        0.123491976262065851,
        0.109387158802297642,
        0.093125454583697606,
        0.075039674810919953,
        0.054755896574351996,
        0.032558162307964727,
        0.011694638867371874,
    ]
)
_GAUSS = np.array(
    [
        0.0,
        0.066671344308688138,
        0.0,
        0.149451349150580593,
        0.0,
        0.219086362515982044,
        0.0,
        0.269266719309996355,
        0.0,
        0.295524224714752870,
        0.0,
        0.295524224714752870,
        0.0,
        0.269266719309996355,
        0.0,
        0.219086362515982044,
        0.0,
        0.149451349150580593,
        0.0,
        0.066671344308688138,
        0.0,
    ]
)
# edges where nothing else asks for one
_GENERIC = np.array([-8.1, -5.2, -3.1, -1.45, 0.1, 1.55, 3.2, 5.3, 8.2])


@inner
def _panel_error(spread, difference):
    """QUADPACK's estimate of the Kronrod error from the difference to the Gauss rule."""
    ratio = 200.0 * difference / (spread + TINY)
    return max(spread, difference) * min(1.0, ratio * math.sqrt(ratio))


@inner
def _panel(f, row, s, q):
    """Values, weights, integrals of f, g f, f^2 and their errors on the panel [row[0], row[1]]."""
    half = 0.5 * (row[1] - row[0])
    middle = 0.5 * (row[1] + row[0])
    k0 = k1 = k2 = g0 = g1 = mass = 0.0
    low = math.inf
    high = -math.inf
    for j in range(21):
        row[_VALUES + j] = s + q * (middle + half * _NODES[j])
    values_at(f, row[_VALUES:_WEIGHTS], row[_VALUES:_WEIGHTS])
    for j in range(21):
        g = middle + half * _NODES[j]
        value = row[_VALUES + j]
        weight = half * NORM * math.exp(-0.5 * g * g)
        row[_WEIGHTS + j] = weight
        low = min(low, value)
        high = max(high, value)
        a = weight * value
        k0 += _KRONROD[j] * a
        k1 += _KRONROD[j] * a * g
        k2 += _KRONROD[j] * a * value
        g0 += _GAUSS[j] * a
        g1 += _GAUSS[j] * a * g
        mass += _KRONROD[j] * weight
    spread0 = spread1 = 0.0
    for j in range(21):
        a = row[_WEIGHTS + j] * row[_VALUES + j]
        spread0 += _KRONROD[j] * abs(a - 0.5 * k0)
        spread1 += _KRONROD[j] * abs(a * (middle + half * _NODES[j]) - 0.5 * k1)
    # rounding of f itself, and of its argument at the slope seen on this panel
    far = max(abs(s + q * row[0]), abs(s + q * row[1]))
    noise = EPS * (4.0 * max(abs(low), abs(high)) + 4.0 * far * (high - low) / (q * (row[1] - row[0])))
    size = max(abs(row[0]), abs(row[1]))
    row[2] = 0.0 if abs(k0 - g0) <= noise * mass else _panel_error(spread0, abs(k0 - g0))
    row[3] = 0.0 if abs(k1 - g1) <= noise * mass * size else _panel_error(spread1, abs(k1 - g1))
    row[4] = k0
    row[5] = k1
    row[6] = k2
    row[7] = noise
    row[8] = mass


@inner
def _residual(row, mu0, mu1):
    """Integral of (f - mu0 - mu1 g)^2 over the panel, from the stored values; its error goes to row[9]."""
    half = 0.5 * (row[1] - row[0])
    middle = 0.5 * (row[1] + row[0])
    kronrod = gauss = noise = 0.0
    for j in range(21):
        r = row[_VALUES + j] - mu0 - mu1 * (middle + half * _NODES[j])
        a = row[_WEIGHTS + j] * r * r
        kronrod += _KRONROD[j] * a
        gauss += _GAUSS[j] * a
        noise += _KRONROD[j] * row[_WEIGHTS + j] * row[7] * (2.0 * abs(r) + row[7])
    spread = 0.0
    for j in range(21):
        r = row[_VALUES + j] - mu0 - mu1 * (middle + half * _NODES[j])
        spread += _KRONROD[j] * abs(row[_WEIGHTS + j] * r * r - 0.5 * kronrod)
    difference = abs(kronrod - gauss)
    row[9] = 0.0 if difference <= noise else _panel_error(spread, difference)
    return kronrod


@inner
def _level(f, s, q, g):
    """f^2 times the weight of g, but for a factor."""
    value = value_at(f, s + q * g)
    return value * value * math.exp(-0.5 * g * g)


@inner
def _end(f, breaks, centres, s, q, side):
    """Where f^2 times the weight has become negligible on one side (-1 or 1)."""
    least = REACH
    for b in breaks:
        g = side * (b - s) / q
        if g < FARTHEST - 3.0:
            least = max(least, g + 1.0)
    for centre in centres:
        g = side * (centre - s) / q
        if g < FARTHEST - 3.0:
            least = max(least, g + 1.0)
    top = level = 0.0
    g = -10.0
    while g < FARTHEST:
        last = level
        level = _level(f, s, q, side * g)
        top = max(top, level)
        # two places, lest one is a zero of f
        if g >= least and level <= 1e-31 * top and last <= 1e-29 * top:
            break
        g += 1.0
    return side * g


@inner
def _edges(breaks, centres, widths, rows, s, q):
    """Edges of the first panels, sorted into rows[:, 0] between the two ends that are there, and their number:
    breakpoints, marks graded towards features that are narrow in g, generic ones.
    """
    # marks in the order of their importance: place, and the least distance to others
    marks = 0
    for b in breaks:
        rows[marks, 3] = (b - s) / q
        rows[marks, 4] = 0.0
        marks += 1
    for i in range(centres.shape[0]):
        centre = (centres[i] - s) / q
        step = 2.0 * widths[i] / q
        rows[marks, 3] = centre
        rows[marks, 4] = 0.2 * min(step, 1.0)
        marks += 1
        while step < 3.0 and marks < rows.shape[0] - 20:
            for side in range(-1, 2, 2):
                rows[marks, 3] = centre + side * step
                rows[marks, 4] = 0.3 * step
                marks += 1
            step *= 2.7
    for g in _GENERIC:
        rows[marks, 3] = g
        rows[marks, 4] = 0.6
        marks += 1
    count = 2
    for m in range(marks):
        g = rows[m, 3]
        gap = rows[m, 4]
        if rows[0, 0] + gap < g < rows[count - 1, 0] - gap:
            place = count
            while rows[place - 1, 0] > g:
                place -= 1
            if g - rows[place - 1, 0] > gap and rows[place, 0] - g > gap:
                for i in range(count, place, -1):
                    rows[i, 0] = rows[i - 1, 0]
                rows[place, 0] = g
                count += 1
    return count


@entry
def panels(f, breaks, centres, widths, shifts, q, raw, scratch):
    """Gauss-Kronrod panels in g, refined until f, g f and the residual agree; no point is marked.

    f: address of its values; breaks, centres, widths: where it is not smooth, and where and how narrow its features are
    """
    rows = scratch
    for i in range(shifts.shape[0]):
        s = shifts[i]
        rows[0, 0] = left = _end(f, breaks, centres, s, q, -1.0)
        rows[1, 0] = right = _end(f, breaks, centres, s, q, 1.0)
        tail = NORM * (_level(f, s, q, left) + _level(f, s, q, right))  # what is cut off
        n = _edges(breaks, centres, widths, rows, s, q) - 1
        for p in range(n):
            rows[p, 1] = rows[p + 1, 0]
            rows[p, 8] = -1.0
        known = 0
        while n > known:
            known = n
            mu0 = mu1 = second = residual = 0.0
            for p in range(known):
                if rows[p, 8] < 0.0:
                    _panel(f, rows[p], s, q)
                mu0 += rows[p, 4]
                mu1 += rows[p, 5]
                second += rows[p, 6]
            # the residual is looked at when f and g f have converged
            for stage in range(2):
                if n > known:
                    break
                if stage == 1:
                    for p in range(known):
                        residual += _residual(rows[p], mu0, mu1)
                bound = _TOLERANCE * math.sqrt(second) if stage == 0 else _RESIDUAL_TOLERANCE * residual
                for p in range(known):
                    error = max(rows[p, 2], rows[p, 3]) if stage == 0 else rows[p, 9]
                    if error > bound and n < rows.shape[0]:
                        middle = 0.5 * (rows[p, 0] + rows[p, 1])
                        rows[n, 0] = middle
                        rows[n, 1] = rows[p, 1]
                        rows[n, 8] = -1.0
                        rows[p, 1] = middle
                        rows[p, 8] = -1.0
                        n += 1
        error0 = error1 = error2 = 0.0
        for p in range(n):
            error0 += rows[p, 2] + rows[p, 7] * rows[p, 8]
            error1 += rows[p, 3] + rows[p, 7] * rows[p, 8] * max(abs(rows[p, 0]), abs(rows[p, 1]))
            error2 += rows[p, 9]
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = residual
        raw[3, i] = error0 + math.sqrt(tail)
        raw[4, i] = error1
        raw[5, i] = error2 + tail
        raw[6, i] = error0

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
