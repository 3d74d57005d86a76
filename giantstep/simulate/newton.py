"""Newton's method for sum_i phi_i(f_i) + (ridge/2) |a|^2, f = X a with X = features/sqrt p, phi convex.

The readout is kept as a = -X^T c/ridge, with c[n] -> the slopes of phi at the minimum. The Newton step of c solves
(1 + D K/ridge) dc = g - c with K = X X^T, slopes g and curvatures D: on the samples with D > 0, or through the
p x p matrix ridge + X^T D X, whichever is the smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from giantstep.simulate.errors import Array
from giantstep.simulate.memory import chunk_rows

# below this share of the ridge, D K_ii changes no digit of the Newton step
NEGLIGIBLE = 1e-17
# a line search stops where the slope along the step has fallen to this fraction
FLAT = 0.25
LINE_STEPS = 60


@dataclass(frozen=True)
class Local:
    """phi at outputs f: points x (f itself, or a proximal point), slopes g and curvatures D, each (n,)."""

    point: Array
    slope: Array
    curvature: Array


Evaluate: TypeAlias = Callable[[Array], Local]


@dataclass(frozen=True)
class State:
    """A readout: dual[n] c, readout[p] a = -X^T c/ridge, output[n] f = X a."""

    dual: Array
    readout: Array
    output: Array

    def moved(self, step: State, size: float) -> State:
        """This state plus `size` times a step."""
        return State(
            self.dual + size * step.dual,
            self.readout + size * step.readout,
            self.output + size * step.output,
        )


class Design:
    """The feature matrix of one training set, shape (n, p) in C order, and its kernel K where it is kept.

    kernel: lower triangle of features features^T/p, Fortran order, or None.
    """

    def __init__(self, features: Array, kernel: Array | None) -> None:
        self.features, self.kernel = features, kernel
        self.count, self.width = features.shape
        self.scale = 1.0 / math.sqrt(self.width)
        self.norms = np.einsum("ij,ij->i", features, features) / self.width
        self._known, self._block = np.empty(0, dtype=np.intp), np.empty((0, 0))

    def fit(self, readout: Array) -> Array:
        """X a, shape (n,)."""
        return np.asarray(blas.dgemv(self.scale, self.features.T, readout, trans=1))

    def pull(self, dual: Array) -> Array:
        """X^T c, shape (p,)."""
        return np.asarray(blas.dgemv(self.scale, self.features.T, dual))

    def state(self, dual: Array, ridge: float) -> State:
        """The state of given c."""
        readout = self.pull(dual) / -ridge
        return State(dual, readout, self.fit(readout))

    def newton_step(self, local: Local, state: State, ridge: float) -> State:
        """The full Newton step; with a larger diagonal, hence shorter, where rounding makes it singular."""
        gap = local.slope - state.dual
        active = np.flatnonzero(local.curvature * self.norms > NEGLIGIBLE * ridge)
        if self.kernel is not None or active.size <= self.width:
            dual = self._small_step(gap, local.curvature[active], active, ridge)
            readout = self.pull(dual) / -ridge
            return State(dual, readout, self.fit(readout))
        readout = self._wide_step(gap, local.curvature, active, ridge)
        output = self.fit(readout)
        return State(gap + local.curvature * output, readout, output)

    def _small_step(self, gap: Array, curvature: Array, active: np.ndarray, ridge: float) -> Array:
        dual = gap.copy()
        if active.size == 0:
            return dual
        dual[active] = 0.0
        rest = self.fit(self.pull(dual))[active] if active.size < self.count else 0.0
        diagonal = ridge / curvature
        right = diagonal * gap[active] - rest
        dual[active] = _solved(lambda: self._kernel(active), diagonal, right)
        return dual

    def _kernel(self, active: np.ndarray) -> Array:
        """Lower triangle of K on some samples, Fortran order, free to be overwritten."""
        if self.kernel is None:
            return self._updated(active)
        if active.size == self.count:
            return self.kernel.copy(order="F")
        # rows and columns keep their order, so the lower triangle stays the lower one
        return np.asarray(self.kernel.T[np.ix_(active, active)].T)

    def _updated(self, active: np.ndarray) -> Array:
        """K on some samples where it is not kept, from that of the last call: few samples change."""
        kept, known = np.isin(active, self._known), np.isin(self._known, active)
        found = np.empty((active.size, active.size), order="F")
        found[np.ix_(kept, kept)] = self._block[np.ix_(known, known)]
        fresh = self.features[active[~kept]]
        rows = blas.dgemm(self.scale**2, self.features[active].T, fresh.T, trans_a=1)
        found[:, ~kept] = rows
        found[~kept] = rows.T
        self._known, self._block = active, found
        return found.copy(order="F")

    def _wide_step(self, gap: Array, curvature: Array, active: np.ndarray, ridge: float) -> Array:
        def matrix() -> Array:
            found = np.zeros((self.width, self.width), order="F")
            height = chunk_rows(self.width)
            for start in range(0, active.size, height):
                rows = active[start : start + height]
                part = self.features[rows] * np.sqrt(curvature[rows])[:, None]
                found = blas.dsyrk(self.scale**2, part.T, beta=1.0, c=found, lower=1, overwrite_c=1)
            return found

        return -_solved(matrix, np.full(self.width, ridge), self.pull(gap))


def line_search(evaluate: Evaluate, state: State, step: State, ridge: float) -> tuple[State, Local] | None:
    """Move along a step to where the slope of the objective along it has nearly vanished; None: no descent.

    Every trial costs n operations, a Newton step n^3: so the search is nearly exact. Not finite counts as too far.
    The objective falls: up to `low` by at least low |slope there|, beyond it rises by at most the distance times the
    slope at the end, for it is convex.
    """
    linear, square = float(state.readout @ step.readout), float(step.readout @ step.readout)

    def along(size: float) -> _Trial:
        with np.errstate(all="ignore"):
            there = state.moved(step, size)
            local = evaluate(there.output)
            slope = float(local.slope @ step.output) + ridge * (linear + size * square)
        return _Trial(size, slope if math.isfinite(slope) else math.inf, there, local)

    low, high = along(0.0), None
    flat, size = FLAT * abs(low.slope), 1.0
    if not low.slope < 0.0:
        return None
    for _ in range(LINE_STEPS):
        trial = along(size)
        if trial.slope <= 0.0:
            low = trial
        else:
            high = trial
        if -flat <= low.slope and low.size > 0.0:
            return low.state, low.local
        if high is not None and high.slope <= min(flat, low.slope * low.size / (low.size - high.size)):
            return high.state, high.local
        size = 2.0 * size if high is None else _between(low, high)
    return (low.state, low.local) if low.size > 0.0 else None


@dataclass(frozen=True)
class _Trial:
    """A step size, the slope of the objective along the step there, and the point."""

    size: float
    slope: float
    state: State
    local: Local


def _between(low: _Trial, high: _Trial) -> float:
    """The next step size: half way at first, then where a straight line through the two slopes vanishes."""
    share = 0.5
    if low.size > 0.0 and math.isfinite(high.slope):
        share = min(0.9, max(0.1, low.slope / (low.slope - high.slope)))
    return low.size + share * (high.size - low.size)


def _solved(matrix: Callable[[], Array], diagonal: Array, right: Array) -> Array:
    """(M + diag) x = right for M positive semidefinite up to rounding; the matrix is made anew if it fails."""
    extra = 0.0
    for _ in range(20):
        whole = matrix()
        size = float(np.mean(np.diagonal(whole))) + float(np.min(diagonal))
        whole[np.diag_indices_from(whole)] += diagonal + extra
        factor, info = lapack.dpotrf(whole, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])
        extra = max(10.0 * extra, 1e-15 * size)
    raise np.linalg.LinAlgError("the Newton matrix is not positive definite")
