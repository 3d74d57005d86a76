"""The ladder of checks for one model: each rung reaches the same numbers by another path."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from codegen.structure import Block, Plan, analyse, nodes_of
from codegen.system_twin import OBSERVABLES, TwinError, TwinSolution, solve_block, solve_twin, state_of
from codegen.twin import Twin, twin
from derive.check import check_step
from derive.coefficients import conditional_coefficients
from derive.evaluate import EvaluationError, Evaluator, Place, State
from derive.gradient_step import evaluate, gradient_step_map
from derive.saddle import Equation
from derive.scalar import ScalarFunction, scalar_function
from derive.symbols import SYMMETRIC
from giantstep.derivation import derive, saddle_system_of
from giantstep.errors import GiantstepError
from giantstep.kernels import coefficients, solver_kernel
from giantstep.mesh import Term
from giantstep.model import Model
from giantstep.result import ORDER_PARAMETERS, Result
from giantstep.solve import RESIDUAL, Problem, problem_of, solve

_DIGITS = 25
_NODES = 24  # of the small table on which solver and twin are compared: what they solve is the same system
_DIMENSION = 300
_SEEDS = 12
_LARGEST = 3000  # whole numbers n, p of the simulation
_FINITE = 3.0  # relative corrections of order 1/d beyond those the theory keeps, as a multiple of 1/d


@dataclass(frozen=True)
class Check:
    """One line of the table; ``ok`` where measured does not exceed allowed."""

    name: str
    measured: float
    allowed: float

    @property
    def ok(self) -> bool:
        return self.measured <= self.allowed

    def line(self) -> str:
        """The aligned row."""
        return f"{self.name:<64} {self.measured:>9.1e} {self.allowed:>9.1e}  {'ok' if self.ok else 'FAILED'}"


def verify(model: Model, echo: Callable[[str], object]) -> bool:
    """Run every check of the ladder, print one row each as it is done, and tell whether all hold.

    Rungs: recorded derivation steps; closed forms and kernels against quadrature; the map of the step; the solver
    against its interpretive twin; residual, free energy and its gradient; quadrature; simulation at d = 300.
    Raises GiantstepError where the model cannot be solved at all.
    """
    echo(f"{'check':<64} {'measured':>9} {'allowed':>9}")
    passed = True
    for check in checks(model):
        echo(check.line())
        passed = passed and check.ok
    echo("all checks hold" if passed else "a check FAILED: the numbers of this model are not to be trusted")
    return passed


def checks(model: Model) -> Iterator[Check]:
    """All checks of a model, from the derivation up to simulation."""
    yield from derivation_checks(model)
    problem = problem_of(model)
    activation, link = scalar_function(model.network.activation), scalar_function(model.target.link)
    for function, terms in ((activation, problem.blocks), (link, (problem.target,))):
        yield from function_checks(function, terms)
    if model.step is not None:
        yield step_check(model, problem, activation, link)
    yield from solver_checks(model)
    yield from result_checks(model)
    yield from simulation_checks(model)


def derivation_checks(model: Model) -> Iterator[Check]:
    """Both sides of every recorded step that can be evaluated, at a random point, with quadrature of its own."""
    for part in derive(model).parts[:-1]:  # the last one, the equations, is evaluated at a solution
        errors = [check_step(s, _DIGITS).error for s in part.steps if s.kind in ("identity", "result")]
        found = [float(e) for e in errors if e is not None]
        yield Check(f"{part.title}: {len(found)} steps", max(found, default=0.0), 10.0 ** (5 - _DIGITS))


def function_checks(function: ScalarFunction, terms: Sequence[Term]) -> Iterator[Check]:
    """Closed forms (where there are any) and kernels against quadrature at shifts and variances of the model."""
    derived, quadrature = conditional_coefficients(function), twin(function)
    closed = kernel = 0.0
    for term in dict.fromkeys(terms):
        for kappa in (-1.7, 0.4, 2.3):
            shift = term.scale * kappa + term.offset
            exact = _exact(quadrature, shift, term.variance)
            if exact is None:
                continue
            scales = _scales(exact)
            if derived.closed and term.variance > 0.0:
                values = _closed_values(derived, shift, term.variance)
                closed = max(closed, _worst(values, exact, scales))
            found = coefficients(term.function, np.array([shift]), term.variance)[:, 0]
            kernel = max(kernel, _worst([*found, found[0] ** 2 + found[1] ** 2 + found[2]], exact, scales))
    if derived.closed:
        yield Check(f"closed forms of {function.name} against quadrature", closed, 1e-15)
    yield Check(f"kernel of {function.name} against quadrature", kernel, 1e-11)


def _exact(quadrature: Twin, shift: float, variance: float) -> Sequence[Any] | None:
    try:
        values: Sequence[Any] = quadrature.coefficients(shift, variance, 20)
    except ValueError:  # too many waves for quadrature to be a check
        return None
    return values


def _scales(exact: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    size = mpmath.sqrt(exact[3]) or mpmath.mpf(1)
    return size, size, size**2, size**2


def _worst(values: Sequence[Any], exact: Sequence[Any], scales: Sequence[Any]) -> float:
    return max(float(abs(v - e) / s) for v, e, s in zip(values, exact, scales, strict=True))


def _closed_values(derived: Any, shift: float, variance: float) -> list[Any]:
    import sympy as sp

    point = {derived.s: sp.Rational(shift), derived.c: sp.Rational(variance)}
    expressions = (derived.mu0, derived.mu1, derived.mu2sq, derived.second)
    return [sp.N(sp.sympify(e).subs(point), 40)._to_mpmath(140) for e in expressions]


def step_check(model: Model, problem: Problem, activation: ScalarFunction, link: ScalarFunction) -> Check:
    """Strength, alignment and bulk variances against the derived map at 30 digits."""
    assert model.step is not None
    network = model.network
    exact = evaluate(
        gradient_step_map(activation, link, network.bias),
        model.step.learning_rate / network.width,
        model.step.samples,
        network.readout.values,
        network.readout.fractions,
        model.target.noise,
    )
    sign = -1 if exact["strength"] < 0 else 1  # the direction v absorbs it
    spike = problem.spike
    differences = [
        abs(spike.strength - sign * exact["strength"]) / max(1, abs(exact["strength"])),
        abs(spike.alignment - sign * exact["alignment"]) if exact["strength"] else 0,
        *(abs(c - e) / e for c, e in zip(spike.bulk_variance, exact["bulk_variance"], strict=True)),
    ]
    return Check("strength, alignment and variance after the step", float(max(differences)), 1e-11)


@dataclass(frozen=True)
class _Compared:
    """The generated solver and its twin on one small table."""

    families: Mapping[str, np.ndarray]
    out: np.ndarray
    residual: float
    twin: TwinSolution


@lru_cache(maxsize=1)
def _plan(loss: str) -> Plan:
    return analyse(saddle_system_of(loss))


def solver_checks(model: Model) -> Iterator[Check]:
    """Generated solver against twin, recorded equations at the solution, gradient of the free energy there.

    Several blocks are compared at d = 300, where m is determined well enough for digits to be counted.
    """
    dimension = None if len(model.network.readout.values) == 1 else _DIMENSION
    try:
        compared = _compare(model, problem_of(model, dimension))
    except TwinError:  # features without a mean: m is free as d grows
        compared = _compare(model, problem_of(model, _DIMENSION))
    yield Check("residual of the equations on a small table", compared.residual, RESIDUAL)
    for names, label in ((ORDER_PARAMETERS, "order parameters"), (OBSERVABLES, "errors and free energy")):
        yield Check(f"{label}: solver against twin", _difference(compared, names), 1e-10)
    with mpmath.workdps(_DIGITS + 15):
        count, worst = _recorded_equations(model, compared)
    yield Check(f"recorded equations at the solution: {count} steps", worst, 1e-15)
    with mpmath.workdps(_DIGITS + 15):
        yield Check(
            "gradient of the free energy in the order parameters", _gradient(model, compared, False), 1e-18
        )
        # central differences with h = 1e-10: h^2 times a ratio of derivatives
        yield Check("gradient of the free energy in the conjugates", _gradient(model, compared, True), 1e-14)


def small_table(problem: Problem, count: int = _NODES) -> np.ndarray:
    """The table of the solvers on a few Gauss-Hermite nodes, shape [count, 5 + 3K]."""
    kappa, weight = np.polynomial.hermite_e.hermegauss(count)
    terms = (problem.target, *problem.blocks)
    found = [coefficients(t.function, t.scale * kappa + t.offset, t.variance) for t in terms]
    blocks = np.stack(found[1:], axis=1).reshape(-1, count)
    rows = np.concatenate([kappa[None], weight[None] / weight.sum(), found[0], blocks])
    return np.ascontiguousarray(rows.T)


def _compare(model: Model, problem: Problem) -> _Compared:
    blocks, table = len(problem.blocks), small_table(problem)
    kernel = solver_kernel(model.fit.loss, blocks)
    work, out = np.empty(kernel.workspace_size(blocks, len(table))), np.full(3, np.nan)
    kernel.solve(table, problem.fraction, problem.parameters, work, out)
    families: dict[str, np.ndarray] = {}
    for name, (start, shape) in kernel.layout(blocks, len(table)).items():
        families[name] = work[start : start + math.prod(shape)].reshape(shape)
    residual = kernel.check(table, problem.fraction, problem.parameters, work)
    plan = _plan(model.fit.loss)
    state = state_of(table.tolist(), problem.fraction.tolist(), problem.parameters.tolist(), plan)
    start = {node.name: _members(families[node.name]) for node in plan.blocks[0].torn}
    return _Compared(families, out, residual, solve_twin(plan, state, start, _DIGITS))


def _members(values: np.ndarray) -> dict[Place, float]:
    return {place: float(values[place]) for place in np.ndindex(values.shape)}


def _difference(compared: _Compared, names: Sequence[str]) -> float:
    """Largest difference relative to the largest member of its family."""
    worst = 0.0
    for name in names:
        if name in OBSERVABLES:
            ours = np.array([compared.out[OBSERVABLES.index(name)]])
            exact = np.array([float(compared.twin.observables[name])])
        else:
            ours, exact = compared.families[name], np.array(compared.twin.array(name))
        scale = float(np.abs(exact).max())
        if name in ("m", "zeta", "psi"):  # what vanishes by symmetry is compared to the size of the readout
            scale = max(scale, 1e-3 * _output_scale(compared))
        worst = max(worst, float(np.abs(ours - exact).max()) / (scale or 1.0))
    return worst if math.isfinite(worst) else math.inf


def _output_scale(compared: _Compared) -> float:
    """The order of magnitude of the readout: root of the largest overlap."""
    return math.sqrt(max(float(np.abs(compared.families[name]).max()) for name in ("Q1", "Q2")))


def _recorded_equations(model: Model, compared: _Compared) -> tuple[int, float]:
    """Both sides of each recorded step whose symbols the twin's solution has, relative to the terms in it."""
    state = compared.twin.state
    state = replace(state, symbols={**state.symbols, **compared.twin.observables})
    count, worst = 0, 0.0
    for step in saddle_system_of(model.fit.loss).derivation.steps:
        try:
            worst = max(worst, _sides_differ(state, step.lhs, step.rhs, 1e-6 * _output_scale(compared)))
        except (EvaluationError, AttributeError, KeyError):
            continue  # in symbols of its own (the loss, matrices without components)
        count += 1
    return count, worst


