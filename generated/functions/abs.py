"""Conditional Gaussian coefficients of f(z) = abs(z)  [Jarrett et al. 2009, ICCV (absolute value rectification)].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature f5d122a86c3112a0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit


NAME = "abs"
EXPRESSION = "abs(z)"
SIGNATURE = "f5d122a86c3112a0e6454fe0cc73eaeb5e4bcba102980caa9bced48df993f4c0"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "even"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0
SCRATCH_SHAPE = (420, 52)  # least shape of `scratch`; more rows allow more panels of 52 numbers

# no wrappers that nobody calls: they take a tenth of the time to compile
_ENTRY = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
_INNER = {**_ENTRY, "no_cpython_wrapper": True}
_EPS = 2.0**-52
_NORM = 0.3989422804014327  # 1/sqrt(2 pi)
_BREAKS = np.array([0.0])
_CENTRES = np.zeros(0)  # of the features of f, and their widths
_WIDTHS = np.zeros(0)
_STEEPNESS = 0.0  # of its smooth parts, and the sum of its frequencies
_WAVE = 0.0


_BLUR = np.array([0.0])  # what rounding did to the breakpoints
_JUMPS = np.array([0.0])  # of f at its breakpoints
_KINKS = np.array([2.0])  # of its slope
_SLOPES = np.array([-1.0, 1.0])  # of the pieces, where they are zero, what rounding did to that
_ROOTS = np.array([0.0, 0.0])
_ROOT_BLUR = np.array([0.0, 0.0])
_LEVELS = np.array([0.0, 0.0])  # of the pieces that are constant


@njit(**_INNER)
def _f(z):
    """2 pieces of f."""
    if z < 0.0:
        return -z
    else:
        return z


@njit(cache=True, **_ENTRY)
def piecewise(shifts, q, raw, scratch):
    """Truncated moments of what f is beyond the breakpoints, seen from s; points where they cancel are marked.

    The linear function that f is around s, h = 0 there, leaves mu2^2 as it is: mu2^2 = E h^2 - (E h)^2 -
    (E g h)^2, which does not cancel however far the breakpoints are. Beyond y the moments of (g - y)^n are
    J_n with J_(n+1) = n J_(n-1) - y J_n, far out by its continued fraction.
    """
    for i in range(shifts.shape[0]):
        s = shifts[i]
        here = 0
        while here < _BREAKS.shape[0] and _BREAKS[here] <= s:
            here += 1
        sum0 = sum1 = sum2 = error0 = error1 = error2 = 0.0
        for side in range(-1, 2, 2):
            y = a = b = 0.0  # h = a + b (g - y), g counted outwards
            j = here if side > 0 else here - 1
            while 0 <= j < _BREAKS.shape[0]:
                last = y
                y = side * (_BREAKS[j] - s) / q
                if y > 60.0:  # nothing is left there
                    y = 60.0
                a += b * (y - last)
                phi = _NORM * math.exp(-0.5 * y * y)
                if y < 2.0:
                    j0 = 0.5 * math.erfc(0.7071067811865476 * y)
                    bulk1 = phi + y * j0
                    bulk2 = j0 + y * bulk1
                    j1 = phi - y * j0
                    j2 = j0 - y * j1
                else:
                    ratio = 0.0
                    n = 120.0 if y < 3.0 else 60.0
                    while n > 2.0:
                        ratio = n / (y + ratio)
                        n -= 1.0
                    ratio2 = 2.0 / (y + ratio)
                    ratio1 = 1.0 / (y + ratio2)
                    j0 = phi / (y + ratio1)
                    bulk1 = j1 = ratio1 * j0
                    bulk2 = j2 = ratio2 * j1
                jump = side * _JUMPS[j]
                kink = q * _KINKS[j]
                # h^2 beyond y less what it would be without this breakpoint: c0 + c1 (g - y) + c2 (g - y)^2
                c0 = jump * (2.0 * a + jump)
                c1 = 2.0 * (a * kink + b * jump + jump * kink)
                c2 = kink * (2.0 * b + kink)
                sum0 += jump * j0 + kink * j1
                sum1 += side * (jump * phi + kink * j0)
                sum2 += c0 * j0 + c1 * j1 + c2 * j2
                rounding = _EPS * (4.0 + (y + 1.0) * (2.0 * y + _BLUR[j] / q))  # of y, where phi magnifies it
                error0 += rounding * (abs(jump) * j0 + abs(kink) * bulk1)
                error1 += rounding * (abs(jump) * phi + abs(kink) * j0)
                error2 += rounding * (
                    abs(jump) * (2.0 * abs(a) + abs(jump)) * j0
                    + 2.0 * (abs(a * kink) + abs(b * jump) + abs(jump * kink)) * bulk1
                    + abs(kink) * (2.0 * abs(b) + abs(kink)) * bulk2
                )
                a += jump
                b += kink
                j += side
        line = _LEVELS[here] + _SLOPES[here] * (s - _ROOTS[here])
        mu0 = line + sum0
        mu1 = q * _SLOPES[here] + sum1
        mu2sq = sum2 - sum0 * sum0 - sum1 * sum1
        error2 += 2.0 * (abs(sum0) * error0 + abs(sum1) * error1) + _EPS * (sum0 * sum0 + sum1 * sum1)
        error0 += 4.0 * _EPS * abs(line) + abs(_SLOPES[here]) * _ROOT_BLUR[here]
        error1 += 4.0 * _EPS * abs(q * _SLOPES[here])
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2sq)
        fine = error0 <= 1e-13 * scale and error1 <= 1e-13 * scale and error2 <= 1e-12 * mu2sq
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = mu2sq if fine else math.nan
        raw[3, i] = error0
        raw[4, i] = error1
        raw[5, i] = error2
        raw[6, i] = 0.0


_REACH = 12.0  # exp(-_REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
_FARTHEST = 38.0  # the Gaussian weight underflows beyond
_TOLERANCE = 3e-15  # per panel, of E f and E g f relative to sqrt(E f^2)
_RESIDUAL_TOLERANCE = 1e-14  # per panel, of the squared residual relative to itself
_TINY = 1e-300
# columns of a panel: lower, upper, 2 errors, 3 integrals, noise, mass, residual error, values, weights
_VALUES = 10
_WEIGHTS = 31

# QUADPACK qk21: nodes, 21-point Kronrod weights, 10-point Gauss weights (zero on the nodes Kronrod added)
_NODES = np.array(
    [
        -0.99565716302580808, -0.97390652851717172, -0.93015749135570823, -0.86506336668898451,
        -0.78081772658641690, -0.67940956829902441, -0.56275713466860468, -0.43339539412924719,
        -0.29439286270146020, -0.14887433898163121, 0.0, 0.14887433898163121,
        0.29439286270146020, 0.43339539412924719, 0.56275713466860468, 0.67940956829902441,
        0.78081772658641690, 0.86506336668898451, 0.93015749135570823, 0.97390652851717172,
        0.99565716302580808,
    ]
)
_KRONROD = np.array(
    [
        0.011694638867371874, 0.032558162307964727, 0.054755896574351996, 0.075039674810919953,
        0.093125454583697606, 0.109387158802297642, 0.123491976262065851, 0.134709217311473326,
        0.142775938577060081, 0.147739104901338491, 0.149445554002916906, 0.147739104901338491,
        0.142775938577060081, 0.134709217311473326, 0.123491976262065851, 0.109387158802297642,
        0.093125454583697606, 0.075039674810919953, 0.054755896574351996, 0.032558162307964727,
        0.011694638867371874,
    ]
)
_GAUSS = np.array(
    [
        0.0, 0.066671344308688138, 0.0, 0.149451349150580593, 0.0, 0.219086362515982044, 0.0,
        0.269266719309996355, 0.0, 0.295524224714752870, 0.0, 0.295524224714752870, 0.0,
        0.269266719309996355, 0.0, 0.219086362515982044, 0.0, 0.149451349150580593, 0.0,
        0.066671344308688138, 0.0,
    ]
)
# edges where nothing else asks for one
_GENERIC = np.array([-8.1, -5.2, -3.1, -1.45, 0.1, 1.55, 3.2, 5.3, 8.2])


@njit(**_INNER)
def _panel_error(spread, difference):
    """QUADPACK's estimate of the Kronrod error from the difference to the Gauss rule."""
    ratio = 200.0 * difference / (spread + _TINY)
    return max(spread, difference) * min(1.0, ratio * math.sqrt(ratio))


