"""Products of large arrays, and inverses of large matrices, by the linear algebra of the machine.

What is small is faster in compiled loops, which know no call and no copy.

Written by hand, in codegen/runtime/products.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from math import prod

import numpy as np

from generated.runtime.inverses import invert_large

LARGE = 1 << 20  # products of numbers
_THIN = 4  # of a matrix: loops are as fast
LARGE_MATRIX = 512  # rows of a matrix to invert: from here on libraries are as fast


class Product:
    """The product of two arrays over named axes: a matrix product for each of the axes that all have.

    first, second, kept: names of the axes of both and of the result, in order; summed are those that are not kept.
    """

    def __init__(self, first, second, kept):
        self.kept = kept
        self.batch = [a for a in kept if a in first and a in second]
        self.left = [a for a in kept if a in first and a not in second]
        self.right = [a for a in kept if a in second and a not in first]
        self.summed = [a for a in first if a in second and a not in kept]
        known = (*self.batch, *self.left, *self.right, *self.summed)
        # axes of one array alone that are summed, or that are met twice, are none of a matrix product
        self.plain = {*first, *second} == {*known} and {*kept} == {*known} - {*self.summed}
        self.plain = self.plain and all(len({*own}) == len(own) for own in (first, second))
        self.turns = [
            [own.index(a) for a in (*self.batch, *rows, *columns)]
            for own, rows, columns in (
                (first, self.left, self.summed),
                (second, self.summed, self.right),
            )
            if self.plain
        ]
        found = [*self.batch, *self.left, *self.right]
        self.back = [found.index(a) for a in kept] if self.plain else []

    def large(self, lengths):
        """Whether it pays, for the lengths of the axes by name."""
        sides = [prod(lengths[a] for a in axes) for axes in (self.left, self.right, self.summed)]
        count = prod(sides) * prod(lengths[a] for a in self.batch)
        return self.plain and min(sides) >= _THIN and count >= LARGE

    def of(self, first, second):
        """The result for two arrays."""
        first, second = (x.transpose(turn) for x, turn in zip((first, second), self.turns, strict=True))
        some, rows = first.shape[: len(self.batch)], first.shape[len(self.batch) :][: len(self.left)]
        columns = second.shape[len(self.batch) + len(self.summed) :]
        middle = prod(second.shape[len(self.batch) :][: len(self.summed)])
        found = np.matmul(first.reshape(*some, prod(rows), middle), second.reshape(*some, middle, prod(columns)))
        return found.reshape(*some, *rows, *columns).transpose(self.back)


def inverted(matrix):
    """The inverse of matrices [..., n, n]; nan where there is none."""
    n = matrix.shape[-1]
    if matrix.dtype.kind == "c" or n >= LARGE_MATRIX:
        try:
            return np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            return np.full_like(matrix, np.nan)
    found = np.array(matrix, order="C")
    for each in found.reshape(-1, n, n):
        invert_large(each)
        if not np.isfinite(each).all():
            each[...] = np.nan
    return found

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
