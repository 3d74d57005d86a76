"""Resolutions of what moves with a solution: its derivatives, and its variance between draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from giantstep.system.discretisation import Level
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE, refined


def for_derivatives(problem: Problem) -> Iterator[Level]:
    """Resolutions that are compared until what moves with the solution has settled. Derivatives have the kinks and
    jumps of the loss's curvature in t, as narrow as outputs vary: more nodes there than a solution needs; of several
    indices the nodes are too many for that: each resolution has more of the label than the one before.
    """
    _, fine = FINE
    if problem.model.target.indices > 1:
        yield from (*FINE, *(replace(refined(fine, times), labels=times) for times in (1, 2, 3)))
        return
    finer = replace(fine, order=fine.order + 1, output=60, labels=2, samples=60)
    yield from (fine, finer)
    yield from (replace(finer, output=90, labels=labels, halvings=1, samples=90) for labels in (4, 6, 8))
