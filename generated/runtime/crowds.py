"""Centres of outputs that are many: those that lie close together are moved to cells of a grid.

N(c, s^2) is a sum over cells x of N(x; c, (s/2)^2) N(x, 3 s^2/4).

Written by hand, in codegen/runtime/crowds.py.
Generated; do not edit. Signature 8053baa69fdf1aa5, runtime cdd2584516ff0fa8.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import add_multiple, inner, making_inner
from generated.runtime.gaussian import NORM

_MOVED = 0.5  # of the spread, in which a centre is spread over cells
KEPT = math.sqrt(0.75)  # the spread about a cell, in spreads s of the output
CELL = 0.3175  # the length of a cell in s: the sum is off by 2 exp(-2 pi^2 (3/16)/CELL^2) = 2e-16 of itself
_REACHED = 28  # cells that a centre is moved to: 8.26 of s/2 on both sides, beyond which there is 1e-16
_MIDDLE = 13  # the number among them of its own
PANEL = 16  # cells that are told apart as crowded or not: at least half of those reached
CROWD = 24  # centres on a panel that are worth its cells


@inner
def crowded(places, count, low, cell, panel):
    """Number the panels that hold more centres than pay for their cells, and those beside them, with -2 - number for
    the latter and -1 for all others; how many are numbered. The lowest centre `low` begins the second panel.
    """
    for k in range(panel.shape[0]):
        panel[k] = 0
    for j in range(count):
        place = 1.0 + (places[j] - low) / (PANEL * cell)
        if place < panel.shape[0] - 1:
            panel[int(place)] += 1
    panels, before = 0, False
    for k in range(panel.shape[0]):
        here = panel[k] > CROWD
        if here:
            panel[k] = panels
        elif before or (k + 1 < panel.shape[0] and panel[k + 1] > CROWD):
            panel[k] = -2 - panels
        else:
            panel[k] = -1
        panels += panel[k] != -1
        before = here
    return panels


@making_inner
def bell_of_cells():
    """The shares that a centre in the middle of a cell has of it and of those around it, and room for as many."""
    bell = np.empty((2, _REACHED))
    for k in range(_REACHED):
        x = CELL / _MOVED * (k - _MIDDLE)
        bell[0, k] = NORM * CELL / _MOVED * math.exp(-0.5 * x * x)
    return bell


@inner
def _fill_shares(offset, bell, share):
    """The shares of a centre that lies `offset` of a cell beyond the middle of the cells that it is moved to.

    bell[_REACHED]: those of one that does not.
    """
    rate = (CELL / _MOVED) ** 2 * offset
    ratio = math.exp(rate)
    first = math.exp(-rate * (_MIDDLE + 0.5 * offset))
    second, square = first * ratio, ratio * ratio
    third, fourth, ratio = first * square, second * square, square * square
    for k in range(0, _REACHED, 4):  # four that do not wait for each other
        share[k] = bell[k] * first
        share[k + 1] = bell[k + 1] * second
        share[k + 2] = bell[k + 2] * third
        share[k + 3] = bell[k + 3] * fourth
        first, second, third, fourth = first * ratio, second * ratio, third * ratio, fourth * ratio


@inner
def gathered(centres, count, low, cell, panel, moments, bell):
    """Move the centres in crowded panels to moments[part, cell] of numbered panels. Returns how many are left.

    bell [2, _REACHED]: the shares of a centre in the middle of a cell, and room for those of others.
    """
    bell, share = bell[0], bell[1]
    places, parts = centres.place, centres.part
    kept = np.intp(0)
    for j in range(count):
        place = PANEL + (places[j] - low) / cell
        near = place < PANEL * panel.shape[0]  # what is far may have a number beyond all whole ones
        number = int(place) if near else 0
        k = number // PANEL
        if not near or panel[k] < 0:
            centres.label[kept] = centres.label[j]
            places[kept] = places[j]
            for a in range(parts.shape[0]):
                parts[a, kept] = parts[a, j]
            kept += 1
        else:
            _fill_shares(place - number, bell, share)
            first = panel[k] * PANEL + number % PANEL - _MIDDLE
            for a in range(parts.shape[0]):
                add_multiple(moments, a, first, parts[a, j], share)
    return kept


@inner
def fill_cells(low, cell, panel, moments, label, cells):
    """Centres at the cells of numbered panels that have a weight. Returns how many."""
    count = np.intp(0)
    for k in range(panel.shape[0]):
        first = (panel[k] if panel[k] >= 0 else -2 - panel[k]) * PANEL
        for i in range(PANEL if panel[k] != -1 else 0):
            if moments[0, first + i] != 0.0:
                cells.label[count] = label
                cells.place[count] = low + cell * ((k - 1) * PANEL + i)
                for a in range(moments.shape[0]):
                    cells.part[a, count] = moments[a, first + i]
                count += 1
    return count

SIGNATURE = "8053baa69fdf1aa5adbf307e632a969ec95d2c6f1431b2be938052c4f13db388"
