"""What a solution must show before it is reported: the conditions, for one point or for many at a time."""

from __future__ import annotations

import math
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from giantstep.system.problem import Parameters, Problem, Solution

RESIDUAL = 1e-10  # a solution with a larger residual is not reported
ROUNDING = 1e-15  # of E y^2: what double precision leaves of a test error that is next to nothing
ENERGY = 1e-8  # nor one whose free energy differs from its training loss by more, relatively
OTHERS, ROUNDED = 100.0, 1e-10  # tolerances that its training error and free energy may change by; their rounding
NOTHING = 1e-24  # of E y^2: what rounding leaves of the square of a residual whose terms cancel by a few digits
_NEGATIVE = 1e-9  # of the overlaps, what rounding may make negative


def training_loss(problem: Problem, found: Solution, parameters: Parameters) -> Any:
    """The training objective per dimension from the errors: equals the free energy at a solution."""
    norm = parameters.width * sum(_members(found.order_parameters["Q2"]))
    loss = parameters.samples * found.train_error / problem.model.fit.loss.entry.error_scale
    return loss + 0.5 * parameters.ridge * norm + found.penalty


def energies_agree(problem: Problem, found: Solution, parameters: Parameters) -> Any:
    """Whether the free energy is the training loss, but for rounding; of one point or of many."""
    loss = training_loss(problem, found, parameters)
    allowed = ENERGY * abs(loss) + ROUNDING * parameters.samples * found.signal
    return abs(loss - found.free_energy) <= allowed


def leaves_nothing(found: Solution) -> Any:
    """Whether nothing is left of the label but rounding; of one point or of many."""
    least = NOTHING * found.signal
    return (found.test_error <= least) & (found.train_error <= least)


def others_allowed(tolerance: float) -> float:
    """What training error and free energy may change by between two resolutions, relative."""
    return max(OTHERS * tolerance, ROUNDED)


def conditions(problem: Problem, found: Solution, parameters: Parameters, tolerance: float) -> dict[str, Any]:
    """Conditions by name -> whether they hold, in the order in which they are reported; of one point or of many.

    What is not a number fails.
    """
    order = found.order_parameters
    squares, lengths = _members(order["Q2"]), _members(order["Q1"].diagonal().T)
    responses = _members(order["V2"]) + _members(order["V1"].diagonal().T)
    least = -_NEGATIVE * reduce(np.maximum, map(abs, squares))
    return {
        "finite": abs(found.test_error + found.train_error + found.free_energy) < math.inf,
        "residual": found.residual <= RESIDUAL,
        "quadrature": found.quadrature_error <= tolerance,
        "others": found.others_error <= others_allowed(tolerance),
        "ends": found.share_beyond <= tolerance,
        "energy": energies_agree(problem, found, parameters),
        "feasible": reduce(and_, [v >= 0.0 for v in responses] + [q >= least for q in squares + lengths]),
    }


def _members(values: np.ndarray) -> list[Any]:
    """Those of a vector: numbers of one point, arrays [P] of many."""
    found: list[Any] = values.tolist() if values.ndim == 1 else list(values)
    return found
