"""The coupled system with a bulk whose covariances do not commute: what its samples add follows from the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.unknowns import RESIDUAL
from giantstep.system.added_samples import ADJOINT, Stages, follow, slope_matrix, solved
from giantstep.system.bulk_system import BulkSystem, stretched_arrays
from giantstep.system.coupled_system import CoupledSystem, Tangents
from giantstep.system.loss_kernels import stretched_kernel

Array = np.ndarray
_KEPT = ("slope_X",)  # what tangents need beside what is given and what follows


class StretchedSystem(BulkSystem):
    """Everything is evaluated from the text of the equations; X, what the samples add, and its adjoint follow."""

    def bulk(self) -> tuple[ModuleType, dict[str, Array]]:
        """See ``BulkSystem``; the samples at twice as many nodes as the output has."""
        return stretched_kernel(self.directions), stretched_arrays(self.problem, self.level.output)

    def _numbers(self, given: Mapping[str, Array]) -> Numbers:
        """See ``BulkSystem``: the numbers of the equations, apart from the workspace."""
        self.order = orders_of(self.own)
        self.given_names = (*given,)
        shapes = {name: values.shape for name, values in given.items()}
        nodes = dict.fromkeys(self.kernel.AVERAGES, (len(self.table),))
        unknowns = {name: self.view(name).shape for name in self.own.UNKNOWNS}
        inner = dict.fromkeys(self.own.INNER, given["base"].shape)
        found = Numbers(
            self.own.tangents.contractions,
            self.node,
            self.problem.fraction,
            self.parameters,
            {**shapes, **nodes, **unknowns, **inner},
            ways=self.ways,
        )
        found.update({**given, "X": given["base"]})
        return found

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """See ``CoupledSystem``."""
        CoupledSystem.at_ridge(self, ridge)
        self.state.parameters[:], self.evaluated = self.parameters, False
        return self

    def easier(self) -> Callable[[float], CoupledSystem]:
        """See ``CoupledSystem``: with a share of what the samples add to isotropic rows; all of it at one."""
        added = {name: self.state[name].copy() for name in ("sample", "base", "along", "spread")}
        isotropic, chi = np.sign(added["base"]), self.state["chi"].copy()

        def at(share: float) -> CoupledSystem:
            moved = {name: share * values for name, values in added.items()}
            moved["base"] += (1.0 - share) * isotropic
            self.state.update(moved, chi=share**2 * chi, X=moved["base"])
            self.evaluated = False
            return self

        return at

    def residual(self, x: Array) -> Array:
        """See ``CoupledSystem``."""
        self.evaluated = False
        if not self.fields(x):
            return np.full(len(x), np.nan)
        average, given = self.averaging
        average(*given)
        for name in self.own.UNKNOWNS:
            self.state[name] = self.view(name)
        for name, row in zip(self.kernel.AVERAGES, self.averages, strict=True):
            self.state[name] = row
        self.state.run(self.order.stages.before)
        if not self.follow():
            return np.full(len(x), np.nan)
        self.evaluated = True
        for name in self.own.UNKNOWNS:
            self.view(f"residual_{name}")[...] = self.state[f"residual_{name}"]
        residuals: Array = self.work[self.places[RESIDUAL]]
        return residuals

    def follow(self) -> bool:
        """See ``BulkSystem``: X by Newton's method, its adjoint by a linear equation."""
        return follow(self.order.stages, self.state)

    def _moving(self) -> Callable[[Mapping[str, Array]], Mapping[str, Array]]:
        """See ``BulkSystem``."""
        self.state.run(self.order.still)
        return self._moved

    def _moved(self, moves: Mapping[str, Array]) -> Mapping[str, Array]:
        state, order, matrix = self.state, self.order, slope_matrix(self.state["slope_X"])
        state.update(moves)
        state["d_X"] = state[f"d_{ADJOINT}"] = 0.0
        state.run(order.resolvent)
        state["d_X"] = -solved(matrix, state["d_residual_X"])
        state.run(order.chain)
        state.run(order.adjoint)
        state[f"d_{ADJOINT}"] = -solved(matrix.T, state[f"d_residual_{ADJOINT}"])
        state.run(order.last)
        return state  # type: ignore[no-any-return]

    def known(self) -> dict[str, Any]:
        """See ``CoupledSystem``: what has been evaluated."""
        names = (*self.state, *_KEPT) if self.evaluated else self.given_names
        return {**CoupledSystem.known(self), **{name: self.state[name].copy() for name in names}}

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """See ``CoupledSystem``: X and its adjoint move with what they follow from."""
        return Following(super().tangents(known), slope_matrix(known["slope_X"]))

    def energy(self) -> float:
        """See ``BulkSystem``."""
        self.state.run(self.order.energy)
        return float(self.state["free_energy"])


@dataclass(frozen=True)
class Orders:
    """The stages of the equations, and of the tangents of their residuals: what these need of what stands still, the
    residual of X, what does not follow from the adjoint of X, its residual, what follows.
    """

    stages: Stages
    energy: Stage
    still: Stage
    resolvent: Stage
    chain: Stage
    adjoint: Stage
    last: Stage


@lru_cache(maxsize=16)
def orders_of(equations: ModuleType) -> Orders:
    """The stages of a module's equations."""
    of = equations.tangents.contractions
    stages = Stages.to(equations, [*(f"residual_{name}" for name in equations.UNKNOWNS), *of.followed])
    results = tuple(f"d_residual_{name}" for name in (*equations.UNKNOWNS, ADJOINT))
    moved = tuple(f"d_{name}" for name in (*equations.UNKNOWNS, *equations.INNER))
    still = Stage(of, (*results, "d_residual_X"), after=stages.all, without=of.moving)
    resolvent = Stage(of, ("d_residual_X",), of=moved, moved=moved)
    before = Stage(of, ("d_residual_X",), of=moved, without=("d_X",), moved=moved)
    chain = Stage(of, results, of=moved, without=(f"d_{ADJOINT}",), after=(before,), moved=moved)
    adjoint = Stage(of, (f"d_residual_{ADJOINT}",), of=(f"d_{ADJOINT}",), moved=moved)
    last = Stage(of, results, of=(f"d_{ADJOINT}",), moved=moved)
    energy = Stage(of, ("free_energy",), after=stages.all)
    return Orders(stages, energy, still, resolvent, chain, adjoint, last)


@dataclass(frozen=True)
class Following:
    """Tangents in which X and its adjoint move by their own equations; matrix: the derivative of that of X in X."""

    of: Tangents
    matrix: Array

    def along(self, moves: Mapping[str, Any], wanted: tuple[str, ...] | None = None) -> Mapping[str, Array]:
        """See ``Tangents``."""
        for name, matrix in (("X", self.matrix), (ADJOINT, self.matrix.T)):
            left = f"d_residual_{name}"
            moves = {**moves, f"d_{name}": -solved(matrix, self.of.along(moves, (left,))[left])}
        return self.of.along(moves, wanted)
