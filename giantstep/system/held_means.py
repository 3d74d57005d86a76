"""Mean weights that the loss tells nothing of, being linear wherever outputs are.

At infinite dimension labels alone hold the mean weights m. Where these have no curvature, m is told by a symmetry or by
nothing. At any dimension the ridge holds m, and at zero where the labels have no slope in it either.
"""

from __future__ import annotations

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.spec.errors import NotConverged
from giantstep.system.alike_means import require_bend
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.first_solution import first_solution
from giantstep.system.kernels import loss_kernel
from giantstep.system.problem import Problem, Solution

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


def means_vanish(problem: Problem) -> bool:
    """Whether the negative output is as good for the mirrored samples, which are as likely, so that m is zero: those
    with one index of the other sign, of which the features know nothing, or of mirrored inputs.
    """
    target = problem.model.target
    if problem.model.network.trains_bias:
        return False
    symmetric = bool(loss_kernel(problem.model.fit.loss).SYMMETRIC) and target.channel is None
    link, unknown = link_of(target.link), [not any(column) for column in zip(*problem.overlaps, strict=True)]
    alone = [name for name, free in zip(link.variables, unknown, strict=True) if free]
    return symmetric and any(parity(link.node, name) == -1 for name in alone) or is_mirrored(problem)


def is_mirrored(problem: Problem) -> bool:
    """Whether inputs of the other sign have opposite features and the same labels, or the reverse.

    The mirrored samples are then as likely, their readout is the negative one, and m, zeta and psi vanish.
    """
    target, features = problem.model.target, {term.parity for term in problem.blocks}
    of_link = parity(link_of(target.link).node)
    if problem.model.network.trains_bias:
        return False
    if features == {"odd"}:
        return of_link == 1
    symmetric = bool(loss_kernel(problem.model.fit.loss).SYMMETRIC) and target.channel is None
    return features == {"even"} and of_link == -1 and symmetric
