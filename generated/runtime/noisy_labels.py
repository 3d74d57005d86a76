"""Averages given a label: with Gaussian noise on a grid, where every part of the label adds to the places near it, and
without noise over the places that it may come from.

Written by hand, in codegen/runtime/noisy_labels.py.
Generated; do not edit. Signature 4d151509f6e42d87, runtime 973d8c848fc7a68e.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, making_entry

_ROOT = 1.0 / math.sqrt(2.0 * math.pi)
_RARE = 1e-280  # density that is rounding


@entry
def gather(place, parts, step, tail, out):
    """Add parts[N, J, C] of labels at place[N, J], in cells, to out[N, Y, C], with the weight of a normal density.

    step: of a cell in standard deviations of the noise; tail: cells on each side that are reached. Every place is at
    least that far from both ends of the grid.
    """
    turn = math.exp(-step * step)
    for n in range(place.shape[0]):
        for j in range(place.shape[1]):
            if parts[n, j, 0] == 0.0:
                continue
            nearest = int(place[n, j] + 0.5)
            x = (nearest - tail - place[n, j]) * step
            weight = _ROOT * step * math.exp(-0.5 * x * x)
            ratio = math.exp(-step * x - 0.5 * step * step)  # of the next weight to this one
            for cell in range(nearest - tail, nearest + tail + 1):
                for c in range(parts.shape[2]):
                    out[n, cell, c] += weight * parts[n, j, c]
                weight *= ratio
                ratio *= turn


@making_entry
def told_by_one(label, weight, t, step, tail):
    """For each n the sum over labels y of E[t; y]^2 / p(y), of parts [N, J] of a label, weights and t.

    Labels are in standard deviations of the noise, and so is the step of a grid of y; tail: cells on each side of a
    part that are reached.
    """
    out = np.empty(label.shape[0])
    turn = math.exp(-step * step)
    for n in range(label.shape[0]):
        origin = label[n].min() / step - tail - 1.0
        cells = int(label[n].max() / step - origin) + tail + 2
        chance = np.zeros(cells)
        first = np.zeros(cells)
        for j in range(label.shape[1]):
            if weight[n, j] == 0.0:
                continue
            place = label[n, j] / step - origin
            nearest = int(place + 0.5)
            x = (nearest - place) * step
            above = below = _ROOT * step * math.exp(-0.5 * x * x) * weight[n, j]
            upward = math.exp(-step * x - 0.5 * step * step)  # of the next bell above to this one
            downward = math.exp(step * x - 0.5 * step * step)
            own = t[n, j]
            chance[nearest] += above
            first[nearest] += above * own
            for away in range(1, tail + 1):
                above *= upward
                below *= downward
                upward *= turn
                downward *= turn
                chance[nearest + away] += above
                first[nearest + away] += above * own
                chance[nearest - away] += below
                first[nearest - away] += below * own
        out[n] = 0.0
        for cell in range(cells):
            if chance[cell] > _RARE:
                out[n] += first[cell] * first[cell] / chance[cell]
    return out


@making_entry
def told_by_two(label, weight, t, step, tail):
    """The same of two indices, with weights [J] and t [2, J]: [N, 3], of t1^2, t1 t2 and t2^2."""
    out = np.zeros((label.shape[0], 3))
    width = 2 * tail
    bell = np.empty(width)  # of a label on a cell; for others the rest is a power of one number
    for k in range(width):
        bell[k] = _ROOT * step * math.exp(-0.5 * ((k - tail + 1) * step) ** 2)
    for n in range(label.shape[0]):
        origin = label[n].min() / step - tail - 1.0
        sums = np.zeros((int(label[n].max() / step - origin) + tail + 2, 4))  # four fill the registers of a processor
        for j in range(label.shape[1]):
            place = label[n, j] / step - origin
            below = int(place)
            x = (below - place) * step
            ratio = math.exp(-step * x)
            part = weight[j] * math.exp(-0.5 * x * x + (tail - 1) * step * x)
            first, second = t[0, j], t[1, j]
            near = sums[below - tail + 1 : below + tail + 1]
            for k in range(width):
                share = part * bell[k]
                near[k, 0] += share
                near[k, 1] += share * first
                near[k, 2] += share * second
                part *= ratio
        for cell in range(sums.shape[0]):
            chance, first, second = sums[cell, 0], sums[cell, 1], sums[cell, 2]
            if chance > _RARE:
                out[n, 0] += first * first / chance
                out[n, 1] += first * second / chance
                out[n, 2] += second * second / chance
    return out


@entry
def told_by_places(places, logarithm, centre, weight, share, around, width):
    """The mean of E[u|y]^2 where a label comes from one of places [M, P] of z = centre + width u, with the density
    exp(logarithm) beside that of u; nan where there is none.

    Centres are those [M] given, of a weight each, and around [N] them with the share [N].
    """
    total = 0.0
    for m in range(places.shape[0]):
        for n in range(around.shape[0]):
            middle = centre[m] + around[n]
            most = -math.inf
            chance = 0.0
            first = 0.0
            for p in range(places.shape[1]):
                u = (places[m, p] - middle) / width
                exponent = logarithm[m, p] - 0.5 * u * u
                if exponent <= most:
                    part = math.exp(exponent - most)
                    chance += part
                    first += part * u
                elif exponent > most:  # not where it is nan
                    part = math.exp(most - exponent)
                    chance = chance * part + 1.0
                    first = first * part + u
                    most = exponent
            total += weight[m] * share[n] * (first / chance) ** 2
    return total

SIGNATURE = "4d151509f6e42d87d5c3605563583abe23499b88a663681190eeb68c3cb37219"
