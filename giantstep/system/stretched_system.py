"""The coupled system with a bulk whose covariances do not commute: what its samples add follows from the unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from giantstep.system.bulk_system import BulkSystem, stretched_arrays
from giantstep.system.coupled_system import Tangents
from giantstep.system.loss_kernels import stretched_kernel

Array = np.ndarray
_STEPS, _SWEEPS = 12, 200  # of Newton's method; of the iteration that is sure to go to the solution, from afar
_CLOSE, _SETTLED, _ROUNDING = 0.1, 1e-14, 1e-11  # relative changes of X
_DAMPED = 0.5


class StretchedSystem(BulkSystem):
    """X, what the samples add to the mean resolvent, and its adjoint follow from the unknowns; they are kept."""

    def bulk(self) -> tuple[ModuleType, dict[str, Array]]:
        """See ``BulkSystem``; the samples at as many nodes as the output has."""
        return stretched_kernel(self.directions), stretched_arrays(self.problem, self.level.output)

    def follow(self) -> bool:
        """See ``BulkSystem``: X by Newton's method, its adjoint by a linear equation."""
        try:
            return self._followed()
        except np.linalg.LinAlgError:
            return False

    def _followed(self) -> bool:
        state = self.state
        state.setdefault("X", state["base"].copy())
        if not self._newton() and not (self._swept() and self._newton()):
            return False
        self.own.chain(state)
        state["adjoint_X"] = np.zeros_like(state["X"])
        self.own.adjoint(state)
        state["adjoint_X"] = -_solved(self._slope(state).T, state["residual_adjoint_X"])
        self.own.adjoint(state)
        return True

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """See ``CoupledSystem``: X and its adjoint move with what they follow from."""
        return Following(super().tangents(known), self._slope(dict(known)))

    def _newton(self) -> bool:
        """Newton's method for X from where it is; whether the solution was next to it."""
        before = np.inf
        for _ in range(_STEPS):
            self.own.resolvent(self.state)
            left, x = self.state["residual_X"], self.state["X"]
            if not np.all(np.isfinite(left)):
                return False
            step = _solved(self._slope(self.state), left)
            size = _relative(step, x)
            if size > min(before, _CLOSE):
                return bool(before < _ROUNDING)
            self.state["X"], before = x - step, size
            if size < _SETTLED:
                break
        self.own.resolvent(self.state)
        return bool(before < _ROUNDING)

    def _swept(self) -> bool:
        """X by damped iteration from that without samples."""
        self.state["X"] = self.state["base"].copy()
        for _ in range(_SWEEPS):
            self.own.resolvent(self.state)
            left = self.state["residual_X"]
            if not np.all(np.isfinite(left)):
                break
            self.state["X"] = self.state["X"] - _DAMPED * left
            if _relative(left, self.state["X"]) < 0.1 * _CLOSE:
                return True
        self.state["X"] = self.state["base"].copy()
        return False

    def _slope(self, state: dict[str, Any]) -> Array:
        """The derivative of the residual of X in X, [4K^2, 4K^2]."""
        self.own.slope(state)
        size = state["X"].size
        slope = np.eye(size) - state["slope_X"].reshape(size, size)
        return np.asarray(slope)


@dataclass(frozen=True)
class Following:
    """Tangents in which X and its adjoint move by their own equations; matrix: the derivative of that of X in X."""

    of: Tangents
    matrix: Array

    def along(self, moves: Mapping[str, Any], wanted: tuple[str, ...] | None = None) -> Mapping[str, Array]:
        """See ``Tangents``."""
        for name, matrix in (("X", self.matrix), ("adjoint_X", self.matrix.T)):
            left = f"d_residual_{name}"
            moves = {**moves, f"d_{name}": -_solved(matrix, self.of.along(moves, (left,))[left])}
        return self.of.along(moves, wanted)


def _solved(matrix: Array, right: Array) -> Array:
    """The solution of linear equations, nan where there is none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right.ravel()).reshape(right.shape))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _relative(change: Array, x: Array) -> float:
    return float(np.max(np.abs(change)) / np.max(np.abs(x)))
