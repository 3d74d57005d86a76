"""Factorisations of a Gram matrix shared by all ridges, as operators r -> (Gram + ridge)^-1 r."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from scipy.linalg import lapack

from giantstep.simulate.errors import Array

# (right sides, one column per ridge) -> solutions; Fortran order
Solve: TypeAlias = Callable[[Array], Array]


def tridiagonal(gram: Array, ridges: Sequence[float]) -> Solve | None:
    """One Householder reduction Gram = Q T Q^T, then every ridge costs O(n^2): T + ridge is factorised in
    O(n).

    gram[n, n]: lower triangle, Fortran order, overwritten. None where some T + ridge is not positive
    definite. A third of the price of eigenvectors (measured at n = 2000), and as stable.
    """
    size = gram.shape[0]
    if size < 3:
        return cholesky([gram + ridge * np.eye(size) for ridge in ridges])
    work, _ = lapack.dsytrd_lwork(size, lower=1)
    packed, diagonal, below, tau, _ = lapack.dsytrd(gram, lower=1, lwork=int(work), overwrite_a=1)
    factors = []
    for ridge in ridges:
        first, second, info = lapack.dpttrf(diagonal + ridge, below)
        if info != 0:
            return None
        factors.append((first, second))
    # Q = diag(1, Q'), Q' a product of reflectors as in a QR factorisation, stored from packed[1, 0] on. Read
    # with one shift in memory they are columns of length n; their last entries, unused ones above the
    # diagonal, are set to 0.
    reflectors = packed.T.reshape(-1)[1 : 1 + size * (size - 1)].reshape(size - 1, size).T
    reflectors[-1] = 0.0

    def solve(right: Array) -> Array:
        found = np.roll(_apply(reflectors, tau, np.roll(right, -1, axis=0), "T"), 1, axis=0)
        for column, (first, second) in enumerate(factors):
            found[:, column] = lapack.dpttrs(first, second, found[:, column])[0]
        return np.asfortranarray(np.roll(_apply(reflectors, tau, np.roll(found, -1, axis=0), "N"), 1, axis=0))

    return solve


def cholesky(shifted: Sequence[Array]) -> Solve | None:
    """One Cholesky factorisation per ridge. shifted: Gram + ridge, lower triangle, overwritten."""
    factors = []
    for matrix in shifted:
        factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return None
        factors.append(factor)
    return substitution(factors)


def substitution(factors: Sequence[Array]) -> Solve:
    """Solve with Cholesky factors already found, one per ridge."""

    def solve(right: Array) -> Array:
        found = np.empty(right.shape, order="F")
        for column, factor in enumerate(factors):
            found[:, column] = lapack.dpotrs(factor, right[:, column], lower=1)[0]
        return found

    return solve


def _apply(reflectors: Array, tau: Array, right: Array, transpose: str) -> Array:
    right = np.asfortranarray(right)
    work = lapack.dormqr("L", transpose, reflectors, tau, right, -1)[1]
    return np.asarray(lapack.dormqr("L", transpose, reflectors, tau, right, int(work[0].real))[0])
