"""What a solution must show before it is reported: the conditions, for one point or for many at a time."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from giantstep.system.problem import Parameters, Points, Problem, Solution
from giantstep.system.square_loss import RESIDUAL, ROUNDING

ENERGY = 1e-8  # nor one whose free energy differs from its training loss by more, relatively
_NEGATIVE = 1e-9  # of the overlaps, what rounding may make negative


def training_loss(problem: Problem, found: Solution | Points, parameters: Parameters) -> Any:
    """The training objective per dimension from the errors: equals the free energy at a solution."""
    norm = parameters.width * sum(found.order_parameters["Q2"])
    loss = parameters.samples * found.train_error / problem.model.fit.loss.entry.error_scale
    return loss + 0.5 * parameters.ridge * norm


def faults(problem: Problem, found: Solution | Points, parameters: Parameters, tolerance: float) -> dict[str, Any]:
    """Conditions by name -> whether they fail, in the order in which they are reported; of one point or of many.

    What is not a number fails.
    """
    order = found.order_parameters
    with np.errstate(all="ignore"):
        loss, energy = training_loss(problem, found, parameters), found.free_energy
        allowed = ENERGY * abs(loss) + ROUNDING * parameters.samples * found.signal
        scale = _NEGATIVE * reduce(np.maximum, abs(order["Q2"]))
        responses = reduce(np.minimum, [*order["V2"], *order["V1"].diagonal().T])
        overlaps = reduce(np.minimum, [*order["Q2"], *order["Q1"].diagonal().T])
        return {
            "finite": ~np.isfinite(found.test_error + found.train_error + found.free_energy),
            "residual": ~(np.asarray(found.residual) <= RESIDUAL),
            "quadrature": ~(np.asarray(found.quadrature_error) <= tolerance),
            "energy": ~(abs(loss - energy) <= allowed),
            "feasible": ~(responses > 0.0) | ~(overlaps >= -scale),
        }
