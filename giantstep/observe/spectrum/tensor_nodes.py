"""Nodes of kappa in R^q for complex responses: a lattice, finer where 1/(1 + V(kappa)) is steep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from giantstep.quadrature.tensor import Shape, tensor_table

Array = np.ndarray
_FIRST, _FINER = 0.7, 1.25  # fineness that is begun with, and what it is raised by
_AGREES = 1e-5  # of averages on this lattice and on a coarser one, whose error has the root of this one's or a larger
_NEGLIGIBLE = 1e-16  # of the weight of a node, relative to all
MOST = 400_000  # nodes


@dataclass(frozen=True)
class TensorNodes:
    """Tables of the blocks' coefficients on lattices in kappa, chosen by their fineness (the ``panels`` of a state).

    All that were made are kept: each holds _FINER^q times the nodes of the one before, up to MOST.
    """

    shape: Shape
    base: float = _FIRST
    _known: dict[float, tuple[Array, Array]] = field(default_factory=dict, repr=False)

    def table(self, fineness: float) -> Array:
        """Rows (kappa_1, weight, 0, 0, 0, mu0, mu1, mu2sq per block)."""
        return self._lattice(fineness)[0]

    def coordinates(self, fineness: float) -> Array:
        """kappa [N, q] at the rows."""
        return self._lattice(fineness)[1]

    def refined(self, fineness: float, integrand: Callable[[Array], Array]) -> float | None:
        """The fineness from which on the average of a function of the rows, [N] complex, does not change.

        None where there would be too many nodes: it has a pole at real kappa.
        """
        coarse = self._average(fineness / _FINER, integrand)
        while True:
            fine = self._average(fineness, integrand)
            if abs(fine - coarse) <= _AGREES * abs(fine):
                return fineness
            fineness, coarse = fineness * _FINER, fine
            if len(self.table(fineness)) > MOST:
                return None

    def _average(self, fineness: float, integrand: Callable[[Array], Array]) -> complex:
        rows = self.table(fineness)
        return complex(rows[:, 1] @ integrand(rows))

    def _lattice(self, fineness: float) -> tuple[Array, Array]:
        if fineness not in self._known:
            self._known[fineness] = _lattice(self.shape, fineness)
        return self._known[fineness]


def _lattice(shape: Shape, fineness: float) -> tuple[Array, Array]:
    """Rows without those, far out, that hold next to nothing, column after column, as the kernels take them; and their
    kappa [N, q].
    """
    rows = tensor_table(shape, (fineness,) * shape.rank)
    mu = rows[:, 4 + shape.rank :]
    rows = rows[rows[:, 1] * (1.0 + (mu * mu).sum(axis=1)) > _NEGLIGIBLE]
    further = [*range(5, 4 + shape.rank)]
    table, kappa = np.asfortranarray(np.delete(rows, further, axis=1)), np.ascontiguousarray(rows[:, [0, *further]])
    kappa.flags.writeable = False  # the kernels take no other table than one that may be written to
    return table, kappa
