"""The coupled system with another bulk: averages over the output as ever, the equations of its rows from their text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.unknowns import RESIDUAL
from giantstep.law.given_bulk import given_law
from giantstep.law.input_law import input_law
from giantstep.law.kind import bulk_kind
from giantstep.law.rows_of_blocks import RowsOfBlocks
from giantstep.law.spike import states_after_steps
from giantstep.law.structured_inputs import norms_of_isotropic_rows
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.exchange import Exchange, Room, exchange_of
from giantstep.system.kernels import system_kernel
from giantstep.system.problem import Problem

Array = np.ndarray
_WAYS = 8  # directions that the tangents of all numbers follow at a time, at most
_AT_A_TIME = 1 << 20  # numbers of the largest array and its tangents: rows that are given have a matrix of all neurons


def bulk_equations(problem: Problem) -> ModuleType:
    """The equations of a problem's bulk."""
    model = problem.model
    return system_kernel(bulk_kind(model), model.target.indices, problem.rank)


def bulk_arrays(problem: Problem, nodes: int) -> Mapping[str, Array]:
    """What these are given, by name; nodes: of the residual of a sample of the step. Raises BadInput."""
    model = problem.model
    kind = bulk_kind(model)
    if kind == "inputs":
        law = input_law(model)
        blocks = [problem.spike.bulk_variance.index(term.variance) for term in problem.blocks]
        return {"Sigma": law.covariance[blocks], "chi": law.chi[blocks], **law.weights}
    if kind == "norms":
        return {"chi": np.full(len(problem.blocks), norms_of_isotropic_rows(model.network))}
    if kind in ("matrix", "neurons"):
        return given_law(model)
    return rows_of_blocks(problem).samples(nodes)


def rows_of_blocks(problem: Problem) -> RowsOfBlocks:
    """The rows of a problem's blocks, after the steps of its model."""
    model, spike = problem.model, problem.spike
    loadings, _ = spike.along_kappa(model.network.readout.values)
    given = list(zip(loadings, spike.bulk_variance, strict=True))
    own = problem.loadings or tuple((block.scale,) for block in problem.blocks)
    members = tuple(
        tuple(number for number, one in enumerate(given) if one == (row, block.variance))
        for row, block in zip(own, problem.blocks, strict=True)
    )
    parts, first = (model.network, model.steps, model.target), states_after_steps(model)[-1].loadings[0]
    turned = problem.rank == 1 and first[0] * loadings[0][0] < 0.0
    return RowsOfBlocks(
        model, parts, members, tuple(block.variance for block in problem.blocks), -1.0 if turned else 1.0
    )


@dataclass(frozen=True, eq=False)
class RowsAtLevel:
    """What a system has of its rows, whatever the numbers of its equations: these, the arrays that they are about, by
    name; stages; what its numbers begin with; how these are exchanged.
    """

    equations: ModuleType
    given: Mapping[str, Array]
    order: Any
    start: Any
    exchange: Exchange


