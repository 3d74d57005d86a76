"""Any convex loss: the generated system against differences, and its averages against quadrature to 22 digits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np

from codegen.places import BLOCK_COLUMNS, PARAMETERS, scalar_columns
from derive.evaluate import Place, State
from derive.labels import index_function
from derive.loss.loss import analyse_loss, loss_of_entry
from derive.saddle import SaddleSystem
from derive.scalar import scalar_function
from giantstep.law.derivation import rank_of
from giantstep.law.multi_index_labels import has_kinks
from giantstep.spec.model import Model
from giantstep.system.bulk_system import coupled_at
from giantstep.system.coupled_solver import FINE, reduced_order, refined
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.label_refinement import system_at
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.verify.check import Check
from giantstep.verify.loss import fields_at, kernel_check, label_check
from giantstep.verify.reference_labels import Channel
from giantstep.verify.reference_output import LossCurve, node_averages
from giantstep.verify.trained_bulk import bulk_checks

Array = np.ndarray
_KAPPA = (-1.3, 0.4, 1.8)  # where averages are compared
_VANISHES = 1e-6  # of the largest average
_DIGITS = 22
_STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative
_STEPS = (1e-3, 2e-4)  # relative, of its differences: the longer leaves their fourth power, the shorter rounding
_DIRECTIONS = 3
_SETTLED = 1e-11  # of averages over the nodes of a label, a tenth for each of its halvings
_FEW = Level(3, 96, 0, 1)
_DIMENSION = 300  # where m is determined well enough on few nodes
_LABELS = 2  # halvings of the nodes of t where single nodes of kappa are looked at


@dataclass(frozen=True)
class Solved:
    """The system at a finer level than the reported solution, and its own solution there."""

    system: CoupledSystem
    x: Array

    @property
    def nodes(self) -> list[int]:
        """Nodes of kappa that are looked at; a folded table has no negative ones."""
        return sorted({int(np.argmin(np.abs(self.system.kappa - kappa))) for kappa in _KAPPA})


def solved_again(model: Model, result: Result) -> Solved:
    """Solved from the result with everything resolved better."""
    problem = problem_of(model, result.dimension, result.bias, powers=True)
    halvings = _LABELS if model.target.indices == 1 else 1 if problem.rank == 1 else 0
    times = 1
    while True:
        level = refined(FINE[-1], times)
        coarse = coupled_at(problem, level)
        if problem.rank == 1 or len(coarse.table) > result.nodes:  # several axes may have been refined more than once
            break
        times += 1
    x = coarse.unknowns(order_of(problem, result))
    return _solved_on(system_at(problem, replace(level, labels=level.labels + halvings), x, _SETTLED), result)


def _solved_on(system: CoupledSystem, result: Result) -> Solved:
    outcome = newton(system, system.unknowns(order_of(system.problem, result)))
    x = outcome.x if outcome.converged else np.full_like(outcome.x, math.nan)
    system.residual(x)
    return Solved(system, x)


def order_of(problem: Problem, result: Result) -> Mapping[str, Array]:
    """The order parameters of a result along the directions that kappa has."""
    return reduced_order(problem, result.order_parameters) or result.order_parameters


def interpreted_at(model: Model, result: Result, solved: Solved) -> Solved:
    """The solution where every equation is interpreted node by node: for several directions of kappa, on few nodes.

    What is solved there need not be a converged integral.
    """
    if solved.system.problem.rank == 1:
        return solved
    return _solved_on(CoupledSystem(problem_of(model, _DIMENSION, result.bias), _FEW), result)


def changed(solved: Solved, result: Result) -> float:
    """Relative change of the test error under finer quadrature."""
    test = float(solved.system.answer()[0])
    return abs(test - result.test_error) / abs(result.test_error)


def channel_of(model: Model, problem: Problem) -> Channel:
    """The law of the label by its definition."""
    target = model.target
    link = scalar_function(target.link) if target.indices == 1 else index_function(target.link)
    several = problem.rank > 1 and target.indices > 1
    alignments = problem.overlaps if several else problem.overlaps[0]
    return Channel(link, alignments, target.flips, target.probit, target.noise)


def _takes_a_minute(model: Model) -> bool:
    """Whether averages to 22 digits do: up to two directions of the label's law, and a loss of one variable."""
    target = model.target
    light = target.indices * (2 if target.probit else 1) <= 2 and rank_of(model) * target.indices <= 2
    smooth = not has_kinks(target.link)  # the reference averages labels of several indices on a grid
    return model.fit.loss.form != "general" and light and smooth


