"""A step of Newton's method: its linear equations, and what the law of the output must be at the place it leads to.

Written by hand, in codegen/runtime/steps.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import entry
from generated.runtime.unknowns import solve_linear


@entry
def solve_step(jacobian, residual, size, room, step):
    """Fill ``step`` with the solution of ``jacobian step = residual``; room [2n + 4, n].

    Returns what it leaves of the equations, rows scaled, relative to the largest: nan for a Jacobian that is not
    finite, infinite where the equations are singular; and the largest change of an unknown relative to its size.
    """
    n = residual.shape[0]
    for i in range(n):
        room[n, i] = residual[i]
        for j in range(n):
            if not abs(jacobian[i, j]) < np.inf:
                return np.nan, np.nan
            room[j, i] = jacobian[i, j]
    if not solve_linear(room, n, 0.0):
        return np.inf, np.inf
    given, left, change = 1e-300, 0.0, 0.0
    for i in range(n):
        total, largest = -residual[i], 0.0
        for j in range(n):
            total += jacobian[i, j] * room[n, j]
            largest = max(largest, abs(jacobian[i, j]))
        if not abs(total) < np.inf:
            return np.inf, np.inf
        given, left = max(given, abs(residual[i]) / largest), max(left, abs(total) / largest)
        step[i] = room[n, i]
        change = max(change, abs(step[i]) / size[i])
    return left / given, change


NONE, PLAIN, RAISED = range(3)


@entry
def raise_variances(state, rows, sizes, weight, blur, rounding, told, terms):
    """Raise V and Delta to what rounding leaves of them: ``NONE`` where the law of the output is none, ``RAISED`` where
    some were.

    state: (vector, matrix, field), rows: of T and of the pairs (V1, V2, V) and (Q1, Q2, Delta) there. sizes
    [K^2 + K, N]: of what these are sums with; blur: added to both. told [N]: Delta before; terms [2, N]: sums of the
    absolute values of what V and Delta are differences of. Features that grow may be largest where nothing has a
    weight: rounding is that of the terms at a node and of their mean.
    """
    vector, matrix, field = state
    K, N = vector.shape[1], field.shape[1]
    for b in range(K):
        if not vector[rows[0], b] > 0.0:
            return NONE
    sound, raised = True, False
    for pair in range(2):
        inner, outer, row = rows[3 * pair + 1], rows[3 * pair + 2], rows[3 * pair + 3]
        for n in range(N):
            terms[pair, n] = 0.0
            told[n] = field[row, n]  # at last that of Delta
            field[row, n] += blur[pair]
        for b in range(K):
            for c in range(K):
                size = abs(matrix[inner, b, c])
                for n in range(N):
                    terms[pair, n] += size * sizes[b * K + c, n]
            size = abs(vector[outer, b])
            for n in range(N):
                terms[pair, n] += size * sizes[K * K + b, n]
        mean = total = 0.0
        for n in range(N):
            mean += weight[n] * terms[pair, n]
            total += weight[n] * field[row, n]
        sound = sound and mean > 0.0 and total > 0.0
        for n in range(N):
            least = rounding * (terms[pair, n] + mean)
            sound = sound and field[row, n] > -least
            raised = raised or field[row, n] < least
            field[row, n] = max(field[row, n], least)
    return NONE if not sound else RAISED if raised else PLAIN


@entry
def added_by_floor(weight, variances, felt, terms, floors):
    """What floors under V and Delta add to the average of a loss, to first order, at the nodes where they hold these.

    variances: (V, Delta), felt: (avg_gg, avg_h), [N] each: the envelope moves by -g^2/2 with V and by h/2 with Delta.
    terms: see ``raise_variances``; floors: the share of these that is one, and how many times it still holds what is
    there.
    """
    total = 0.0
    for pair in range(2):
        mean = 0.0
        for n in range(weight.shape[0]):
            mean += weight[n] * terms[pair, n]
        for n in range(weight.shape[0]):
            least = floors[0] * (terms[pair, n] + mean)
            if variances[pair][n] <= floors[1] * least:
                total += 0.5 * weight[n] * least * abs(felt[pair][n])
    return total

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
