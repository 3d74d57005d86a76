"""A coupled system whose equations are evaluated from their text; a given bulk of several blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.unknowns import RESIDUAL
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
_AT_A_TIME = 1 << 20  # numbers of a matrix and its tangents


class EvaluatedSystem(BulkSystem):
    """Everything that follows from the unknowns is evaluated from the text of the equations."""

    order: Any

    def _numbers(self, given: Mapping[str, Array]) -> Numbers:
        """See ``BulkSystem``: the numbers of the equations, apart from the workspace."""
        self.order = self.orders()
        self.given_names = (*given,)
        nodes = dict.fromkeys(self.kernel.AVERAGES, (len(self.table),))
        unknowns = {name: self.view(name).shape for name in self.own.UNKNOWNS}
        found = Numbers(
            self.own.tangents.contractions,
            self.node,
            self.problem.fraction,
            self.parameters,
            {**{name: values.shape for name, values in given.items()}, **nodes, **unknowns, **self.inner(given)},
            ways=self.ways,
        )
        found.update(given)
        return found

    def orders(self) -> Any:
        """The stages of the equations."""
        return orders_of(self.own)

    def inner(self, given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
        """Shapes of what is solved for within the equations."""
        return {}

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """See ``CoupledSystem``."""
        CoupledSystem.at_ridge(self, ridge)
        self.state.parameters[:], self.evaluated = self.parameters, False
        return self

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
        if not self.follow():
            return np.full(len(x), np.nan)
        self.evaluated = True
        for name in self.own.UNKNOWNS:
            self.view(f"residual_{name}")[...] = self.state[f"residual_{name}"]
        residuals: Array = self.work[self.places[RESIDUAL]]
        return residuals

    def follow(self) -> bool:
        """See ``BulkSystem``."""
        self.state.run(self.order.residuals)
        return True

    def _moving(self) -> Callable[[Mapping[str, Array]], Mapping[str, Array]]:
        """See ``BulkSystem``."""
        self.state.run(self.order.still)
        return self._moved

    def _moved(self, moves: Mapping[str, Array]) -> Mapping[str, Array]:
        self.state.update(moves)
        self.state.run(self.order.moved)
        return self.state  # type: ignore[no-any-return]

    def known(self) -> dict[str, Any]:
        """See ``CoupledSystem``: what has been evaluated."""
        names = (*self.state,) if self.evaluated else self.given_names
        return {**CoupledSystem.known(self), **{name: self.state[name].copy() for name in names}}

    def energy(self) -> float:
        """See ``BulkSystem``."""
        self.state.run(self.order.energy)
        return float(self.state["free_energy"])


class BlocksSystem(EvaluatedSystem):
    """A given bulk of several blocks: its matrices are as large as the network is wide."""

    @staticmethod
    def most_ways(given: Mapping[str, Array]) -> int:
        """See ``BulkSystem``: as many as take no more memory than the matrices themselves."""
        return max(1, min(BulkSystem.most_ways(given), _AT_A_TIME // given["gram"].size))


@dataclass(frozen=True)
class Orders:
    """The stages of equations: to their residuals, to the free energy, to what their tangents need of what stands
    still, to these.
    """

    residuals: Stage
    energy: Stage
    still: Stage
    moved: Stage


@lru_cache(maxsize=16)
def orders_of(equations: ModuleType) -> Orders:
    """The stages of a module's equations."""
    of = equations.tangents.contractions
    residuals = Stage(of, [*(f"residual_{name}" for name in equations.UNKNOWNS), *of.followed])
    results = tuple(f"d_residual_{name}" for name in equations.UNKNOWNS)
    moves = tuple(f"d_{name}" for name in equations.UNKNOWNS)
    energy = Stage(of, ("free_energy",), after=(residuals,))
    still = Stage(of, results, after=(residuals,), without=of.moving)
    return Orders(residuals, energy, still, Stage(of, results, of=moves, moved=moves))
