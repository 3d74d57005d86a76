"""Implicit differentiation by differences of the equations, for systems without generated tangents.

F(x; theta) = 0 gives dx/dtheta = -(dF/dx)^-1 dF/dtheta with the exact Newton matrix; dF/dtheta is taken from four
evaluations of F at the solution. The observables at theta + s and x + s dx/dtheta then differ from those of the
solution there by even powers of s, which a symmetric difference does not see.
"""

from __future__ import annotations

import numpy as np

from giantstep.observe.gradient.linear import solved
from giantstep.observe.gradient.parameter import Parameter, Rates
from giantstep.spec.errors import NotConverged
from giantstep.system.bulk_system import coupled_at
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import Problem

STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative
_STEP = 2e-3  # of a parameter's unit: leaves 1e-11 of the fifth derivative, and 1e-10 of rounding
_STILL = 1e-3  # of the largest relative motion: rounding of the others' is seen in what moves less


def needs_differences(problem: Problem) -> bool:
    """Whether there are no generated tangents for the system of a problem."""
    return problem.own_bulk or problem.rank > 1


class ByDifferences:
    """Derivatives along parameters of a system at its solution; ``worst``: residual of the linear equations."""

    def __init__(self, system: CoupledSystem) -> None:
        self.system, self.worst = system, 0.0
        self.x = system.work[system.first].copy()
        self.matrix, self.scale = system.jacobian().copy(), system.scale(self.x).copy()

    def along(self, parameter: Parameter | None) -> Rates:
        """Derivatives of the observables in a parameter, in the bias for None. Raises NotConverged."""
        unit = 1.0 if parameter is None else parameter.unit
        near = [(n * _STEP, w / _STEP, self._there(parameter, n * _STEP)) for n, w in STENCIL]
        force = sum((w * there.residual(self.x) for _, w, there in near), np.zeros(len(self.x)))
        if not np.all(np.isfinite(force)):
            raise NotConverged("the solution does not move with the parameter", "move away from the ends of its range")
        motion = -solved(self.matrix, force, self.scale)
        left, found = np.zeros(len(self.x)), np.zeros(3)
        for s, w, there in near:
            left += w * there.residual(self.x + s * motion)
            found += w * there.answer()
        least = _STILL * float(np.max(np.abs(motion) / self.scale)) * self.scale
        terms = np.abs(self.matrix) @ np.maximum(np.abs(motion), least)
        self.worst = max(self.worst, float(np.max(np.abs(left) / np.maximum(terms, 1e-300))))
        test, train, energy = (float(value) / unit for value in found)
        return test, train, energy

    def _there(self, parameter: Parameter | None, change: float) -> CoupledSystem:
        """The equations where a parameter, or the bias, has changed by so many of its units."""
        problem, level = self.system.problem, self.system.level
        if parameter is None:
            return coupled_at(problem.with_bias(problem.bias + change), level)
        return coupled_at(parameter.problem(change, problem.bias), level)