class BulkSystem(CoupledSystem):
    """Unknowns and averages are exchanged with the workspace of the isotropic system; the rest is in ``numbers``."""

    again = 0.15  # a Jacobian costs as much as several residuals

    @cached_property
    def rows(self) -> RowsAtLevel:
        """What it has of its rows: nothing before it is asked for, as outputs are told without."""
        found: RowsAtLevel | None = self.at.rows.get(type(self))
        if found is None:
            found = self.at.rows[type(self)] = self._of_rows()
        return found

    @property
    def equations(self) -> ModuleType:
        """See ``LinearReadouts``: those of the bulk."""
        return self.rows.equations

    @property
    def given(self) -> Mapping[str, Array]:
        """The arrays that these are about, by name."""
        return self.rows.given

    @property
    def order(self) -> Any:
        """Their stages."""
        return self.rows.order

    @property
    def exchange(self) -> Exchange:
        """Where the workspace and ``numbers`` have the same."""
        return self.rows.exchange

    @cached_property
    def numbers(self) -> Numbers:
        """The numbers of the equations."""
        return Numbers.begun(self.rows.start, self.parameters)

    def _of_rows(self) -> RowsAtLevel:
        equations, given = bulk_equations(self.problem), bulk_arrays(self.problem, self.level.samples)
        largest = max(values.size for values in given.values())
        count = self.directions(largest)
        ways = math.ceil(count / math.ceil(count / max(1, min(_WAYS, _AT_A_TIME // largest))))
        nodes = dict.fromkeys(self.kernel.AVERAGES, (len(self.table),))
        unknowns = {name: self.view(name).shape for name in equations.UNKNOWNS}
        shapes = {name: values.shape for name, values in given.items()}
        shapes = {**shapes, **nodes, **unknowns, **self.inner(equations, given)}
        node, fraction = self.node, self.problem.fraction
        still = {name: values for name, values in given.items() if name not in equations.tangents.text.others}
        of = equations.tangents.contractions
        numbers = Numbers(of, node, fraction, self.parameters, shapes, ways=ways, still=still)
        numbers.update(given)
        functions = self.blocks if self.span is None else self.span.rank
        exchange = exchange_of(Room(self.kernel, equations, self.blocks, functions, ways), numbers.layout)
        return RowsAtLevel(equations, given, self.orders(equations), numbers.start(), exchange)

    @staticmethod
    def orders(equations: ModuleType) -> Any:
        """The stages of equations."""
        return orders_of(equations)

    def directions(self, largest: int) -> int:
        """How many directions tangents follow; largest: numbers of the largest array."""
        return len(self.first)

    @staticmethod
    def inner(equations: ModuleType, given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
        """Shapes of what is solved for within equations."""
        return {}

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """See ``CoupledSystem``."""
        super().at_ridge(ridge)
        self.numbers.parameters[:] = self.parameters
        return self

    def residual(self, x: Array) -> Array:
        """See ``CoupledSystem``."""
        if not self.fields(x):
            return np.full(len(x), np.nan)
        self.average()
        self.give()
        if not self.follow():
            return np.full(len(x), np.nan)
        self.evaluated = True
        exchange, value = self.exchange, self.numbers.value
        self.work[exchange.residuals[0]] = value[exchange.residuals[1]]
        residuals: Array = self.work[self.members[RESIDUAL]]
        return residuals

    def give(self) -> None:
        """Unknowns and averages to the numbers of the equations."""
        exchange, value = self.exchange, self.numbers.value
        value[exchange.unknowns[1]] = self.work[exchange.unknowns[0]]
        for place, average in zip(exchange.averages, self.averages, strict=True):
            value[place] = average

    def follow(self) -> bool:
        """Evaluate what follows from the unknowns; whether it could be."""
        self.numbers.run(self.order.residuals)
        return True

    def jacobian(self) -> Array:
        """See ``CoupledSystem``: some columns at a time."""
        exchange, value = self.exchange, self.numbers.value
        matrix = np.empty((len(self.first), len(self.first)))
        self.numbers.run(self.order.still)
        for columns, unit in exchange.passes:
            value[exchange.moved] = unit
            self.move()
            matrix[:, columns] = value[exchange.image[:, : len(columns)]]
        return matrix

    def sizes_of_equations(self, size: Array) -> Array | None:
        """See ``Equations``."""
        return None

    def move(self) -> None:
        """Evaluate how the residuals move with the unknowns."""
        self.numbers.run(self.order.moved)

    def known(self) -> dict[str, Any]:
        """See ``CoupledSystem``: what has been evaluated."""
        names = (*self.numbers,) if self.evaluated else (*self.given,)
        return {**super().known(), **{name: self.numbers[name].copy() for name in names}}

    def missed(self, x: Array) -> float:
        """See ``CoupledSystem``: the equations of the bulk are among them."""
        self.evaluate(x)
        return float(self.equations.check(self.node, self.problem.fraction, self.parameters, self.numbers))

    def averaged(self) -> Array:
        """See ``CoupledSystem``."""
        out = super().averaged()
        self.numbers.run(self.order.energy)
        out[2] = self.numbers["free_energy"]
        return out


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
