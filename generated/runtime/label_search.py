"""Where the output passes kinks of a loss, on lines along which the label varies: of many places at once.

Written by hand, in codegen/runtime/label_search.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry

NOWHERE = 1e300  # the distance of a kink that there is not
PASSES, NEAREST = 1, 2  # marks of places


@entry
def fill_distances(label, t, outputs, kinks, margin, found):
    """Fill found [kink, part, place]: how far u of an output is from the image of a kink under the proximal map.

    label and t [part, place]; outputs: the line of each part, and of lines the output where t is zero, its slope in t,
    its response and its spread; kinks: their places, slopes of the loss beside them, and which of them the spread blurs
    with the one before: these are nowhere; margin: u is the output times the label, and not the output less the label.
    """
    line, first, slope, response, spread = outputs
    place, steep, blurred = kinks
    for i in range(label.shape[0]):
        at = line[i]
        for k in range(place.shape[0]):
            image = place[k] + response[at] * steep[k]
            for n in range(label.shape[1]):
                centre = first[at] + slope[at] * t[i, n]
                u = centre * label[i, n] if margin else centre - label[i, n]
                found[k, i, n] = u - image
            if blurred[k]:
                for n in range(label.shape[1]):
                    if abs(found[k, i, n] - found[k - 1, i, n]) < spread[at]:
                        found[k, i, n] = NOWHERE


@entry
def mark_turns(values, limit, marks):
    """Mark places [kink, line, place] of a grid: those behind which values pass zero, and those where they are nearest
    to zero without passing it, if what turns back between two of them may be within a limit [line]: it is less than
    they are by no more than they differ.
    """
    for k in range(values.shape[0]):
        for i in range(values.shape[1]):
            row, mark = values[k, i], marks[k, i]
            for n in range(row.shape[0] - 1):
                mark[n] = PASSES if (row[n] > 0.0) != (row[n + 1] > 0.0) else 0
            for n in range(1, row.shape[0] - 1):
                before, inner, after = abs(row[n - 1]), abs(row[n]), abs(row[n + 1])
                nearest = inner <= before and inner < after and (row[n - 1] > 0.0) == (row[n + 1] > 0.0)
                if nearest and 2.0 * inner - max(before, after) <= limit[i]:
                    mark[n] += NEAREST


@entry
def find_shares(distances, panels, size, shares):
    """Fill shares [panel]: how many times what it may be off by an average on a panel is, at most.

    Weights are small far out, losses grow as squares, and their curvature about a kink as the inverse spread; panels:
    low, high, weight and width of each; size: of the label.
    """
    low, high, weight, width = panels
    for p in range(low.shape[0]):
        least, most = math.inf, 0.0
        for k in range(distances.shape[0]):
            for n in range(distances.shape[2]):
                away = abs(distances[k, p, n])
                away = away if away < NOWHERE else 0.0
                least, most = min(least, away), max(most, away)
        nearest, near = min(max(0.0, low[p]), high[p]), least / width[p]
        growth = 1.0 + (most / size) ** 2 + size / width[p] * math.exp(-0.5 * near * near)
        shares[p] = weight[p] * math.exp(-0.5 * nearest * nearest) * (high[p] - low[p]) * growth

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
