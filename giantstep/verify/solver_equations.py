"""The solver's own numbers put into the derived equations: what its generated text says is what was derived.

Its tables and averages are taken as they are, so that nothing but arithmetic separates the two. That these averages
are those of the definition is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from codegen.places import PARAMETERS, block_columns, scalar_columns
from derive.blocks import Definition
from derive.saddle import SaddleSystem
from derive.spectrum import given_names
from giantstep.law.derivation import system_of
from giantstep.spec.model import Model
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.evidence import ROUNDING
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.system.solve import RESIDUAL
from giantstep.system.span import span_of
from giantstep.system.square_loss import signal_of, square_kernel
from giantstep.system.square_tables import Fineness, rows_of, solver_nodes
from giantstep.system.state import Solved, run_solver
from giantstep.verify.answer import LABEL_IS_OUTPUT, apart
from giantstep.verify.check import Check
from giantstep.verify.equations import long, residuals
from giantstep.verify.interpreter import Interpreter, Point

Array = np.ndarray
OBSERVABLES = ("test_error", "train_error", "free_energy")


def point_of(system: SaddleSystem, rows: Array, problem: Problem, families: Mapping[str, Array]) -> Point:
    """A table of the solver [N, columns] and its families, in long doubles; what has no number follows from the rest.

    Averages over the output are to be added to the columns.
    """
    blocks, columns = len(problem.fraction), long(rows.T)
    scalars = scalar_columns(system.directions, system.spikes, system.drawn)
    named = dict(zip(scalars, columns, strict=False))
    for i, name in enumerate(block_columns(system.law.norms)):
        named[name] = columns[len(scalars) + i * blocks : len(scalars) + (i + 1) * blocks]
    weight = named.pop("weight")
    hidden = [e for e in system.equations if e.kind == "explicit" and e.unknown not in families]
    definitions = {d.name: d for d in system.fields}
    definitions |= {e.unknown: Definition(e.unknown, e.indices, e.body) for e in hidden}
    known = {name: long(values) for name, values in families.items()} | {"fraction": long(problem.fraction)}
    symbols = dict(zip(PARAMETERS, long(problem.parameters), strict=True))
    return Point(
        blocks, symbols, known, named, weight, definitions, {inverse.name: inverse for inverse in system.inverses}
    )


# --- the square loss, solved block by block -------------------------------------------------------------------------


def solver_checks(model: Model, result: Result) -> Iterator[Check]:
    """The solver of the square loss, run again on nodes of the order of the answer: equations, errors, free energy."""
    problem = problem_of(model, result.dimension, intermediate=True)
    solved, node = _solved(problem, _rows(problem))
    system = system_of(model)
    families = {e.unknown: solved.state[e.unknown] for e in system.equations if e.unknown in set(solved.state)}
    point = point_of(system, node.T, problem, families)
    rounding = ROUNDING * signal_of(node, model.target.indices) * np.array([1.0, 1.0, model.fit.samples])
    equations = _equations(residuals(system, point))
    yield replace(equations, undecided="" if equations.ok or solved.out[0] > rounding[0] else LABEL_IS_OUTPUT)
    interpreter = Interpreter(point)
    exact = [float(interpreter.value(getattr(system, name))) for name in OBSERVABLES]
    told = zip(solved.out.tolist(), exact, rounding.tolist(), strict=True)
    worst = max(apart(*each) for each in told)
    yield Check("errors and free energy of the solver by the interpreter", worst, RESIDUAL)


def on_halved_panels(model: Model, result: Result) -> tuple[float, float]:
    """The test error where the panels of kappa are halved, and E y^2."""
    problem = problem_of(model, result.dimension, intermediate=True)
    solved, node = _solved(problem, _rows(problem, 1))
    return float(solved.out[0]), signal_of(node, model.target.indices)


def _rows(problem: Problem, finer: int = 0) -> Array:
    fineness = Fineness.first(problem.rank)
    return rows_of(problem.features, replace(fineness, axes=(finer,) * problem.rank, labels=finer))


def _solved(problem: Problem, rows: Array) -> tuple[Solved, Array]:
    span, parameters = span_of(problem), problem.parameters.array()
    node, functions = solver_nodes(rows, span), None if span is None else span.rank
    return run_solver(square_kernel(problem), node, problem.fraction, parameters, functions=functions), node


# --- any convex loss ------------------------------------------------------------------------------------------------


def coupled_check(model: Model, kernel: CoupledSystem) -> Check:
    """The generated system of any loss at its solution, with the averages that the kernel of the loss supplies."""
    return _equations(residuals(system_of(model), coupled_point(system_of(model), kernel)))


def coupled_point(system: SaddleSystem, kernel: CoupledSystem) -> Point:
    """What the kernel knows at the last unknowns."""
    names = {e.unknown for e in system.equations}
    if isinstance(kernel, BulkSystem):  # what the workspace has beside these is the isotropic bulk's
        families = {name: kernel.numbers[name] for name in names & set(kernel.numbers)} | dict(kernel.given)
    else:
        given = set(given_names(system.law))
        families = {name: kernel.view(name) for name in (names | given) & set(kernel.room)}
    point = point_of(system, kernel.node.T, kernel.problem, families)
    averages = dict(zip(kernel.kernel.AVERAGES, long(kernel.averages), strict=True))
    return Point(
        point.blocks,
        point.symbols,
        point.families,
        {**point.columns, **averages},
        point.weight,
        point.definitions,
        point.inverses,
    )


def _equations(found: Mapping[str, float]) -> Check:
    name, worst = max(found.items(), key=lambda item: np.nan_to_num(item[1], nan=np.inf))
    return Check(f"{len(found)} equations of the solver by the interpreter, worst {name}", worst, RESIDUAL)
