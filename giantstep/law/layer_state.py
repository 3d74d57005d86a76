"""The rows of the first layer after a giant step. Source: THEORY section 12."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from giantstep.law.directions import mixing, rows_of
from giantstep.law.known_indices import KnownIndices
from giantstep.spec.matrix import Rows

Array = np.ndarray


@dataclass(frozen=True)
class AlikeRows:
    """Blocks that hardly differ, and what tells them apart: rows [n][q + 1] of loadings and bulk variances to many
    digits, as functions of the readout values [n] on one side, ``signs`` of the blocks beside that, that vary on the
    scale ``width``.
    """

    blocks: tuple[int, ...]
    rows: tuple[tuple[Any, ...], ...]
    values: tuple[float, ...]
    signs: tuple[int, ...]
    width: float


@dataclass(frozen=True)
class LayerState:
    """The rows after a step: loadings [K][q] of the blocks along orthonormal v_j, strength included, overlaps
    <v_j, theta_i> [q][m], and squared norms c [K] of the bulk. Signs of the v_j are those of ``directions_of``.

    axes [q][D]: the v_j by orthonormal directions, those of the target and then the noise of every batch; own [r][K]:
    what a sample adds to the r of its own batch, by its e E sigma' of every block. kept [K]: the square of what is left
    of the rows before the first step, of which other batches would leave as much; nothing told: all of it. alike:
    blocks that hardly differ; None where their differences are not told.
    """

    loadings: Rows
    overlaps: Rows
    bulk_variance: tuple[float, ...]
    axes: Rows = field(default=(), repr=False)
    own: Rows = field(default=(), repr=False)
    kept: tuple[float, ...] = field(default=(), repr=False)
    alike: tuple[AlikeRows, ...] | None = field(default=None, repr=False)

    @property
    def places(self) -> Array:
        """The v_j by ``axes``; of a state without these by the target's directions and others of their own."""
        if self.axes:
            return np.array(self.axes)
        gamma = np.array(self.overlaps)
        return np.column_stack([gamma, mixing(gamma.T)])

    @property
    def rank(self) -> int:
        """The number q of directions."""
        return len(self.overlaps)

    def told(self, known: KnownIndices | None) -> LayerState:
        """With the overlaps of all letters of a link that knows fewer directions."""
        if known is None:
            return self
        overlaps, axes, count = known.overlaps(np.array(self.overlaps)), np.array(self.axes), len(known.rows)
        told = np.hstack([axes[:, :count] @ np.array(known.rows), axes[:, count:]]) if self.axes else axes
        return replace(self, overlaps=rows_of(overlaps), axes=rows_of(told) if self.axes else ())

    def to_dict(self) -> dict[str, object]:
        """Lists: loadings [K][q], overlaps [q], or [q][m] for several indices, bulk_variance [K].

        And what no choice of the v_j changes: products [K][K] of the means of the rows, ``along_target`` [K] or [K][m]
        their components along the target's directions.
        """
        single = len(self.overlaps[0]) == 1
        loadings, overlaps = np.array(self.loadings), np.array(self.overlaps)
        along = loadings @ overlaps
        return {
            "loadings": loadings.tolist(),
            "overlaps": (overlaps[:, 0] if single else overlaps).tolist(),
            "bulk_variance": list(self.bulk_variance),
            "products": (loadings @ loadings.T).tolist(),
            "along_target": (along[:, 0] if single else along).tolist(),
        }
