"""Where a coupled system is solved from: a similar model, the square loss, or a path from an easier problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kappa_lines import may_follow
from giantstep.system.label_refinement import settles
from giantstep.system.level import Level
from giantstep.system.newton import SHORT, SHORTEST, Outcome, continued, extrapolated, newton
from giantstep.system.problem import Problem
from giantstep.system.reduced_order import reduced_order
from giantstep.system.resolution import leading
from giantstep.system.result import Result
from giantstep.system.separation import ROUNDING, separable
from giantstep.system.settling import CLOSE, cutting, settling
from giantstep.system.slight_response import largest_response
from giantstep.system.square_start import (
    unknowns_of_like_square_loss,
    unknowns_of_shifted_labels,
    unknowns_of_square_loss,
    unknowns_without_data,
)
from giantstep.system.stalled import NotSoon, stalled, unsolved
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
COARSE = Level(5, 24, samples=24)
PATH = Level(8, 64)  # of a continuation, whose Newton steps need averages that obey their identities
_BEYOND, _LOWERED = 10.0, 2.0  # first threshold of a Huber loss, in sizes of the label; factor of the next ones
_EASY = 1e-3  # the share of what makes a system hard that a path to it begins at
_MANY = 10.0  # samples that a path begins at, beside those given or the width
_RESPONDING = 10.0  # V of usual kappa without data where the last path in the ridge begins, however large features are
_LOW, _FACTOR, _SHORTEST = 1.0, 3.0, 1.01  # first ridge of a path upwards, factor of its steps, least one
_BLURRED, _CLEAR = 1e-2, 1e8  # one over what is added to the spread of an output, in units of it: first and last


def first_solution(
    problem: Problem, start: Result | None, near: tuple[CoupledSystem, Array] | None, patient: bool
) -> tuple[Outcome, CoupledSystem]:
    """A solution at coarse resolution: from a similar model, from the square loss, or by continuation in the ridge.

    With the system that it is of, or one near it.
    """
    total = 0
    for outcome, system in chain(_from_near(problem, start, near), _by_paths(problem, patient)):
        total += outcome.evaluations
        if outcome.converged:
            return replace(outcome, evaluations=total), system
    raise unsolved(problem, system.hint())


def coarse_system(problem: Problem) -> CoupledSystem:
    """The system at the resolution at which a solution is looked for first."""
    return coupled_at(problem, leading(problem, COARSE))


def _from_near(
    problem: Problem, start: Result | None, near: tuple[CoupledSystem, Array] | None
) -> Iterator[tuple[Outcome, CoupledSystem]]:
    """What Newton's method makes of the unknowns that may be near."""
    system = coarse_system(problem)
    for x, shortest in _first_starts(problem, system, start, near):
        yield newton(system, x, most=25, settled=CLOSE, blind=True, shortest=shortest), system
    again = starts(problem, system, start) if settles(problem) else iter(())
    for x in chain(again, _of_huber_losses(problem, system)):
        yield _roughly(problem, x), system


def anew(problem: Problem, system: CoupledSystem, settled: float) -> Outcome:
    """A solution of a system that those on fewer nodes do not lead to: from the square loss on its own nodes."""
    total, outcome = 0, Outcome(np.empty(0), 0, False)
    for x, shortest in _first_starts(problem, system, None, None):
        outcome = newton(system, x, most=25, settled=settled, blind=True, shortest=shortest)
        total += outcome.evaluations
        if outcome.converged:
            break
    return replace(outcome, evaluations=total)


def _by_paths(problem: Problem, patient: bool) -> Iterator[tuple[Outcome, CoupledSystem]]:
    """What paths from easier problems lead to, the shortest first. Raises NotSoon where there is no time for them."""
    if not patient:
        raise NotSoon(stalled(problem))
    ridge, system = problem.parameters.ridge, coupled_at(problem, leading(problem, PATH))
    if (easier := system.easier()) is not None:
        for x in starts(problem, system, None):
            outcome = continued(easier, x, _EASY, 1.0)
            yield outcome, system
            if system.fields(outcome.x) and (cause := system.hint()):  # where the path ends
                raise unsolved(problem, cause)
    slight = ridge * largest_response(problem) / _RESPONDING
    for first in (max(10.0 * ridge, 1.0), max(1e3 * ridge, 100.0), max(10.0 * ridge, slight)):
        for x in starts(problem.with_parameters(ridge=first), system, None):
            yield continued(system.at_ridge, x, first, ridge), system
    cuts = ridge > _LOW and (problem.loadings is None or may_follow(problem))
    if cuts:
        yield _upwards(problem, starts(problem.with_parameters(ridge=_LOW), system, None)), system
    yield _from_more_samples(problem), system
    if cuts:
        yield _to_fewer_samples(problem), system
    if problem.loadings is None and not system.loss.SMOOTH and not separable(problem, ROUNDING):
        system = coupled_at(problem, PATH)
        yield sharpened(problem, starts(problem, system, None), _CLEAR)[0], system


def _first_starts(
    problem: Problem, system: CoupledSystem, start: Result | None, near: tuple[CoupledSystem, Array] | None
) -> Iterator[tuple[Array, float]]:
    """Unknowns to start from, with the shortest step that is worth its cost: what is close comes first."""
    if near is not None:
        system.takes(near[0])
        near[0].fields(near[1])  # whose mean features may have another span
        yield system.unknowns(near[0].order_parameters()), SHORTEST
    elif start is None and (like := like_square_loss(problem, system)) is not None:
        yield like, SHORT
        if (nearer := system.approached(like)) is not None:
            yield nearer, SHORTEST
    for x in starts(problem, system, start):
        yield x, SHORTEST


def like_square_loss(problem: Problem, system: CoupledSystem) -> Array | None:
    with suppress(NotConverged):
        return unknowns_of_like_square_loss(problem, system)
    return None


def _upwards(problem: Problem, begin: Iterator[Array]) -> Outcome:
    """From a small ridge to that of the problem.

    At a large ridge the output varies so little that nodes chosen without it miss where its mean passes a kink.
    """
    return _on_cut_panels(lambda ridge: problem.with_parameters(ridge=ridge), begin, _LOW, problem.parameters.ridge)


def _to_fewer_samples(problem: Problem) -> Outcome:
    """From the solution of many samples at the ridge of the problem, on panels that are cut anew on the way.

    Outputs fitted to few samples vary much less than they respond: both sides of a kink are apart.
    """
    samples = problem.parameters.samples
    most = _MANY * max(samples, problem.parameters.width)
    easier = problem.with_parameters(samples=most)
    system = coupled_at(easier.with_parameters(ridge=_LOW), leading(problem, PATH))
    outcome = _upwards(easier, starts(system.problem, system, None))
    if not outcome.converged:
        return outcome
    fewer = _on_cut_panels(
        lambda times: problem.with_parameters(samples=most / times), iter((outcome.x,)), 1.0, most / samples
    )
    return replace(fewer, evaluations=outcome.evaluations + fewer.evaluations)


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
    """Unknowns to start from: those of the given result, those of the square loss, or of one that is like a loss of
    label and output, and those without data.
    """
    if start is not None and (x := unknowns_of(problem, system, start)) is not None:
        yield x
    with suppress(NotConverged):
        shifted = unknowns_of_shifted_labels(problem, system) if system.loss.FORM == "general" else None
        yield unknowns_of_square_loss(problem, system) if shifted is None else shifted
    yield unknowns_without_data(problem, system)


def unknowns_of(problem: Problem, system: CoupledSystem, start: Result) -> Array | None:
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
    return newton(coarse_system(problem), x, settled=CLOSE)
