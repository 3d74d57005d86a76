"""How a trained bias follows a parameter: the implicit function theorem for dPhi/dbias = 0.

With Phi minimal in the bias b at every value of a parameter theta, db/dtheta = -Phi_b,theta/Phi_bb. The slopes of Phi
along theta and b are those of solutions at fixed bias; their derivatives in b are differences of these, over steps that
are halved and extrapolated until they settle: few samples and a small ridge vary fast with the bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from giantstep.observe.gradient.parameter_directions import Direction, still
from giantstep.system.problem import Problem

Array = np.ndarray
Energies = Callable[[float], list[float]]
_FIRST, _HALVINGS = 0.02, 6  # the first step, of a pre-activation's spread
_ENOUGH = 1e-9  # of a derivative in the bias: what rounding of the solutions leaves is more soon


def bias_direction(problem: Problem) -> Direction:
    """The direction that raises the bias of all blocks."""
    return replace(still(problem), offset=1.0)


def bias_rates(problem: Problem, keys: Sequence[str], energies: Energies) -> dict[str, tuple[float, float]]:
    """db/dtheta by key, with its error; ``energies``: slopes of the free energy of the solution at a fixed bias, in the
    keys and in it.

    A bias of zero that is stationary by symmetry stays there.
    """
    if problem.bias == 0.0:
        return dict.fromkeys(keys, (0.0, 0.0))
    mixed, error = _derivative(energies, problem.bias, _FIRST * problem.spread())
    rates = -mixed[:-1] / mixed[-1]
    off = (error[:-1] + np.abs(rates) * error[-1]) / abs(mixed[-1])
    return {key: (float(rate), float(by)) for key, rate, by in zip(keys, rates, off, strict=True)}


def _derivative(energies: Energies, bias: float, step: float) -> tuple[Array, Array]:
    """The derivatives of slopes in the bias, and their errors: central differences of halved steps, extrapolated."""
    before: list[Array] = []
    best, error, least = np.zeros(0), np.zeros(0), math.inf
    for _ in range(_HALVINGS):
        up, down = (np.array(energies(bias + side * step)) for side in (1.0, -1.0))
        row = [(up - down) / (2.0 * step)]
        for order, coarse in enumerate(before, start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**order - 1.0))
        if before:
            change = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - before[-1]))
            worst = float(np.max(change / np.maximum(np.abs(row[-1]), 1e-300)))
            if worst >= least:  # rounding
                break
            best, error, least = row[-1], change, worst
            if worst <= _ENOUGH:
                break
        before, step = row, 0.5 * step
    return best, error