def _sides_differ(state: State, left: Any, right: Any, floor: float) -> float:
    """Largest difference of two index expressions, relative to their terms or to a floor (zero by symmetry)."""
    evaluator = Evaluator(state)
    indices = tuple(sorted({s for e in (left, right) for s in e.free_symbols if s.is_integer}, key=str))
    kappa = bool({str(s) for e in (left, right) for s in e.free_symbols} & {"kappa"})
    worst = 0.0
    for place in state.places(len(indices)):
        where = dict(zip(indices, place, strict=True))
        sides = [evaluator.nodes(e, where) if kappa else [evaluator.value(e, where)] for e in (left, right)]
        for first, second in zip(*sides, strict=True):
            worst = max(worst, float(abs(first - second) / max(abs(first), floor)))
    return worst


def _gradient(model: Model, compared: _Compared, conjugates: bool) -> float:
    """Largest derivative of the free energy at the twin's solution, relative to its value per relative change.

    Order parameters by one complex step; conjugates by central differences with T solved again.
    """
    system, state = saddle_system_of(model.fit.loss), compared.twin.state
    energy = system.free_energy
    size = abs(compared.twin.observables["free_energy"])
    worst = mpmath.mpf(0)
    for condition in (*system.stationarity, system.equation("m")):
        if condition.unknown.endswith("_hat") != conjugates:
            continue
        for place, value in compared.twin.families[condition.unknown].items():
            if condition.unknown in SYMMETRIC and place != tuple(sorted(place)):
                continue
            if conjugates:
                slope = _by_differences(state, model, condition, place)
            else:
                step = mpmath.mpf("1e-30")
                moved = _moved(state, condition.unknown, place, mpmath.mpc(0, step))
                slope = Evaluator(moved).value(energy).imag / step
            worst = max(worst, abs(slope * value) / size)
    return float(worst)


