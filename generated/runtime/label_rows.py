"""Nodes of a label along lines, in rows: filled from the panels of each line without anything in between.

Written by hand, in codegen/runtime/label_rows.py.
Generated; do not edit. Signature 0dc4263f6549ef2d, runtime a7e8c1adbc97dd41.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry
from generated.runtime.gaussian import NORM
from generated.runtime.vector import exp


@entry
def count_rows(panels, rule, lines, counts):
    """Add to counts [row] how many nodes of the panels are within reach; see ``fill_rows``."""
    line, low, high = panels
    row, _, _, reach, _ = lines
    for p in range(line.shape[0]):
        half, middle = 0.5 * (high[p] - low[p]), 0.5 * (high[p] + low[p])
        for k in range(rule.shape[1]):
            if abs(middle + half * rule[0, k]) < reach[line[p]]:
                counts[row[line[p]]] += 1


@entry
def fill_rows(panels, rule, lines, carried, step, weight, t, z):
    """Fill weight [row, node], the mean of t [row, node, D] and indices z [m, n], of all rows one after the other.

    panels: line, low and high of each, in the order of lines; rule [2, nodes]: of Gauss on (-1, 1), in order; lines:
    row, in order, place along the first direction, weight, how far out along the second there are nodes, and indices
    [m, line] at its zero; carried [D, 2] and step [m]: of the mean and of the indices by the directions.
    """
    line, low, high = panels
    row, first, share, reach, fixed = lines
    before, place, total = -1, 0, 0
    for p in range(line.shape[0]):
        at, r = line[p], row[line[p]]
        if r != before:
            before, place = r, 0
        half, middle = 0.5 * (high[p] - low[p]), 0.5 * (high[p] + low[p])
        start, end = 0, rule.shape[1]
        while start < end and middle + half * rule[0, start] <= -reach[at]:
            start += 1
        while start < end and middle + half * rule[0, end - 1] >= reach[at]:
            end -= 1
        size = share[at] * half * NORM
        for k in range(start, end):
            x = middle + half * rule[0, k]
            weight[r, place + k - start] = size * rule[1, k] * exp(-0.5 * x * x)
        for k in range(start, end):
            x = middle + half * rule[0, k]
            for d in range(carried.shape[0]):
                t[r, place + k - start, d] = carried[d, 0] * first[at] + carried[d, 1] * x
        for i in range(z.shape[0]):
            for k in range(start, end):
                z[i, total + k - start] = fixed[i, at] + step[i] * (middle + half * rule[0, k])
        place += end - start
        total += end - start


@entry
def fill_from(values, counts, rows):
    """Fill rows [row, node] from values [n], so many for each row, one row after the other."""
    total = 0
    for r in range(counts.shape[0]):
        for k in range(counts[r]):
            rows[r, k] = values[total + k]
        total += counts[r]


@entry
def mark_short(distances, length, width, limits, last, short):
    """Whether a rule resolves averages on panels, from distances [kink, panel, place] of the output; short [panel].

    A Gaussian in t and one in the distance are together as long as the rule resolves, unless all kinks are far and
    averages polynomials; and the distance is a polynomial of a degree that leaves room for theirs. length and width
    [panel]; limits: how far is far and how long is short, in widths, and what may be left beyond the degree; last
    [2, place]: from values to the last two coefficients.
    """
    far, longest, resolved = limits
    for p in range(length.shape[0]):
        short[p] = True
        for kink in range(distances.shape[0]):
            least, low, high, first, second = math.inf, math.inf, -math.inf, 0.0, 0.0
            for n in range(distances.shape[2]):
                x = distances[kink, p, n]
                least, low, high = min(least, abs(x)), min(low, x), max(high, x)
                first += last[0, n] * x
                second += last[1, n] * x
            swing = 0.0 if least > far * width[p] else (high - low) / width[p]
            left = max(abs(first), abs(second)) / max(width[p], least)
            if not (swing * swing + length[p] * length[p] <= longest * longest and left <= resolved):
                short[p] = False

SIGNATURE = "0dc4263f6549ef2db12a48d42e09b68e520ed135b6096adbe6ace2a0691f285a"
