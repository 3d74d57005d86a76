"""Contractions with a factor that is mostly zero, as what selects, places or belongs to one step: what is not, run by
run.

Such a row becomes a head and rows of runs behind it, one at least. The head: GATHER or GATHER + 1 for what is
subtracted; how many runs; lengths of three loops that the factor stands still along; places of three operands; the
strides of the first two along these loops; those of all three along a run; how many numbers are added to. A run: what
it lies behind the places of the operands, and its length.

Written by hand, in codegen/runtime/thinned.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contractions import ALONG
from generated.runtime.equation_text import MINUS, PLUS

GATHER, RUNS = 6, 8  # kinds of rows beside those of equation_text
PER_ROW, _FIRST, _NUMBERS = 7, 1, 4  # runs in a row, where the first one stands, numbers of each
_LOOPS, _STILL = 6, 3  # loops of a row; those outside of a run along which the factor stands still, at most
_WORTH, _FULL = 256, 3  # products of numbers that are worth it; a factor is thin where it is zero so many times out of
_ALONG = 8  # what a loop along memory gains over another


@kept(**ALONG)
def _along(value, places, steps, length, sign):
    """One run: places and strides of the three operands."""
    x, y, z = places
    dx, dy, dz = steps
    if dx == 0:
        total = 0.0 * value[0]
        if dy == 1 and dz == 1:
            for n in range(length):
                total += value[y + n] * value[z + n]
        else:
            for n in range(length):
                total += value[y + n * dy] * value[z + n * dz]
        value[x] += sign * total
    elif dz == 0:
        factor = sign * value[z]
        if dx == 1 and dy == 1:
            for n in range(length):
                value[x + n] += factor * value[y + n]
        else:
            for n in range(length):
                value[x + n * dx] += factor * value[y + n * dy]
    elif dx == 1 and dy == 1 and dz == 1:
        for n in range(length):
            value[x + n] += sign * value[y + n] * value[z + n]
    else:
        for n in range(length):
            value[x + n * dx] += sign * value[y + n * dy] * value[z + n * dz]


@kept(**ALONG)
def gather(rows, first, value):
    """Carry out the row ``first`` with its runs; returns the number of the row behind these."""
    head, row, column = rows[first], first + 1, _FIRST
    sign = -1.0 if head[0] == GATHER + MINUS else 1.0
    steps = head[25], head[26], head[27]
    for _ in range(head[1]):
        if column > _FIRST + (PER_ROW - 1) * _NUMBERS:
            row, column = row + 1, _FIRST
        x, y, z = (
            head[7] + rows[row, column],
            head[8] + rows[row, column + 1],
            head[9] + rows[row, column + 2],
        )
        length = rows[row, column + 3]
        for a in range(head[2]):
            for b in range(head[3]):
                for c in range(head[4]):
                    places = (
                        x + a * head[10] + b * head[12] + c * head[14],
                        y + a * head[11] + b * head[13] + c * head[15],
                        z,
                    )
                    _along(value, places, steps, length, sign)
        column += _NUMBERS
    return row + 1


def thinned(rows, masks):
    """The rows, those with a thin factor in another form; masks: place of an array -> where its numbers are not zero,
    as they lie in memory.
    """
    found, done = [], 0
    dense = rows[:, 1:7].astype(float).prod(axis=1)
    for number in np.flatnonzero((rows[:, 0] <= MINUS) & (dense >= _WORTH)).tolist():
        own = _thin(rows[number].astype(np.int64), masks)
        if own is not None:
            found += [rows[done:number], own]
            done = number + 1
    return np.concatenate([*found, rows[done:]])


def _thin(row, masks):
    """One row in the other form, with its runs; None where it stays."""
    lengths, places, steps = row[1:7], row[7:10], row[10:28].reshape(_LOOPS, 3)
    factor = 2 if int(places[2]) in masks else 1
    if int(places[factor]) not in masks or places[0] == places[factor]:
        return None
    if factor == 1:
        places, steps = places[[0, 2, 1]], steps[:, [0, 2, 1]]
    mask = masks[int(places[2])]
    moving = [loop for loop in range(_LOOPS) if steps[loop, 2] and lengths[loop] > 1]
    still = [loop for loop in range(_LOOPS) if loop not in moving and lengths[loop] > 1]
    if not moving:
        return None
    index = np.indices(lengths[moving])
    behind = np.tensordot(steps[moving], index, axes=(0, 0))  # of every operand
    here = mask[behind[2]]
    if _FULL * np.count_nonzero(here) > here.size:
        return None
    edges = np.diff(np.pad(here, [(0, 0)] * (here.ndim - 1) + [(1, 1)]).astype(np.int8), axis=-1)
    starts, ends = np.nonzero(edges == 1), np.nonzero(edges == -1)
    long = ends[-1] - starts[-1]
    along = max(still, key=lambda loop: _gain(lengths[loop], steps[loop, :2]), default=None)
    if along is None or long.sum() > len(long) * lengths[along]:
        inner = steps[moving[-1]]
    else:
        still.remove(along)
        starts, inner = np.nonzero(here), np.array([*steps[along, :2], 0])
        long = np.full(len(starts[0]), lengths[along])
    if len(still) > _STILL:
        return None
    runs = np.stack([*behind[(slice(None), *starts)], long], axis=1)
    head = np.zeros(len(row), np.int64)
    head[0], head[1], head[2:5] = GATHER + (row[0] == MINUS) * (MINUS - PLUS), len(runs), 1
    for place, loop in enumerate(still):
        head[2 + place], head[10 + 2 * place : 12 + 2 * place] = lengths[loop], steps[loop, :2]
    head[7:10], head[25:28], head[28] = places, inner, row[28]
    room = np.zeros((max(1, -(-len(runs) // PER_ROW)), len(row)), np.int64)
    room[:, 0] = RUNS
    inside = np.zeros((len(room) * PER_ROW, _NUMBERS), np.int64)
    inside[: len(runs)] = runs
    room[:, _FIRST:] = inside.reshape(len(room), PER_ROW * _NUMBERS)
    return np.concatenate([head[None], room]).astype(np.uint64)


def _gain(length, steps):
    """How much a loop is worth as the innermost one, by its strides in the result and the other factor."""
    return length * (_ALONG if steps.max() == 1 else 1)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