@njit(**_INNER)
def _panel(row, s, q):
    """Values, weights, integrals of f, g f, f^2 and their errors on the panel [row[0], row[1]]."""
    half = 0.5 * (row[1] - row[0])
    middle = 0.5 * (row[1] + row[0])
    k0 = k1 = k2 = g0 = g1 = mass = 0.0
    low = math.inf
    high = -math.inf
    for j in range(21):
        g = middle + half * _NODES[j]
        value = _f(s + q * g)
        weight = half * _NORM * math.exp(-0.5 * g * g)
        row[_VALUES + j] = value
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
    noise = _EPS * (4.0 * max(abs(low), abs(high)) + 4.0 * far * (high - low) / (q * (row[1] - row[0])))
    size = max(abs(row[0]), abs(row[1]))
    row[2] = 0.0 if abs(k0 - g0) <= noise * mass else _panel_error(spread0, abs(k0 - g0))
    row[3] = 0.0 if abs(k1 - g1) <= noise * mass * size else _panel_error(spread1, abs(k1 - g1))
    row[4] = k0
    row[5] = k1
    row[6] = k2
    row[7] = noise
    row[8] = mass


@njit(**_INNER)
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


@njit(**_INNER)
def _level(s, q, g):
    """f^2 times the weight of g, but for a factor."""
    value = _f(s + q * g)
    return value * value * math.exp(-0.5 * g * g)


