"""Eigenvalues outside the bulk: where the linear equations of the overlaps with the spike have a solution of their own.

Given the response at x outside the support, the overlaps (m, zeta) obey linear equations; a source-free solution is an
eigenvector along mu0_b(kappa) or kappa mu1_b(kappa). Those along mu0_b grow with the dimension: to leading order
x = alpha d times the eigenvalues of sqrt(pi_b pi_c) E[mu0_b mu0_c]  [THEORY section 7].
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy.optimize import brentq

from giantstep.observe.spectrum.response import Response, State, follow
from giantstep.observe.spectrum.support import inside
from giantstep.spec.errors import NotConverged

Array = np.ndarray

_ROUNDING = 1e-11
_STEPS = 24  # a decade, in the search above the bulk


def growing(response: Response, far: State) -> Array:
    """Eigenvalues of Phi^T Phi / p that grow with the dimension, per dimension, to leading order; largest first."""
    at_infinity = response.solve(far.z * 1e15, far.unknowns * 1e-15)
    assert at_infinity is not None
    k = response.blocks
    matrix = response.overlap_matrix(at_infinity).real[:k, :k]
    root = np.sqrt(response.problem.fraction)
    found = np.linalg.eigvalsh(0.5 * (matrix + matrix.T) * root * root[:, None])[::-1]
    return np.asarray(found[found > _ROUNDING * max(float(response.weight), 1e-300)])


def outliers(response: Response, states: Sequence[State], inverse_dimension: float) -> Array:
    """Outliers at a dimension (zero: those that do not grow with it), largest first.

    ``states``: solutions on the real axis, from large to small x, down to the lowest end of the support.
    """
    chain = [*_above(response, states[0], inverse_dimension), *states]
    found: list[float] = []
    for left, right in zip(chain[:-1], chain[1:], strict=True):
        if inside(left) or inside(right) or left.stieltjes.real * right.stieltjes.real < 0.0:
            continue
        first, second = _levels(response, left, inverse_dimension), _levels(response, right, inverse_dimension)
        for number in range(len(first)):
            if first[number] < 0.0 < second[number]:
                with suppress(NotConverged, ValueError):
                    found.append(_crossing(response, left, right, inverse_dimension, number))
    return np.array(sorted(found, reverse=True))


def next_to_edge(response: Response, edge: float, outside: State) -> tuple[State, ...]:
    """Solutions between one outside the support and its edge, closer and closer to it."""
    states, x = [], outside.z.real
    for _ in range(24):
        x = float(np.sqrt(x * edge))
        if abs(x / edge - 1.0) < 1e-7:
            break
        try:
            outside = follow(response, outside, complex(x), most=30)
        except NotConverged:
            break
        if inside(outside):
            break
        states.append(outside)
    return tuple(states)


def _above(response: Response, state: State, inverse_dimension: float) -> list[State]:
    """Solutions above the first state as far as eigenvalues grow with the dimension."""
    if inverse_dimension == 0.0:
        return []
    largest = float(growing(response, state).max(initial=0.0)) / inverse_dimension
    end = 4.0 * (largest + state.z.real)
    count = int(np.ceil(_STEPS * np.log10(end / state.z.real)))
    chain = []
    for x in state.z.real * (end / state.z.real) ** (np.arange(1, count + 1) / count):
        state = follow(response, state, complex(float(x)))
        chain.append(state)
    return chain[::-1]


def _levels(response: Response, state: State, inverse_dimension: float) -> Array:
    """Eigenvalues of the overlaps' equations in symmetric form, which rise through zero as x falls past an outlier.

    The rows of zeta are divided by their factor T_b/beta; with it the matrix is that of a quadratic form. What no
    equation goes with, a combination of the mu0_b that vanishes, has no level.
    """
    k, beta = response.blocks, response.problem.parameters.width
    span = response.span if inverse_dimension == 0.0 else None
    matrix = response.overlap_matrix(state, inverse_dimension, span).real
    own = np.tile(beta / state.unknowns[:k].real, len(matrix) // k - 1)
    matrix[k:] *= own[:, None]
    matrix[k:, k:] += response.sources(state).real - np.diag(own)
    root = np.sqrt(np.tile(response.problem.fraction, len(matrix) // k))
    if span is not None:
        kept = np.r_[: span.rank, k : len(matrix)]
        matrix, root = matrix[np.ix_(kept, kept)], root[kept]
    levels = np.linalg.eigvalsh(0.5 * (matrix + matrix.T) * root * root[:, None])
    levels[np.abs(levels) < _ROUNDING * np.abs(levels).max()] = 0.0
    return np.asarray(levels)


def _crossing(response: Response, left: State, right: State, inverse_dimension: float, number: int) -> float:
    """x between two states where a level vanishes."""

    def level(log_x: float) -> float:
        state = follow(response, left, complex(float(np.exp(log_x))))
        return float(_levels(response, state, inverse_dimension)[number])

    root = brentq(level, float(np.log(right.z.real)), float(np.log(left.z.real)), xtol=1e-14, rtol=1e-14)
    return float(np.exp(root))
