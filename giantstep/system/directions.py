"""Newton steps of systems of many blocks by a few directions in the place of a matrix of all derivatives.

What many unknowns do to each other is smooth, in units that make the derivative of each equation in its own unknown 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from generated.runtime import newton as machine
from generated.runtime.conjugate_residuals import FURTHER, descend
from giantstep.system.equations import Equations

Array = np.ndarray
_FEW = 60  # unknowns, of five blocks, whose matrix takes no longer
_SHARE = 3  # of the unknowns, one over: more directions take longer than the matrix


@lru_cache(maxsize=64)
def unit_vectors(count: int) -> Array:
    """All directions [n, n]."""
    return np.eye(count)


def known_along(system: Equations, room: Array) -> int:
    """How many directions solve the equations at the residuals in ``room``, to which they are added; 0 where too many
    would, or they do not.
    """
    n = room.shape[1]
    if n <= _FEW:
        return 0
    inside, size = room[machine.JACOBIAN : machine.JACOBIAN + 2 * n + 4], room[machine.SIZE]
    equations = system.sizes_of_equations(size)
    if equations is None or not (np.isfinite(equations) & (equations > 0.0)).all():  # nothing multiplies an unknown
        return 0
    right, units = room[machine.RESIDUAL] / equations, size / equations
    inside[n], inside[n + 1], inside[n + 2], inside[n + 3] = right, equations, 0.0, size
    norm = _norm(right)
    for k in range(n // _SHARE):
        inside[k] = system.along((inside[n] * size)[:, None])[:, 0] * units
        left = descend(inside, n, k)
        if left <= FURTHER * norm:
            missed = system.along((inside[n + 2] * size)[:, None])[:, 0] / equations - right
            return k + 1 if _norm(missed) <= machine.SOLVED * norm else 0
        if not left < math.inf:
            break
    return 0


def in_units(size: Array, family: Array, names: Sequence[str], factors: Mapping[str, Array]) -> Array:
    """Sizes [n] of unknowns, those of some families times a factor each; family [n]: the numbers of their names."""
    found = size.copy()
    for name, factor in factors.items():
        here = family == names.index(name)
        found[here] *= factor[: np.count_nonzero(here)]
    return found


def _norm(vector: Array) -> float:
    """By no linear algebra library: the number of directions is the same on every machine."""
    return math.sqrt(float((vector * vector).sum()))