def _by_differences(state: State, model: Model, condition: Equation, place: Place) -> Any:
    energy = saddle_system_of(model.fit.loss).free_energy
    spectral = _spectral_block(model)
    value = abs(state.families[condition.unknown][place])
    step = mpmath.mpf("1e-10") * (value or 1)
    ends = []
    for sign in (1, -1):
        moved = _moved(state, condition.unknown, place, sign * step)
        if condition.unknown in ("V1_hat", "V2_hat"):
            moved = solve_block(moved, spectral, {"T": state.families["T"]}, _DIGITS)
        ends.append(Evaluator(moved).value(energy))
    return (ends[0] - ends[1]) / (2 * step)


def _spectral_block(model: Model) -> Block:
    """The equation of T alone, at given conjugates."""
    nodes = nodes_of(saddle_system_of(model.fit.loss))
    return Block("nonlinear", (nodes["T"],), (nodes["P"], nodes["S"], nodes["M"]), ())


def _moved(state: State, name: str, place: Place, by: Any) -> State:
    members = dict(state.families[name])
    for p in {place, tuple(reversed(place))} if name in SYMMETRIC else {place}:
        members[p] += by
    return state.with_families({name: members})


def result_checks(model: Model) -> Iterator[Check]:
    """What the reported answer says about itself, and node doubling."""
    result = solve(model)
    yield Check("residual of the equations at the reported solution", result.residual, RESIDUAL)
    loss = result.training_loss
    yield Check("free energy against training loss", abs(result.free_energy - loss) / abs(loss), 1e-9)
    yield Check("test error: two orders of quadrature", result.quadrature_error, 1e-10)
    yield Check("test error: panels of kappa halved", _halved(model, result), 1e-9)


