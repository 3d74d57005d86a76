"""Averages given a label: with Gaussian noise on a grid, where every part of the label adds to the places near it, and
without noise over the places that it may come from.

Written by hand, in codegen/runtime/noisy_labels.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, inner, making_entry

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


@inner
def _fill_bells(bell, step, tail):
    """Those of a label on a cell; for others the rest is a power of one number."""
    for k in range(2 * tail):
        bell[k] = _ROOT * step * math.exp(-0.5 * ((k - tail + 1) * step) ** 2)


@inner
def _spread(sums, bell, step, place, weight, means):
    """Add a part of a label at a place, in cells, to sums [Y, 4] near it, with its mean of three numbers."""
    tail = bell.shape[0] // 2
    below = int(place)
    x = (below - place) * step
    ratio = math.exp(-step * x)
    part = weight * math.exp(-0.5 * x * x + (tail - 1) * step * x)
    first, second, third = means
    near = sums[below - tail + 1 : below + tail + 1]
    for k in range(bell.shape[0]):
        share = part * bell[k]
        near[k, 0] += share
        near[k, 1] += share * first
        near[k, 2] += share * second
        near[k, 3] += share * third
        part *= ratio


@inner
def _add_products(sums, out):
    """Add E[t1; y]^2/p(y), that of t1 and t2, of t2 and of the square to out [4], summed over y."""
    for cell in range(sums.shape[0]):
        chance, first, second, square = sums[cell, 0], sums[cell, 1], sums[cell, 2], sums[cell, 3]
        if chance > _RARE:
            out[0] += first * first / chance
            out[1] += first * second / chance
            out[2] += second * second / chance
            out[3] += square * square / chance


@making_entry
def told_by_two(label, weight, t, step, tail):
    """The same of two indices and a square, with weights [J] and t [3, J]: [N, 4], of t1^2, t1 t2, t2^2 and that of the
    last one.
    """
    out, bell = np.zeros((label.shape[0], 4)), np.empty(2 * tail)
    _fill_bells(bell, step, tail)
    for n in range(label.shape[0]):
        origin = label[n].min() / step - tail - 1.0
        sums = np.zeros((int(label[n].max() / step - origin) + tail + 2, 4))
        for j in range(label.shape[1]):
            _spread(sums, bell, step, label[n, j] / step - origin, weight[j], (t[0, j], t[1, j], t[2, j]))
        _add_products(sums, out[n])
    return out


@making_entry
def told_by_lines_of_nodes(label, weight, x, y, first, squares, grid):
    """The same of x [I] and nodes y [I, K] on lines, and of (squares.(x, y))^2 - |squares|^2; labels and weights are
    [I, K]. Those of n are the lines from first[n] on. grid: step and tail.
    """
    step, tail = grid
    out, bell = np.zeros((first.shape[0] - 1, 4)), np.empty(2 * tail)
    _fill_bells(bell, step, tail)
    size = squares[0] * squares[0] + squares[1] * squares[1]
    for n in range(first.shape[0] - 1):
        begin, end = first[n], first[n + 1]
        if begin == end:
            continue
        origin = label[begin:end].min() / step - tail - 1.0
        sums = np.zeros((int(label[begin:end].max() / step - origin) + tail + 2, 4))
        for i in range(begin, end):
            for k in range(label.shape[1]):
                if weight[i, k] > 0.0:
                    square = (squares[0] * x[i] + squares[1] * y[i, k]) ** 2 - size
                    place = label[i, k] / step - origin
                    _spread(sums, bell, step, place, weight[i, k], (x[i], y[i, k], square))
        _add_products(sums, out[n])
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

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
