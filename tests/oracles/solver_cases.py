"""Small models, tables and comparisons that the tests of the generated solvers share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reference_system import OBSERVABLES, solve_reference, state_of

from codegen.plan import Plan, analyse
from derive.loss.quadratic import SQUARE
from derive.saddle import saddle_system
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.solve import Problem
from giantstep.system.state import State, run_solver

Array = NDArray[np.float64]
SCRATCH = ("residual_", "d_", "weight_", "average_", "part_", "slope_", "product_")  # rows that are no unknowns
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")


@dataclass(frozen=True)
class Solved:
    """What a kernel leaves behind: its status, observables and all families by name."""

    status: int
    out: Array
    families: Mapping[str, Array]
    state: State


def model(blocks: int = 1, /, **changes: Any) -> Model:
    """A model of moderate size with closed coefficients; ``changes`` as dotted keys with __ for the dot."""
    values, fractions = [1.0, -0.6, 0.3][:blocks], [[1.0], [0.4, 0.6], [0.3, 0.45, 0.25]][blocks - 1]
    data = {
        "network": {"activation": "erf", "width": 1.2, "readout": {"values": values, "fractions": fractions}},
        "spike": {"strength": 1.4, "alignment": 0.7, "bulk_variance": 1.2},
        "target": {"link": "sin", "noise": 0.05},
        "fit": {"samples": 1.7, "ridge": 0.05},
    }
    return Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def small_table(problem: Problem, count: int = 24) -> Array:
    """The table of the kernels on a few Gauss-Hermite nodes: what they solve need not be a converged integral."""
    kappa, weight = np.polynomial.hermite_e.hermegauss(count)
    terms = (problem.link, *problem.blocks)
    found = [coefficients(t.function, t.scale * kappa + t.offset, t.variance) for t in terms]
    blocks = np.stack(found[1:], axis=1).reshape(-1, count)
    return np.ascontiguousarray(np.concatenate([kappa[None], weight[None] / weight.sum(), found[0], blocks]).T)


def run(kernel: Any, table: Array, fraction: Array, parameters: Array) -> Solved:
    solved = run_solver(kernel, np.array(table.T, order="C"), fraction, parameters)
    families = {name: solved.state[name] for name in solved.state if not name.startswith(SCRATCH)}
    return Solved(solved.status, solved.out, families, solved.state)


def residual(kernel: Any, solved: Solved, table: Array, fraction: Array, parameters: Array) -> float:
    """What the kernel's own check says of a solution."""
    return float(kernel.check(np.array(table.T, order="C"), fraction, parameters, solved.state))


@lru_cache(maxsize=1)
def plan() -> Plan:
    return analyse(saddle_system(SQUARE))


def reference_of(solved: Solved, table: Array, fraction: Array, parameters: Array, digits: int = 30) -> Any:
    state = state_of(table.tolist(), fraction.tolist(), parameters.tolist(), plan())
    start = {
        name: {place: float(solved.families[name][place]) for place in np.ndindex(solved.families[name].shape)}
        for name in ("T", "V1")
    }
    return solve_reference(plan(), state, start, digits)


def distance(solved: Solved, reference: Any) -> float:
    """Largest difference in an order parameter or an observable, relative to the largest member of its family."""
    worst = 0.0
    for name in ORDER_PARAMETERS:
        wanted = np.array(reference.array(name))
        scale = float(np.abs(wanted).max()) or 1.0
        worst = max(worst, float(np.abs(solved.families[name] - wanted).max()) / scale)
    for position, name in enumerate(OBSERVABLES):
        exact = float(reference.observables[name])
        worst = max(worst, abs(float(solved.out[position]) - exact) / abs(exact))
    return worst if math.isfinite(worst) else math.inf
