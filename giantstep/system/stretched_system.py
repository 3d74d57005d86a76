"""The coupled system with a bulk whose covariances do not commute: what its samples add follows from the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from giantstep.system.added_samples import found_from_afar, found_near, slope, solved
from giantstep.system.bulk_system import BulkSystem, stretched_arrays
from giantstep.system.coupled_system import CoupledSystem, Tangents
from giantstep.system.loss_kernels import stretched_kernel

Array = np.ndarray


class StretchedSystem(BulkSystem):
    """X, what the samples add to the mean resolvent, and its adjoint follow from the unknowns; they are kept."""

    def bulk(self) -> tuple[ModuleType, dict[str, Array]]:
        """See ``BulkSystem``; the samples at twice as many nodes as the output has."""
        return stretched_kernel(self.directions), stretched_arrays(self.problem, self.level.output)

    def easier(self) -> Callable[[float], CoupledSystem]:
        """See ``CoupledSystem``: with a share of what the samples add to isotropic rows; all of it at one."""
        added = {name: self.state[name] for name in ("sample", "base", "along", "spread")}
        isotropic, chi = np.sign(added["base"]), self.state["chi"]

        def at(share: float) -> CoupledSystem:
            moved = {name: share * values for name, values in added.items()}
            moved["base"] += (1.0 - share) * isotropic
            self.state.update(moved, chi=share**2 * chi)
            self.state.pop("X", None)
            return self

        return at

    def follow(self) -> bool:
        """See ``BulkSystem``: X by Newton's method, its adjoint by a linear equation."""
        try:
            return self._followed()
        except np.linalg.LinAlgError:
            return False

    def _followed(self) -> bool:
        state = self.state
        state.setdefault("X", state["base"].copy())
        if not found_near(self.own, state) and not found_from_afar(self.own, state):
            return False
        self.own.chain(state)
        state["adjoint_X"] = np.zeros_like(state["X"])
        self.own.adjoint(state)
        state["adjoint_X"] = -solved(slope(self.own, state).T, state["residual_adjoint_X"])
        self.own.adjoint(state)
        return True

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """See ``CoupledSystem``: X and its adjoint move with what they follow from."""
        return Following(super().tangents(known), slope(self.own, dict(known)))


@dataclass(frozen=True)
class Following:
    """Tangents in which X and its adjoint move by their own equations; matrix: the derivative of that of X in X."""

    of: Tangents
    matrix: Array

    def along(self, moves: Mapping[str, Any], wanted: tuple[str, ...] | None = None) -> Mapping[str, Array]:
        """See ``Tangents``."""
        for name, matrix in (("X", self.matrix), ("adjoint_X", self.matrix.T)):
            left = f"d_residual_{name}"
            moves = {**moves, f"d_{name}": -solved(matrix, self.of.along(moves, (left,))[left])}
        return self.of.along(moves, wanted)
