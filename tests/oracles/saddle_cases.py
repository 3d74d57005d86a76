"""Random points, tolerances and the derived adjoint, for tests of the free energy and of the saddle-point system."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mpmath
from evaluate import Evaluator
from saddle_oracle import Point, state_of_point

from derive.loss.quadratic import SQUARE
from derive.saddle import SaddleSystem, saddle_system

DIGITS = 40
# a few hundred operations at 40 digits, inverses of matrices of condition below 1e3
EXACT = mpmath.mpf("1e-32")
# central differences with h = 1e-12 at 40 digits: h^2 f''' /6 and 1e-40/h, derivatives up to 1e4
DIFFERENCE = mpmath.mpf("1e-18")
CASES = [(blocks, seed) for blocks in (1, 2, 3) for seed in (11, 12)]


@lru_cache(maxsize=1)
def system() -> SaddleSystem:
    return saddle_system(SQUARE)


def adjoint(point: Point) -> list[Any]:
    """-dR/dlambda_b: the solution of the derived linear system, from its values at zero and unit vectors."""
    equation, k = system().equation("adjoint"), point.blocks

    def left(vector: list[Any]) -> list[Any]:
        evaluator = Evaluator(state_of_point(point, system(), adjoint=vector))
        return list(evaluator.family(equation.body, equation.indices).values())

    origin = left([mpmath.mpf(0)] * k)
    matrix = mpmath.matrix(k, k)
    for j in range(k):
        for i, x in enumerate(left([mpmath.mpf(i == j) for i in range(k)])):
            matrix[i, j] = x - origin[i]
    return list(-mpmath.lu_solve(matrix, mpmath.matrix(origin)))
