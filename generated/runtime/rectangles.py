"""Rectangles of two standard normals, and what they say of signs where a label is constant on intervals.

P(X < h, Y < k) is 1/2 [Phi(h) + Phi(k)] less two of Owen's functions T(h, a) at a h = u, and less 1/2 where h and k lie
on either side of zero. T(h, a) is that of the larger of |h| and |u|, with a ratio up to 1, by Gauss's rule on its
integral: the integrand is smooth, 16 points leave 1e-16.
Source: Owen (1956), Ann. Math. Stat. 27, 1075, eqs. 2.1, 2.3 and 3.2.

Written by hand, in codegen/runtime/rectangles.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry, inner, within
from generated.runtime.gaussian import NORM
from generated.runtime.vector import exp, tail

_TURN = 0.15915494309189535  # 1/(2 pi)
_FURTHEST = 1e9  # an end in the place of an infinite one, which zero cannot be multiplied by
_NOTHING = 42.0  # h^2/2 of Owen's function from which on it is nothing: 1e-18
# rows of room: the larger of h and u of Owen's function and the rest of its integral, of the nodes where it counts, and
# which these are; what rectangles of one edge need; the edge in t and P(t < edge, f < 0) of it, and of the one before;
# the probabilities beyond |h| of all of these, and beyond |u|
ROWS = 15
_FAR, _RATIO, _SUM, _PLACE, _LIMIT, _CORRELATION, _COMPLEMENT, _EDGE, _BELOW, _BOTH = range(10)
_BELOW_LAST, _BOTH_LAST, _BEYOND_LIMIT, _BEYOND_EDGE, _BEYOND_OTHER = range(10, ROWS)


@within
def _normal_below(x, beyond):
    """The probability of a standard normal below x, from that beyond |x|."""
    return x if x != x else 1.0 - beyond if x > 0.0 else beyond


@inner
def _fill_beyond(places, out):
    """The probabilities of a standard normal beyond |places[n]|."""
    for n in range(out.shape[0]):
        out[n], _ = tail(abs(places[n]))


@within
def _other(h, k, correlation, complement):
    """a h of Owen's T(h, a)."""
    return (k - correlation * h) / complement


@inner
def _sum_up(gauss, count, room):
    """The sums of Owen's integral at the first ``count`` places."""
    for n in range(count):
        room[_SUM, n] = 0.0
    for i in range(gauss.shape[1]):
        share, weight = (0.5 + 0.5 * gauss[0, i]) ** 2, 0.5 * gauss[1, i]
        for n in range(count):
            size = 1.0 + share * room[_RATIO, n]
            room[_SUM, n] += weight * exp(room[_FAR, n] * size) / size


@inner
def _subtract(rows, law, gauss, room, out):
    """Take T(h, u/h) away from out; rows: of h, of k and of the probability beyond |h| in room."""
    first, other, beyond_first = rows
    count = 0
    for n in range(out.shape[0]):
        room[_BEYOND_OTHER, n] = _other(room[first, n], room[other, n], law[0, n], law[1, n])
    for n in range(out.shape[0]):
        h, u = abs(room[first, n]), abs(room[_BEYOND_OTHER, n])
        far, near = (h, u) if h >= u else (u, h)
        half = 0.5 * far * far
        if half < _NOTHING:  # nor is it where there is no number, as below
            room[_FAR, count], room[_PLACE, count] = -half, n
            room[_RATIO, count] = (near / far) ** 2 if far > 0.0 else 1.0
            count += 1
    _sum_up(gauss, count, room)
    taken = 0
    for n in range(out.shape[0]):
        h, u = room[first, n], room[_BEYOND_OTHER, n]
        found = 0.0 if h == h and u == u else math.nan
        if taken < count and room[_PLACE, taken] == n:
            found = _TURN * math.sqrt(room[_RATIO, taken]) * room[_SUM, taken]
            taken += 1
        if abs(u) > abs(h):
            beyond_h = room[beyond_first, n]
            beyond_u, _ = tail(abs(u))
            found = 0.5 * (beyond_h + beyond_u) - beyond_h * beyond_u - found
        out[n] -= found if (h >= 0.0) == (u >= 0.0) else -found


