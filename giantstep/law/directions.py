"""A spike of rank q: as few directions as the features know, and the order parameters along the ones that were given.

Features depend on x through ``L_b.kappa`` and the bulk, so that directions of the spike on which no block loads are no
part of kappa: they go to the rest of the target. What is left is rotated so that its first direction carries the
alignment, where the label may jump.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.spec.matrix import Rows
from giantstep.spec.spike_table import Spike

Array = np.ndarray
_ROUNDED = 1e-15  # of a variance
_NOTHING = 1e-13  # of the largest loading: a direction with less is not loaded
_LARGE = 0.5  # of the largest loading, what tells the sign of a direction


@dataclass(frozen=True)
class Directions:
    """Loadings L [K][q], strength included, and overlaps <v_j, theta_i> [q][m] of a spike of rank q as given.

    ``kept`` [q][q']: the directions that remain, orthonormal columns in the given ones. Source: THEORY section 3.
    """

    loadings: Rows
    overlaps: Rows
    kept: Rows

    @property
    def rank(self) -> int:
        """The number q' of directions that the features know; one where they know none."""
        return len(self.kept[0])

    def reduced(self) -> tuple[Rows, Rows]:
        """Loadings [K][q'] and overlaps [q'][m] of the directions that remain."""
        kept = np.array(self.kept)
        return rows_of(np.array(self.loadings) @ kept), rows_of(kept.T @ np.array(self.overlaps))

    def outward(self, order: Mapping[str, Array]) -> dict[str, Array]:
        """Order parameters along the directions that were given: zeta [K, q], psi [K, m] and Q1 beside all of them.

        order: those of the reduced problem, zeta [K, q'], psi [K, m]; of many points each has one more axis, the last.
        """
        kept, gamma = np.array(self.kept), np.array(self.overlaps)
        zeta, psi = order["zeta"], order["psi"]
        rest, inner = _dropped(self.kept, self.overlaps)
        dropped = _turned(rest.T @ gamma @ inner, psi)
        found = {
            "zeta": _turned(kept, zeta) + _turned(rest, dropped),
            "psi": _turned(mixing(gamma).T @ inner, psi),
            "Q1": order["Q1"] - np.einsum("bd...,cd...->bc...", dropped, dropped),
        }
        return {**order, **found}

    def inward(self, order: Mapping[str, Array]) -> dict[str, Array] | None:
        """The reverse of ``outward``; None for order parameters of another number of blocks, directions or indices."""
        kept, gamma = np.array(self.kept), np.array(self.overlaps)
        blocks, zeta, psi = len(self.loadings), order["zeta"], order["psi"]
        if zeta.shape != (blocks, len(gamma)) or psi.shape != (blocks, gamma.shape[1]):
            return None
        rest, inner = _dropped(self.kept, self.overlaps)
        dropped = zeta @ rest
        beside = psi @ mixing(gamma).T + dropped @ rest.T @ gamma
        return {
            **order,
            "zeta": zeta @ kept,
            "psi": beside @ inner,
            "Q1": order["Q1"] + dropped @ dropped.T,
        }


def _turned(matrix: Array, rows: Array) -> Array:
    """A matrix [n, m] applied to the row of every block [K, m, ...]."""
    return np.asarray(np.einsum("nm,bm...->bn...", matrix, rows))


@lru_cache(maxsize=64)
def _dropped(kept: Rows, overlaps: Rows) -> tuple[Array, Array]:
    """The directions that were dropped [q, q - q'], and the inverse of what those that remain leave of the target."""
    inside, gamma = np.array(kept), np.array(overlaps)
    rest = np.linalg.svd(inside)[0][:, inside.shape[1] :]
    return rest, np.linalg.pinv(mixing(inside.T @ gamma).T, rcond=1e-9)


def directions_of_spike(spike: Spike) -> Directions:
    """The directions of a spike with loadings. Source: [CUI24] Result 3.2 with kappa in R^q."""
    assert spike.loadings is not None
    return directions_of(rows_of(spike.strength * np.array(spike.loadings)), spike.overlaps())


def directions_of(
    loadings: Rows, overlaps: Rows, nothing: float = _NOTHING, blocks: np.ndarray | None = None
) -> Directions:
    """The directions that the features know, first those along the target, and then the principal axes of what blocks
    load on the others; nothing: a share of the largest loading that is rounding. blocks: loadings [K, q] of these,
    where what tells the directions is given instead. The first one has a positive alignment; along each further one
    the first block that has at least half of the largest loading has a positive one.
    """
    weights, gamma = np.array(loadings), np.array(overlaps)
    _, sizes, basis = np.linalg.svd(weights)
    rank = int(np.sum(sizes > nothing * sizes[0])) if sizes[0] > 0.0 else 0
    inside = basis[:rank].T if rank else np.eye(len(gamma))
    turn = np.linalg.svd(inside.T @ gamma)[0]
    kept = (inside @ turn)[:, : max(rank, 1)]
    weights = weights if blocks is None else blocks
    further = kept[:, gamma.shape[1] :]
    kept[:, gamma.shape[1] :] = further @ np.linalg.svd(weights @ further)[2].T
    along = weights @ kept
    first = np.argmax(np.abs(along) >= _LARGE * np.abs(along).max(axis=0), axis=0)
    signs = np.sign(along[first, np.arange(len(first))])
    aligned = float((kept[:, 0] @ gamma).sum())
    signs[0] = aligned if abs(aligned) > nothing else signs[0]
    kept[:, signs < 0.0] *= -1.0
    return Directions(loadings, overlaps, rows_of(kept))


def rows_of(matrix: Array) -> Rows:
    """A matrix as a tuple of rows: hashable."""
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


def mixing(overlaps: Array | tuple[float, ...]) -> Array:
    """L [m, m], lower triangular with ``L L^T = 1 - gamma^T gamma`` for the overlaps gamma [q, m], or [m] of one spike.

    Zero columns where the spike is in the span of the target's directions.
    """
    gamma = np.atleast_2d(np.asarray(overlaps, dtype=float))
    rest = np.eye(gamma.shape[1]) - gamma.T @ gamma
    lower: Array = np.zeros_like(rest)
    for j in range(len(rest)):  # Cholesky that survives rank deficiency
        pivot, taken = rest[j, j] - lower[j, :j] @ lower[j, :j], np.diag(lower)[:j]
        grown = np.divide(lower[j, :j], taken, out=np.zeros(j), where=taken > 0.0)  # as rounding does in the difference
        lower[j, j] = math.sqrt(pivot) if pivot > _ROUNDED * (1.0 + grown @ grown) else 0.0
        if lower[j, j] > 0.0:
            lower[j + 1 :, j] = (rest[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    if gamma.shape == (1, 1):  # without cancellation
        lower[0, 0] = math.sqrt(max(0.0, (1.0 - gamma[0, 0]) * (1.0 + gamma[0, 0])))
    return lower


@dataclass(frozen=True)
class NoisyIndices:
    """How t depends on the indices with noise, z' = gamma kappa + L' t': its mean is carry t', its covariance rest."""

    lower: Array
    carry: Array
    rest: Array


def noisy_indices(overlaps: Array, probit: float) -> NoisyIndices:
    """L' with L' L'^T = L L^T + probit, and the law of t given t', for overlaps gamma [q, m]."""
    lower, one = mixing(overlaps), np.eye(overlaps.shape[1])
    if probit == 0.0:
        return NoisyIndices(lower, one, np.zeros_like(one))
    noisy = np.linalg.cholesky(lower @ lower.T + probit * one)
    rest = np.linalg.inv(one + lower.T @ lower / probit)
    return NoisyIndices(noisy, np.linalg.solve(noisy, lower).T, rest)
