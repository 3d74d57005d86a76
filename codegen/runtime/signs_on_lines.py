"""The probability that a label that is constant on pieces of lines and the output differ in sign, and its slopes.

Along a line, x standard normal, the output is N(centre + along x, variance): a piece is a rectangle of the bivariate
normal of x and the output. Source: Owen (1956), Ann. Math. Stat. 27, 1075, eq. 2.1.
"""

import math

from codegen.runtime.compiling import entry, inner
from codegen.runtime.gaussian import NORM
from codegen.runtime.rectangles import ROWS, at_end, fill_below
from codegen.runtime.vector import exp


@inner
def _fill_centres(mean, slope, t, out):
    """The mean of the output at the zero of every line, t [J, D]."""
    for j in range(out.shape[0]):
        out[j] = mean
    for d in range(t.shape[1]):
        for j in range(out.shape[0]):
            out[j] += slope[d] * t[j, d]


@inner
def _along(slope, axis):
    """The slope of the output along a line."""
    total = 0.0
    for d in range(axis.shape[0]):
        total += slope[d] * axis[d]
    return total


@inner
def _wrong(weight, label, told):
    """The sum over lines of P(y f < 0, x < end), from P(x < end) and P(x < end, f < 0) in told."""
    total = 0.0
    for j in range(weight.shape[0]):
        y, below, both = label[j], told[0, j], told[1, j]
        total += weight[j] * (both if y > 0.0 else below - both if y < 0.0 else 0.5 * below)
    return total


@entry
def wrong_signs_on_lines(lines, fields, gauss, room, out):
    """out[n] = P(y f < 0) at nodes of kappa.

    lines: (weight, label, low, high [N, J], t [N, J, D], axis [D]), as ``Lines`` has them. fields: mean of the output
    [N], its slopes [D, N] and its variance beside t [N]. A half where the label is zero, and no number where the output
    is none. gauss: see ``rectangles``; room [ROWS + 3, J].
    """
    weight, label, low, high, t, axis = lines
    mean, slope, variance = fields
    limit, told, own = room[ROWS], room[ROWS + 1 :], room[:ROWS]
    for n in range(out.shape[0]):
        along = _along(slope[:, n], axis)
        spread = math.sqrt(along * along + variance[n])
        law = along / spread, math.sqrt(variance[n]) / spread
        _fill_centres(mean[n], slope[:, n], t[n], limit)
        for j in range(limit.shape[0]):
            limit[j] /= -spread
        fill_below(high[n], limit, (law, gauss), own, told)
        out[n] = _wrong(weight[n], label[n], told)
        fill_below(low[n], limit, (law, gauss), own, told)
        out[n] -= _wrong(weight[n], label[n], told)


@entry
def slopes_on_lines(lines, fields, room, out):
    """Derivatives of P(y f < 0) at nodes of kappa: out[0, n] in the mean, out[1 : 1 + D, n] in the slopes, the last in
    the variance.

    lines, fields: see ``wrong_signs_on_lines``; room [J]. They are averages of the density of f at zero, which is that
    of all outputs on the line times that of x given f = 0: N(-along centre/spread^2, variance/spread^2).
    """
    weight, label, low, high, t, axis = lines
    mean, slope, variance = fields
    count = axis.shape[0]
    for n in range(mean.shape[0]):
        along = _along(slope[:, n], axis)
        square = along * along + variance[n]
        sigma = math.sqrt(variance[n] / square)
        _fill_centres(mean[n], slope[:, n], t[n], room)
        for k in range(out.shape[0]):
            out[k, n] = 0.0
        for j in range(weight.shape[1]):
            if weight[n, j] == 0.0:
                continue
            place = -along * room[j] / square
            at_zero = -label[n, j] * weight[n, j] * NORM * exp(-0.5 * room[j] * room[j] / square) / math.sqrt(square)
            before = at_end((low[n, j] - place) / sigma)
            after = at_end((high[n, j] - place) / sigma)
            # a difference of small numbers, not of numbers close to one
            mass = before[1] - after[1] if before[0] > before[1] else after[0] - before[0]
            first = place * mass + sigma * (before[2] - after[2])
            out[0, n] += at_zero * mass
            for d in range(count):
                out[1 + d, n] += at_zero * (t[n, j, d] * mass + axis[d] * first)
            # E of the mean of f given x, on the same piece
            out[count + 1, n] -= 0.5 * at_zero * (room[j] * mass + along * first) / variance[n]
