"""Averages given a label with Gaussian noise, on a grid: every part of the label adds to the places near it.

Written by hand, in codegen/runtime/noisy_labels.py.
Generated; do not edit. Signature d48789a527979ab5, runtime 95abcdf832a28bb1.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry

_ROOT = 1.0 / math.sqrt(2.0 * math.pi)


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

SIGNATURE = "d48789a527979ab5cbb3c908d77e1362272c62f739ecf940a5f0b1b7a846422c"
