"""The square loss: the generated solver at several orders of quadrature, block by block, without iteration guards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from derive.directions import directions_of
from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import wide_columns
from giantstep.quadrature.tensor import Shape, tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.system.kernels import system_kernel
from giantstep.system.problem import Features, Parameters, Problem, Solution
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.span import Span, span_of
from giantstep.system.state import SolvedPoints, State, run_points, run_solver, slices_by_name
from giantstep.system.uncompiled import uncompiled

RESIDUAL = 1e-10  # a solution with a larger residual is not reported
ROUNDING = 1e-15  # of E y^2: what double precision leaves of a test error that is next to nothing
LARGE_RIDGE = 10.0  # a ridge that is not too small, whatever the model
_COLLINEAR = 1e-4  # what a mean feature has beside the others, of which rounding takes 1e-16
_PEAKED, _NEAR_PEAK = 1e-2, 0.05  # ridge, and distance of samples and width in logarithms, of the interpolation peak
_HALVINGS = 5
_DIGITS = 0.01  # of the rounding of double precision, what another kind of number has to have to be worth it
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


class Points(NamedTuple):
    """Solutions at many points of one problem, which differ in its parameters: on a rule, with residuals [P]."""

    rule: _Rule
    solved: SolvedPoints
    residual: np.ndarray

    def at(self, p: int) -> Solution:
        """One of them."""
        status, out, work, _ = self.solved
        return self._solution(out[p].tolist(), work[p], float(self.residual[p]), int(status[p]))

    def all(self) -> Solution:
        """All of them together."""
        status, out, work, _ = self.solved
        return self._solution(out.T, work.T, self.residual, status)

    def _solution(self, numbers: Any, families: np.ndarray, residual: Any, iterations: Any) -> Solution:
        test_error, train_error, free_energy, change, signal = numbers
        order = self.rule.order_parameters(families)
        nodes = self.rule.node.shape[1]
        return Solution(test_error, train_error, free_energy, order, residual, iterations, change, nodes, signal)


def solve_direct(problem: Problem, tolerance: float) -> Solution:
    """Solve at increasing resolution until the test error has settled. Raises NotConverged."""
    if problem.rank > 1:
        return _solve_by_axes(problem, tolerance)
    for kind in (float, np.longdouble):
        found = _settled(problem, tolerance, kind)
        if found.quadrature_error <= tolerance and found.residual <= RESIDUAL:
            break
        if not np.finfo(np.longdouble).eps < _DIGITS * np.finfo(float).eps:
            break
    return found


def _settled(problem: Problem, tolerance: float, kind: type) -> Solution:
    """The solution at the resolution where it has settled, or is held up by rounding."""
    previous = math.inf
    for halvings in range(_HALVINGS):
        found = direct_points(problem, problem.parameters, tolerance, halvings, kind).at(0)
        if found.iterations <= 0:
            raise NotConverged(_stalled(problem, -found.iterations), rounding_hint(problem))
        error = found.quadrature_error
        if error <= tolerance or error > 0.5 * previous:  # settled, or held up by rounding
            break
        previous = error
    return found


def direct_points(
    problem: Problem, parameters: Parameters, tolerance: float, halvings: int = 0, kind: type = float
) -> Points:
    """Solve at the parameters of one point or of many at both orders of quadrature, whose difference is the error.

    Of one direction of kappa. A point is solved as if it were alone. kind: of the numbers, others than those of double
    precision without a compiler.
    """
    rule = _rule(problem.features, halvings, span_of(problem))
    fraction, numbers = problem.fraction, parameters.array().reshape(-1, len(parameters))
    nodes, square = (rule.rough, rule.node), (rule.square, ROUNDING / tolerance)
    solve = None if kind is float else uncompiled(rule.kernel.solve)
    found = run_points(rule.kernel, nodes, fraction, numbers, square, solve=solve, kind=kind, functions=rule.functions)
    return Points(rule, found, rule.certificate.check(fraction, numbers, found.work))


def _solve_by_axes(problem: Problem, tolerance: float) -> Solution:
    """The same for kappa in R^q: each axis is refined as long as the test error changes where it is coarser."""
    kernel = square_kernel(problem)
    fineness, error = [1.0] * problem.rank, math.inf
    for _ in range(2 * _HALVINGS):
        previous = error
        fine = _run_on(kernel, problem, _nodes_of_axes(problem, fineness))
        signal = _signal(fine.node) + problem.parameters.noise
        size = max(abs(fine.test_error), ROUNDING / tolerance * signal) or 1.0
        errors = []
        for axis in range(problem.rank):
            coarse = [f * _COARSER if i == axis else f for i, f in enumerate(fineness)]
            run = _run_on(kernel, problem, _nodes_of_axes(problem, coarse))
            errors.append(abs(fine.test_error - run.test_error) / size)
        error = sum(errors)
        if error <= tolerance or error > 0.7 * previous:  # settled, or held up by rounding
            break
        wanted = 0.5 * tolerance / problem.rank
        fineness = [f * _FINER if e > wanted else f for f, e in zip(fineness, errors, strict=True)]
    return _solution(kernel, problem, fine, error, signal)


def _nodes_of_axes(problem: Problem, fineness: list[float]) -> np.ndarray:
    return solver_nodes(tensor_table(shape_of(problem), tuple(fineness)), span_of(problem))


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


def square_kernel(problem: Problem) -> ModuleType:
    """The generated solver of the square loss."""
    return system_kernel("square", rank=problem.rank)


def square_solution(problem: Problem, node: np.ndarray) -> np.ndarray:
    """All families of the square loss on ``solver_nodes``, with the columns of a target of one index.

    Raises NotConverged.
    """
    nodes, parameters = (node[:, :0], node), problem.parameters.array()[None]
    functions = _functions(span_of(problem), len(problem.blocks))
    found = run_points(square_kernel(problem), nodes, problem.fraction, parameters, functions=functions)
    _require_solved(problem, int(found.status[0]))
    families: np.ndarray = found.work[0]
    return families


@dataclass(frozen=True, eq=False)
class _Rule:
    """What all points on one table have in common: its nodes as the solver reads them at both orders, the certificate
    at the second, E y^2 of the clean label, and where the order parameters lie.
    """

    kernel: ModuleType
    rough: np.ndarray
    node: np.ndarray
    span: Span | None
    certificate: Any
    square: float
    places: tuple[tuple[str, Any], ...]

    @property
    def functions(self) -> int:
        """How many coordinates the mean of the output has."""
        return _functions(self.span, (self.node.shape[0] - 5) // 3)

    def order_parameters(self, families: np.ndarray) -> dict[str, np.ndarray]:
        """Those of a point, or of many, whose families are the rows."""
        order = {name: families[place] for name, place in self.places}
        blocks, further = len(order["m"]), families.shape[1:]
        for name in ("Q1", "V1"):
            order[name] = order[name].reshape(blocks, blocks, *further)
        if self.span is not None:
            order["m"] = self.span.outward(order["m"], order["V2"])
        return order


def _functions(span: Span | None, blocks: int) -> int:
    return blocks if span is None else span.rank


@lru_cache(maxsize=32)
def _rule(features: Features, halvings: int, span: Span | None) -> _Rule:
    """The rule of one direction of kappa."""
    kernel, blocks = system_kernel("square"), features.blocks
    rough, node = (solver_nodes(wide_columns(blocks, features.link, count, halvings).T, span) for count in ORDERS)
    certificate = kernel.CERTIFICATE.on(node, slices_by_name(kernel, len(blocks)))
    return _Rule(kernel, rough, node, span, certificate, _signal(node), _places(kernel, len(blocks)))


@lru_cache(maxsize=64)
def _places(kernel: ModuleType, blocks: int) -> tuple[tuple[str, Any], ...]:
    """Where the order parameters lie among the numbers of a point."""
    places = slices_by_name(kernel, blocks)
    order: dict[str, Any] = {name: places[name][0] for name in ORDER_PARAMETERS}
    return tuple({**order, **{name: (order[name], None) for name in ("zeta", "psi")}}.items())  # of one direction


def solver_nodes(rows: np.ndarray, span: Span | None) -> np.ndarray:
    """A table as the solver reads it, [columns, N], with functions of the span in the place of mean features."""
    return np.array((rows if span is None else span.columns(rows)).T, order="C")


def _run_on(kernel: ModuleType, problem: Problem, node: np.ndarray) -> _Run:
    functions = _functions(span_of(problem), len(problem.blocks))
    solved = run_solver(kernel, node, problem.fraction, problem.parameters.array(), functions=functions)
    _require_solved(problem, solved.status)
    test, train, energy = solved.out.tolist()
    return _Run(solved.status, test, train, energy, solved.state, node)


def _require_solved(problem: Problem, status: int) -> None:
    if status < 0:
        raise NotConverged(_stalled(problem, -status), rounding_hint(problem))


def _unknowns(run: _Run, problem: Problem) -> Mapping[str, np.ndarray]:
    """The order parameters, with the axes of a ``Solution``."""
    values = {name: run.state[name].copy() for name in ("m", "Q1", "Q2", "V1", "V2")}
    for name, count in (("zeta", problem.rank), ("psi", 1)):
        values[name] = np.stack([run.state[part] for part in directions_of(name, count)], axis=-1)
    if (span := span_of(problem)) is not None:
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
