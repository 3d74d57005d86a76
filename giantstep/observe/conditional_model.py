"""The conditionally Gaussian model on nodes of kappa: what averages over kappa are taken of, for any target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.law.label_growth import spacing_of
from giantstep.law.label_moments import label_moments
from giantstep.law.terms import noisy_terms
from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import table
from giantstep.quadrature.tensor import coordinates, tensor_table
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Target
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.discretisation import resolved_on
from giantstep.system.level import Level
from giantstep.system.problem import Problem

Array = np.ndarray
_OUTPUT = 24  # of a level: nothing is averaged over the output here


@dataclass(frozen=True)
class Conditional:
    """Functions of kappa at its nodes: kappa[N, q], weight[N]; K blocks, D directions of the target beside the spike.

    Clean label: mean nu0[N], linear part nu1[N, D] in t, variance of the rest nu2sq[N]. ``noisy``[N]: mean of the label
    with its flips and probit noise. Features: mu0[N, K], mu1[N, K], mu2sq[N, K].  [CUI24, Result 3.2]
    """

    problem: Problem
    kappa: Array
    weight: Array
    nu0: Array
    nu1: Array
    nu2sq: Array
    noisy: Array
    mu0: Array
    mu1: Array
    mu2sq: Array


def conditional(problem: Problem, order: int, halvings: int = 0) -> Conditional:
    """The model of a problem on panels of ``order`` nodes, or as many as that to the axis for several directions.

    Raises NotConverged where kappa is not resolved.
    """
    target, directions, blocks = problem.model.target, problem.model.target.indices, len(problem.blocks)
    rows = _nodes(problem, order, halvings)
    if problem.link is None:
        level = Level(order, _OUTPUT, halvings)
        laws = resolved_on(rows, target, problem.overlaps, symmetric=False, form="residual", level=level, square=True)
        rows = laws.table
    first = 3 + directions + problem.rank
    mu = rows[:, first:].reshape(len(rows), 3, blocks)
    kappa = coordinates(rows, directions, problem.rank)
    return Conditional(
        problem,
        kappa,
        rows[:, 1],
        rows[:, 2],
        rows[:, 3 : 3 + directions],
        rows[:, 3 + directions],
        _noisy_mean(target, problem, kappa, rows[:, 2]),
        mu[:, 0],
        mu[:, 1],
        mu[:, 2],
    )


def _nodes(problem: Problem, order: int, halvings: int) -> Array:
    """The coefficients at nodes of kappa; those of several directions are about as dense as a solution's."""
    if problem.rank > 1:
        return tensor_table(AveragedTerms.of(problem).shape, (order / ORDERS[-1] * 1.3**halvings,) * problem.rank)
    target = problem.model.target
    further, spacing = noisy_terms(problem.link, target), spacing_of(target, problem.overlaps)
    return table(problem.blocks, problem.link, order, halvings, further=further, spacing=spacing)


def _noisy_mean(target: Target, problem: Problem, kappa: Array, clean: Array) -> Array:
    """E[y | kappa], flips and noise inside the link included; noise added to the label has no mean."""
    mean = clean
    if target.probit > 0.0 and problem.link is not None:
        term = problem.link
        mean = coefficients(term.function, term.scale * kappa[:, 0], term.variance + target.probit)[0]
    elif target.probit > 0.0:
        mean = label_moments(target, problem.overlaps, kappa, target.probit, 0, False).mean
    return np.asarray((1.0 - 2.0 * target.flips) * mean)
