"""How the orthonormal functions of a span move: only what their rates have beside the span counts.

What they have along it is an average over all nodes of kappa, also where the rates are asked for at a part of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.observe.gradient.parameter_directions import Direction
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.span import ROUNDING, Span, hidden_rates, ordered_sums

Array = np.ndarray
_EPS = 2.2e-16
_WORST = 1e-7  # rounding of rates beside what counts of them: by measurement the derivative is 30 times as exact


@dataclass(frozen=True)
class FunctionRates:
    """Rates of the functions e_i of a span along a direction, at the nodes of a system."""

    system: CoupledSystem
    span: Span
    direction: Direction

    def beside(self, along: Array) -> Array:
        """What they have beside the span, [N, K]; along [K, K]: ``along`` of the system with all nodes."""
        return np.asarray(ordered_sums(*self._terms()) - ordered_sums(self._functions, along))

    def along(self) -> Array:
        """What they have along e_j, [K, K]. Raises NotConverged where rounding hides the rest of them."""
        (rates, matrix), weight = self._terms(), self.system.table[:, 1]
        found = ordered_sums(rates, matrix)
        products = np.einsum("n,ni,nj->ij", weight, self._functions, found, optimize=False)
        rest = found - ordered_sums(self._functions, products)
        rounding = _EPS * np.sqrt(weight @ ordered_sums(np.abs(rates), np.abs(matrix)) ** 2).max()
        if rounding > _WORST * np.sqrt(weight @ rest**2).max() and rounding > ROUNDING:
            raise hidden_rates()
        return np.asarray(products)

    @property
    def _functions(self) -> Array:
        count = len(self.span.basis)
        return self.system.table[:, -3 * count : -2 * count]

    def _terms(self) -> tuple[Array, Array]:
        """Rates [N, K] of mu0_b, or of the combinations that clusters have, in which those of mu0_b cancel; and the
        matrix [K, K] that takes them to those of e_i.
        """
        problem, points, span = self.system.problem, self.system.points(), self.span
        rates = self.direction.change(problem, points)[0].T
        if not span.clusters or span.within is None:
            return rates, span.basis
        combined = self.direction.combined(problem, span.clusters, points)
        places = [place for cluster in span.clusters for place in cluster.columns]
        rates[:, places] = combined[:, places]
        return rates, span.within