def _halved(model: Model, result: Result) -> float:
    from giantstep.mesh import ORDERS, table

    problem = problem_of(model)
    kernel = solver_kernel(model.fit.loss, len(problem.blocks))
    rows = table(problem.blocks, problem.target, ORDERS[-1], 1)
    work, out = np.empty(kernel.workspace_size(len(problem.blocks), len(rows))), np.full(3, np.nan)
    kernel.solve(rows, problem.fraction, problem.parameters, work, out)
    return abs(float(out[0]) - result.test_error) / abs(result.test_error)


def simulation_checks(model: Model) -> Iterator[Check]:
    """The spiked random features at d = 300 against the theory at that dimension, in standard errors.

    A relative correction of 3/d, beyond the one that the theory keeps, counts as part of one standard error.
    """
    from giantstep.simulation import simulate

    largest = max(model.network.width, model.fit.samples, 1.0)
    dimension = max(60, min(_DIMENSION, int(_LARGEST / largest)))
    simulated = simulate(model, dimension=dimension, seeds=_SEEDS, what="srf")
    try:
        theory = solve(simulated.model, dimension=dimension)
    except GiantstepError:
        yield Check(f"theory at the simulated d = {dimension}", math.inf, 0.0)
        return
    for name in ("test_error", "train_error"):
        value, mean = getattr(theory, name), float(simulated.mean(name).item())
        error = float(simulated.standard_error(name).item()) + _FINITE / dimension * value
        label = name.replace("_", " ")
        yield Check(
            f"{label}: simulation at d = {dimension}, standard errors", abs(mean - value) / error, 4.0
        )
