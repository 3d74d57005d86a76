"""Conditional Gaussian coefficients of f(z) = max(z,0.01*z)  [Maas, Hannun & Ng 2013, ICML workshop (slope 0.01)].

f: 1 operations. mu0, mu1, mu2: closed forms (77 operations), by quadrature where these would cancel.
Generated; do not edit. Signature 19e2281dc07d54ea.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit


NAME = "leaky_relu"
EXPRESSION = "max(z,0.01*z)"
SIGNATURE = "19e2281dc07d54ea2c915dfe301b9c9d3a698df1ca14791f8aba20cac7080746"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "none"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 77

_PARITY = {"none": 0, "odd": 1, "even": 2}[PARITY]
_BREAKS = np.array([0.0])
_CENTRES = np.zeros(0)  # of the features of f, and their widths
_WIDTHS = np.zeros(0)
_STEEPNESS = 0.0  # of its smooth parts, and the sum of its frequencies
_WAVE = 0.0


@njit(error_model="numpy", nogil=True)
def _f(z):
    """2 pieces of f."""
    if z < 0.0:
        return 0.01*z
    else:
        return z


SCRATCH_SHAPE = (420, 52)  # least shape of `scratch`; more rows allow more panels of 52 numbers

_EPS = 2.0**-52
_NORM = 0.3989422804014327  # 1/sqrt(2 pi)
_REACH = 12.0  # exp(-_REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
_FARTHEST = 38.0  # the Gaussian weight underflows beyond
_TOLERANCE = 3e-15  # per panel, of E f and E g f relative to sqrt(E f^2)
_RESIDUAL_TOLERANCE = 1e-14  # per panel, of the squared residual relative to itself
_RESERVED = 126  # rows of scratch that are no panels: nodes of the trapezoid rule
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


@njit(error_model="numpy", nogil=True)
def _panel_error(spread, difference):
    """QUADPACK's estimate of the Kronrod error from the difference to the Gauss rule."""
    ratio = 200.0 * difference / (spread + _TINY)
    return max(spread, difference) * min(1.0, ratio * math.sqrt(ratio))


@njit(error_model="numpy", nogil=True)
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


@njit(error_model="numpy", nogil=True)
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


@njit(error_model="numpy", nogil=True)
def _end(s, q, side):
    """Where f^2 times the weight has become negligible on one side (-1 or 1), and its level there."""
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
        value = _f(s + q * side * g)
        level = value * value * math.exp(-0.5 * g * g)
        top = max(top, level)
        # two places, lest one is a zero of f
        if g >= least and level <= 1e-31 * top and last <= 1e-29 * top:
            break
        g += 1.0
    return side * g, level


@njit(error_model="numpy", nogil=True)
def _insert(rows, count, g, gap):
    """Put g among the sorted edges rows[:count, 0] unless it is outside them or within gap of one."""
    if not (rows[0, 0] + gap < g < rows[count - 1, 0] - gap) or count >= rows.shape[0]:
        return count
    place = count
    while rows[place - 1, 0] > g:
        place -= 1
    if g - rows[place - 1, 0] <= gap or rows[place, 0] - g <= gap:
        return count
    for i in range(count, place, -1):
        rows[i, 0] = rows[i - 1, 0]
    rows[place, 0] = g
    return count + 1


@njit(error_model="numpy", nogil=True)
def _edges(rows, s, q):
    """Edges of the first panels: breakpoints, marks graded towards features that are narrow in g, generic
    ones.
    """
    count = 2
    for b in _BREAKS:
        count = _insert(rows, count, (b - s) / q, 0.0)
    for i in range(_CENTRES.shape[0]):
        centre = (_CENTRES[i] - s) / q
        step = 2.0 * _WIDTHS[i] / q
        count = _insert(rows, count, centre, 0.2 * min(step, 1.0))
        while step < 3.0:
            count = _insert(rows, count, centre - step, 0.3 * step)
            count = _insert(rows, count, centre + step, 0.3 * step)
            step *= 2.7
    for g in _GENERIC:
        count = _insert(rows, count, g, 0.6)
    return count


@njit(error_model="numpy", nogil=True)
def _adaptive(s, q, rows):
    """mu0, mu1, mu2^2 and error by adaptive Gauss–Kronrod panels in g, refined until f, g f and the
    residual agree.
    """
    rows[0, 0], left = _end(s, q, -1.0)
    rows[1, 0], right = _end(s, q, 1.0)
    tail = _NORM * (left + right)  # what is cut off
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
        scale = math.sqrt(second)
        # the residual is looked at when f and g f have converged
        for stage in range(2):
            if n > known:
                break
            if stage == 1:
                for p in range(known):
                    residual += _residual(rows[p], mu0, mu1)
            bound = _TOLERANCE * scale if stage == 0 else _RESIDUAL_TOLERANCE * residual
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
    error0 = error1 = 0.0
    error2 = tail
    for p in range(n):
        error0 += rows[p, 2] + rows[p, 7] * rows[p, 8]
        error1 += rows[p, 3] + rows[p, 7] * rows[p, 8] * max(abs(rows[p, 0]), abs(rows[p, 1]))
        error2 += rows[p, 9]
    noise = error0
    return mu0, mu1, residual, _relative(error0 + math.sqrt(tail), error1, error2, noise, residual, scale)


