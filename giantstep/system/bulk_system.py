"""The coupled system with another bulk: averages over the output as ever, the equations of a trained or given bulk."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.unknowns import DIRECTION, IMAGE, RESIDUAL, TURNED
from generated.systems import trained_bulk as trained_equations
from giantstep.law.given_bulk import given_bulk
from giantstep.law.kind import bulk_kind
from giantstep.law.rows_of_blocks import RowsOfBlocks
from giantstep.law.structured_inputs import input_law
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.loss_kernels import given_blocks_kernel, given_kernel, inputs_kernel
from giantstep.system.problem import Problem
from giantstep.system.state import slices_by_name

Array = np.ndarray
_WAYS = 8  # directions that the tangents of all numbers follow at a time, at most


def bulk_arrays(problem: Problem) -> tuple[ModuleType, dict[str, Array]]:
    """The equations of a problem's bulk, and the arrays over its spectrum that they are about. Raises BadInput."""
    model = problem.model
    kind, indices = bulk_kind(model), model.target.indices
    if kind == "inputs":
        inputs = input_law(model)
        own = [problem.spike.bulk_variance.index(term.variance) for term in problem.blocks]
        return inputs_kernel(indices, problem.rank), {"Sigma": inputs.covariance[own], **inputs.weights}
    if kind == "neurons":
        return given_blocks_kernel(indices), dict(given_bulk(model).neurons)
    if kind == "matrix":
        return given_kernel(indices), dict(given_bulk(model).spectral)
    rows = rows_of_blocks(problem)
    law, sigma = rows.law(problem.spike.alignment)
    return trained_equations, {"Sigma": sigma, **law.weights, **rows.relative(law.norms)}


def rows_of_blocks(problem: Problem) -> RowsOfBlocks:
    """The rows of a problem's blocks, after the step of its model."""
    model, spike = problem.model, problem.spike
    given = list(zip(model.network.readout.values, spike.bulk_variance, strict=True))
    values = tuple(
        tuple(u for u, c in given if (u * spike.strength, c) == (block.scale, block.variance))
        for block in problem.blocks
    )
    parts = (model.network, model.step, model.target)
    return RowsOfBlocks(model, parts, values, tuple(block.variance for block in problem.blocks))


class BulkSystem(CoupledSystem):
    """Unknowns, conjugates and averages lie in the workspace of the isotropic system, and are shared with it."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        super().__init__(problem, level, laws)
        self.own, given = self.bulk()
        if "chi" in given:
            self.view("chi")[...] = given["chi"]
        count = len(self.first)
        self.ways = math.ceil(count / math.ceil(count / self.most_ways(given)))
        self.state, self.evaluated = self._numbers(given), False

    @staticmethod
    def most_ways(given: Mapping[str, Array]) -> int:
        """How many directions tangents may follow at a time."""
        return _WAYS

    def _numbers(self, given: Mapping[str, Array]) -> Any:
        """All numbers that the equations are about, by name."""
        samples, width, ridge, _, inverse_dimension = self.parameters.tolist()
        unknowns = (*self.own.UNKNOWNS, "m")
        hats = {name: name.removeprefix("average_") for name in self.own.INPUTS}
        rows = dict(zip(self.kernel.AVERAGES, self.averages, strict=True))
        return {
            **{name: self.view(name) for name in (*unknowns, "Q2", "V2")},
            **{name: self.view(hat) for name, hat in hats.items()},
            **rows,
            **given,
            "alpha": samples,
            "beta": width,
            "ridge": ridge,
            "inverse_dimension": inverse_dimension,
            "fraction": self.problem.fraction,
            "identity": np.eye(self.blocks),
            "weight": self.table[:, 1],
        }

    def bulk(self) -> tuple[ModuleType, Mapping[str, Array]]:
        """The equations of the bulk, and the arrays that they are given."""
        return bulk_arrays(self.problem)

    @property
    def equations(self) -> ModuleType:
        """The module of the equations, those of the bulk among them."""
        return self.own

    def known(self) -> dict[str, Any]:
        """Copies of all that the equations are about, at the last x."""
        own = {
            name: np.array(values) for name, values in self.state.items() if not name.startswith(("d_", "residual_"))
        }
        return {**super().known(), **own}

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """The same system at another ridge."""
        self.state["ridge"], self.evaluated = ridge, False
        return super().at_ridge(ridge)

    def residual(self, x: Array) -> Array:
        """Residuals of the unknowns; nan where a response or the variance of the output is not positive."""
        self.evaluated = False
        if not np.all(np.isfinite(super().residual(x))) or not self.follow():
            return np.full(len(x), np.nan)
        self.own.residual(self.state)
        self.evaluated = True
        for name in self.own.UNKNOWNS:
            self.view(f"residual_{name}")[...] = self.state[f"residual_{name}"]
        residuals: Array = self.work[self.members[RESIDUAL]]
        return residuals

    def follow(self) -> bool:
        """Evaluate what follows from unknowns and conjugates; whether it could be."""
        self.own.chain(self.state)
        return True

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x, some columns at a time."""
        direction, image = self.members[[DIRECTION, IMAGE]]
        turned, n, ways = direction + self.members[TURNED], len(self.first), self.ways
        lie = slices_by_name(self.kernel, self.blocks)
        matrix, moved, numbers = np.empty((n, n)), self._moving(), np.empty((len(self.work), ways))
        for first in range(0, n, ways):
            own = np.arange(first, min(first + ways, n))
            numbers[...] = 0.0
            numbers[direction[own], own - first] = numbers[turned[own], own - first] = 1.0
            moves = {}
            for name in self.kernel.UNKNOWNS:
                place, shape = lie[f"d_{name}"]
                moves[f"d_{name}"] = numbers[place].reshape(*shape, ways)
            tangents = moved(moves)
            for name in self.kernel.UNKNOWNS:
                place, _ = lie[f"d_residual_{name}"]
                numbers[place] = tangents[f"d_residual_{name}"].reshape(-1, ways)
            matrix[:, own] = numbers[image, : len(own)]
        return matrix

    def _moving(self) -> Callable[[Mapping[str, Array]], Mapping[str, Array]]:
        """What the residuals do where the unknowns move, along several directions at a time."""
        known = {**{name: self.view(name) for name in self.room}, **self.state}
        at = self.own.tangents.at(self.node, self.problem.fraction, self.parameters, known, self.ways)
        wanted = tuple(f"d_residual_{name}" for name in self.kernel.UNKNOWNS)
        return lambda moves: at.along(moves, wanted)

    def certificate(self, x: Array) -> float:
        """Worst relative residual of all equations at x, the bulk's among them, evaluated from the stored unknowns."""
        if not np.array_equal(self.work[self.first], x) or not self.evaluated:
            self.residual(x)
        return float(self.own.check(self.node, self.problem.fraction, self.parameters, self.state))

    def observables(self) -> Array:
        """(test error, training error, free energy) at the last x."""
        out = super().observables()
        out[2] = self.energy()
        return out

    def energy(self) -> float:
        """The free energy at the last x."""
        self.own.free_energy(self.state)
        return float(self.state["free_energy"])
