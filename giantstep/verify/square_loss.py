"""The square loss: the generated solver against the interpreted system, and the free energy's gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import mpmath
import numpy as np

from codegen.plan import Block, Plan, analyse, nodes_of
from derive.directions import directions_of
from derive.evaluate import Evaluator, Place, State
from derive.loss.quadratic import SQUARE
from derive.saddle import Equation, SaddleSystem, saddle_system
from derive.symbols import SYMMETRIC
from giantstep.quadrature.panels import ORDERS, table
from giantstep.quadrature.tensor import tensor_table
from giantstep.spec.kernels import coefficients, solver_kernel
from giantstep.spec.model import Model
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import ORDER_PARAMETERS, Result
from giantstep.system.solve import RESIDUAL
from giantstep.system.square_loss import shape_of
from giantstep.system.state import run_solver
from giantstep.verify.check import Check
from giantstep.verify.reference_system import (
    OBSERVABLES,
    NotSolved,
    ReferenceSolution,
    solve_block,
    solve_reference,
    state_of,
)

_DIGITS = 25
_EACH = {2: 5, 3: 3}  # nodes of the small table for each of several directions
_NODES = 24  # of the small table on which both are compared: what they solve is the same system
_FINER = 1.5  # of every axis of several, beside what the answer begins with
_DIMENSION = 300  # where several blocks are compared: m is determined well enough there


@dataclass(frozen=True)
class _Compared:
    """The generated solver and the interpreted system on one small table."""

    families: Mapping[str, np.ndarray]
    out: np.ndarray
    residual: float
    reference: ReferenceSolution
    plan: Plan


@lru_cache(maxsize=3)
def _plan(spikes: int) -> Plan:
    return analyse(saddle_system(SQUARE, spikes))


def solver_checks(model: Model) -> Iterator[Check]:
    """Generated solver against the interpreted system, and the gradient of Phi at its solution.

    Several blocks are compared at d = 300, where m is determined well enough for digits to be counted.
    """
    dimension = None if len(model.network.readout.values) == 1 else _DIMENSION
    try:
        compared = _compare(model, problem_of(model, dimension, powers=True))
    except NotSolved:  # features without a mean: m is free as d grows
        compared = _compare(model, problem_of(model, _DIMENSION))
    yield Check("residual of the equations on a small table", compared.residual, RESIDUAL)
    for names, label in ((ORDER_PARAMETERS, "order parameters"), (OBSERVABLES, "errors and free energy")):
        yield Check(f"{label}: solver against the interpreted system", _difference(compared, names), 1e-10)
    with mpmath.workdps(_DIGITS + 15):
        yield Check("gradient of the free energy in the order parameters", _gradient(compared, False), 1e-18)
        # central differences with h = 1e-10: h^2 times a ratio of derivatives
        yield Check("gradient of the free energy in the conjugates", _gradient(compared, True), 1e-14)


def small_table(problem: Problem, count: int = _NODES) -> np.ndarray:
    """The table of the solvers on a few Gauss-Hermite nodes, shape [count, 5 + 3K].

    Of several directions, a few nodes for each.
    """
    assert problem.target is not None
    x, w = np.polynomial.hermite_e.hermegauss(_EACH.get(problem.rank, count))
    kappa = np.array(list(product(x, repeat=problem.rank)))
    weight = np.prod(list(product(w / w.sum(), repeat=problem.rank)), axis=1)
    target, along = problem.target, kappa[:, 0]
    of_target = coefficients(target.function, target.scale * along + target.offset, target.variance)
    points = along if problem.rank == 1 else kappa
    found = [coefficients(t.function, problem.shift(b, points), t.variance) for b, t in enumerate(problem.blocks)]
    blocks = np.stack(found, axis=1).reshape(-1, len(kappa))
    rows = np.concatenate([along[None], weight[None], of_target, kappa[:, 1:].T, blocks])
    return np.ascontiguousarray(rows.T)


def _compare(model: Model, problem: Problem) -> _Compared:
    table = small_table(problem)
    kernel, node = solver_kernel("square", problem.rank), np.array(table.T, order="C")
    solved = run_solver(kernel, node, problem.fraction, problem.parameters)
    families = {name: solved.state[name] for name in solved.state}
    residual = kernel.check(node, problem.fraction, problem.parameters, solved.state)
    plan = _plan(problem.rank)
    state = state_of(table.tolist(), problem.fraction.tolist(), problem.parameters.tolist(), plan)
    start = {node.name: _members(families[node.name]) for node in plan.blocks[0].torn}
    return _Compared(families, solved.out, residual, solve_reference(plan, state, start, _DIGITS), plan)


def _members(values: np.ndarray) -> dict[Place, float]:
    return {place: float(values[place]) for place in np.ndindex(values.shape)}


def _difference(compared: _Compared, names: Sequence[str]) -> float:
    """Largest difference relative to the largest member of its family."""
    worst = 0.0
    for name in _members_of(names, compared):
        if name in OBSERVABLES:
            ours = np.array([compared.out[OBSERVABLES.index(name)]])
            exact = np.array([float(compared.reference.observables[name])])
        else:
            ours, exact = compared.families[name], np.array(compared.reference.array(name))
        scale = float(np.abs(exact).max())
        if name.startswith(("m", "zeta", "psi")):  # what vanishes by symmetry is compared to the size of the readout
            scale = max(scale, 1e-3 * _output_scale(compared))
        worst = max(worst, float(np.abs(ours - exact).max()) / (scale or 1.0))
    return worst if math.isfinite(worst) else math.inf


def _members_of(names: Sequence[str], compared: _Compared) -> Iterator[str]:
    """The names, zeta as its families along several directions."""
    spikes = compared.plan.system.spikes
    for name in names:
        yield from directions_of(name, spikes) if name == "zeta" else (name,)


def _output_scale(compared: _Compared) -> float:
    """The order of magnitude of the readout: root of the largest overlap."""
    return math.sqrt(max(float(np.abs(compared.families[name]).max()) for name in ("Q1", "Q2")))


def _gradient(compared: _Compared, conjugates: bool) -> float:
    """Largest derivative of the free energy at the interpreted solution, relative to its value per relative change.

    Order parameters by one complex step; conjugates by central differences with T solved again.
    """
    system, state = compared.plan.system, compared.reference.state
    energy = system.free_energy
    size = abs(compared.reference.observables["free_energy"])
    worst = mpmath.mpf(0)
    for condition in (*system.stationarity, system.equation("m")):
        if ("_hat" in condition.unknown) != conjugates:
            continue
        for place, value in compared.reference.families[condition.unknown].items():
            if condition.unknown in SYMMETRIC and place != tuple(sorted(place)):
                continue
            if conjugates:
                slope = _by_differences(system, state, condition, place)
            else:
                step = mpmath.mpf("1e-30")
                moved = _moved(state, condition.unknown, place, mpmath.mpc(0, step))
                slope = Evaluator(moved).value(energy).imag / step
            worst = max(worst, abs(slope * value) / size)
    return float(worst)


def _by_differences(system: SaddleSystem, state: State, condition: Equation, place: Place) -> Any:
    energy, spectral = system.free_energy, _spectral_block(system)
    value = abs(state.families[condition.unknown][place])
    step = mpmath.mpf("1e-10") * (value or 1)
    ends = []
    for sign in (1, -1):
        moved = _moved(state, condition.unknown, place, sign * step)
        if condition.unknown in ("V1_hat", "V2_hat"):
            moved = solve_block(moved, spectral, {"T": state.families["T"]}, _DIGITS)
        ends.append(Evaluator(moved).value(energy))
    return (ends[0] - ends[1]) / (2 * step)


def _spectral_block(system: SaddleSystem) -> Block:
    """The equation of T alone, at given conjugates."""
    nodes = nodes_of(system)
    return Block("nonlinear", (nodes["T"],), (nodes["P"], nodes["S"], nodes["M"]), ())


def _moved(state: State, name: str, place: Place, by: Any) -> State:
    members = dict(state.families[name])
    for p in {place, tuple(reversed(place))} if name in SYMMETRIC else {place}:
        members[p] += by
    return state.with_families({name: members})


def halved(model: Model, result: Result) -> float:
    """Relative change of the test error where the panels of kappa are halved."""
    problem = problem_of(model, powers=True)
    assert problem.target is not None
    if problem.rank == 1:
        rows = table(problem.blocks, problem.target, ORDERS[-1], 1)
    else:
        rows = tensor_table(shape_of(problem), (_FINER,) * problem.rank)
    kernel, node = solver_kernel("square", problem.rank), np.array(rows.T, order="C")
    out = run_solver(kernel, node, problem.fraction, problem.parameters).out
    return abs(float(out[0]) - result.test_error) / abs(result.test_error)
