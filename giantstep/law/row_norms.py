"""The norms of the rows after a gradient step: how much they vary, and the directions that they go with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generated import row_norms
from giantstep.law.residual import ResidualLaw

Array = np.ndarray


@dataclass(frozen=True)
class RowNorms:
    """What norms of rows are functions of: rate and samples of the step, readout values of the blocks, E sigma'' and
    Var sigma' of the activation, moments E[rho^i z^j] of the rest of sigma'; radial: 1 for Gaussian initial rows, 0 for
    rows on the sphere.
    """

    rate: float
    samples: float
    values: tuple[float, ...]
    linear: float
    variance: float
    moments: tuple[float, ...]
    radial: float

    def of_blocks(self, law: ResidualLaw) -> tuple[Array, Array]:
        """(chi [K], coefficients [K, 2, N] of the directions k_b), for squared norms of mean c_b.

        chi: d times the variance of the squared norms; k_b: d times their covariance with the rows, a sum over samples
        ``(1/n0) sum_i (f_1 - a_2 B f_2)(e_i) x_i`` of which these are f_1 and f_2 at the nodes of the residual.
        """
        return _collected([row_norms.norms(*self._arguments(u), *_nodes(law), self.moments) for u in self.values])

    def rates(self, law: ResidualLaw) -> tuple[Array, Array]:
        """The same along the rate of the step."""
        found = []
        for u in self.values:
            moved = row_norms.covariance_rates(self.rate, self.samples, u, self.linear, self.variance)
            found.append(row_norms.norms_rates(*self._arguments(u), *moved, *_nodes(law), self.moments))
        return _collected(found)

    def _arguments(self, u: float) -> tuple[float, ...]:
        parts = row_norms.covariance(self.rate, self.samples, u, self.linear, self.variance)
        return self.rate, self.samples, u, *parts, self.radial


def _collected(found: list[tuple[float, Array, Array]]) -> tuple[Array, Array]:
    return np.array([chi for chi, _, _ in found]), np.array([[first + noise, -first] for _, first, noise in found])


def _nodes(law: ResidualLaw) -> tuple[Array, Array, Array]:
    return law.e, law.weight, law.weight_t