def kernel_checks(model: Model, solved: Solved) -> Iterator[Check]:
    """Averages, Jacobian and equations of the kernels at the solution."""
    channel = channel_of(model, solved.system.problem)
    yield kernel_check(solved.system, solved.nodes)
    law = label_check(solved.system, channel, solved.nodes)
    if law is not None:
        yield law
    if _takes_a_minute(model):
        yield Check("averages over the output against quadrature", _averages(model, solved, channel), 1e-9)
    long, short = (jacobian_error(solved, step) for step in _STEPS)
    yield Check(f"Jacobian against differences ({long:.0e}, at a shorter step {short:.0e})", min(long, short), 1e-8)
    if model.bulk == "trained":
        yield from bulk_checks(solved.system.problem)


def _averages(model: Model, solved: Solved, channel: Channel) -> float:
    """The averages of the equations with the law of the label, relative to their sizes over kappa."""
    system, loss = solved.system, model.fit.loss
    curve = LossCurve(analyse_loss(loss_of_entry(loss.entry)), dict(loss.parameters))
    rows = dict(zip(system.kernel.AVERAGES, system.averages, strict=True))
    worst, largest = 0.0, max(float(np.max(np.abs(row))) for row in rows.values())
    for i in solved.nodes:
        with mpmath.workdps(_DIGITS):
            exact = node_averages(curve, channel, system.place(i), fields_at(system, i), 2)
        for name, value in exact.items():
            # one that vanishes by symmetry, as the mean slope of plain random features, is rounding beside the others
            size = max(abs(float(value)), 1e-3 * float(np.max(np.abs(rows[name]))), _VANISHES * largest)
            worst = max(worst, abs(float(rows[name][i]) - float(value)) / size)
    return worst


def jacobian_error(solved: Solved, length: float) -> float:
    """The Jacobian along random directions against differences of the residual, relative to the terms of a row."""
    system, x = solved.system, solved.x
    source, scale = np.random.default_rng(3), system.scale(x)
    system.residual(x)
    matrix, worst = system.jacobian(), 0.0
    for _ in range(_DIRECTIONS):
        direction = scale * source.uniform(0.3, 1.0, len(x)) * source.choice((-1.0, 1.0), len(x))
        ends = np.array([weight * system.residual(x + k * length * direction) for k, weight in _STENCIL])
        size = np.abs(matrix) @ np.abs(direction)
        difference = np.abs(matrix @ direction - ends.sum(axis=0) / length)
        worst = max(worst, float(np.max(difference / np.where(size > 0.0, size, 1.0))))
    system.residual(x)
    return worst


def families_of(system: SaddleSystem, kernel: CoupledSystem) -> dict[str, dict[Place, Any]]:
    """All families as the kernel has them, exactly."""
    return {equation.unknown: _members(kernel.view(equation.unknown)) for equation in system.equations}


def _members(values: Array) -> dict[Place, Any]:
    return {place: mpmath.mpf(float(values[place])) for place in np.ndindex(values.shape)}


def state_of(system: SaddleSystem, kernel: CoupledSystem, families: Mapping[str, Mapping[Place, Any]]) -> State:
    """What the kernel knows as exact binary numbers, its averages included, with the given families."""
    blocks, columns = kernel.blocks, [[mpmath.mpf(x) for x in column] for column in kernel.table.T.tolist()]
    scalars = scalar_columns(kernel.directions, kernel.problem.rank)
    named: dict[tuple[str, Place], list[Any]] = {(name, ()): columns[i] for i, name in enumerate(scalars)}
    for i, name in enumerate(BLOCK_COLUMNS):
        named |= {(name, (b,)): columns[len(scalars) + i * blocks + b] for b in range(blocks)}
    for name, row in zip(kernel.kernel.AVERAGES, kernel.averages, strict=True):
        named[name, ()] = [mpmath.mpf(x) for x in row.tolist()]
    fraction = _members(np.asarray(kernel.problem.fraction))
    return State(
        blocks,
        {name: mpmath.mpf(x) for name, x in zip(PARAMETERS, kernel.parameters.tolist(), strict=True)},
        {"fraction": fraction, **families},
        columns[0],
        columns[1],
        named,
        {definition.name: definition for definition in system.fields},
        {system.inverse.name: system.inverse},
    )
