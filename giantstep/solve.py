"""Solving one model: tables of coefficients, the generated solver at two orders of quadrature, and the evidence."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from giantstep.errors import BadInput, NotConverged
from giantstep.kernels import solver_kernel
from giantstep.mesh import ORDERS, Term, table
from giantstep.model import Model
from giantstep.result import ORDER_PARAMETERS, Result
from giantstep.spike import SpikeParameters, spike_of
from giantstep.warm import warm

RESIDUAL = 1e-10  # a solution with a larger residual is not reported
ENERGY = 1e-8  # nor one whose free energy differs from its training loss by more, relatively
_HALVINGS = 5
_ROUNDING = 1e-15  # of E y^2: what double precision leaves of a test error that is next to nothing


@dataclass(frozen=True)
class Problem:
    """A model as the kernels see it: terms of the table, and the numbers of the equations."""

    model: Model
    spike: SpikeParameters
    blocks: tuple[Term, ...]
    target: Term
    fraction: np.ndarray
    parameters: np.ndarray


@dataclass(frozen=True)
class _Run:
    """One call of the generated solver."""

    status: int
    test_error: float
    train_error: float
    free_energy: float
    work: np.ndarray
    table: np.ndarray


def problem_of(model: Model, dimension: int | None = None) -> Problem:
    """The terms and parameters of a model. Raises BadInput where the step is not defined."""
    if dimension is not None and not dimension >= 1:
        raise BadInput(
            f"dimension = {dimension} is not a positive integer", "give the input dimension d, e.g. 1000"
        )
    spike, network, fit = spike_of(model), model.network, model.fit
    values = network.readout.values
    bias = float(network.bias)
    blocks = tuple(
        Term(network.activation, u * spike.strength, bias, c)
        for u, c in zip(values, spike.bulk_variance, strict=True)
    )
    target = Term(
        model.target.link, spike.alignment, 0.0, max(0.0, (1.0 - spike.alignment) * (1.0 + spike.alignment))
    )
    inverse = 0.0 if dimension is None else 1.0 / dimension
    parameters = np.array([fit.samples, network.width, fit.ridge, model.target.noise, inverse])
    return Problem(model, spike, blocks, target, np.array(network.readout.fractions), parameters)


def solve(model: Model, *, dimension: int | None = None, tolerance: float = 1e-10) -> Result:
    """Solve the saddle-point equations of a model.

    ``dimension``: include the leading finite-size correction of THEORY section 6; ``tolerance``: relative error of
    the test error allowed by quadrature. Raises BadInput, or NotConverged with a diagnosis; never returns a number
    that was not verified. Source: [CUI24] Result 3.3.
    """
    if not 1e-14 <= tolerance < 1.0:
        raise BadInput(
            f"tolerance = {tolerance} is out of range", "give a relative tolerance between 1e-14 and 1"
        )
    start = time.perf_counter()
    problem = problem_of(model, dimension)
    warm(model.network.activation, model.target.link, model.fit.loss, len(problem.blocks))
    kernel = solver_kernel(model.fit.loss, len(problem.blocks))
    error = math.inf
    for halvings in range(_HALVINGS):
        previous = error
        runs = [_run(kernel, problem, order, halvings) for order in _orders(problem)]
        fine = runs[-1]
        size = max(abs(fine.test_error), _ROUNDING / tolerance * _signal(fine, problem)) or 1.0
        error = max(abs(fine.test_error - run.test_error) for run in runs[:-1]) / size
        if error <= tolerance or error > 0.5 * previous:  # settled, or held up by rounding
            break
    residual = kernel.check(fine.table, problem.fraction, problem.parameters, fine.work)
    values = _unknowns(kernel, fine, len(problem.blocks))
    result = Result(
        model, fine.test_error, fine.train_error, {name: values[name] for name in ORDER_PARAMETERS}, problem.spike,
        fine.free_energy, residual, fine.status, error, time.perf_counter() - start, dimension, len(fine.table),
    )  # fmt: skip
    _certify(problem, result, tolerance, _signal(fine, problem))
    return result


def _orders(problem: Problem) -> tuple[int, ...]:
    """Orders of quadrature that are compared; several blocks may be nearly collinear, where rounding shows as well."""
    return ORDERS if len(problem.blocks) == 1 else (*ORDERS[:-1], sum(ORDERS) // 2, ORDERS[-1])


def _run(kernel: ModuleType, problem: Problem, order: int, halvings: int) -> _Run:
    rows = table(problem.blocks, problem.target, order, halvings)
    work = np.empty(kernel.workspace_size(len(problem.blocks), len(rows)))
    out = np.full(3, np.nan)
    status = kernel.solve(rows, problem.fraction, problem.parameters, work, out)
    if status < 0:
        raise NotConverged(_stalled(problem, -status), _collinear_hint(problem))
    return _Run(int(status), float(out[0]), float(out[1]), float(out[2]), work, rows)


def _unknowns(kernel: ModuleType, run: _Run, blocks: int) -> Mapping[str, np.ndarray]:
    layout = kernel.layout(blocks, len(run.table))
    values = {}
    for name in ORDER_PARAMETERS:
        start, shape = layout[name]
        values[name] = run.work[start : start + math.prod(shape)].reshape(shape).copy()
    return values


def _signal(run: _Run, problem: Problem) -> float:
    """E y^2 of the noisy label, the scale of an error."""
    weight, nu = run.table[:, 1], run.table[:, 2:5]
    return float(weight @ (nu[:, 0] ** 2 + nu[:, 1] ** 2 + nu[:, 2]) + problem.parameters[3])


def _certify(problem: Problem, result: Result, tolerance: float, signal: float) -> None:
    """Raise NotConverged unless the solution satisfies the equations, is feasible, and quadrature has settled."""
    residual, error, values = result.residual, result.quadrature_error, result.order_parameters
    if not math.isfinite(result.test_error + result.train_error + result.free_energy):
        raise NotConverged(
            f"the solution is not finite: test error {result.test_error}", _collinear_hint(problem)
        )
    if not residual <= RESIDUAL:
        raise NotConverged(
            f"the equations are satisfied only to {residual:.1e} (relative), {RESIDUAL:.0e} is required",
            _collinear_hint(problem),
        )
    if not error <= tolerance:
        raise NotConverged(
            f"the test error changes by {error:.1e} (relative) between orders of quadrature, {tolerance:.0e} is asked",
            "the problem is ill-conditioned: allow a larger tolerance; " + _collinear_hint(problem),
        )
    loss, energy = result.training_loss, result.free_energy
    if not abs(loss - energy) <= ENERGY * abs(loss) + _ROUNDING * problem.model.fit.samples * signal:
        raise NotConverged(
            f"the free energy {energy:.12g} and the training loss {loss:.12g} differ: rounding has taken over",
            _collinear_hint(problem),
        )
    positive = [values["V2"].min(), np.diag(values["V1"]).min()]
    scale = 1e-9 * max(float(np.abs(values["Q2"]).max()), 1e-300)
    if min(positive) <= 0.0 or values["Q2"].min() < -scale or np.diag(values["Q1"]).min() < -scale:
        raise NotConverged("the solution is not feasible: an overlap Q or a response V is negative",
                           _collinear_hint(problem))  # fmt: skip


def _stalled(problem: Problem, block: int) -> str:
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"block {block} of the equations was not solved at fit.samples = {fit.samples:g}, fit.ridge = {fit.ridge:g}, "
        f"network.width = {width:g}"
    )


def _collinear_hint(problem: Problem) -> str:
    if len(problem.blocks) > 1 and problem.parameters[4] == 0.0:
        return (
            "the blocks' mean features may be nearly collinear: give a dimension, merge close readout values, "
            "or raise fit.ridge"
        )
    return "raise fit.ridge, or move away from fit.samples = network.width"
