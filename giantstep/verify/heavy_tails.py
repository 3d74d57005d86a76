"""Whether the features of a model have tails so heavy that no network of a size is near the limit.

Features count by sums of their squares over n samples, or over p neurons. Such a sum scatters about its mean by
sqrt((K - 1)/n) of it, K = E x^4/(E x^2)^2 the kurtosis: where K exceeds n it is the sum of a few large terms, and
terms that the theory leaves out do not fall like 1/d yet. tanh with a bias of 8 has K = 2e6.
"""

from __future__ import annotations

import numpy as np

from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import vocabulary_of
from giantstep.verify.conditional_law import kurtosis


def heavy_tails(model: Model, dimension: int) -> str:
    """Why no network of this dimension is near the limit, in words; empty where tails do not keep it from there."""
    try:
        found = largest_kurtosis(model, dimension)
    except GiantstepError:
        return ""
    most = round(dimension * max(model.fit.samples, model.network.width))
    if not found > most:
        return ""
    return f"features have a kurtosis of {found:.1e}: no network of so few samples and neurons is near the limit"


def largest_kurtosis(model: Model, dimension: int) -> float:
    """Of the features of all blocks at kappa = 0, about their mean."""
    problem = problem_of(vocabulary_of(model, dimension), dimension)
    shifts = problem.shifts(np.zeros(1 if problem.rank == 1 else (1, problem.rank)))
    return max(
        kurtosis(term.function, float(shift[0]), term.variance)
        for term, shift in zip(problem.blocks, shifts, strict=True)
    )
