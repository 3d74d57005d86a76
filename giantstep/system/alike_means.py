"""Mean features that are all but one function wherever the loss feels the output, at infinite dimension.

Labels that the spike all but decides are felt close to where they turn; functions of a span are powers of the distance
there. The equations of m are then nearly the same one, which any combination solves but for rounding.
"""

from __future__ import annotations

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.newton import distance
from giantstep.system.span import orthonormal

Array = np.ndarray
_ALIKE = 1e-5  # what a function has beside the others, of which equations know the square, and rounding hides 1e-11
_NEAR = 1e-3  # a Newton step, relative to its unknown, that ends at the solution


def require_decided(system: CoupledSystem, x: Array) -> None:
    """Raise NotConverged where unknowns x satisfy the equations and are not their solution."""
    if system.span is None or system.span.rank < 2:
        return
    rest = _least_rest(system)
    if rest > _ALIKE or distance(system, x) < _NEAR:
        return
    raise NotConverged(
        f"where the loss feels the output, one of the mean features is the others but for {rest:.0e} of itself: which "
        "combination is the best is lost in rounding",
        "give a dimension (--dimension), label noise (target.flips or target.probit), or equal readout values",
    )


def _least_rest(system: CoupledSystem) -> float:
    """What the mean features have beside each other, relative, under the curvature of the loss at the last x."""
    rank = 0 if system.span is None else system.span.rank
    curvature = np.maximum(system.view("avg_h"), 0.0)
    felt = np.sqrt(system.table[:, 1] * curvature)[:, None] * system.table[:, -3 * system.blocks :][:, :rank]
    found = orthonormal(felt, np.sqrt((felt**2).sum(axis=0)))
    return found.least if found.rank == rank else found.dropped
