"""The two systems that are compared, each with its solution: which is solved first, and from where."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.evidence import RESIDUAL
from giantstep.system.first_solution import anew
from giantstep.system.kink_crossings import cut_anew
from giantstep.system.label_refinement import system_at
from giantstep.system.level import Level
from giantstep.system.newton import Outcome, newton
from giantstep.system.problem import Problem
from giantstep.system.sign_panels import Signs

NEAR, TO_THE_LAST = 1e-6, 1e-15  # relative Newton steps, about the root of the error then left
Pair = tuple[CoupledSystem, CoupledSystem]


class SolvedPair(NamedTuple):
    """A coarser and a finer system, with what Newton's method has found of them."""

    coarser: CoupledSystem
    finer: CoupledSystem
    estimate: Outcome
    answer: Outcome


class Before(NamedTuple):
    """What is known before a pair is solved: the last system, an outcome from which to start, whether there has been no
    pair yet, signs of a similar model, and a relative step that an answer does without.
    """

    last: CoupledSystem
    near: Outcome
    first: bool
    signs: Signs | None
    close: float


def coarser_first(systems: Pair, before: Before, known: bool) -> SolvedPair:
    """The coarser system is solved, unless the outcome is known to be of it, and leads to the solution of the finer."""
    coarser, finer = systems
    coarser.takes(before.last)
    estimate = before.near if known else _estimate(coarser, before.near)
    if before.first and not estimate.converged:
        estimate = anew(coarser.problem, coarser, NEAR)
    finer.takes(coarser)
    finer.signs_near = before.signs
    finer, answer = _answer(finer, estimate, before.close)
    return SolvedPair(coarser, finer, estimate, answer)


def finer_first(problem: Problem, levels: tuple[Level, ...], before: Before) -> SolvedPair:
    """A pair of levels whose nodes of the label are chosen: those of the finer at the outcome, those of the coarser at
    the solution of the finer and beginning with its panels; choosing them tells the averages that it is solved by.
    Raises NotConverged where nodes are too many.
    """
    rough, fine = levels
    finer = system_at(problem, fine, before.near.x)
    finer.takes(before.last)
    finer.signs_near = before.signs
    finer, answer = _answer(finer, replace(before.near, converged=True), before.close)
    if before.first and not answer.converged:
        finer, answer = _answer(finer, anew(problem, finer, NEAR), before.close)
    if not answer.converged:
        return SolvedPair(finer, finer, answer, answer)
    coarser = system_at(problem, rough, answer.x, like=finer)
    coarser.takes(finer)
    estimate = _estimate(coarser, answer)
    return SolvedPair(coarser, finer, estimate, replace(answer, converged=estimate.converged, moved=estimate.moved))


def _estimate(coarser: CoupledSystem, near: Outcome) -> Outcome:
    """The solution of the coarser, as well as it takes to be compared."""
    return newton(coarser, near.x, most=12, settled=NEAR, blind=True, near=near)


def _answer(finer: CoupledSystem, start: Outcome, close: float) -> tuple[CoupledSystem, Outcome]:
    """The solution of the finer of a pair, from one near it; and the system, whose panels may be cut anew."""
    answer = newton(finer, start.x, most=12, near=start, enough=close) if start.converged else start
    if answer.converged and finer.certificate(answer.x) > RESIDUAL:
        last = newton(finer, answer.x, settled=TO_THE_LAST)  # outputs that vary within less than a step
        answer = replace(last, moved=answer.moved + last.moved)
    if not answer.converged and finer.level.cuts:  # so far away that the output passes its kinks beside the cuts
        finer = cut_anew(finer, answer.x)
        answer = newton(finer, answer.x, most=12)
    return finer, answer
