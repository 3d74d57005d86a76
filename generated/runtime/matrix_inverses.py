"""Inverses of matrices within a stage of contractions: many of one size, one after the other or together.

Written by hand, in codegen/runtime/matrix_inverses.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.inverses import PANEL, invert_large
from generated.runtime.unknowns import invert

_TOGETHER, _STEEP = 8, 4.0  # matrices that are inverted together, at least; what may lie below a pivot, over it


@kept(**ALONG)
def _invert_pairs(r, value):
    """Invert matrices of two rows: see ``invert_row``."""
    for i in range(r[2]):
        for j in range(r[3]):
            for k in range(r[4]):
                x = r[7] + i * r[13] + j * r[16] + k * r[19]
                y = r[8] + i * r[14] + j * r[17] + k * r[20]
                a, b, c, d = value[y], value[y + r[26]], value[y + r[23]], value[y + r[23] + r[26]]
                over = 1.0 / (a * d - b * c)
                value[x], value[x + r[25]] = d * over, -b * over
                value[x + r[22]], value[x + r[22] + r[25]] = -c * over, a * over


@kept(**ALONG)
def _invert_together(r, value, x, y, over, steep):
    """Invert matrices that lie next to each other, entry by entry: by the pivots on the diagonal, without exchanges.

    steep: where what is below a pivot is too large beside it for that.
    """
    size, count = r[5], r[4]
    for n in range(count):
        steep[n] = False
    for a in range(size):
        for b in range(size):
            into, entry = x + a * r[22] + b * r[25], y + a * r[23] + b * r[26]
            for n in range(count):
                value[into + n] = value[entry + n]
    for p in range(size):
        row, column = x + p * r[22], x + p * r[25]
        pivot = row + p * r[25]
        for n in range(count):
            over[n] = 1.0 / value[pivot + n]
            value[pivot + n] = 1.0
        for a in range(p + 1, size):
            below = column + a * r[22]
            for n in range(count):
                steep[n] |= not abs(value[below + n] * over[n]) <= _STEEP
        for b in range(size):
            along = row + b * r[25]
            for n in range(count):
                value[along + n] *= over[n]
        for a in range(size):
            if a != p:
                other = x + a * r[22]
                for n in range(count):
                    over[n] = value[column + a * r[22] + n]
                    value[column + a * r[22] + n] = 0.0
                for b in range(size):
                    along, into = row + b * r[25], other + b * r[25]
                    for n in range(count):
                        value[into + n] -= over[n] * value[along + n]


@kept(**{**ALONG, **MAKING})
def invert_row(r, value):
    """Carry out a row of inverses: its third to fifth loop are over matrices of as many rows as its sixth is long."""
    size, count = r[5], r[4]
    if size == 2:
        _invert_pairs(r, value)
        return
    together = r[19] == 1 and r[20] == 1 and count >= _TOGETHER
    matrix, over, left = np.empty((1, size, size), value.dtype), np.empty(count, value.dtype), np.ones(count, np.bool_)
    for i in range(r[2]):
        for j in range(r[3]):
            if together:
                first, other = r[7] + i * r[13] + j * r[16], r[8] + i * r[14] + j * r[17]
                _invert_together(r, value, first, other, over, left)
            for k in range(count):
                if not left[k]:
                    continue
                x = r[7] + i * r[13] + j * r[16] + k * r[19]
                y = r[8] + i * r[14] + j * r[17] + k * r[20]
                for a in range(size):
                    for b in range(size):
                        matrix[0, a, b] = value[y + a * r[23] + b * r[26]]
                if size > PANEL:
                    invert_large(matrix[0])
                else:
                    invert(matrix, 0, np.int64(size))
                for a in range(size):
                    for b in range(size):
                        value[x + a * r[22] + b * r[25]] = matrix[0, a, b]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
