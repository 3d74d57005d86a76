"""A coupled system whose equations are evaluated from their text; a given bulk of several blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.unknowns import RESIDUAL
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.exchange import Room, exchange_of

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
        functions = self.blocks if self.span is None else self.span.rank
        inside = tuple([name for name in given if name in found.contractions.families])
        self.exchange = exchange_of(
            Room(self.kernel, self.own, inside, self.blocks, functions, self.ways), found.layout
        )
        found.value[self.exchange.given] = np.concatenate([given[name].ravel() for name in inside])
        found.update({name: values for name, values in given.items() if name not in inside})
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
        exchange, value = self.exchange, self.state.value
        value[exchange.unknowns[1]] = self.work[exchange.unknowns[0]]
        value[exchange.averages] = self.averages
        if not self.follow():
            return np.full(len(x), np.nan)
        self.evaluated = True
        self.work[exchange.residuals[0]] = value[exchange.residuals[1]]
        residuals: Array = self.work[self.members[RESIDUAL]]
        return residuals

    def follow(self) -> bool:
        """See ``BulkSystem``."""
        self.state.run(self.order.residuals)
        return True

    def jacobian(self) -> Array:
        """See ``CoupledSystem``: some columns at a time."""
        exchange, value = self.exchange, self.state.value
        matrix = np.empty((len(self.first), len(self.first)))
        self.state.run(self.order.still)
        for columns, unit in exchange.passes:
            value[exchange.moved] = unit
            self.move()
            matrix[:, columns] = value[exchange.image[:, : len(columns)]]
        return matrix

    def move(self) -> None:
        """Evaluate how the residuals move with the unknowns."""
        self.state.run(self.order.moved)

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
