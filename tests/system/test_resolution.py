"""Which axis is refined: the nodes of kappa, or those of the label, by what each of them does to the test error."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from loss_cases import model

from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import Array, CoupledSystem
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.resolution import Times, next_times, pair
from giantstep.system.solve import solve

TOLERANCE = 1e-6
#: A smooth link: panels of kappa resolve it at once, and steps of t, chosen for its moments, do not serve the loss.
SMOOTH = model("huber", target__link="z1**2 - z2**2", target__noise=0.3, spike__alignment=[0.6, 0.4])


@lru_cache(maxsize=4)
def solved(times: Times) -> tuple[CoupledSystem, Array, float, float]:
    """The finer system of a pair, its unknowns, and the test errors of both."""
    problem = problem_of(SMOOTH)
    result = solve(SMOOTH, tolerance=1e-3)
    coarser, finer = pair(problem, times, np.empty(0))  # which asks for unknowns where kappa is refined
    estimate = newton(coarser, coarser.unknowns(order_of(problem, result)), most=12)
    answer = newton(finer, estimate.x, most=12)
    return finer, answer.x, coarser.test_error(estimate.x), finer.test_error(answer.x)


def test_nodes_of_the_label_are_refined_where_they_count() -> None:
    finer, x, coarse, fine = solved(Times())
    assert abs(coarse / fine - 1.0) > TOLERANCE
    assert next_times(Times(), finer, x, (coarse, fine), TOLERANCE) == Times(kappa=0, labels=1)


def test_nodes_of_kappa_are_refined_where_they_count() -> None:
    """The test error of a pair whose coarser system is off for another reason than the label."""
    times = Times(labels=1)
    finer, x, coarse, fine = solved(times)
    assert abs(coarse / fine - 1.0) < TOLERANCE
    assert next_times(times, finer, x, (1.001 * fine, fine), TOLERANCE) == Times(kappa=1, labels=1)
