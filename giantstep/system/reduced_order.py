"""Order parameters of a result along the directions that kappa has, which Newton's method and averages take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from giantstep.system.problem import Problem
from giantstep.system.result import Result

Array = np.ndarray


def reduced_order(problem: Problem, order: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """Those of a result along the directions that kappa has: zeta [K, q], psi [K, m]; None where they are not told."""
    directions, blocks = problem.spike.directions, len(order["Q2"])
    if directions is None and order["zeta"].ndim > 1:
        return None
    order = {**order, **{name: order[name].reshape(blocks, -1) for name in ("zeta", "psi")}}
    return problem.inward(order)


def order_of(problem: Problem, result: Result) -> Mapping[str, Array]:
    """Those of a result of the problem's own model."""
    order = reduced_order(problem, result.order_parameters)
    assert order is not None
    return order
