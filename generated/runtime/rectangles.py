"""Rectangles of two standard normals, and what they say of signs where a label is constant on intervals.

P(X < h, Y < k) is 1/2 [Phi(h) + Phi(k)] less two of Owen's functions T(h, a) at a h = u, and less 1/2 where h and k lie
on either side of zero. T(h, a) is that of the larger of |h| and |u|, with a ratio up to 1, by Gauss's rule on its
integral: the integrand is smooth, 16 points leave 1e-16.
Source: Owen (1956), Ann. Math. Stat. 27, 1075, eqs. 2.1, 2.3 and 3.2.

Written by hand, in codegen/runtime/rectangles.py.
Generated; do not edit. Signature 74d6f7d17cc5ae46, runtime cd963013fea3f9d8.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry, inner
from generated.runtime.vector import exp, tail

_TURN = 0.15915494309189535  # 1/(2 pi)
# rows of room: what rectangles of one edge need; the edge in t and P(t < edge, f < 0) of it, and of the one before
ROWS = 11
_FAR, _RATIO, _SUM, _LIMIT, _CORRELATION, _COMPLEMENT, _EDGE, _BELOW, _BOTH, _BELOW_LAST, _BOTH_LAST = range(ROWS)


@inner
def _normal_below(x):
    """The probability of a standard normal below x."""
    beyond, _ = tail(abs(x))
    return x if x != x else 1.0 - beyond if x > 0.0 else beyond


@inner
def _other(h, k, correlation, complement):
    """a h of Owen's T(h, a)."""
    return (k - correlation * h) / complement


@inner
def _subtract(first, other, law, gauss, room, out):
    """Take T(h, u/h) away from out, for h in the row ``first`` of room and k in the row ``other``."""
    count = out.shape[0]
    for n in range(count):
        h = abs(room[first, n])
        u = abs(_other(room[first, n], room[other, n], law[0, n], law[1, n]))
        far, near = (h, u) if h >= u else (u, h)
        room[_FAR, n] = -0.5 * far * far
        room[_RATIO, n] = (near / far) ** 2 if far > 0.0 else 1.0 if far == 0.0 else far
        room[_SUM, n] = 0.0
    for i in range(gauss.shape[1]):
        share, weight = (0.5 + 0.5 * gauss[0, i]) ** 2, 0.5 * gauss[1, i]
        for n in range(count):
            size = 1.0 + share * room[_RATIO, n]
            room[_SUM, n] += weight * exp(room[_FAR, n] * size) / size
    for n in range(count):
        h, u = room[first, n], _other(room[first, n], room[other, n], law[0, n], law[1, n])
        found = _TURN * math.sqrt(room[_RATIO, n]) * room[_SUM, n]
        if abs(u) > abs(h):
            beyond_h, _ = tail(abs(h))
            beyond_u, _ = tail(abs(u))
            found = 0.5 * (beyond_h + beyond_u) - beyond_h * beyond_u - found
        out[n] -= found if (h >= 0.0) == (u >= 0.0) else -found


@inner
def _rectangles(first, second, law, gauss, room, out):
    """out[n] = P(X < h, Y < k) for h and k in rows of room."""
    for n in range(out.shape[0]):
        h, k = room[first, n], room[second, n]
        apart = h * k < 0.0 or (h * k == 0.0 and h + k < 0.0)
        out[n] = 0.5 * (_normal_below(h) + _normal_below(k)) - (0.5 if apart else 0.0)
    _subtract(first, second, law, gauss, room, out)
    _subtract(second, first, law, gauss, room, out)
    for n in range(out.shape[0]):
        if room[first, n] == 0.0 and room[second, n] == 0.0:
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
    _rectangles(_LIMIT, _EDGE, law, gauss, room, out)


@inner
def _fill_end(end, kappa, channel, gauss, room):
    """P(t < end) and P(t < end, f < 0) of an end of an interval."""
    gamma, width = channel[0], channel[1]
    for n in range(kappa.shape[0]):
        room[_EDGE, n] = (end - gamma * kappa[n]) / width
        room[_BELOW, n] = _normal_below(room[_EDGE, n]) if abs(end) < math.inf else 1.0 if end > 0.0 else 0.0
        room[_BOTH, n] = _normal_below(room[_LIMIT, n]) if end > 0.0 else 0.0
    if abs(end) < math.inf:
        _rectangles(_EDGE, _LIMIT, room[_CORRELATION : _COMPLEMENT + 1], gauss, room, room[_BOTH])


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
    for j in range(label.shape[0]):
        y = label[j]
        if channel[1] == 0.0:  # the label follows from kappa
            for n in range(kappa.shape[0]):
                if low[j] <= channel[0] * kappa[n] < high[j]:
                    out[n] += _normal_below(y * room[_LIMIT, n])
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

SIGNATURE = "74d6f7d17cc5ae4654f2aee5e4064257c1c4882bccc8dd332a1e15ee118facb4"