@inner
def _rectangles(law, gauss, room, out):
    """out[n] = P(X < h, Y < k) for the edge h and the limit k in room."""
    for n in range(out.shape[0]):
        h, k = room[_EDGE, n], room[_LIMIT, n]
        apart = h * k < 0.0 or (h * k == 0.0 and h + k < 0.0)
        below = _normal_below(h, room[_BEYOND_EDGE, n]) + _normal_below(k, room[_BEYOND_LIMIT, n])
        out[n] = 0.5 * below - (0.5 if apart else 0.0)
    _subtract((_EDGE, _LIMIT, _BEYOND_EDGE), law, gauss, room, out)
    _subtract((_LIMIT, _EDGE, _BEYOND_LIMIT), law, gauss, room, out)
    for n in range(out.shape[0]):
        if room[_EDGE, n] == 0.0 and room[_LIMIT, n] == 0.0:
            out[n] = 0.25 + _TURN * math.atan2(law[0, n], law[1, n])
        elif out[n] < 0.0 or out[n] > 1.0:
            out[n] = 0.0 if out[n] < 0.0 else 1.0


@entry
def rectangles(places, law, gauss, room, out):
    """out[n] = P(X < places[0, n], Y < places[1, n]) of standard normals.

    law [2, N]: their correlation, and the root of 1 less its square; gauss [2, n]: Gauss-Legendre rule on (-1, 1); room
    [ROWS, N].
    """
    for n in range(out.shape[0]):
        room[_LIMIT, n], room[_EDGE, n] = places[0, n], places[1, n]
    _fill_beyond(room[_LIMIT], room[_BEYOND_LIMIT])
    _fill_beyond(room[_EDGE], room[_BEYOND_EDGE])
    _rectangles(law, gauss, room, out)


@inner
def fill_below(ends, limits, given, room, out):
    """out[0, n] = P(X < ends[n]) and out[1, n] = P(X < ends[n], Y < limits[n]); given: correlation, and the root of 1
    less its square, of all of them, and gauss. room: see ``rectangles``.
    """
    (correlation, complement), gauss = given
    for n in range(ends.shape[0]):
        room[_LIMIT, n], room[_EDGE, n] = limits[n], min(max(ends[n], -_FURTHEST), _FURTHEST)
        room[_CORRELATION, n], room[_COMPLEMENT, n] = correlation, complement
    _fill_beyond(room[_LIMIT], room[_BEYOND_LIMIT])
    _fill_beyond(room[_EDGE], room[_BEYOND_EDGE])
    for n in range(ends.shape[0]):
        out[0, n] = _normal_below(room[_EDGE, n], room[_BEYOND_EDGE, n])
    _rectangles(room[_CORRELATION : _COMPLEMENT + 1], gauss, room, out[1])


@inner
def _fill_end(end, kappa, channel, gauss, room):
    """P(t < end) and P(t < end, f < 0) of an end of an interval."""
    gamma, width, count = channel[0], channel[1], kappa.shape[0]
    if abs(end) == math.inf:
        for n in range(count):
            room[_BELOW, n] = 1.0 if end > 0.0 else 0.0
            room[_BOTH, n] = _normal_below(room[_LIMIT, n], room[_BEYOND_LIMIT, n]) if end > 0.0 else 0.0
        return
    for n in range(count):
        room[_EDGE, n] = (end - gamma * kappa[n]) / width
    _fill_beyond(room[_EDGE], room[_BEYOND_EDGE])
    for n in range(count):
        room[_BELOW, n] = _normal_below(room[_EDGE, n], room[_BEYOND_EDGE, n])
    _rectangles(room[_CORRELATION : _COMPLEMENT + 1], gauss, room, room[_BOTH])


