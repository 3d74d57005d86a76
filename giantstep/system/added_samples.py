"""X, what the samples of the step add to the rows that they stretch: by its equation, at real or complex arguments.

A state holds T, V1_hat and X by name, beside what the generated equations are given.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray
_STEPS, _SWEEPS = 12, 200  # of Newton's method; of the iteration that is sure to go to the solution, from afar
_CLOSE, _SETTLED, _ROUNDING = 0.1, 1e-14, 1e-11  # relative changes of X
_DAMPED = 0.5


def found_near(equations: ModuleType, state: dict[str, Any]) -> bool:
    """Newton's method for X from where it is; whether the solution was next to it."""
    before = np.inf
    for _ in range(_STEPS):
        left, x = missed(equations, state), state["X"]
        if not np.all(np.isfinite(left)):
            return False
        step = solved(slope(equations, state), left)
        size = _relative(step, x)
        if size > min(before, _CLOSE):
            return bool(before < _ROUNDING)
        state["X"], before = x - step, size
        if size < _SETTLED:
            break
    missed(equations, state)
    return bool(before < _ROUNDING)


def found_from_afar(equations: ModuleType, state: dict[str, Any]) -> bool:
    """X by damped iteration from that without samples, then by Newton's method; without success it stays there."""
    state["X"] = state["base"].astype(np.result_type(state["T"], state["base"]))
    for _ in range(_SWEEPS):
        left = missed(equations, state)
        if not np.all(np.isfinite(left)):
            break
        state["X"] = state["X"] - _DAMPED * left
        if _relative(left, state["X"]) < 0.1 * _CLOSE:
            return found_near(equations, state)
    state["X"] = state["base"].copy()
    return False


def missed(equations: ModuleType, state: dict[str, Any]) -> Array:
    """The residual of X, [2K, 2K]; the response M is stored beside it."""
    equations.response(state)
    equations.resolvent(state)
    return np.asarray(state["residual_X"])


def slope(equations: ModuleType, state: dict[str, Any]) -> Array:
    """The derivative of the residual of X in X, [4K^2, 4K^2]."""
    equations.slope(state)
    size = state["X"].size
    return np.asarray(np.eye(size) - state["slope_X"].reshape(size, size))


def solved(matrix: Array, right: Array) -> Array:
    """The solution of linear equations, nan where there is none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right.ravel()).reshape(right.shape))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _relative(change: Array, x: Array) -> float:
    return float(np.max(np.abs(change)) / np.max(np.abs(x)))
