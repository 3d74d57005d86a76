"""The coupled system with a bulk whose covariances do not commute: what its samples add follows from the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Stage
from giantstep.system.added_samples import ADJOINT, Stages, follow, slope_matrix, solved
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem, Tangents
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.problem import Problem

Array = np.ndarray
_KEPT = ("slope_X",)  # what tangents need beside what is given and what follows


class StretchedSystem(BulkSystem):
    """X, what the samples add, and its adjoint follow from the unknowns."""

    of_samples = True

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        super().__init__(problem, level, laws)
        self.numbers["X"] = self.given["base"]  # that without samples at first

    def orders(self) -> Orders:
        """See ``BulkSystem``."""
        return orders_of(self.equations)

    def inner(self) -> dict[str, tuple[int, ...]]:
        """See ``BulkSystem``."""
        return dict.fromkeys(self.equations.INNER, self.given["base"].shape)

    def takes(self, other: CoupledSystem) -> None:
        """See ``CoupledSystem``: X is found from where it is."""
        if isinstance(other, StretchedSystem) and other.numbers["X"].shape == self.numbers["X"].shape:
            self.numbers["X"] = other.numbers["X"]

    def easier(self) -> Callable[[float], CoupledSystem]:
        """See ``CoupledSystem``: with a share of what the samples add to isotropic rows; all of it at one."""
        added = {name: self.numbers[name].copy() for name in ("sample", "base", "along", "earlier", "tie_last")}
        isotropic, chi = np.sign(added["base"]), self.numbers["chi"].copy()

        def at(share: float) -> CoupledSystem:
            moved = {name: share * values for name, values in added.items()}
            moved["base"] += (1.0 - share) * isotropic
            self.numbers.update(moved, chi=share**2 * chi, X=moved["base"])
            self.evaluated, self.certified = False, None
            return self

        return at

    def follow(self) -> bool:
        """See ``BulkSystem``: X by Newton's method, its adjoint by a linear equation."""
        self.numbers.run(self.order.stages.before)
        return follow(self.order.stages, self.numbers)

    def move(self) -> None:
        """See ``BulkSystem``: X and its adjoint move with what they follow from."""
        numbers, order, matrix = self.numbers, self.order, slope_matrix(self.numbers["slope_X"])
        numbers["d_X"] = numbers[f"d_{ADJOINT}"] = 0.0
        numbers.run(order.resolvent)
        numbers["d_X"] = -solved(matrix, numbers["d_residual_X"])
        numbers.run(order.chain)
        numbers.run(order.adjoint)
        numbers[f"d_{ADJOINT}"] = -solved(matrix.T, numbers[f"d_residual_{ADJOINT}"])
        numbers.run(order.last)

    def known(self) -> dict[str, Any]:
        """See ``CoupledSystem``: what has been evaluated."""
        names = (*self.numbers, *_KEPT) if self.evaluated else (*self.given,)
        return {**CoupledSystem.known(self), **{name: self.numbers[name].copy() for name in names}}

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """See ``CoupledSystem``: X and its adjoint move with what they follow from."""
        return Following(super().tangents(known), slope_matrix(known["slope_X"]))


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
