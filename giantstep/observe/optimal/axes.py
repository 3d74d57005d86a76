"""The overlap of the directions that are known: its square root, what is left of it, and its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.law.directions import mixing

Array = np.ndarray
# largest element off the diagonal of one that is taken as diagonal, over what is known or what is left, if that is less
_DIAGONAL = 1e-7


def square_root(matrix: Array) -> Array:
    """The symmetric square root of a positive matrix."""
    values, vectors = np.linalg.eigh(matrix)
    found: Array = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    return found


def lower_of(known: Array) -> Array:
    """L with L L^T = 1 - Q."""
    return mixing(square_root(known))


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes V [m, m] of an overlap, the overlap q [m] along each, the share [m] of t in what is not known of z.

    q: over 1 + noise, the variance of the indices with their noise. rest [m]: what is not known, 1 - q without that.
    """

    turn: Array
    known: Array
    share: Array
    rest: Array

    @classmethod
    def of(cls, known: Array, noise: float = 0.0) -> Axes:
        """Those of Q [m, m]; the given ones where it is diagonal."""
        values, turn = np.diag(known), np.eye(len(known))
        if np.any(np.abs(known - np.diag(values)) > _DIAGONAL * min(values.max(), (1.0 - values).max())):
            values, turn = np.linalg.eigh(known)
        values = np.clip(values, 0.0, 1.0)
        rest = 1.0 - values
        return cls(turn, values / (1.0 + noise), np.sqrt(rest / (rest + noise)), rest)

    def to_t(self, known: Array) -> Array:
        """[m, m]: t of the overlap Q from that along the axes."""
        if np.array_equal(self.turn, np.eye(len(known))):
            return self.turn
        found: Array = np.linalg.solve(lower_of(known), self.turn * np.sqrt(self.rest))
        return found

    @property
    def spread(self) -> Array:
        """The root of 1 - q [m]."""
        found: Array = np.sqrt((1.0 - np.sqrt(self.known)) * (1.0 + np.sqrt(self.known)))
        return found
