"""How a trained bias follows a parameter: the implicit function theorem for dPhi/dbias = 0.

With Phi minimal in the bias b at every value of a parameter theta, db/dtheta = -Phi_b,theta/Phi_bb. The slopes of Phi
along theta and b are those of solutions at fixed bias; their derivatives in b are differences of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from giantstep.observe.gradient.parameter_directions import Direction, still
from giantstep.system.problem import Problem

Energies = Callable[[float], list[float]]
_STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative
_STEP = 0.01  # of a pre-activation's spread: leaves 1e-9 of a function that varies on that scale


def bias_direction(problem: Problem) -> Direction:
    """The direction that raises the bias of all blocks."""
    return replace(still(problem), offset=1.0)


def bias_rates(problem: Problem, keys: Sequence[str], energies: Energies) -> dict[str, float]:
    """db/dtheta by key; ``energies``: slopes of the free energy of the solution at a fixed bias, in the keys and in it.

    A bias of zero that is stationary by symmetry stays there.
    """
    if problem.bias == 0.0:
        return dict.fromkeys(keys, 0.0)
    step, mixed = _STEP * problem.spread(), np.zeros(len(keys) + 1)
    for number, weight in _STENCIL:
        mixed += weight / step * np.array(energies(problem.bias + number * step))
    return {key: float(-slope / mixed[-1]) for key, slope in zip(keys, mixed[:-1], strict=True)}
