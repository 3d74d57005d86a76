"""Ridge readouts for nested sample sizes and all ridges from one feature matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.factor import Solve, cholesky, substitution, tridiagonal
from giantstep.simulate.memory import DOUBLE, require_memory, svd_values

MAX_REFINEMENTS = 6
# relative change of the readout in the last refinement: far below any sampling error, far above rounding
REFINED = 1e-9


def ridge_readouts(
    features: Array,
    target: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    memory_limit: int | None = None,
) -> tuple[Array, Array]:
    """Minimise sum_i (y_i - f_i)^2/2 + (ridge/2) |a|^2, f = features a/sqrt p, on the first n rows for every
    n.

    features[N, p] in C order, target[N], sizes n <= N, ridges >= 0 (0: the solution of least norm).
    Returns readouts[p, n's x ridges] in Fortran order (ridges fastest) and train errors mean (y - f)^2,
    [n's, ridges]. Each is computed on the smaller side, n x n or p x p, and refined against the features
    themselves, which gives the accuracy of an orthogonal factorisation; where refinement does not converge
    (ridge below the rounding of a singular Gram matrix) an SVD replaces it.
    """
    width, count = features.shape[1], len(ridges)
    readouts = np.empty((width, len(sizes) * count), order="F")
    train = np.empty((len(sizes), count))
    shrink = np.array(ridges, dtype=np.float64)
    order = sorted(set(sizes))
    dual, primal = [n for n in order if n <= width], [n for n in order if n > width]
    solvers = (
        solver
        for half in (_dual_solvers(features, dual, ridges), _primal_solvers(features, primal, ridges))
        for solver in half
    )
    for size, solve in zip(order, solvers, strict=True):
        part, labels = features[:size], target[:size]
        found = _refined(part, labels, shrink, solve) if solve is not None else None
        if found is None:
            found = _by_svd(part, labels, shrink, memory_limit)
        residual = labels[:, None] - _fit(part, found)
        for index in (index for index, n in enumerate(sizes) if n == size):
            readouts[:, index * count : (index + 1) * count] = found
            train[index] = np.mean(residual * residual, axis=0)
    return readouts, train


def _dual_solvers(features: Array, sizes: list[int], ridges: Sequence[float]) -> Iterator[Solve | None]:
    """Solvers with K = Phi Phi^T/p, n x n, for increasing n: leading blocks of the largest one."""
    if not sizes:
        return
    largest = sizes[-1]
    gram = blas.dsyrk(1.0 / features.shape[1], features[:largest].T, trans=1, lower=1)
    if len(ridges) == 1:
        # leading blocks of the Cholesky factor factorise the leading blocks of the matrix
        _shift(gram, ridges[0])
        if cholesky([gram]) is not None:
            for size in sizes:
                yield substitution([gram if size == largest else np.asfortranarray(gram[:size, :size])])
        else:
            for _ in sizes:
                yield None
        return
    for size in sizes:
        yield _factorised(gram if size == largest else gram[:size, :size].copy(order="F"), ridges)


def _primal_solvers(features: Array, sizes: list[int], ridges: Sequence[float]) -> Iterator[Solve | None]:
    """Solvers with G = Phi^T Phi/p, p x p, for increasing n: each adds the new rows to the last."""
    width = features.shape[1]
    gram, done = np.zeros((width, width), order="F"), 0
    for size in sizes:
        gram = blas.dsyrk(1.0 / width, features[done:size].T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        done = size
        yield _factorised(gram if size == sizes[-1] else gram.copy(order="F"), ridges)


def _factorised(gram: Array, ridges: Sequence[float]) -> Solve | None:
    """One factorisation for all ridges; overwrites `gram`."""
    if len(ridges) > 1:
        return tridiagonal(gram, ridges)
    _shift(gram, ridges[0])
    return cholesky([gram])


def _refined(features: Array, target: Array, ridges: Array, solve: Solve) -> Array | None:
    """Iterative refinement with residuals formed from the features; None where it does not converge.

    The first pass carries the rounding of the Gram matrix, eps |G|/(ridge + smallest eigenvalue); each
    further pass multiplies the error by that factor.
    """
    dual = features.shape[0] <= features.shape[1]
    sides = np.asfortranarray(np.repeat(target[:, None], ridges.size, axis=1))
    readout = np.zeros((features.shape[1], ridges.size), order="F")
    unknown = np.zeros((features.shape[0] if dual else features.shape[1], ridges.size), order="F")
    for _ in range(MAX_REFINEMENTS):
        residual = sides - _fit(features, readout)
        gap = residual - ridges * unknown if dual else _pull(features, residual) - ridges * unknown
        unknown += solve(np.asfortranarray(gap))
        new = _pull(features, unknown) if dual else unknown.copy(order="F")
        change, scale = _largest_norm_ratio(new - readout, new)
        readout = new
        if not math.isfinite(scale):
            return None
        if change <= REFINED:
            return readout
    return None


def _by_svd(features: Array, target: Array, ridges: Array, memory_limit: int | None) -> Array:
    """Spectral filter s/(s^2 + ridge). Singular values below rounding are dropped, as in numpy's lstsq,
    whatever
    the ridge: they are zeros, and a ridge smaller than their rounding would blow them up."""
    need = DOUBLE * svd_values(*features.shape)
    require_memory(lambda _: need, max(features.shape), memory_limit)
    left, values, right = linalg.svd(features, full_matrices=False, check_finite=False)
    values = values / math.sqrt(features.shape[1])
    kept = values > values[0] * max(features.shape) * np.finfo(np.float64).eps
    safe = np.where(kept, values, 1.0)
    weights = np.where(kept[:, None], safe[:, None] / (safe[:, None] ** 2 + ridges), 0.0)
    return np.asfortranarray(right.T @ (weights * (left.T @ target)[:, None]))


def _fit(features: Array, readout: Array) -> Array:
    """Phi a/sqrt p, shape (n, R)."""
    return np.asarray(blas.dgemm(1.0 / math.sqrt(features.shape[1]), features.T, readout, trans_a=1))


def _pull(features: Array, residual: Array) -> Array:
    """Phi^T r/sqrt p, shape (p, R)."""
    return np.asarray(blas.dgemm(1.0 / math.sqrt(features.shape[1]), features.T, residual))


def _shift(gram: Array, ridge: float) -> None:
    gram[np.diag_indices_from(gram)] += ridge


def _largest_norm_ratio(change: Array, new: Array) -> tuple[float, float]:
    norms = np.linalg.norm(new, axis=0)
    safe = np.where(norms > 0.0, norms, 1.0)
    return float(np.max(np.linalg.norm(change, axis=0) / safe)), float(np.max(norms))
