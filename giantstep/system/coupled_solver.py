"""Solving the coupled system of any convex loss: its solution on finer and finer quadrature, until errors settle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from giantstep.law.kind import bulk_kind
from giantstep.spec.errors import NotConverged
from giantstep.system.alike_means import require_decided
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.evidence import RESIDUAL
from giantstep.system.far_labels import share_beyond
from giantstep.system.first_solution import coarse_system, first_solution, like_square_loss, unknowns_of
from giantstep.system.kappa_lines import lines_serve, may_follow, turns_in_plane
from giantstep.system.kink_crossings import cuts_serve, passes_unseen
from giantstep.system.label_refinement import settles, stays
from giantstep.system.labels_needed import needs_chosen_labels
from giantstep.system.newton import SHORT, Outcome, newton
from giantstep.system.problem import Problem, Solution
from giantstep.system.resolution import (
    FINE,
    Times,
    answers,
    apart,
    changed,
    chooses,
    felt,
    fits,
    is_affordable,
    levels_of_pair,
    may_choose,
    next_times,
    others_apart,
    pair,
    told_by,
    unknowns_apart,
)
from giantstep.system.result import Result
from giantstep.system.saturated_outputs import above_lower_floor, remaining, rests_on_floor, without_floor
from giantstep.system.settling import settling
from giantstep.system.solved_pair import NEAR, Before, Pair, coarser_first, finer_first
from giantstep.system.stalled import unsolved
from giantstep.system.two_index_refinement import settles_of_two

Array = np.ndarray
_STILL = 1e-8  # a relative Newton step of a solution to compare with, about the root of the error then left
_SHARE = 0.1  # of the tolerance: that of a step that the answer does without
_SOON = 6  # Newton steps from what is near
_PAIRS = 7  # compared, at most
_DIGITS = 1e-4  # relative change of a test error that has some


@dataclass(frozen=True, eq=False)
class Found:
    """A system with its unknowns and observables (test error, training error, free energy), and how far those of a
    coarser one are from these, relative: of the test error, and of the others.
    """

    system: CoupledSystem
    x: Array
    evaluations: int
    error: float
    others: float
    observables: Array

    def beside(self, coarser: CoupledSystem, x: Array, tolerance: float) -> Found:
        """The same beside another coarser system, which is solved at x, where that is nearer."""
        told = told_by(coarser, x, (self.observables, self.system.signs), tolerance)
        error = apart(float(told[0]), float(self.observables[0]), tolerance)
        others = others_apart(told, self.observables, coarser)
        return replace(self, error=min(error, self.error), others=min(others, self.others))


def solve_coupled(problem: Problem, tolerance: float, start: Result | None = None, patient: bool = True) -> Solution:
    """Solve, refine the quadrature until the test error has settled; patient: by paths too. Raises NotConverged."""
    return solution_of(coupled_solution(problem, tolerance, start, patient=patient))


def solution_of(found: Found) -> Solution:
    """What is reported of a system at its unknowns."""
    system, x, error, observables = found.system, found.x, found.error, found.observables
    lower = above_lower_floor(system, x, observables)
    solved: CoupledSystem | None = system
    if lower is not None:
        on_panels = system.on_panels
        system, x, left = lower
        observables, error = system.answer(on_panels), max(error, left)
    residual = remaining(system, x)
    if lower is None and rests_on_floor(system):
        observables, left, residual, system, x = without_floor(system, x, observables)
        error = max(error, left)
        system.evaluate(x)
    if lower is not None or rests_on_floor(system):  # others have another variance there
        solved = None
    beyond = share_beyond(system)  # above a lower floor outputs follow labels less
    test, train, energy = (float(value) for value in observables)
    order, certificates = system.order_parameters(), (residual, found.evaluations, error, len(system.table))
    signal, penalty, others = system.signal(), system.penalty(), found.others
    return Solution(test, train, energy, order, *certificates, signal, penalty, solved, system.signs, others, beyond)


def coupled_solution(
    problem: Problem,
    tolerance: float,
    start: Result | None,
    near: tuple[CoupledSystem, Array] | None = None,
    patient: bool = True,
) -> Found:
    """The solution, started from a result or from the unknowns of a system ``near``. Raises NotConverged."""
    beside = _beside(problem, start, tolerance) if near is None else None
    outcome, last = first_solution(problem, start, near, patient) if beside is None else beside[1:]
    x, evaluations, change = outcome.x, outcome.evaluations, math.inf
    found: Found | None = None
    failed, held, still = 0, 0, False
    times = Times(
        chosen=beside is None and needs_chosen_labels(last, x, tolerance), lines=int(turns_in_plane(problem, x))
    )
    for number in range(_PAIRS):
        moving, previous, chosen = chooses(problem, times), change, x
        at_answer = previous <= 1.0 and moving  # nodes of the label are chosen anew at what both resolutions tell
        if number > 0 and not still and moving and not at_answer:
            # fewer panels in kappa than the last pair had may have another solution
            level = replace(last.level, cuts=times.ends) if number > 1 else FINE[0]
            outcome = settling(problem, x, level, _STILL)
            evaluations, x = evaluations + outcome.evaluations, outcome.x
        known = beside is not None and number == 0
        signs = None if start is None else start.signs
        before = Before(last, replace(outcome, x=x), number == 0, signs, _SHARE * tolerance)
        if times.chosen:
            solved = _unless_known(found, partial(finer_first, problem, levels_of_pair(problem, times, x), before))
        else:
            systems = beside[0] if beside and known else _unless_known(found, partial(pair, problem, times, x))
            solved = None if systems is None else coarser_first(systems, before, known)
        if solved is None:
            break
        coarser, finer, estimate, answer = solved
        last = finer
        evaluations += (0 if known else estimate.evaluations) + (0 if answer is estimate else answer.evaluations)
        if not answer.converged:  # averages too coarse for their derivatives to be those of the residual
            failed += 1
            if found is not None and estimate.converged:  # which is finer than the last answer
                found = found.beside(coarser, estimate.x, tolerance)
            if found is not None and (failed > 1 or found.error <= tolerance) or failed > 2:  # rounding stays
                break
            times = times.chosen_nodes if times.labels and may_choose(problem, times) else times.all
            times = replace(times, lines=times.lines + may_follow(problem))
            continue
        told = answers(coarser, finer, estimate.x, tolerance)
        still, observables = stays(finer, answer.x, x if moving else estimate.x, tolerance), told[1]
        x = answer.x
        error = apart(float(told[0][0]), float(observables[0]), tolerance) + answer.left
        change = max(changed(*told, finer, tolerance), error / tolerance)
        if times.chosen if change > 1.0 else unknowns_apart(finer, answer, tolerance) > 1.0:
            answer = replace(answer, felt=felt(finer, x, estimate.x))
        change = max(change, unknowns_apart(finer, answer, tolerance))
        found = Found(finer, x, evaluations, error, others_apart(*told, finer), observables)
        if number == 0 and not settles(problem) and passes_unseen(finer):
            times, found = Times(kappa=1), None  # two orders may agree without having seen a kink
            continue
        held += number > 1 and change > 0.5 * previous
        served = still or at_answer or not moving  # by the nodes of the label
        served = served and (change > 1.0 or cuts_serve(finer, x))
        served = served and (not times.lines or lines_serve(finer, x, chosen, tolerance))
        if served and change <= 1.0 and remaining(finer, x) <= RESIDUAL or held > 1 or not is_affordable(finer, times):
            break
        if not served and change <= 1.0:
            continue
        further = _unless_known(found, partial(next_times, times, finer, answer, told, tolerance))
        if further is None or not fits(finer, times, further):
            break
        times = further
    if found is None:
        raise unsolved(problem, last.hint())
    require_decided(found.system, found.x)
    return found


def _unless_known(found: Found | None, make: Callable[[], Any]) -> Any:
    """What is made; None where it needs too many nodes and some digits, which a tolerance may ask for, are found."""
    try:
        return make()
    except NotConverged:
        if found is None or not found.error < _DIGITS:
            raise
        return None


def _beside(problem: Problem, start: Result | None, tolerance: float) -> tuple[Pair, Outcome, CoupledSystem] | None:
    """The first pair of systems with a solution of the coarser one, where no easier one has to lead to it: a start is
    near; or most of the time goes into samples, of which these have few.
    """
    if start is None and bulk_kind(problem.model) != "stretched":
        return None
    if start is not None and (settles_of_two(problem) or may_follow(problem)):
        coarse = coarse_system(problem)
        x = unknowns_of(problem, coarse, start)
        if x is None or needs_chosen_labels(coarse, x, tolerance) or turns_in_plane(problem, x):
            return None
    first = pair(problem, Times(), np.empty(0))
    x = like_square_loss(problem, first[0]) if start is None else unknowns_of(problem, first[0], start)
    if x is None:
        return None
    most = _SOON if start is not None else 2 * _SOON
    outcome = newton(first[0], x, most=most, settled=NEAR, blind=True, shortest=SHORT)
    return (first, outcome, first[0]) if outcome.converged else None
