"""Products of matrices, tile by tile: what is added to a few rows of a result is held in registers until it is whole.

A compiler makes loops of vector instructions where it sees that arrays lie apart, which it does not see within one
array. So the instructions of a tile are written here, eight numbers at a time. A vector that is not whole is read
beyond the end of its row, and written back there as it was: behind the last number of an array ``WIDTH`` more must lie.

Written by hand, in codegen/runtime/tiles.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from generated.runtime.compiling import inner

WIDTH = 8
_NUMBERS, _BITS, _WHOLE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_NUMBERS, WIDTH)


class _Writer:
    """Instructions on the vectors of arrays; ``mask``: which numbers of a last vector count."""

    def __init__(self, context, builder, last):
        self.context, self.builder = context, builder
        places = ir.Constant(ir.VectorType(_BITS, WIDTH), list(range(WIDTH)))
        self.mask = builder.icmp_unsigned("<", places, self._spread(last))

    def pointer(self, kind, array, *steps):
        """Where a number lies, by its place and steps (how many, how long) from there."""
        builder, (place, *others) = self.builder, steps
        for many, long in others:
            place = builder.add(place, builder.mul(many, long))
        return builder.gep(self.context.make_array(kind)(self.context, builder, array).data, [place])

    def vector(self, pointer, number=0):
        """That many vectors behind a pointer, the pointer to eight numbers."""
        behind = self.builder.gep(pointer, [ir.Constant(_BITS, WIDTH * number)])
        return self.builder.bitcast(behind, _VECTOR.as_pointer())

    def load(self, pointer, number=0):
        """Eight numbers from memory."""
        return self.builder.load(self.vector(pointer, number), align=8)

    def spread(self, pointer):
        """A number eight times."""
        return self._spread(self.builder.load(pointer))

    def add(self, total, first, second):
        """Add products to the numbers of a vector in memory."""
        self.builder.store(self.added(self.builder.load(total), first, second), total)

    def added(self, total, first, second):
        """A vector and products."""
        name, kind = f"llvm.fmuladd.v{WIDTH}f64", ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [first, second, total])

    def zeros(self):
        """Room for a vector, with zeros in it."""
        room = cgutils.alloca_once(self.builder, _VECTOR)
        self.builder.store(ir.Constant(_VECTOR, [0.0] * WIDTH), room)
        return room

    def sum(self, vector):
        """The sum of its numbers."""
        kind = ir.FunctionType(_NUMBERS, [_NUMBERS, _VECTOR])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.vector.reduce.fadd.v{WIDTH}f64")
        return self.builder.call(function, [ir.Constant(_NUMBERS, 0.0), vector], fastmath=("reassoc",))

    def _spread(self, number):
        whole = ir.VectorType(number.type, WIDTH)
        first = self.builder.insert_element(ir.Constant(whole, ir.Undefined), number, ir.Constant(_WHOLE, 0))
        turn = ir.Constant(ir.VectorType(_WHOLE, WIDTH), [0] * WIDTH)
        return self.builder.shuffle_vector(first, ir.Constant(whole, ir.Undefined), turn)


def _tile(rows, vectors, along):
    """What adds ``sign sum_m source[y + m ym + n] value[z + i zi + m zm]`` to ``value[x + i xi + n]``; of the last
    vector so many numbers count. along: the second factor goes along n, too.
    """

    def by_loops(value, source, x, xi, y, ym, z, zi, zm, count, last, sign):
        for i in range(rows):
            for m in range(count):
                for n in range(last + (vectors - 1) * WIDTH):
                    factor = value[z + i * zi + m * zm + n] if along else value[z + i * zi + m * zm]
                    value[x + i * xi + n] += sign * source[y + m * ym + n] * factor

    def write(context, builder, signature, given):
        if signature.args[0].dtype != types.float64:
            return context.compile_internal(builder, by_loops, signature, given)
        array, other = signature.args[:2]
        value, source, x, xi, y, ym, z, zi, zm, count, last, sign = given
        to, numbers = _Writer(context, builder, last), [ir.Constant(_BITS, i) for i in range(rows)]
        totals = [[to.zeros() for _ in range(vectors)] for _ in range(rows)]
        with cgutils.for_range(builder, count, intp=_BITS) as loop:
            first = to.pointer(other, source, y, (loop.index, ym))
            lines = [to.load(first, number) for number in range(vectors)]
            for i, own in zip(numbers, totals, strict=True):
                second = to.pointer(array, value, z, (i, zi), (loop.index, zm))
                factor = None if along else to.spread(second)
                for number, (line, total) in enumerate(zip(lines, own, strict=True)):
                    to.add(total, line, to.load(second, number) if along else factor)
        for i, own in zip(numbers, totals, strict=True):
            into = to.pointer(array, value, x, (i, xi))
            for number, total in enumerate(own):
                before = to.load(into, number)
                after = to.added(before, builder.load(total), to._spread(sign))
                if number == vectors - 1:
                    after = builder.select(to.mask, after, before)
                builder.store(after, to.vector(into, number), align=8)
        return context.get_dummy_value()

    @intrinsic
    def add(typing, value, source, x, xi, y, ym, z, zi, zm, count, last, sign):
        return types.none(value, source, x, xi, y, ym, z, zi, zm, count, last, sign), write

    return add


def _sums(rows):
    """What adds ``sign sum_n value[y + n] value[z + i zi + n]`` to ``value[x + i xi]``: so many whole vectors, and so
    many numbers of a last one.
    """

    def by_loops(value, x, xi, y, z, zi, whole, last, sign):
        for i in range(rows):
            for n in range(whole * WIDTH + last):
                value[x + i * xi] += sign * value[y + n] * value[z + i * zi + n]

    def write(context, builder, signature, given):
        if signature.args[0].dtype != types.float64:
            return context.compile_internal(builder, by_loops, signature, given)
        array, (value, x, xi, y, z, zi, whole, last, sign) = signature.args[0], given
        to, numbers = _Writer(context, builder, last), [ir.Constant(_BITS, i) for i in range(rows)]
        totals, width = [to.zeros() for _ in range(rows)], ir.Constant(_BITS, WIDTH)
        with cgutils.for_range(builder, whole, intp=_BITS) as loop:
            first = to.load(to.pointer(array, value, y, (loop.index, width)))
            for i, total in zip(numbers, totals, strict=True):
                to.add(total, first, to.load(to.pointer(array, value, z, (i, zi), (loop.index, width))))
        first = to.load(to.pointer(array, value, y, (whole, width)))
        for i, total in zip(numbers, totals, strict=True):
            other, before = to.load(to.pointer(array, value, z, (i, zi), (whole, width))), builder.load(total)
            found = to.sum(builder.select(to.mask, to.added(before, first, other), before))
            into = to.pointer(array, value, x, (i, xi))
            builder.store(builder.fadd(builder.load(into), builder.fmul(sign, found)), into)
        return context.get_dummy_value()

    @intrinsic
    def add(typing, value, x, xi, y, z, zi, whole, last, sign):
        return types.none(value, x, xi, y, z, zi, whole, last, sign), write

    return add


_NONE, _ONE, _TWO, _FOUR, _EIGHT, _PAIR = (np.uint64(number) for number in (0, 1, 2, 4, WIDTH, 2 * WIDTH))


def _in_rows(rows, along):
    """Tiles side by side, in rows of any length."""
    pair, one, step = _tile(rows, 2, along), _tile(rows, 1, along), _ONE if along else _NONE

    @inner
    def add(value, source, x, xi, y, ym, z, zi, zm, count, length, sign):
        n = _NONE
        while n + _PAIR <= length:
            pair(value, source, x + n, xi, y + n, ym, z + n * step, zi, zm, count, _EIGHT, sign)
            n += _PAIR
        left = length - n
        if left > _EIGHT:
            pair(value, source, x + n, xi, y + n, ym, z + n * step, zi, zm, count, left - _EIGHT, sign)
        elif left > _NONE:
            one(value, source, x + n, xi, y + n, ym, z + n * step, zi, zm, count, left, sign)

    return add


def _product(along):
    """Tiles below each other, for any number of rows."""
    four, two, one = (_in_rows(rows, along) for rows in (4, 2, 1))

    @inner
    def add(value, source, x, xi, y, ym, z, zi, zm, rows, count, length, sign):
        while rows >= _FOUR:
            four(value, source, x, xi, y, ym, z, zi, zm, count, length, sign)
            x, z, rows = x + _FOUR * xi, z + _FOUR * zi, rows - _FOUR
        if rows >= _TWO:
            two(value, source, x, xi, y, ym, z, zi, zm, count, length, sign)
            x, z, rows = x + _TWO * xi, z + _TWO * zi, rows - _TWO
        if rows > _NONE:
            one(value, source, x, xi, y, ym, z, zi, zm, count, length, sign)

    return add


#: (value, source, x, xi, y, ym, z, zi, zm, rows, count, length, sign): to ``value[x + i xi + n]`` is added
#: ``sign sum_m source[y + m ym + n] value[z + i zi + m zm]``; ``add_along``: ``value[z + i zi + m zm + n]``
add_product, add_along = _product(along=False), _product(along=True)
_four_sums, _one_sum = _sums(4), _sums(1)


@inner
def add_sums(value, x, xi, y, z, zi, rows, length, sign):
    """To ``value[x + i xi]`` is added ``sign sum_n value[y + n] value[z + i zi + n]``."""
    whole, last = length // _EIGHT, length % _EIGHT
    while rows >= _FOUR:
        _four_sums(value, x, xi, y, z, zi, whole, last, sign)
        x, z, rows = x + _FOUR * xi, z + _FOUR * zi, rows - _FOUR
    for _ in range(rows):
        _one_sum(value, x, xi, y, z, zi, whole, last, sign)
        x, z = x + xi, z + zi

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
