"""The loops of a certificate: products, sums and equations of arrays, each of values and of bounds.

A step says what it does in a row of numbers, its operands in rows of theirs: see ``run_steps``.

Written by hand, in codegen/runtime/array_loops.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import inner, kept
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.tiles import add_along, add_product, add_sums

PRODUCT, SUM, RECIPROCAL, EQUAL, VANISH = range(5)
AXES = 8  # of the loops of a step, at most
# columns of a step: kind, its operands, the first and one after the last; of the result its place and size
KIND, FIRST, LAST, PLACE, SIZE, LENGTH = 0, 1, 2, 3, 4, 5
NOUGHT, ONE = np.uint64(0), np.uint64(1)  # of what is never negative, which is indexed faster
STRIDE = LENGTH + AXES  # lengths of the loops come first, then the strides of the result


@inner
def _place(row, first, strides, index):
    """Where the numbers of the last loop begin, from columns of a row: the first place, and strides loop by loop."""
    place = row[first]
    for axis in range(AXES - 1):
        place += index[axis] * row[strides + axis]
    return place


@inner
def _advance(step, index, last):
    """The next round of the loops up to one."""
    for axis in range(last, -1, -1):
        index[axis] += ONE
        if index[axis] < step[LENGTH + axis]:
            break
        index[axis] = NOUGHT


@kept(**ALONG)
def _multiply(array, step, first, second, places):
    """Add products of two in the last three loops: of matrices, or along all three operands, or sums along the factors,
    if that is how they lie; place by place else.

    step, first, second: rows of the result and both factors; places: where each begins.
    """
    x, y, z = places
    rows, count, length = step[STRIDE - 3], step[STRIDE - 2], step[STRIDE - 1]
    xr, xc, dx = step[STRIDE + AXES - 3], step[STRIDE + AXES - 2], step[STRIDE + AXES - 1]
    yr, yc, dy = first[AXES - 2], first[AXES - 1], first[AXES]
    zr, zc, dz = second[AXES - 2], second[AXES - 1], second[AXES]
    if dx == 1 and dy == 1 and xc == 0 and yr == 0 and dz <= 1:
        if dz == 0:
            add_product(array, array, x, xr, y, yc, z, zr, zc, rows, count, length, 1.0)
        else:
            add_along(array, array, x, xr, y, yc, z, zr, zc, rows, count, length, 1.0)
        return
    for _ in range(rows):
        if dx == 0 and dy == 1 and dz == 1 and yc == 0:
            add_sums(array, x, xc, y, z, zc, count, length, 1.0)
        else:
            _add_products(array, (x, y, z), (xc, yc, zc), count, (dx, dy, dz), length)
        x, y, z = x + xr, y + yr, z + zr


@kept(**ALONG)
def _add_products(array, places, rows, count, strides, length):
    """Add products of two in two loops; to one place the sum of all. Loops along memory have steps that are written."""
    x, y, z = places
    dx, dy, dz = strides
    for _ in range(count):
        if dx == 0:
            total = 0.0
            for n in range(length):
                total += array[y + n * dy] * array[z + n * dz]
            array[x] += total
        elif dx == 1 and dy == 1 and dz == 0:
            factor = array[z]
            for n in range(length):
                array[x + n] += factor * array[y + n]
        elif dx == 1 and dy == 1 and dz == 1:
            for n in range(length):
                array[x + n] += array[y + n] * array[z + n]
        else:
            for n in range(length):
                array[x + n * dx] += array[y + n * dy] * array[z + n * dz]
        x += rows[0]
        y += rows[1]
        z += rows[2]


@kept(**{**ALONG, "fastmath": {"reassoc", "contract", "nsz", "nnan"}})
def _largest_number(terms, length):
    found = 0.0
    for n in range(length):
        found = max(found, abs(terms[n]))
    return found


@kept(**ALONG)
def _largest(terms, length):
    """The largest absolute value; infinite where some are no numbers."""
    wrong = 0.0
    for n in range(length):
        wrong += terms[n] * 0.0
    return _largest_number(terms, length) if wrong == 0.0 else np.inf


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def run_steps(steps, operands, factors, both, missed):
    """Carry out steps in order; missed[i]: of equation i the worst residual, and the largest bound.

    operands: place and strides loop by loop, factors: of each, of those that are summed; the last loop is the longest.
    """
    value, bound, equation = both[0], both[1], 0
    longest = int(steps[:, STRIDE - 1].max())
    index, terms, sizes = np.zeros(AXES, np.uint64), np.empty(longest), np.empty(longest)
    for s in range(steps.shape[0]):
        step = steps[s]
        kind, length, along = step[KIND], step[STRIDE - 1], step[STRIDE + AXES - 1]
        if kind <= SUM:
            for n in range(step[PLACE], step[PLACE] + step[SIZE]):
                value[n] = bound[n] = 0.0
        outer, largest, scale, pair = ONE, 0.0, 0.0, kind == PRODUCT and step[LAST] - step[FIRST] == 2
        last = AXES - 4 if pair else AXES - 2  # of the loops whose rounds are counted here
        for axis in range(AXES - 1):
            index[axis] = NOUGHT
        for axis in range(last + 1):
            outer *= step[LENGTH + axis]
        for _ in range(outer):
            at, first = _place(step, PLACE, STRIDE, index), step[FIRST]
            if pair:
                one, other = operands[first], operands[first + ONE]
                places = at, _place(one, 0, 1, index), _place(other, 0, 1, index)
                _multiply(value, step, one, other, places)
                _multiply(bound, step, one, other, places)
                _advance(step, index, last)
                continue
            if kind == PRODUCT:
                for n in range(length):
                    terms[n] = sizes[n] = 1.0
            for o in range(step[FIRST], step[LAST]):
                place, stride = _place(operands[o], 0, 1, index), operands[o, AXES]
                if kind == PRODUCT:
                    for n in range(length):
                        terms[n] *= value[place + n * stride]
                        sizes[n] *= bound[place + n * stride]
                elif kind == SUM:
                    factor = factors[o]
                    for n in range(length):
                        value[at + n * along] += factor * value[place + n * stride]
                        bound[at + n * along] += abs(factor) * bound[place + n * stride]
                elif kind == RECIPROCAL:
                    for n in range(length):
                        value[at + n * along] = 1.0 / value[place + n * stride]
                        bound[at + n * along] = abs(value[at + n * along])
                else:
                    for n in range(length):
                        terms[n] = value[place + n * stride]
                        sizes[n] = bound[place + n * stride]
                    if kind == EQUAL:
                        for n in range(length):
                            terms[n] -= value[at + n * along]
                            bound[at + n * along] = sizes[n]
                    largest, scale = max(largest, _largest(terms, length)), max(scale, _largest(sizes, length))
            if kind == PRODUCT:
                for n in range(length):
                    value[at + n * along] += terms[n]
                    bound[at + n * along] += sizes[n]
            _advance(step, index, last)
        if kind >= EQUAL:
            missed[equation, 0], missed[equation, 1] = largest, scale
            equation += 1

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
