"""The square loss: the generated solver at several orders of quadrature, block by block, without iteration guards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from derive.directions import directions_of
from giantstep.quadrature.mesh import ORDERS, Term
from giantstep.quadrature.panels import wide_columns
from giantstep.quadrature.tensor import Shape, tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.system.kernels import system_kernel
from giantstep.system.problem import Parameters, Points, Problem, Solution
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.span import Span, span_of
from giantstep.system.state import State, run_points, run_solver, slices_by_name
from giantstep.system.uncompiled import sparing, uncompiled

RESIDUAL = 1e-10  # a solution with a larger residual is not reported
ROUNDING = 1e-15  # of E y^2: what double precision leaves of a test error that is next to nothing
LARGE_RIDGE = 10.0  # a ridge that is not too small, whatever the model
_COLLINEAR = 1e-4  # what a mean feature has beside the others, of which rounding takes 1e-16
_PEAKED, _NEAR_PEAK = 1e-2, 0.05  # ridge, and distance of samples and width in logarithms, of the interpolation peak
_HALVINGS = 5
_TINY = 1e-300  # in the place of a test error of zero
_DIGITS = 0.01  # of the rounding of double precision, what another kind of number has to have to be worth it
_SMALL = 4000  # nodes times pairs of blocks that half a second is enough for without a compiler
_COARSER, _FINER = 0.85, 1.3  # of an axis: what its error is estimated from, and what it is refined by


@dataclass(frozen=True)
class _Run:
    """One call of the generated solver, on nodes [columns, N]."""

    status: int
    test_error: float
    train_error: float
    free_energy: float
    state: State
    node: np.ndarray


def solve_direct(problem: Problem, tolerance: float) -> Solution:
    """Solve at increasing resolution until the test error has settled. Raises NotConverged."""
    if problem.rank > 1:
        return _solve_by_axes(problem, tolerance)
    for kind in (float, np.longdouble):
        points = _settled(problem, tolerance, kind)
        lost = not (points.quadrature_error[0] <= tolerance and points.residual[0] <= RESIDUAL)
        if not (lost and np.finfo(np.longdouble).eps < _DIGITS * np.finfo(float).eps):
            break
    return points.at(0)


def _settled(problem: Problem, tolerance: float, kind: type) -> Points:
    """The point of a problem at the resolution where it has settled, or is held up by rounding."""
    error = math.inf
    for halvings in range(_HALVINGS):
        previous = error
        points = direct_points(problem, problem.parameters, tolerance, halvings, kind)
        if points.status[0] <= 0:
            raise NotConverged(_stalled(problem, -int(points.status[0])), rounding_hint(problem))
        error = float(points.quadrature_error[0])
        if error <= tolerance or error > 0.5 * previous:  # settled, or held up by rounding
            break
    return points


def direct_points(
    problem: Problem, parameters: Parameters, tolerance: float, halvings: int = 0, kind: type = float
) -> Points:
    """Solve at the parameters of one point or of many at both orders of quadrature, whose difference is the error.

    Of one direction of kappa. A point is solved as if it were alone. kind: of the numbers, others than those of double
    precision without a compiler.
    """
    kernel, span = _kernel(problem), span_of(problem)
    assert problem.link is not None
    numbers = parameters.array().reshape(-1, len(parameters))
    rough, rule = _rules(problem.blocks, problem.link, halvings, span)
    solve = None if kind is float else uncompiled(kernel.solve)
    coarse = run_points(kernel, rough, problem.fraction, numbers, None, solve, kind)
    fine = run_points(kernel, rule.node, problem.fraction, numbers, coarse.work, solve, kind)
    signal = rule.signal + numbers[:, 3]
    out, rough_out, work = (array.astype(float, copy=False) for array in (fine.out, coarse.out, fine.work))
    test, train, energy = out.T
    error = abs(test - rough_out[:, 0]) / np.maximum(np.maximum(abs(test), ROUNDING / tolerance * signal), _TINY)
    status = np.where(coarse.status <= 0, coarse.status, fine.status)
    rows = work.T
    order = {name: rows[place].reshape(shape) for name, (place, shape) in rule.places.items()}
    if span is not None:
        order["m"] = span.outward(order["m"], order["V2"])
    residual = rule.certificate.check(problem.fraction, numbers, work)
    return Points(test, train, energy, order, residual, status, error, rule.node.shape[1], signal)


def _solve_by_axes(problem: Problem, tolerance: float) -> Solution:
    """The same for kappa in R^q: each axis is refined as long as the test error changes where it is coarser."""
    kernel = _kernel(problem)
    fineness, error = [1.0] * problem.rank, math.inf
    for _ in range(2 * _HALVINGS):
        previous = error
        fine = _run_on(kernel, problem, tensor_table(shape_of(problem), tuple(fineness)))
        signal = _signal(fine.node) + problem.parameters.noise
        size = max(abs(fine.test_error), ROUNDING / tolerance * signal) or 1.0
        errors = []
        for axis in range(problem.rank):
            coarse = [f * _COARSER if i == axis else f for i, f in enumerate(fineness)]
            run = _run_on(kernel, problem, tensor_table(shape_of(problem), tuple(coarse)))
            errors.append(abs(fine.test_error - run.test_error) / size)
        error = sum(errors)
        if error <= tolerance or error > 0.7 * previous:  # settled, or held up by rounding
            break
        wanted = 0.5 * tolerance / problem.rank
        fineness = [f * _FINER if e > wanted else f for f, e in zip(fineness, errors, strict=True)]
    return _solution(kernel, problem, fine, error, signal)


def shape_of(problem: Problem) -> Shape:
    """What the rules for kappa in R^q depend on."""
    assert problem.loadings is not None
    return Shape(problem.blocks, problem.loadings, problem.link)


def _solution(kernel: ModuleType, problem: Problem, fine: _Run, error: float, signal: float) -> Solution:
    residual = kernel.check(fine.node, problem.fraction, problem.parameters.array(), fine.state)
    return Solution(
        fine.test_error,
        fine.train_error,
        fine.free_energy,
        _unknowns(fine, problem),
        residual,
        fine.status,
        error,
        fine.node.shape[1],
        signal,
    )


def _kernel(problem: Problem) -> ModuleType:
    return system_kernel("square", rank=problem.rank)


def square_overlaps(problem: Problem, rows: np.ndarray) -> Mapping[str, np.ndarray]:
    """Order parameters of the square loss on one table, with the columns of a target of one index.

    The solver takes longer to compile than to run once or twice without. Raises NotConverged.
    """
    kernel = _kernel(problem)
    small = len(rows) * len(problem.blocks) ** 2 < _SMALL
    return _unknowns(_run_on(kernel, problem, rows, solve=sparing(kernel.solve) if small else None), problem)


@dataclass(frozen=True, eq=False)
class _Rule:
    """What all points on one table have in common: its nodes as the solver reads them, the certificate on them, E y^2
    of the clean label, and where the order parameters lie, with their shapes at many points.
    """

    node: np.ndarray
    certificate: Any
    signal: float
    places: Mapping[str, tuple[slice, tuple[int, ...]]]


@lru_cache(maxsize=32)
def _rules(blocks: tuple[Term, ...], target: Term, halvings: int, span: Span | None) -> tuple[np.ndarray, _Rule]:
    """The nodes of the first order, and the rule of the second, of one direction of kappa."""
    kernel = system_kernel("square")
    places = slices_by_name(kernel, len(blocks))
    order = {name: (places[name][0], (*places[name][1], -1)) for name in ORDER_PARAMETERS}
    order |= {name: (order[name][0], (len(blocks), 1, -1)) for name in ("zeta", "psi")}
    rough, node = (solver_nodes(wide_columns(blocks, target, count, halvings).T, span) for count in ORDERS)
    return rough, _Rule(node, kernel.CERTIFICATE.on(node, places), _signal(node), order)


def solver_nodes(rows: np.ndarray, span: Span | None) -> np.ndarray:
    """A table as the solver reads it, [columns, N], with functions of the span in the place of mean features."""
    return np.array((rows if span is None else span.columns(rows)).T, order="C")


def _run_on(kernel: ModuleType, problem: Problem, rows: np.ndarray, solve: Callable[..., Any] | None = None) -> _Run:
    """solve: that of the kernel, compiled or not."""
    node = solver_nodes(rows, span_of(problem))
    solved = run_solver(kernel, node, problem.fraction, problem.parameters.array(), solve=solve)
    if solved.status < 0:
        raise NotConverged(_stalled(problem, -solved.status), rounding_hint(problem))
    test, train, energy = solved.out.tolist()
    return _Run(solved.status, test, train, energy, solved.state, node)


def _unknowns(run: _Run, problem: Problem) -> Mapping[str, np.ndarray]:
    """The order parameters, with the axes of a ``Solution``; what m are in a span, exactly."""
    values = {name: run.state[name].copy() for name in ("m", "Q1", "Q2", "V1", "V2")}
    for name, count in (("zeta", problem.rank), ("psi", 1)):
        values[name] = np.stack([run.state[part] for part in directions_of(name, count)], axis=-1)
    if (span := span_of(problem)) is not None:
        values["coordinates"] = values["m"]
        values["m"] = span.outward(values["m"], values["V2"])
    return values


def _signal(node: np.ndarray) -> float:
    """E y^2 of the clean label."""
    weight, nu = node[1], node[2:5]
    return float(weight @ (nu[0] ** 2 + nu[1] ** 2 + nu[2]))


def _stalled(problem: Problem, block: int) -> str:
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"block {block} of the equations was not solved at fit.samples = {fit.samples:g}, fit.ridge = {fit.ridge:g}, "
        f"network.width = {width:g}"
    )


def rounding_hint(problem: Problem) -> str:
    """What to try where the solution is lost in rounding: the cause that can be measured, else the ridge."""
    samples, width, ridge, *_ = problem.parameters
    if ridge > LARGE_RIDGE:
        return "lower fit.ridge"
    span = span_of(problem)
    if span is not None and span.least < _COLLINEAR:
        return (
            "give a dimension, or merge close readout values: the mean feature of one block has a share "
            f"{span.least:.0e} beside those of the others"
        )
    if ridge < _PEAKED and abs(math.log(samples / width)) < _NEAR_PEAK:
        return (
            "raise fit.ridge, or move away from fit.samples = network.width, where errors peak as the ridge vanishes "
            "and the equations lose digits"
        )
    return "raise fit.ridge"
