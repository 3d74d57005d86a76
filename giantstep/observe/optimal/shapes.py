"""Overlaps along directions of a target, as far as its symmetries leave them open: a mean, and coordinates of a shape.

Along directions of rank r, Q = q + q (1 - q) Y on them with Y of no trace: how much more is known of one than of
another, a smooth function of q up to 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.observe.optimal.symmetry import unchanged
from giantstep.spec.model import Target

Array = np.ndarray
_SAME = 1e-9  # of matrices of norm one
_EDGE = 1e-3  # what is left of 1 where a shape is cut


@dataclass(frozen=True, eq=False)
class Shapes:
    """Directions [r, m], orthonormal, and shapes Y [p, m, m] of an overlap along them, of no trace, orthonormal."""

    directions: Array
    basis: Array

    @property
    def rank(self) -> int:
        """The number of directions."""
        return len(self.directions)

    def overlap(self, q: float, shape: Array) -> Array:
        """Q [m, m] of a mean overlap q and coordinates of Y [p]."""
        projection = self.directions.T @ self.directions
        found: Array = q * projection + q * (1.0 - q) * np.einsum("p,pab->ab", shape, self.basis)
        return found

    def shape(self, q: float, known: Array) -> Array:
        """Coordinates [p] of the Y of an overlap."""
        found: Array = np.einsum("pab,ab->p", self.basis, known) / (q * (1.0 - q))
        return found

    def trace(self, matrix: Array) -> float:
        """Of a matrix [m, m], along the directions."""
        return float(np.sum((self.directions @ matrix) * self.directions))

    def cut(self, q: float, shape: Array) -> Array:
        """A shape [p], or as much of it as leaves 0 < Q < 1."""
        turned = self.directions @ np.einsum("p,pab->ab", shape, self.basis) @ self.directions.T
        sizes = np.linalg.eigvalsh(turned)
        most = max(-(1.0 - q) * sizes[0], q * sizes[-1])
        return shape if most < 1.0 else shape * ((1.0 - _EDGE) / most)


def shapes_of(target: Target, directions: Array) -> Shapes:
    """Those that no symmetry of a target changes."""
    inside = np.einsum("ra,pab,sb->prs", directions, unchanged(target), directions)
    rank = len(directions)
    inside -= np.einsum("prr->p", inside)[:, None, None] / rank * np.eye(rank)
    _, sizes, rows = np.linalg.svd(inside.reshape(len(inside), -1), full_matrices=False)
    basis = rows[sizes > _SAME].reshape(-1, rank, rank)
    return Shapes(directions, np.einsum("ra,prs,sb->pab", directions, basis, directions))