@njit(**_INNER)
def _end(s, q, side):
    """Where f^2 times the weight has become negligible on one side (-1 or 1)."""
    least = _REACH
    for b in _BREAKS:
        g = side * (b - s) / q
        if g < _FARTHEST - 3.0:
            least = max(least, g + 1.0)
    for centre in _CENTRES:
        g = side * (centre - s) / q
        if g < _FARTHEST - 3.0:
            least = max(least, g + 1.0)
    top = level = 0.0
    g = -10.0
    while g < _FARTHEST:
        last = level
        level = _level(s, q, side * g)
        top = max(top, level)
        # two places, lest one is a zero of f
        if g >= least and level <= 1e-31 * top and last <= 1e-29 * top:
            break
        g += 1.0
    return side * g


@njit(**_INNER)
def _edges(rows, s, q):
    """Edges of the first panels, sorted into rows[:, 0] between the two ends that are there, and their number:
    breakpoints, marks graded towards features that are narrow in g, generic ones.
    """
    # marks in the order of their importance: place, and the least distance to others
    marks = 0
    for b in _BREAKS:
        rows[marks, 3] = (b - s) / q
        rows[marks, 4] = 0.0
        marks += 1
    for i in range(_CENTRES.shape[0]):
        centre = (_CENTRES[i] - s) / q
        step = 2.0 * _WIDTHS[i] / q
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


@njit(cache=True, **_ENTRY)
def panels(shifts, q, raw, scratch):
    """Gauss-Kronrod panels in g, refined until f, g f and the residual agree; no point is marked."""
    rows = scratch
    for i in range(shifts.shape[0]):
        s = shifts[i]
        rows[0, 0] = left = _end(s, q, -1.0)
        rows[1, 0] = right = _end(s, q, 1.0)
        tail = _NORM * (_level(s, q, left) + _level(s, q, right))  # what is cut off
        n = _edges(rows, s, q) - 1
        for p in range(n):
            rows[p, 1] = rows[p + 1, 0]
            rows[p, 8] = -1.0
        known = 0
        while n > known:
            known = n
            mu0 = mu1 = second = residual = 0.0
            for p in range(known):
                if rows[p, 8] < 0.0:
                    _panel(rows[p], s, q)
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


def coefficients(s, c, out, scratch):
    """mu0 = E f(s + sqrt(c) g), mu1 = E g f, mu2^2 = E f^2 - mu0^2 - mu1^2 for g ~ N(0, 1)  [CUI24, Result
    3.2].

    s: (n,) shifts; c >= 0: one variance; out: (3, n), filled; scratch: of SCRATCH_SHAPE or with more rows.
    Returns the worst estimated error of mu0, mu1 and mu2, relative to sqrt(E f^2); infinite where an
    expectation does not exist or overflows. A rule is compiled when the ones before it leave a point to it.
    """
    if scratch.shape[0] < SCRATCH_SHAPE[0] or scratch.shape[1] != SCRATCH_SHAPE[1]:
        raise ValueError("scratch has the wrong shape: it needs SCRATCH_SHAPE, or more rows")
    if not c >= 0.0:
        raise ValueError("c is a variance: it must be zero or positive")
    if c == 0.0:
        value(np.array(s), out[0])
        out[1:] = 0.0
        return 0.0
    q = math.sqrt(c)
    shifts = np.array(s) if PARITY == "none" else np.abs(s)
    raw = np.empty((7, shifts.size))
    with np.errstate(all="ignore"):
        RULES[0](shifts, q, raw, scratch)
        for rule in RULES[1:]:
            marked = np.flatnonzero(np.isnan(raw[2]))
            if marked.size == 0:
                break
            again = np.empty((7, marked.size))
            rule(shifts[marked], q, again, scratch)
            raw[:, marked] = again
        out[:] = raw[:3]
        if PARITY == "odd":
            out[0] *= np.sign(s)
        elif PARITY == "even":
            out[1] *= np.sign(s)
        return float(np.max(_estimates(raw), initial=0.0))


def _estimates(raw):
    """Worst error of mu0, mu1 and mu2 relative to sqrt(E f^2); infinite where a value is not finite."""
    mu0, mu1, residual, error0, error1, error2, noise = raw
    scale = np.sqrt(mu0 * mu0 + mu1 * mu1 + residual)
    # of mu2 itself: d(mu2) = d(mu2^2)/(2 mu2), and never more than sqrt(d(mu2^2))
    error2 = np.sqrt(residual + error2) - np.sqrt(residual) + noise
    # where f lives in the tail of g only, rounding of g^2/2 is magnified by g^2, about -4 log(scale)
    tail = 8.0 * _EPS * np.maximum(0.0, -np.log(scale))
    worst = np.maximum(np.maximum(error0, error1), error2) / scale + tail
    worst[scale == 0.0] = 0.0
    return np.where(np.isfinite(mu0 + mu1 + residual) & (worst >= 0.0), worst, np.inf)


@njit(cache=True, **_ENTRY)
def value(z, out):
    """f itself: out[i] = f(z[i])."""
    for i in range(z.shape[0]):
        out[i] = _f(z[i])


# each for the points that those before it mark by a mu2^2 that is not a number
RULES = (piecewise, panels)
ENTRY = "piecewise"  # what the first one compiles
