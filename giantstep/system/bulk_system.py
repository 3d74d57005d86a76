"""The coupled system with another bulk: averages over the output as ever, the equations of a trained or given bulk."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from generated.runtime.unknowns import DIRECTION, IMAGE, RESIDUAL, TURNED
from generated.systems import trained_bulk as trained_equations
from giantstep.law.covariance import Covariance
from giantstep.law.given_bulk import given_bulk
from giantstep.law.gradient_step import step_arguments
from giantstep.law.kind import bulk_kind
from giantstep.law.residual import ResidualLaw
from giantstep.law.residual_nodes import residual_nodes
from giantstep.law.row_norms import RowNorms
from giantstep.law.rows_after_step import (
    covariance_of_rows,
    initial_output,
    largest_value,
    norms_of_rows,
    spike_sign,
)
from giantstep.law.stretched_bulk import norms_of_samples, samples_of, selections, spike_and_rest, weights_of
from giantstep.law.structured_inputs import input_law
from giantstep.law.trained_bulk import BulkLaw, trained_law
from giantstep.spec.errors import BadInput
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
    law, sigma = bulk_of(problem)
    return trained_equations, {"Sigma": sigma, **law.weights, **norms_of(law, variances_of(problem))}


def bulk_of(problem: Problem) -> tuple[BulkLaw, Array]:
    """The law of the bulk, and its eigenvalues Sigma [K, J] in units of the mean one, of every block.

    Raises BadInput for a model whose bulk is not of this form. Source: THEORY section 5.
    """
    model = problem.model
    of, gamma = covariance_of(problem), problem.spike.alignment
    law = trained_law(model.target, initial_output(model), of, gamma, spike_sign(model), row_norms(problem))
    variances, share = variances_of(problem), shares_of(problem)
    return law, (1.0 + np.multiply.outer(share, law.x)) / variances[:, None]


def stretched_arrays(problem: Problem, nodes: int) -> Mapping[str, Array]:
    """What the equations of a bulk of rows that are stretched by blocks are given, read-only. Raises BadInput."""
    model = problem.model
    return _stretched_arrays(_Rows(problem, (model.network, model.step, model.target, problem.blocks)), nodes)


@dataclass(frozen=True)
class _Rows:
    """A problem as one of those with the same rows, which share all that does not know the fit."""

    problem: Problem = field(compare=False)
    same: tuple[Any, ...]


@lru_cache(maxsize=32)
def _stretched_arrays(rows: _Rows, nodes: int) -> Mapping[str, Array]:
    problem, model, blocks = rows.problem, rows.problem.model, len(rows.problem.blocks)
    law, samples, sign = nodes_of(problem, nodes), step_arguments(model).samples, spike_sign(model)
    covariances, variances = covariances_of(problem), variances_of(problem)
    by_block = samples_of(samples, covariances, variances, law.e)
    spike, weights = spike_and_rest(samples, law, sign, blocks), weights_of(samples, law, sign)
    norms = norms_of_samples(row_norms(problem).of_blocks(law), variances)
    spread = np.sqrt(np.array([each.spread for each in covariances]) / variances)
    found = {**selections(blocks, model.target.indices), **by_block, **spike, **weights, **norms, "spread": spread}
    for values in found.values():
        values.flags.writeable = False
    return MappingProxyType(found)


def nodes_of(problem: Problem, count: int) -> ResidualLaw:
    """The law of the residual of a sample of the step, at a few nodes."""
    return residual_nodes(problem.model.target, initial_output(problem.model), count)


def covariances_of(problem: Problem) -> list[Covariance]:
    """The covariance of the rows of every block. Raises BadInput where merged ones differ."""
    found = [{covariance_of_rows(problem.model, u) for u in values} for values in values_of_blocks(problem)]
    if any(len(same) != 1 for same in found):
        raise BadInput(
            'step.bulk = "trained" needs readout values that the features tell apart; of an even activation those of '
            "opposite values may be alike",
            'use step.bulk = "isotropic", or values of one sign',
        )
    return [each for same in found for each in same]


def values_of_blocks(problem: Problem) -> list[list[float]]:
    """The readout values of every block of a problem: several where blocks with the same features are merged."""
    given = list(zip(problem.model.network.readout.values, problem.spike.bulk_variance, strict=True))
    strength = problem.spike.strength
    return [[u for u, c in given if (u * strength, c) == (b.scale, b.variance)] for b in problem.blocks]


def norms_of(law: BulkLaw, variances: Array) -> dict[str, Array]:
    """What the equations know of the norms: variances ``chi`` relative to their means, and their covariances k_b with
    rows of unit mean square.
    """
    scale = variances[:, None] ** -1.5  # of k_b: one over c_b for the norm, the root of that for the row
    found = {name: law.norms[name] * scale for name in ("law_vn", "law_on")}
    return found | {"law_nn": law.norms["law_nn"] * scale[:, None] * scale, "chi": law.norms["chi"] / variances**2}


def row_norms(problem: Problem) -> RowNorms:
    """What the norms of the rows of the problem's blocks are functions of."""
    return norms_of_rows(problem.model, tuple(same[0] for same in values_of_blocks(problem)))


def covariance_of(problem: Problem) -> Covariance:
    """The covariance whose spectrum the law is of: that of the block that the step changes most."""
    return covariance_of_rows(problem.model, largest_value(problem.model))


def shares_of(problem: Problem) -> Array:
    """What the covariance of each block [K] has of that of the law beyond one: ``Sigma_b = 1 + share_b x``."""
    beyond = np.abs(variances_of(problem) - 1.0)
    largest = float(beyond.max())
    return beyond / largest if largest > 0.0 else np.ones(len(beyond))


def variances_of(problem: Problem) -> Array:
    """Bulk variance of every block [K], the mean of its eigenvalues."""
    return np.array([term.variance for term in problem.blocks])


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
