"""Solving the coupled system of any convex loss: where to start, and refinement of the quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from giantstep.law.kind import bulk_kind
from giantstep.spec.errors import NotConverged
from giantstep.system.alike_means import require_decided
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.kink_crossings import cut_anew, cuts_serve, passes_unseen
from giantstep.system.label_refinement import settles, stays
from giantstep.system.newton import SHORT, SHORTEST, Outcome, continued, extrapolated, newton
from giantstep.system.problem import Problem, Solution
from giantstep.system.resolution import (
    FINE,
    Times,
    answers,
    apart,
    changed,
    chooses,
    is_affordable,
    leading,
    may_choose,
    next_times,
    pair,
)
from giantstep.system.result import Result
from giantstep.system.saturated_outputs import above_lower_floor, remaining, rests_on_floor, without_floor
from giantstep.system.separation import separable, separated
from giantstep.system.settling import CLOSE, cutting, settling
from giantstep.system.square_loss import RESIDUAL
from giantstep.system.square_start import (
    unknowns_of_like_square_loss,
    unknowns_of_square_loss,
    unknowns_without_data,
)
from giantstep.system.stalled import NotSoon, hint, stalled
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_BEYOND, _LOWERED = 10.0, 2.0  # first threshold of a Huber loss, in sizes of the label; factor of the next ones
COARSE = Level(5, 24, samples=24)
_EASY = 1e-3  # the share of what makes a system hard that a path to it begins at
_MANY = 10.0  # samples that a path begins at, beside those given or the width
PATH = Level(8, 64)  # of a continuation, whose Newton steps need averages that obey their identities
# relative Newton steps, about the root of the error then left: of the coarse start, of a solution to compare with
_NEAR, _STILL = 1e-6, 1e-8
TO_THE_LAST, _SHARE = 1e-15, 0.1  # the share of the tolerance is that of a step that the answer does without
_SOON = 6  # Newton steps from what is near
_LOW, _FACTOR, _SHORTEST = 1.0, 3.0, 1.01  # first ridge of a path upwards, factor of its steps, least one
_BLURRED, _CLEAR = 1e-2, 1e8  # one over what is added to the spread of an output, in units of it: first and last
_PAIRS = 7  # compared, at most
_DIGITS = 1e-4  # relative change of a test error that has some
Pair = tuple[CoupledSystem, CoupledSystem]
# system, unknowns, evaluations, change of the test error under refinement, observables
Found = tuple[CoupledSystem, Array, int, float, Array]


def solve_coupled(problem: Problem, tolerance: float, start: Result | None = None, patient: bool = True) -> Solution:
    """Solve, refine the quadrature until the test error has settled; patient: by paths too. Raises NotConverged."""
    return solution_of(*coupled_solution(problem, tolerance, start, patient=patient))


def solution_of(system: CoupledSystem, x: Array, evaluations: int, error: float, observables: Array) -> Solution:
    """What is reported of a system at its unknowns."""
    lower = above_lower_floor(system, x, float(observables[2]))
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
    test, train, energy = (float(value) for value in observables)
    order, certificates = system.order_parameters(), (residual, evaluations, error, len(system.table))
    return Solution(test, train, energy, order, *certificates, system.signal(), system.penalty(), solved, system.signs)


def coupled_solution(
    problem: Problem,
    tolerance: float,
    start: Result | None,
    near: tuple[CoupledSystem, Array] | None = None,
    patient: bool = True,
) -> Found:
    """The solution, started from a result or from the unknowns of a system ``near``. Raises NotConverged."""
    beside = _beside(problem, start) if near is None else None
    outcome, last = _first_solution(problem, start, near, patient) if beside is None else beside[1:]
    x, evaluations, change = outcome.x, outcome.evaluations, math.inf
    found: Found | None = None
    failed, held, times, still = 0, 0, Times(), False
    for number in range(_PAIRS):
        moving, previous = chooses(problem, times), change
        at_answer = previous <= 1.0 and moving  # nodes of the label are chosen anew at what both resolutions tell
        if number > 0 and not still and moving and not at_answer:
            outcome = settling(problem, x, FINE[0], _STILL)
            evaluations, x = evaluations + outcome.evaluations, outcome.x
        known = beside is not None and number == 0
        systems = beside[0] if beside is not None and known else _unless_known(found, partial(pair, problem, times, x))
        if systems is None:
            break
        coarser, finer = systems
        coarser.takes(last)
        estimate = outcome if known else newton(coarser, x, most=12, settled=_NEAR, blind=True, near=outcome)
        finer.takes(coarser)
        finer.signs_near = None if start is None else start.signs
        last = finer
        close = _SHARE * tolerance
        answer = newton(finer, estimate.x, most=12, near=estimate, enough=close) if estimate.converged else estimate
        if answer.converged and finer.certificate(answer.x) > RESIDUAL:
            answer = newton(finer, answer.x, settled=TO_THE_LAST)  # outputs that vary within less than a step
        if not answer.converged and finer.level.cuts:  # so far away that the output passes its kinks beside the cuts
            finer = last = cut_anew(finer, answer.x)
            answer = newton(finer, answer.x, most=12)
        evaluations += estimate.evaluations if not known else 0
        evaluations += answer.evaluations if answer is not estimate else 0
        if not answer.converged:  # averages too coarse for their derivatives to be those of the residual
            failed += 1
            if found is not None and estimate.converged:  # which is finer than the last answer
                error = apart(coarser.test_error(estimate.x), float(found[4][0]), tolerance)
                found = *found[:3], min(error, found[3]), found[4]
            if found is not None and (failed > 1 or found[3] <= tolerance) or failed > 2:  # rounding stays
                break
            times = times.chosen_nodes if times.labels and may_choose(problem, times) else times.all
            continue
        told = answers(coarser, finer, estimate.x, tolerance)
        still, observables = stays(finer, answer.x, x if moving else estimate.x, tolerance), told[1]
        x = answer.x
        error = apart(float(told[0][0]), float(observables[0]), tolerance) + answer.left
        change = max(changed(*told, finer, tolerance), error / tolerance)
        found = finer, x, evaluations, error, observables
        if number == 0 and not settles(problem) and passes_unseen(finer):
            times, found = Times(kappa=1), None  # two orders may agree without having seen a kink
            continue
        held += number > 1 and change > 0.5 * previous
        served = still or at_answer or not moving  # by the nodes of the label
        served = served and (change > 1.0 or cuts_serve(finer, x))
        if served and change <= 1.0 and remaining(finer, x) <= RESIDUAL or held > 1 or not is_affordable(finer, times):
            break
        if not served and change <= 1.0:
            continue
        further = _unless_known(found, partial(next_times, times, finer, answer, told, tolerance))
        if further is None:
            break
        times = further
    if found is None:
        raise NotConverged(stalled(problem), last.hint() or hint(problem))
    require_decided(*found[:2])
    return found


def _unless_known(found: Found | None, make: Callable[[], Any]) -> Any:
    """What is made; None where it needs too many nodes and some digits, which a tolerance may ask for, are found."""
    try:
        return make()
    except NotConverged:
        if found is None or not found[3] < _DIGITS:
            raise
        return None


def _beside(problem: Problem, start: Result | None) -> tuple[Pair, Outcome, CoupledSystem] | None:
    """The first pair of systems with a solution of the coarser one, where no easier one has to lead to it: a start is
    near; or most of the time goes into samples, of which these have few.
    """
    if start is None and bulk_kind(problem.model) != "stretched":
        return None
    first = pair(problem, Times(), np.empty(0))
    x = _like_square_loss(problem, first[0]) if start is None else _unknowns_of(problem, first[0], start)
    if x is None:
        return None
    most = _SOON if start is not None else 2 * _SOON
    outcome = newton(first[0], x, most=most, settled=_NEAR, blind=True, shortest=SHORT)
    return (first, outcome, first[0]) if outcome.converged else None


def _first_solution(
    problem: Problem, start: Result | None, near: tuple[CoupledSystem, Array] | None, patient: bool
) -> tuple[Outcome, CoupledSystem]:
    """A solution at coarse resolution: from a similar model, from the square loss, or by continuation in the ridge.

    With the system that it is of, or one near it.
    """
    system = coupled_at(problem, leading(problem, COARSE))
    total = 0
    for x, shortest in _first_starts(problem, system, start, near):
        outcome = newton(system, x, most=25, settled=CLOSE, blind=True, shortest=shortest)
        total += outcome.evaluations
        if outcome.converged:
            return replace(outcome, evaluations=total), system
    again = starts(problem, system, start) if settles(problem) else iter(())
    for x in chain(again, _of_huber_losses(problem, system)):
        outcome = _roughly(problem, x)
        total += outcome.evaluations
        if outcome.converged:
            return replace(outcome, evaluations=total), system
    if not patient:
        raise NotSoon(stalled(problem))
    ridge, system = problem.parameters.ridge, coupled_at(problem, leading(problem, PATH))
    if (easier := system.easier()) is not None:
        for x in starts(problem, system, None):
            outcome = continued(easier, x, _EASY, 1.0)
            total += outcome.evaluations
            if outcome.converged:
                return replace(outcome, evaluations=total), system
    for first in (max(10.0 * ridge, 1.0), max(1e3 * ridge, 100.0)):
        for x in starts(problem.with_parameters(ridge=first), system, None):
            outcome = continued(system.at_ridge, x, first, ridge)
            total += outcome.evaluations
            if outcome.converged:
                return replace(outcome, evaluations=total), system
    if ridge > _LOW and problem.loadings is None:
        outcome = _upwards(problem, starts(problem.with_parameters(ridge=_LOW), system, None))
        if outcome.converged:
            return replace(outcome, evaluations=total + outcome.evaluations), system
    outcome = _from_more_samples(problem)
    if outcome.converged:
        return replace(outcome, evaluations=total + outcome.evaluations), system
    if separable(problem):
        raise separated(problem)
    if problem.loadings is None and not system.loss.SMOOTH:
        system = coupled_at(problem, PATH)
        outcome, _ = sharpened(problem, starts(problem, system, None), _CLEAR)
        if outcome.converged:
            return replace(outcome, evaluations=total + outcome.evaluations), system
    raise NotConverged(stalled(problem), system.hint() or hint(problem))


def _first_starts(
    problem: Problem, system: CoupledSystem, start: Result | None, near: tuple[CoupledSystem, Array] | None
) -> Iterator[tuple[Array, float]]:
    """Unknowns to start from, with the shortest step that is worth its cost: what is close comes first."""
    if near is not None:
        system.takes(near[0])
        near[0].fields(near[1])  # whose mean features may have another span
        yield system.unknowns(near[0].order_parameters()), SHORTEST
    elif start is None and (like := _like_square_loss(problem, system)) is not None:
        yield like, SHORT
        if (nearer := system.approached(like)) is not None:
            yield nearer, SHORTEST
    for x in starts(problem, system, start):
        yield x, SHORTEST


def _like_square_loss(problem: Problem, system: CoupledSystem) -> Array | None:
    with suppress(NotConverged):
        return unknowns_of_like_square_loss(problem, system)
    return None


def _upwards(problem: Problem, begin: Iterator[Array]) -> Outcome:
    """From a small ridge to that of the problem.

    At a large ridge the output varies so little that nodes chosen without it miss where its mean passes a kink.
    """
    return _on_cut_panels(lambda ridge: problem.with_parameters(ridge=ridge), begin, _LOW, problem.parameters.ridge)


def _from_more_samples(problem: Problem) -> Outcome:
    """From many samples to those of the problem.

    Where labels of one sign are rare, outputs fitted to few samples hardly vary about a large mean, and the solution of
    the square loss, which Newton's method starts from, is far from theirs. With many samples it is near.
    """
    samples, level = problem.parameters.samples, leading(problem, PATH)
    most = _MANY * max(samples, problem.parameters.width)

    def at(number: float) -> CoupledSystem:
        return coupled_at(problem.with_parameters(samples=number), level)

    outcome = Outcome(np.empty(0), 0, False)
    for x in starts(problem.with_parameters(samples=most), at(most), None):
        outcome = continued(at, x, most, samples)
        if outcome.converged:
            break
    return outcome


def sharpened(problem: Problem, begin: Iterator[Array], last: float) -> tuple[Outcome, Problem]:
    """From outputs that vary and respond more at every kappa to those of the problem, but for a blur of one over
    ``last``; and the problem with that.

    Features that saturate hold outputs on a kink of the loss, where Newton's method sees the averages jump.
    """
    system = coupled_at(problem, PATH)
    outcome, blurred = Outcome(np.empty(0), 0, False), problem
    for x in begin:
        system.fields(x)
        response, variance = (float(system.table[:, 1] @ system.view(name)) for name in ("V", "Delta"))

        def at(sharp: float, response: float = response, variance: float = variance) -> Problem:
            return problem._replace(blur=(response / sharp, variance / sharp**2))

        outcome, blurred = _on_cut_panels(at, iter((x,)), _BLURRED, last), at(last)
        if outcome.converged:
            break
    return outcome, blurred


def _on_cut_panels(at: Callable[[float], Problem], begin: Iterator[Array], first: float, last: float) -> Outcome:
    """Problems of a growing parameter, one after the other, panels in kappa cut anew about the kinks of the loss on
    the way.
    """
    here, step, total = first, _FACTOR, 0
    for x in begin:
        outcome = cutting(at(here), x)
        total += outcome.evaluations
        if outcome.converged:
            break
    x, before, ratio = outcome.x, outcome.x, 1.0
    while outcome.converged and here < last and step > _SHORTEST:
        goal = min(last, step * here)
        outcome = cutting(at(goal), extrapolated(x, before, math.log(goal / here) / ratio))
        total += outcome.evaluations
        if outcome.converged:
            x, before, ratio, here = outcome.x, x, math.log(goal / here), goal
        else:
            outcome, step = replace(outcome, converged=True), math.sqrt(step)
    return replace(outcome, x=x, evaluations=total, converged=outcome.converged and here == last)


def starts(problem: Problem, system: CoupledSystem, start: Result | None) -> Iterator[Array]:
    """Unknowns to start from: those of the given result, those of the square loss, those without data."""
    if start is not None and (x := _unknowns_of(problem, system, start)) is not None:
        yield x
    with suppress(NotConverged):
        yield unknowns_of_square_loss(problem, system)
    yield unknowns_without_data(problem, system)


def _unknowns_of(problem: Problem, system: CoupledSystem, start: Result) -> Array | None:
    """Those of a result; None where its blocks or directions are others."""
    order = reduced_order(problem, start.order_parameters)
    if order is None or order["psi"].shape != (len(problem.fraction), system.indices):
        return None
    return system.unknowns(order if start.spanned is None else {**order, "spanned": start.spanned})


def _of_huber_losses(problem: Problem, system: CoupledSystem) -> Iterator[Array]:
    """Unknowns of a Huber loss, found by lowering its threshold from beyond the labels, where it is the square loss.

    It grows linearly, as most losses of the residual do; these may be sharp beside labels that are large.
    """
    loss = problem.model.fit.loss
    if loss.form != "residual":
        return
    last = dict(loss.parameters).get("delta", 1.0) if loss.name == "huber" else 1.0
    rows, rest = system.feature_table, 3 + system.indices
    label = math.sqrt(rows[:, 1] @ ((rows[:, 2:rest] ** 2).sum(axis=1) + rows[:, rest]))
    first = max(_BEYOND * label, last)
    x = next(starts(_with_huber_loss(problem, first), system, None))
    for part in range(2 + math.floor(math.log(first / last, _LOWERED))):
        outcome = _roughly(_with_huber_loss(problem, max(first / _LOWERED**part, last)), x)
        if not outcome.converged:
            return
        x = outcome.x
    yield x


def _with_huber_loss(problem: Problem, threshold: float) -> Problem:
    model = problem.model.replace({"fit.loss": {"name": "huber", "delta": threshold}})
    return problem._replace(model=model).with_features(model=model)


def _roughly(problem: Problem, x: Array) -> Outcome:
    """Newton's method at coarse resolution, on nodes of the label that are chosen where this can be."""
    if settles(problem):
        return settling(problem, x, COARSE, CLOSE)
    return newton(coupled_at(problem, leading(problem, COARSE)), x, settled=CLOSE)


def reduced_order(problem: Problem, order: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """Those of a result along the directions that kappa has: zeta [K, q], psi [K, m]; None where they are not told."""
    directions, blocks = problem.spike.directions, len(order["Q2"])
    if directions is None and order["zeta"].ndim > 1:
        return None
    order = {**order, **{name: order[name].reshape(blocks, -1) for name in ("zeta", "psi")}}
    return problem.inward(order)


def order_of(problem: Problem, result: Result) -> Mapping[str, Array]:
    """Those of a result of the problem's own model."""
    order = reduced_order(problem, result.order_parameters)
    assert order is not None
    return order
