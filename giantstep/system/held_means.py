"""Mean weights that the loss tells nothing of, being linear wherever outputs are.

At infinite dimension labels alone hold the mean weights m. Where these have no curvature, m is told by a symmetry or by
nothing. At any dimension the ridge holds m, and at zero where the labels have no slope in it either.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import permutations, product

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.probes import alike, places
from giantstep.system.alike_means import require_bend
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.first_solution import first_solution
from giantstep.system.kernels import loss_kernel
from giantstep.system.problem import Problem, Solution

_HELD = 1e-3  # inverse dimension: where m is zero, any one gives the same
_NOTHING = 1e-16  # of an output's square, what zero means make up
_SAME = 1e-11  # of labels and those turned around


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


def means_vanish(problem: Problem) -> bool:
    """Whether the negative output is as good for other samples, which are as likely, so that m is zero: those with
    indices exchanged or of the other sign, of which the features know nothing, or of mirrored inputs.
    """
    target = problem.model.target
    if problem.model.network.trains_bias:
        return False
    unknown = tuple(i for i, column in enumerate(zip(*problem.overlaps, strict=True)) if not any(column))
    return is_symmetric(problem) and _turns_around(target.link, target.indices, unknown) or is_mirrored(problem)


def is_symmetric(problem: Problem) -> bool:
    """Whether the loss of the negative output and label is the same, and negative indices have negative labels where
    the link is odd.
    """
    channel = problem.model.target.channel
    return bool(loss_kernel(problem.model.fit.loss).SYMMETRIC) and (channel is None or channel.odd)


@lru_cache(maxsize=64)
def _turns_around(link: str, indices: int, free: tuple[int, ...]) -> bool:
    """Whether some exchange of these indices, with signs, turns every label around."""
    z, values = places(indices), link_values(link)
    here = values(z)
    for order, signs in product(permutations(free), product((1.0, -1.0), repeat=len(free))):
        moved = z.copy()
        moved[list(free)] = np.array(signs)[:, None] * z[list(order)]
        if alike(here, -values(moved), _SAME):
            return True
    return False


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
    return features == {"even"} and of_link == -1 and is_symmetric(problem)