@entry
def wrong_signs_between(labels, kappa, fields, gauss, room, out):
    """out[n] = P(y f < 0) at nodes of kappa, of labels that are constant on intervals.

    labels: (low [J], high [J], label [J], channel), as ``LabelIntervals`` has them. fields [3, N]: mean of the output,
    its slope in t, and its variance beside. A half where the label is zero, and no number where the output is none.
    gauss and room: see ``rectangles``.
    """
    low, high, label, channel = labels
    last = math.nan
    for n in range(kappa.shape[0]):
        spread = math.sqrt(fields[1, n] * fields[1, n] + fields[2, n])
        room[_LIMIT, n] = -fields[0, n] / spread
        room[_CORRELATION, n], room[_COMPLEMENT, n] = fields[1, n] / spread, math.sqrt(fields[2, n]) / spread
        out[n] = 0.0
    _fill_beyond(room[_LIMIT], room[_BEYOND_LIMIT])
    for j in range(label.shape[0]):
        y = label[j]
        if channel[1] == 0.0:  # the label follows from kappa
            for n in range(kappa.shape[0]):
                if low[j] <= channel[0] * kappa[n] < high[j]:
                    limit, beyond = y * room[_LIMIT, n], room[_BEYOND_LIMIT, n]
                    out[n] += _normal_below(limit, beyond if y != 0.0 else 0.5)
            continue
        if low[j] != last:
            _fill_end(low[j], kappa, channel, gauss, room)
        for n in range(kappa.shape[0]):
            room[_BELOW_LAST, n], room[_BOTH_LAST, n] = room[_BELOW, n], room[_BOTH, n]
        last = high[j]
        _fill_end(last, kappa, channel, gauss, room)
        for n in range(kappa.shape[0]):
            inside, both = room[_BELOW, n] - room[_BELOW_LAST, n], room[_BOTH, n] - room[_BOTH_LAST, n]
            out[n] += both if y > 0.0 else inside - both if y < 0.0 else 0.5 * inside


@inner
def _end_in_t(end, kappa, channel):
    """The end of an interval as one of t."""
    gamma, width = channel[0], channel[1]
    if width > 0.0:
        return (end - gamma * kappa) / width
    return -math.inf if gamma * kappa >= end else math.inf  # the label follows from kappa


@inner
def at_end(x):
    """The probabilities of a standard normal below x and beyond it, and its density there."""
    if abs(x) == math.inf:
        return (1.0, 0.0, 0.0) if x > 0.0 else (0.0, 1.0, 0.0)
    small, pdf = tail(abs(x))
    return (1.0 - small, small, pdf) if x > 0.0 else (small, 1.0 - small, pdf)


@entry
def slopes_between(labels, kappa, fields, out):
    """out[0, n], out[1, n], out[2, n]: derivatives of P(y f < 0) at nodes of kappa in the three ``fields``.

    labels, fields: see ``wrong_signs_between``. They are averages over t of the density of f at zero, which is that of
    all outputs times that of t given f = 0: N(-slope mean/spread^2, variance/spread^2).
    """
    low, high, label, channel = labels
    for n in range(kappa.shape[0]):
        mean, slope, variance = fields[0, n], fields[1, n], fields[2, n]
        square = slope * slope + variance
        density = NORM * exp(-0.5 * mean * mean / square) / math.sqrt(square)
        centre, sigma = -slope * mean / square, math.sqrt(variance / square)
        of_mean = of_slope = of_variance = 0.0
        last, known = math.nan, (0.0, 1.0, 0.0)
        for j in range(label.shape[0]):
            if low[j] != last:
                known = at_end((_end_in_t(low[j], kappa[n], channel) - centre) / sigma)
            below, beyond, pdf = known
            last = high[j]
            known = at_end((_end_in_t(last, kappa[n], channel) - centre) / sigma)
            # a difference of small numbers, not of numbers close to one
            mass, first = beyond - known[1] if below > beyond else known[0] - below, pdf - known[2]
            at_zero = -label[j] * density
            of_mean += at_zero * mass
            of_slope += at_zero * (centre * mass + sigma * first)
            # E of the mean of f given t, on the same interval
            of_variance -= 0.5 * at_zero * ((mean + slope * centre) * mass + slope * sigma * first) / variance
        out[0, n], out[1, n], out[2, n] = of_mean, of_slope, of_variance

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
