"""What a mean output that varies much between draws does to the test error, beyond first order.

The slope of the objective in the mean weights m is normal between data sets (``giantstep/system/mean_output.py``). With
a tilt of the objective of such a size everything of a fit follows; where the loss is next to linear wherever outputs
are, m goes far, until outputs reach a part of it that bends. The softest direction of m is followed. Source:
docs/theory.md, section 14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.quadrature.gauss import hermite
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.mean_output import means_of, places_of_means, root_of_slope
from giantstep.system.newton import newton

Array = np.ndarray
_TILTS, _NEAR = 30, 0.02  # nodes of a normal variable; a tilt at which errors are straight
_SIZE = 1e-2  # of the unknowns m, which may vanish at the solution


@dataclass(frozen=True)
class Tilted:
    """The equations with a tilt [n] of the objective."""

    system: CoupledSystem
    tilt: Array
    again: float = 0.0

    def residual(self, x: Array) -> Array:
        """See ``Equations``."""
        return np.asarray(self.system.residual(x) - self.tilt)

    def jacobian(self) -> Array:
        """See ``Equations``."""
        return self.system.jacobian()

    def matrix_of_step(self) -> Array:
        """See ``Equations``."""
        return self.system.jacobian()

    def scale(self, x: Array) -> Array:
        """See ``Equations``: m may vanish without a tilt, and is not small with one."""
        return np.asarray(np.maximum(self.system.scale(x), _SIZE * (self.tilt != 0.0)))

    def sizes_of_equations(self, size: Array) -> Array | None:
        """See ``Equations``."""
        return None

    def along(self, directions: Array) -> Array:
        """See ``Equations``."""
        return self.system.along(directions)


def over_tilts(system: CoupledSystem, dimension: float) -> tuple[float, float] | None:
    """(mean test error, its variance less that of its slope where there is no tilt) of fits at a dimension; None where
    some fit is not found.

    The slope is what the first order has: a tilt may take the error to where it is flat, or bends the other way.
    """
    tilt, start = _tilt(system) / math.sqrt(dimension), system.x.copy()
    nodes, weights = hermite(_TILTS)
    found: dict[float, float] = {}
    for side in (1.0, -1.0):
        x = start
        for size in np.sort(np.abs([*nodes[side * nodes > 0.0], _NEAR])).tolist():
            outcome = newton(Tilted(system, side * size * tilt), x, most=40)
            if not outcome.converged:
                return None
            x = outcome.x
            system.residual(x)
            found[side * size] = float(system.answer()[0])
    system.residual(start)
    errors, slope = np.array([found[node] for node in nodes.tolist()]), (found[_NEAR] - found[-_NEAR]) / (2.0 * _NEAR)
    mean = float(weights @ errors)
    return mean, float(weights @ (errors - mean) ** 2) - slope**2


def _tilt(system: CoupledSystem) -> Array:
    """A tilt [n] of all unknowns by one standard deviation, along the direction in which the mean output moves most;
    times the root of the dimension.
    """
    found = means_of(system)
    root = root_of_slope(found)
    moves = np.linalg.solve(found.curvature, root)  # of m, by independent tilts
    softest = np.linalg.eigh(moves.T @ found.products @ moves)[1][:, -1]
    tilt = np.zeros(len(system.first))
    tilt[places_of_means(system, found)] = root @ softest
    return tilt
