"""Any convex loss: the generated system, its averages and its Jacobian on finer nodes than those of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kappa_lines import on_lines, turns_in_plane
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.label_refinement import system_at
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE, refined
from giantstep.system.result import Result
from giantstep.system.saturated_outputs import above_lower_floor
from giantstep.system.solved_again import starts_near
from giantstep.system.stretched_system import StretchedSystem
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.two_index_refinement import settles_of_two
from giantstep.verify.check import Check
from giantstep.verify.loss import averages_check, kernel_check, label_check, lines_check
from giantstep.verify.solver_equations import coupled_check
from giantstep.verify.trained_bulk import stretched_checks

Array = np.ndarray
_KAPPA = (-1.3, 0.4, 1.8)  # where averages are compared
_STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative
# relative, of its differences: the longer leave their fourth power, the shorter rounding; outputs that vary by little
# pass a kink within less than the longer
_STEPS = (1e-3, 2e-4, 1e-5, 1e-6)
_DIRECTIONS = 3
_SETTLED = 1e-11  # of averages over the nodes of a label, a tenth for each of its halvings
_SOLVED = 1e-9  # a relative residual of equations at a solution of others with the same averages
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
    """Solved from the result with everything resolved better, above a lower floor of variances where that is felt."""
    problem = problem_of(model, result.dimension, result.bias, intermediate=True)
    halvings = _LABELS if model.target.indices == 1 else 1 if problem.rank == 1 else 0
    times = 1
    while True:
        level = refined(FINE[-1], times)
        coarse = coupled_at(problem, level)
        if problem.rank == 1 or len(coarse.table) > result.nodes:  # several axes may have been refined more than once
            break
        times += 1
    x = coarse.unknowns(order_of(problem, result))
    system = _at(problem, replace(level, labels=level.labels + halvings, cuts=cuts_at(problem, x)), x)
    for start in starts_near(system, order_of(problem, result)):
        outcome = newton(system, start)
        if outcome.converged:
            break
    x = outcome.x if outcome.converged else np.full_like(outcome.x, math.nan)
    system.residual(x)
    told = np.array([result.test_error, result.train_error, result.free_energy])
    lower = above_lower_floor(system, x, told) if outcome.converged else None
    return Solved(system, x) if lower is None else Solved(*lower[:2])


def _at(problem: Problem, level: Level, x: Array) -> CoupledSystem:
    """The system of a level with nodes of a plane of kappa, or of the label, that settle its averages: fixed ones of
    two indices where these solve the equations, as chosen ones take long.
    """
    if turns_in_plane(problem, x):
        return on_lines(problem, (level,), x)[0]
    if settles_of_two(problem):
        plain = coupled_at(problem, level)
        if plain.certificate(x) <= _SOLVED:
            return plain
    return system_at(problem, level, x, _SETTLED)


def finer_error(solved: Solved) -> float:
    """The test error under finer quadrature."""
    return float(solved.system.answer(on_panels=True)[0])


def kernel_checks(model: Model, solved: Solved) -> Iterator[Check]:
    """Averages, equations and Jacobian of the kernels at the solution, along the directions that they have."""
    yield kernel_check(solved.system, solved.nodes)
    # labels whose averages have no second quadrature have moments that do
    yield label_check(solved.system, solved.nodes) or averages_check(solved.system, solved.nodes)
    if over_lines := lines_check(solved.system, solved.nodes):
        yield over_lines
    yield coupled_check(model, solved.system)
    errors = [jacobian_error(solved, step) for step in _STEPS]
    steps = ", ".join(f"{step:g}" for step in _STEPS)
    yield Check(f"Jacobian against differences, the best of the steps {steps}", min(errors), 1e-8)
    if isinstance(solved.system, StretchedSystem):
        yield from stretched_checks(solved.system)


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
