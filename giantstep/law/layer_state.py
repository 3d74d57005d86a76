"""The rows of the first layer after a giant step. Source: THEORY section 12."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.spec.matrix import Rows


@dataclass(frozen=True)
class LayerState:
    """The rows after a step: loadings [K][q] of the blocks along orthonormal v_j, strength included, overlaps
    <v_j, theta_i> [q][m], and squared norms c [K] of the bulk.
    """

    loadings: Rows
    overlaps: Rows
    bulk_variance: tuple[float, ...]

    @property
    def rank(self) -> int:
        """The number q of directions."""
        return len(self.overlaps)

    def to_dict(self) -> dict[str, object]:
        """Lists: loadings [K][q], overlaps [q], or [q][m] for several indices, bulk_variance [K]."""
        single = len(self.overlaps[0]) == 1
        overlaps = [row[0] if single else list(row) for row in self.overlaps]
        loadings = [list(row) for row in self.loadings]
        return {"loadings": loadings, "overlaps": overlaps, "bulk_variance": list(self.bulk_variance)}
