"""A solution found again at another resolution, from its order parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.label_refinement import system_at
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem
from giantstep.system.saturated_outputs import above_lower_floor
from giantstep.system.square_start import order_of_square_loss
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray


def solved_again(
    problem: Problem, order: Mapping[str, Array], level: Level, chosen: bool = False
) -> CoupledSystem | None:
    """The system of a level with the solution near given order parameters in its workspace, above a lower floor of
    variances where errors feel it, as they are reported; None where it is lost. chosen: nodes of the label are chosen.
    """
    plain = coupled_at(problem, level)
    for x in starts_near(plain, order):
        system = system_at(problem, level, x) if chosen else plain
        outcome = newton(system, x, most=12)
        if outcome.converged:
            lower = above_lower_floor(system, outcome.x, system.answer()) if system.raised else None
            system, x = (system, outcome.x) if lower is None else lower[:2]
            system.residual(x)
            return system
    return None


def starts_near(system: CoupledSystem, order: Mapping[str, Array]) -> Iterator[Array]:
    """Unknowns as they are told; where mean features hardly differ m cancel, and what they are together begins at that
    of the square loss.
    """
    yield system.unknowns(order)
    if system.span is not None and system.span.cancels:
        with suppress(NotConverged):
            square = order_of_square_loss(system)
            yield system.unknowns({**order, "coordinates": square["coordinates"]})
            yield system.unknowns(square)
