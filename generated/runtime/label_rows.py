"""Nodes of a label along lines, in rows: filled from the panels of each line without anything in between.

Written by hand, in codegen/runtime/label_rows.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry
from generated.runtime.gaussian import NORM
from generated.runtime.vector import exp


@entry
def count_rows(panels, rules, lines, counts):
    """Add to counts [row] how many nodes of the panels are within reach; see ``fill_rows``."""
    line, low, high, order = panels
    row, _, _, reach, _ = lines
    for p in range(line.shape[0]):
        half, middle = 0.5 * (high[p] - low[p]), 0.5 * (high[p] + low[p])
        for k in range(order[p]):
            if abs(middle + half * rules[order[p], 0, k]) < reach[line[p]]:
                counts[row[line[p]]] += 1


@entry
def fill_rows(panels, rules, lines, carried, step, weight, t, z):
    """Fill weight [row, node], the mean of t [row, node, D] and indices z [m, n], of all rows one after the other.

    panels: line, low, high and order of each, in the order of lines; rules [order, 2, nodes]: of Gauss on (-1, 1), in
    order, filled up with zeros; lines: row, in order, place along the first direction, weight, how far out along the
    second there are nodes, and indices [m, line] at its zero; carried [D, 2] and step [m]: of the mean and of the
    indices by the directions.
    """
    line, low, high, order = panels
    row, first, share, reach, fixed = lines
    before, place, total, p = -1, 0, 0, 0
    while p < line.shape[0]:
        at, r, count = line[p], row[line[p]], 0
        if r != before:
            before, place = r, 0
        while p < line.shape[0] and line[p] == at:
            half, middle, rule = 0.5 * (high[p] - low[p]), 0.5 * (high[p] + low[p]), rules[order[p]]
            size = share[at] * half * NORM
            for k in range(order[p]):
                x = middle + half * rule[0, k]
                if abs(x) < reach[at]:
                    weight[r, place + count], z[0, total + count] = size * rule[1, k], x
                    count += 1
            p += 1
        for k in range(count):  # of a whole line: these loops become vector instructions
            x = z[0, total + k]
            weight[r, place + k] *= exp(-0.5 * x * x)
        for d in range(carried.shape[0]):
            for k in range(count):
                t[r, place + k, d] = carried[d, 0] * first[at] + carried[d, 1] * z[0, total + k]
        for i in range(z.shape[0] - 1, -1, -1):  # the first row, which holds the places so far, comes last
            for k in range(count):
                z[i, total + k] = fixed[i, at] + step[i] * z[0, total + k]
        place += count
        total += count


@entry
def fill_from(values, counts, rows):
    """Fill rows [row, node] from values [n], so many for each row, one row after the other."""
    total = 0
    for r in range(counts.shape[0]):
        for k in range(counts[r]):
            rows[r, k] = values[total + k]
        total += counts[r]


@entry
def add_moments(weight, label, t, moments):
    """Add E y^2, E y and E y t to moments [2 + D, row], of labels and means of t at nodes [row, node] and [.., D]."""
    for r in range(weight.shape[0]):
        square = mean = 0.0
        for k in range(weight.shape[1]):
            weighted = weight[r, k] * label[r, k]
            square += weighted * label[r, k]
            mean += weighted
        moments[0, r] += square
        moments[1, r] += mean
        for d in range(t.shape[2]):
            linear = 0.0
            for k in range(weight.shape[1]):
                linear += weight[r, k] * label[r, k] * t[r, k, d]
            moments[2 + d, r] += linear


@entry
def find_orders(distances, panels, limits, at, longest, orders):
    """How many nodes resolve averages on panels, from distances [kink, panel, place] of the output; orders [panel], 0
    for panels that are to be halved.

    A Gaussian in t and one in the distance, where it changes fastest, are together as long as a rule of that order
    resolves. Far from kinks averages are polynomials; those of a smooth loss vary on a scale that grows with the
    distance. And the distance falls off towards high degrees as fast as an average has to beyond twice the order.
    panels: length, width of the output and digits that are asked for of each; limits: how far is far, in widths,
    whether the loss is smooth, and the degree that distances are known to; at: their places, and [2, place] from
    values to the last two coefficients; longest [digit, order].
    """
    length, width, digits = panels
    far, smooth, degree = limits
    place, last = at
    for p in range(length.shape[0]):
        wide, left = 0.0, 0.0
        for kink in range(distances.shape[0]):
            x = distances[kink, p]
            least, steep, first, second, slope = abs(x[0]), 0.0, last[0, 0] * x[0], last[1, 0] * x[0], 0.0
            for n in range(1, x.shape[0]):
                first += last[0, n] * x[n]
                second += last[1, n] * x[n]
                step, before = place[n] - place[n - 1], slope
                slope = (x[n] - x[n - 1]) / step
                steep = max(steep, abs(slope))
                least = min(least, abs(x[n]))
                if n > 1:  # a parabola may come closer between the places
                    away, wider = place[n] - place[n - 2], max(step, place[n - 1] - place[n - 2])
                    dip = 0.25 * abs(slope - before) / away * wider * wider
                    least = min(least, min(abs(x[n - 2]), abs(x[n - 1]), abs(x[n])) - dip)
            least = max(least, 0.0)
            if smooth or least <= far * width[p]:
                wide = max(wide, steep / max(width[p], least / far))
            left = max(left, max(abs(first), abs(second)) / max(width[p], least))
        together = math.sqrt(wide * wide + length[p] * length[p])
        fall = -math.log10(min(max(left, 1e-300), 1.0)) / degree  # digits by a degree
        orders[p] = 0
        for order in range(longest.shape[1] - 1, 0, -1):
            if not (longest[digits[p], order] >= together and 2.0 * order * fall >= digits[p]):
                break
            orders[p] = order

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
