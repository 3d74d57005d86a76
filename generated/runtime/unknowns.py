"""The unknowns of a block of equations, and small dense linear systems.

``members[stage, role, i]`` is the place of unknown i of a stage in the flat array of all families, of its residual, of
a direction of it, of what the residual does along that, and of the weight of its finite-size term. Of a symmetric pair
of a matrix one is an unknown; the other lies ``TURNED`` further. ``FAMILY`` numbers the families. ``ROW``
and ``COLUMN``: the blocks that it is about, one of them for an entry of a vector.

``system`` [2n + 4, n] holds all that a solve for n unknowns needs: the columns of a matrix, then the right side
(row n), the unknowns (n + 1), the weights of the finite-size term (n + 2), and room for the elimination.

Written by hand, in codegen/runtime/unknowns.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contractions import INNER, MAKING, short

UNKNOWN, RESIDUAL, DIRECTION, IMAGE, WEIGHT, TURNED, FAMILY, ROW, COLUMN = range(9)
ENOUGH, CLOSE = 4e-16, 1e-8  # changes of unknowns that are rounding, and those whose square is


@kept(**INNER)
def subtract(system, n, family):
    """Subtract the step in row n from the unknowns in row n + 1.

    The largest change of a family relative to its largest member; infinite where a step is not finite.
    """
    short()
    worst, change, scale = 0.0, 0.0, 0.0
    for i in range(n):
        if i > 0 and family[i] != family[i - 1]:
            change, scale = 0.0, 0.0
        size = abs(system[n, i])
        if not size < np.inf:
            return np.inf
        system[n + 1, i] -= system[n, i]
        change = max(change, size)
        scale = max(scale, abs(system[n + 1, i]))
        if (i + 1 == n or family[i + 1] != family[i]) and scale > 0.0:  # a family that vanishes has converged
            worst = max(worst, change / scale)
    return worst


@kept(**INNER)
def solve_linear(system, n, smallest):
    """Solve A x = row n by elimination in scaled rows.

    Row j holds column j of A and is kept; x takes the place of row n. False where the smallest pivot, rows and columns
    scaled, is no more than ``smallest`` times the largest.
    """
    short()
    scale, first = n + 3, n + 4
    for j in range(n):
        system[scale, j] = 0.0
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(system[j, i]))
        for j in range(n):
            entry = system[j, i] / largest
            system[first + i, j] = entry
            system[scale, j] = max(system[scale, j], abs(entry))
        system[n, i] /= largest
    low, high = np.inf, 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(system[first + i, k]) > abs(system[first + pivot, k]):
                pivot = i
        for j in range(k, n):
            entry = system[first + k, j]
            system[first + k, j] = system[first + pivot, j]
            system[first + pivot, j] = entry
        entry = system[n, k]
        system[n, k] = system[n, pivot]
        system[n, pivot] = entry
        size = abs(system[first + k, k]) / system[scale, k]
        low = min(low, size)
        high = max(high, size)
        if not (size > 0.0 and low > smallest * high):
            return False
        for i in range(k + 1, n):
            factor = system[first + i, k] / system[first + k, k]
            for j in range(k + 1, n):
                system[first + i, j] -= factor * system[first + k, j]
            system[n, i] -= factor * system[n, k]
    for i in range(n):
        k = n - 1 - i
        for j in range(k + 1, n):
            system[n, k] -= system[first + k, j] * system[n, j]
        system[n, k] /= system[first + k, k]
    return True


@kept(**INNER)
def strengthen(system, n):
    """Raise the finite-size term of the matrix, row n + 2, to 1e-9 of the rows it is in; False where there is none."""
    short()
    largest, weight = 0.0, 0.0
    for i in range(n):
        weight = max(weight, system[n + 2, i])
        for j in range(n):
            if system[n + 2, i] > 0.0:
                largest = max(largest, abs(system[j, i]))
    if weight == 0.0:
        return False
    factor = 1e-9 * largest / weight if largest > 0.0 else 1.0 / weight
    for i in range(n):
        system[i, i] += factor * system[n + 2, i]
    return True


@kept(**{**INNER, **MAKING})
def invert(matrix, row, K):
    """Invert a K x K matrix in place, rows exchanged for the pivot that is largest beside its row.

    Rows differ as blocks do, by many orders of magnitude, and large ones would be taken for all pivots.
    """
    short()
    if K == 1:  # room for an order takes longer than that
        matrix[row, 0, 0] = 1.0 / matrix[row, 0, 0]
        return
    order, over = np.empty(K, np.int64), np.zeros(K, matrix.dtype)
    for k in range(K):
        order[k] = k
        for j in range(K):
            if abs(matrix[row, k, j]) > abs(over[k]):
                over[k] = matrix[row, k, j]
        over[k] = 1.0 / over[k]
    for k in range(K):
        best, most = k, abs(matrix[row, k, k] * over[k])
        for i in range(k + 1, K):
            size = abs(matrix[row, i, k] * over[i])
            if size > most:
                best, most = i, size
        if best != k:
            order[k], order[best] = order[best], order[k]
            over[k], over[best] = over[best], over[k]
            for j in range(K):
                entry = matrix[row, k, j]
                matrix[row, k, j] = matrix[row, best, j]
                matrix[row, best, j] = entry
        pivot = matrix[row, k, k]
        matrix[row, k, k] = 1.0
        for j in range(K):
            matrix[row, k, j] /= pivot
        for i in range(K):
            factor = matrix[row, i, k]
            if i != k:
                matrix[row, i, k] = 0.0
                for j in range(K):
                    matrix[row, i, j] -= factor * matrix[row, k, j]
    for k in range(K):  # the columns back into their order
        while order[k] != k:
            other = order[k]
            for i in range(K):
                entry = matrix[row, i, k]
                matrix[row, i, k] = matrix[row, i, other]
                matrix[row, i, other] = entry
            order[k], order[other] = order[other], order[k]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
