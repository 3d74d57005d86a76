"""Linear equations whose matrix is known by what it does along a direction only: generalised conjugate residuals.

A solve for n unknowns by the matrix takes n directions, and n^3 operations. What the unknowns of many blocks do to each
other is smooth: some ten directions, each what is left of the equations, solve them to many digits. The room is that
of ``unknowns``, [2n + 4, n]: rows 0, 1, ... hold what the matrix does along the directions, orthonormal; row n what is
left of the equations; n + 2 the solution so far; n + 3 the size of each unknown, which directions and equations are
relative to; the directions follow. Source: Eisenstat, Elman and Schultz, SIAM J. Numer. Anal. 20 (1983) 345.

Written by hand, in codegen/runtime/conjugate_residuals.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import entry, kept
from generated.runtime.contractions import INNER, short

FURTHER = 1e-7  # what a solve leaves of the equations: a step of Newton's method, or a refinement, follows
ROUNDING = 2e-16  # of unknowns relative to their sizes: equations that are satisfied so well are solved
LOST = 1e-12  # of a direction, when nothing new is left of it


@kept(**INNER)
def begin(system, n, row, column):
    """Begin with the equations in row n, at the unknowns in row n + 1: divide them by their sizes; returns their norm.

    An unknown of the blocks row[i] and column[i] is of the size of the geometric mean of theirs, as an entry of a
    covariance is beside its diagonal. That of a block is the largest of its own unknowns and their equations.
    """
    short()
    room, size, left = n + 2, n + 3, 0.0
    for i in range(n):
        system[room, i] = 0.0
    for i in range(n):
        if row[i] == column[i]:
            largest = max(abs(system[n + 1, i]), abs(system[n, i]))
            system[room, row[i]] = max(system[room, row[i]], largest)
    for i in range(n):
        system[size, i] = np.sqrt(system[room, row[i]] * system[room, column[i]])
        if not system[size, i] > 0.0:
            system[size, i] = 1.0
    for i in range(n):
        system[room, i] = 0.0
        system[n, i] /= system[size, i]
        left += system[n, i] * system[n, i]
    return np.sqrt(left)


@entry
def descend(system, n, k):
    """Take the direction that row n was, whose image, k-th of all, is in row k; returns the norm of what is left.

    Infinite where the image is one of directions before: no further direction would help.
    """
    short()
    direction = n + 4 + k
    before, norm = 0.0, 0.0
    for i in range(n):
        system[direction, i] = system[n, i]
        system[k, i] /= system[n + 3, i]
        before += system[k, i] * system[k, i]
    for _ in range(2):  # once more against rounding
        for j in range(k):
            share = 0.0
            for i in range(n):
                share += system[j, i] * system[k, i]
            for i in range(n):
                system[k, i] -= share * system[j, i]
                system[direction, i] -= share * system[n + 4 + j, i]
    for i in range(n):
        norm += system[k, i] * system[k, i]
    if not norm > LOST * LOST * before:
        return np.inf
    norm, share, left = np.sqrt(norm), 0.0, 0.0
    for i in range(n):
        system[k, i] /= norm
        system[direction, i] /= norm
        share += system[k, i] * system[n, i]
    for i in range(n):
        system[n + 2, i] += share * system[direction, i]
        system[n, i] -= share * system[k, i]
        left += system[n, i] * system[n, i]
    return np.sqrt(left)


@kept(**INNER)
def finish(system, n):
    """Put the solution into row n."""
    short()
    for i in range(n):
        system[n, i] = system[n + 2, i] * system[n + 3, i]


@entry
def solve_along(system, count, residual, step):
    """Fill ``step`` [n] with the solution for other equations, by the directions [count] that are known.

    Of equations that none of them leaves the matrix is taken for 1 in units of the sizes: those of unknowns in row
    n + 3, of equations in row n + 1. Returns the norm of these relative to that of all, and the largest change of an
    unknown relative to its size.
    """
    short()
    n = residual.shape[0]
    norm, left, change = 0.0, 0.0, 0.0
    for i in range(n):
        system[n, i] = residual[i] / system[n + 1, i]
        system[n + 2, i] = 0.0
        norm += system[n, i] * system[n, i]
    for k in range(count):
        share = 0.0
        for i in range(n):
            share += system[k, i] * system[n, i]
        for i in range(n):
            system[n, i] -= share * system[k, i]
            system[n + 2, i] += share * system[n + 4 + k, i]
    for i in range(n):
        left += system[n, i] * system[n, i]
        part = system[n + 2, i] + system[n, i]
        step[i] = part * system[n + 3, i]
        change = max(change, abs(part))
    if not norm < np.inf:
        return np.nan, np.nan
    return np.sqrt(left / norm) if norm > 0.0 else 0.0, change

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