@njit(error_model="numpy", nogil=True)
def _relative(error0, error1, error2, noise, residual, scale):
    """Worst error of mu0, mu1 and mu2 relative to sqrt(E f^2); infinite where a value is not finite."""
    if scale == 0.0:
        return 0.0
    mu2 = math.sqrt(residual)
    # of mu2 itself: d(mu2) = d(mu2^2)/(2 mu2), and never more than sqrt(d(mu2^2))
    error2 = math.sqrt(residual + error2) - mu2 + noise
    # where f lives in the tail of g only, rounding of g^2/2 is magnified by g^2, about -4 log(scale)
    worst = max(error0, max(error1, error2)) / scale + 8.0 * _EPS * max(0.0, -math.log(scale))
    return worst if worst >= 0.0 else math.inf


@njit(error_model="numpy", nogil=True)
def _closed(s, q):
    """mu0, mu1, mu2^2 and the sums of the sizes of their terms."""
    x0 = q*q
    x1 = s*s
    x2 = q*math.exp(-0.5*x1/x0)
    x3 = math.erf(0.7071067811865476*s/q)
    x4 = 0.495*x3
    x5 = 0.49995*x3
    t0_0 = 0.3949528575974183*x2
    t0_1 = s*x4
    t0_2 = 0.505*s
    t1_0 = q*x4
    t1_1 = 0.505*q
    t2_0 = x0*x5
    t2_1 = 0.50005*x0
    t2_2 = 0.3989023861733925*s*x2
    t2_3 = x1*x5
    t2_4 = 0.50005*x1
    sum0 = t0_0 + t0_1 + t0_2  # mu0 = E f(s + q g)
    size0 = abs(t0_0) + abs(t0_1) + abs(t0_2)
    sum1 = t1_0 + t1_1  # mu1 = E g f(s + q g)
    size1 = abs(t1_0) + abs(t1_1)
    sum2 = t2_0 + t2_1 + t2_2 + t2_3 + t2_4  # E f(s + q g)^2
    size2 = abs(t2_0) + abs(t2_1) + abs(t2_2) + abs(t2_3) + abs(t2_4)
    size2 += 2.0 * (abs(sum0) * size0 + abs(sum1) * size1)
    return sum0, sum1, sum2 - sum0 * sum0 - sum1 * sum1, size0, size1, size2


@njit(error_model="numpy", nogil=True)
def _one(s, q, scratch, count):
    """Closed form where no digits that matter cancel, quadrature otherwise."""
    mu0, mu1, mu2sq, size0, size1, size2 = _closed(s, q)
    scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2sq)
    rounding = _EPS * (4.0 + min((s / q) ** 2, 300.0))
    error0 = rounding * size0
    error1 = rounding * size1
    error2 = rounding * size2
    if error0 <= 1e-13 * scale and error1 <= 1e-13 * scale and error2 <= 1e-12 * mu2sq:
        wave = 0.0  # a wave magnifies the rounding of its argument
        return mu0, mu1, mu2sq, _relative(error0 + wave, error1 + wave, error2, wave, mu2sq, scale)
    return _adaptive(s, q, scratch[_RESERVED:])


@njit(cache=True, error_model="numpy", nogil=True)
def coefficients(s, c, out, scratch):
    """mu0 = E f(s + sqrt(c) g), mu1 = E g f, mu2^2 = E f^2 - mu0^2 - mu1^2 for g ~ N(0, 1)  [CUI24, Result
    3.2].

    s: (n,) shifts; c >= 0: one variance; out: (3, n), filled; scratch: of SCRATCH_SHAPE or with more rows.
    Returns the worst estimated error of mu0, mu1 and mu2, relative to sqrt(E f^2); infinite where an
    expectation
    does not exist or overflows.
    """
    if scratch.shape[0] < SCRATCH_SHAPE[0] or scratch.shape[1] != SCRATCH_SHAPE[1]:
        raise ValueError("scratch has the wrong shape: it needs SCRATCH_SHAPE, or more rows")
    if not c >= 0.0:
        raise ValueError("c is a variance: it must be zero or positive")
    q = math.sqrt(c)
    count = 0
    worst = 0.0
    for i in range(s.shape[0]):
        t = s[i]
        if q == 0.0:
            out[0, i] = _f(t)
            out[1, i] = 0.0
            out[2, i] = 0.0
            continue
        sign = 1.0
        if _PARITY != 0 and t < 0.0:
            t = -t
            sign = -1.0
        mu0, mu1, residual, error = _one(t, q, scratch, count)
        if _PARITY == 1:
            mu0 = mu0 * sign if t != 0.0 else 0.0
        elif _PARITY == 2:
            mu1 = mu1 * sign if t != 0.0 else 0.0
        if not math.isfinite(mu0 + mu1 + residual):
            error = math.inf
        out[0, i] = mu0
        out[1, i] = mu1
        out[2, i] = residual
        worst = max(worst, error)
    return worst


@njit(cache=True, error_model="numpy", nogil=True)
def value(z, out):
    """f itself: out[i] = f(z[i])."""
    for i in range(z.shape[0]):
        out[i] = _f(z[i])
