"""Mean weights that the loss tells nothing of, being linear wherever outputs are.

At infinite dimension labels alone hold the mean weights m. Where these have no curvature, m is told by a symmetry or by
nothing. At any dimension the ridge holds m, and at zero where the labels have no slope in it either.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.alike_means import require_bend
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.first_solution import first_solution
from giantstep.system.problem import Problem, Solution
from giantstep.system.vanishing_means import means_vanish

_HELD = 1e-3  # inverse dimension: where m is zero, any one gives the same
_NOTHING = 1e-16  # of an output's square, what zero means make up


def with_held_means(problem: Problem, tolerance: float) -> Solution | None:
    """The solution at infinite dimension where m is zero by symmetry; None where labels may decide m, or no solution
    is near. Raises NotConverged where nothing decides m.
    """
    if problem.parameters.inverse_dimension > 0.0:
        return None
    held = problem.with_parameters(inverse_dimension=_HELD)
    if not means_vanish(problem):
        _require_labels(held)
        return None
    try:
        found = solve_coupled(held, tolerance, patient=False)
    except NotConverged:
        return None
    order = {**found.order_parameters, "m": np.zeros_like(found.order_parameters["m"])}
    return found._replace(order_parameters=order, found=None)


def at_a_dimension_of_no_means(problem: Problem, order: Mapping[str, np.ndarray]) -> Problem:
    """The problem at a dimension where m of a solution at infinite dimension is zero by symmetry, and stays so whatever
    moves: labels may tell less of it there than rounding. Else as it is.
    """
    if problem.parameters.inverse_dimension > 0.0 or order["m"].any() or not means_vanish(problem):
        return problem
    return problem.with_parameters(inverse_dimension=_HELD)


def _require_labels(held: Problem) -> None:
    """Raise NotConverged where labels have neither slope nor curvature in m; held: the problem with a dimension."""
    try:
        outcome, system = first_solution(held, None, None, patient=False)
    except NotConverged:
        return
    system.evaluate(outcome.x)
    weight, mean = system.table[:, 1], system.view("mean")
    square = weight @ mean**2
    if square <= _NOTHING * (square + weight @ system.view("Delta")):
        require_bend(system)
