"""Resolutions of what moves with a solution: its derivatives, and its variance between draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from giantstep.system.kink_crossings import cuts_at
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE, Times, averages_smoothly, chooses, refined
from giantstep.system.solved_again import starts_near
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray


class Resolution(NamedTuple):
    """A level, and whether nodes of the label are chosen at the solution."""

    level: Level
    chosen: bool = False


def for_derivatives(problem: Problem, order: Mapping[str, Array]) -> Iterator[Resolution]:
    """Resolutions that are compared until what moves with the solution has settled; order: order parameters near it.

    No two of them have the same nodes of kappa, of the output or of the label: what these miss would show no error.
    Derivatives have the kinks and jumps of the loss's curvature, as narrow as outputs vary: panels are cut there, and
    nodes of the label chosen, as for the solution; of smooth averages, which are those of counts that have many nodes,
    only where even ones do not settle. Of several indices each resolution has more of the label than the one before.
    """
    _, fine = FINE
    if problem.model.target.indices > 1:
        levels = (*FINE, *(replace(refined(fine, times), labels=times) for times in (1, 2, 3)))
        yield from map(Resolution, levels)
        return
    chosen = chooses(problem, Times(kappa=1))
    fine = replace(fine, cuts=_cuts(problem, order))
    first = chosen and not averages_smoothly(problem)
    finer = replace(fine, order=fine.order + 1, output=60, labels=1 if first else 2, samples=60)
    yield Resolution(replace(fine, rough=first), first)
    yield Resolution(finer, first)
    for halvings in (1, 2, 3):
        labels = 1 if chosen else 2 * (1 + halvings)
        yield Resolution(replace(finer, output=90, labels=labels, halvings=halvings, samples=90), chosen)


def _cuts(problem: Problem, order: Mapping[str, Array]) -> tuple[float, ...]:
    """Ends of panels in kappa about the places where the output passes a kink of the loss."""
    if problem.rank > 1:
        return ()
    return cuts_at(problem, next(starts_near(coupled_at(problem, FINE[1]), order)))
