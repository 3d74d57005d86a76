"""What happens between two nodes of kappa, faster than a rule on them follows.

kappa grows; where all of it is positive, the table is one half of one whose mirror image is the other.

Written by hand, in codegen/runtime/between_nodes.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry

STEP = 2.0  # lengths of a turn between two nodes: two orders that miss more than that may agree
NOTHING = 46.0  # -2 log of a weight and of a probability that count no more: 1e-10, seen by a rule in part
CROSSING = 4.0  # widths of a kink between two nodes that a rule follows
NEAR = 6.0  # widths from a kink at which averages feel it: one in 1e9


FURTHEST = 9.0  # standard deviations of t, beyond which nothing counts


@entry
def fill_turns(kappa, fields, edges, channel, turns, away):
    """Fill turns and away, [F, N] as ``is_sharp`` takes them: of the mean, and for each edge of t and the mean there.

    fields [4, N]: mean, spread, slope in t and variance beside t of the output; edges [E]: ends of intervals of the
    label, and their channel as of ``LabelIntervals``.
    """
    for n in range(kappa.shape[0]):
        turns[0, n], away[0, n] = fields[0, n] / fields[1, n], 0.0
    for e in range(edges.shape[0]):
        of_edge, of_mean = 2 * e + 1, 2 * e + 2
        for n in range(kappa.shape[0]):
            t = (edges[e] - channel[0] * kappa[n]) / channel[1]
            inside = min(max(t, -FURTHEST), FURTHEST)
            turns[of_edge, n], away[of_edge, n] = t, 0.0
            turns[of_mean, n] = (fields[0, n] + fields[2, n] * inside) / math.sqrt(fields[3, n])
            away[of_mean, n] = t


@entry
def is_sharp(kappa, turns, away):
    """Whether a turn of a sign passes between two nodes, or may do so, faster than a rule on them follows.

    turns [F, N]: what vanishes where it turns, in units of the length of the turn; of half a table these are odd.
    away [F, N]: how many standard deviations beside kappa it happens.
    """
    half = kappa[0] > 0.0
    for f in range(turns.shape[0]):
        turn, before, before_that = turns[f], 0.0, 0.0  # the last steps
        for n in range(0 if half else 1, kappa.shape[0]):
            last = n - 1 if n > 0 else 0
            low, high = turn[last] if n > 0 else -turn[0], turn[n]
            rare_low = kappa[last] * kappa[last] + away[f, last] * away[f, last]
            rare_high = kappa[n] * kappa[n] + away[f, n] * away[f, n]
            before_that, before = before, abs(high - low)
            if before > STEP:
                left = 0.0 if (low > 0.0) != (high > 0.0) else min(abs(low), abs(high))
                if left * left + min(rare_low, rare_high) < NOTHING:
                    return True
            if n < 1 or (n < 2 and not half):
                continue
            furthest = max(before, before_that)  # of the steps to and from the node before this one
            size, first = abs(low), abs(turn[n - 2]) if n > 1 else abs(turn[0])
            if size < first and size < abs(high) and furthest > STEP:  # it may come to zero and go back
                left = max(size - furthest, 0.0)
                if left * left + rare_low < NOTHING:
                    return True
    return False


@entry
def crosses(kappa, values, width):
    """Whether values pass zero between two nodes, or come near it at one, in a step of many widths; of half a table
    they go on linearly.
    """
    first = values[0]
    if kappa[0] > 0.0 and kappa[0] * kappa[0] < NOTHING:
        before = first - 2.0 * kappa[0] * (values[1] - first) / (kappa[1] - kappa[0])
        if (before > 0.0) != (first > 0.0) and abs(first - before) > CROSSING * width[0]:
            return True
    for n in range(1, kappa.shape[0]):
        nearer = n if abs(values[n]) < abs(values[n - 1]) else n - 1
        passed = (values[n] > 0.0) != (values[n - 1] > 0.0)
        felt = (passed or abs(values[nearer]) < NEAR * width[nearer]) and kappa[n] * kappa[n] < NOTHING
        if felt and abs(values[n] - values[n - 1]) > CROSSING * min(width[n], width[n - 1]):
            return True
    return False


@entry
def sums_on_panels(values, weight, tails, found):
    """found[0, f, p]: the sum of |values[f, p]| by weight [P, n]; found[1, f, p]: the larger of what both rows of tails
    [2, n], of a matrix of coefficients, make of the values, times the weight of the panel.
    """
    for f in range(values.shape[0]):
        for p in range(values.shape[1]):
            total = share = last = before = 0.0
            for i in range(values.shape[2]):
                value = values[f, p, i]
                total += abs(value) * weight[p, i]
                share += weight[p, i]
                before += tails[0, i] * value
                last += tails[1, i] * value
            found[0, f, p] = total
            found[1, f, p] = max(abs(before), abs(last)) * share

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
