"""Outputs that saturated features leave no variance, on a kink of the loss: what is reported as their last variance
vanishes.

Variances below rounding are raised to a floor, and labels on a kink feel the root of it: 1e-14 of a variance moves
errors by 1e-8. Panels that were cut beside the kinks may also stop a solution short of them. It is found again on
panels of its own; where that still feels the floor, the outputs are given a spread that rounding resolves, several
times, and what is found there is extrapolated to none. The overlaps keep the floor, and so do the other errors where
the test error does not feel it.
Elsewhere errors feel the floor itself only, of variances and of responses: where these vanish beside others, 1e-14 of
the mean response may be 1e-8 of a training error. What is reported is found again above a lower one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from generated.runtime.steps import added_by_floor
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.evidence import RESIDUAL
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.label_refinement import system_at, varies
from giantstep.system.level import PANELS
from giantstep.system.loss_at_zero import has_jumps
from giantstep.system.newton import Outcome, distance, newton
from giantstep.system.problem import Problem
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_BITS = 1e-6  # of a residual, what last bits of unknowns may make
_A_LITTLE = 1.0 + 1e-9  # sums of the floor in another order
_FELT = 1e-10  # probability of nodes whose variance is raised
_NEXT = 1e-13  # ten times the floor
# floors that no energy feels where variances are sums of what is positive; next, of what cancels a little
_LOWER = (1e-24, 1e-20, 1e-16)
# what the floor may add to the loss of a sample, in units of its share of the objective: 1e-10 of a training error that
# is a hundredth of that
_SEEN = 1e-12
_RATIO, _SPREADS = 4.0, 8  # of two spreads, and how many at most
_LARGEST = 1.6e-5  # the largest spread, in units of the output
_TOGETHER = 5  # how many of the last are extrapolated together: with more, rounding grows as fast as the error falls
_ORDERS = 8, 12, 16  # of panels for these solutions: extrapolating multiplies the error that panels leave
_HALVED = 1  # how often these panels are halved at least
_CUTS, _ALMOST = 2, 1e-13  # how often panels are cut; relative Newton step
_ENOUGH = 5e-11  # relative error of a test error


class Sharp(NamedTuple):
    """(test error, training error, free energy) without a floor, the change of the test error that is left, relative,
    and the worst residual of what they follow from; the system and the unknowns that overlaps are told by.
    """

    observables: Array
    error: float
    residual: float
    system: CoupledSystem
    x: Array


def remaining(system: CoupledSystem, x: Array) -> float:
    """The worst relative residual at x; where that is larger than allowed, the relative distance of the solution.

    An output on a kink may lie closer to it than its own rounding: the last bit of an unknown moves its equation, which
    is solved all the same where the next Newton step is that bit.
    """
    residual = system.certificate(x)
    return min(residual, distance(system, x)) if RESIDUAL < residual < _BITS else residual


def rests_on_floor(system: CoupledSystem) -> bool:
    """Whether outputs of a positive probability have a variance that was raised, beside a loss whose slope jumps.

    Where the label varies beside kappa, or has noise, none has a probability to lie on a kink, and errors feel the
    floor itself only.
    """
    problem = system.problem
    if problem.rank > 1 or any(problem.blur) or not has_jumps(problem.model.fit.loss):
        return False
    if varies(problem) or system.noise > 0.0:
        return False
    raised = system.view("Delta") > 2.0 * np.maximum(system.variance, 0.0)
    return float(system.table[:, 1] @ raised) > _FELT


def above_lower_floor(system: CoupledSystem, x: Array, observables: Array) -> tuple[CoupledSystem, Array, float] | None:
    """The system with a lower floor, its solution near the solution x, and the change of the test error that is left,
    relative; None where errors do not feel the floor, or no lower one has a solution. observables: test error, training
    error and free energy at x.
    """
    problem = system.problem
    if problem.floor <= _LOWER[-1] or not _adds(system, x) > _SEEN * observables[2] / problem.parameters.samples:
        return None
    if rests_on_floor(system):
        return _on_own_panels(system, x)
    for floor in _LOWER:
        lower = coupled_at(problem._replace(floor=floor), system.level, system.at.laws)
        lower.takes(system)
        outcome = newton(lower, x, settled=_ALMOST)
        if outcome.converged and remaining(lower, outcome.x) <= RESIDUAL:
            here = lower.answer(system.on_panels)
            if _apart(observables, here) <= _ENOUGH:
                return lower, outcome.x, 0.0
            own = _on_own_panels(system, x) if problem.rank == 1 else None  # those of a higher floor may not serve
            return own or (lower, outcome.x, _on_fewer_nodes(lower, outcome.x, here))
    return None


def _on_fewer_nodes(system: CoupledSystem, x: Array, observables: Array) -> float:
    """The change of the test error of a solution x on the nodes that two resolutions are compared by."""
    coarse, fine = PANELS
    level = replace(system.level, order=system.level.order + coarse - fine, rough=True)
    fewer = (partial(system_at, x=x) if system.at.laws.chosen else coupled_at)(system.problem, level)
    fewer.takes(system)
    outcome = newton(fewer, x, settled=_ALMOST)
    return _apart(fewer.answer(system.on_panels), observables) if outcome.converged else math.inf


def _on_own_panels(system: CoupledSystem, x: Array) -> tuple[CoupledSystem, Array, float] | None:
    """The same of outputs that may lie on a kink, on panels cut about the kinks as they are without a floor; None where
    no two orders of these panels agree. Some have no solution, where outputs are closer to a kink than their rounding.
    """
    problem, coarse = system.problem._replace(floor=_LOWER[0]), None
    for order in _ORDERS:
        fine = _Solved.of(problem, system, x, order)
        if not fine.residual <= RESIDUAL:
            continue
        error = math.inf if coarse is None else _apart(coarse.observables, fine.observables)
        if error <= _ENOUGH:
            return fine.system, fine.x, error
        coarse = fine
    return None


def _adds(system: CoupledSystem, x: Array) -> float:
    """What the floor adds to the loss of a sample at x, to first order: the envelope moves by -g^2/2 with V and by h/2
    with the variance.
    """
    if not system.raised:
        return 0.0
    system.evaluate(x)
    variances, felt = (tuple(map(system.view, names)) for names in (("V", "Delta"), ("avg_gg", "avg_h")))
    floors = system.problem.floor, _A_LITTLE
    return float(added_by_floor(system.node[1], variances, felt, system.terms, floors))


def without_floor(system: CoupledSystem, x: Array, observables: Array) -> Sharp:
    """What a solution x that rests on the floor tells of outputs without it.

    As it stands where ten times the floor changes nothing; else what spreads that are added at every kappa, or raised
    to where there is less, are extrapolated to.
    """
    higher = system.problem._replace(floor=_NEXT)
    near = (_Solved.on_same_nodes if system.at.laws.chosen else _Solved.of)(higher, system, x)
    plain = Sharp(observables, _apart(near.observables, observables), remaining(system, x), system, x)
    if plain.error <= _ENOUGH:
        return plain
    own = _Solved.of(system.problem, system, x)
    error = _apart(near.observables, own.observables)
    found = [plain]
    if error < math.inf and own.residual <= RESIDUAL:
        found.append(Sharp(own.observables, error, own.residual, own.system, own.x))
    solved = found[-1]
    if solved.error <= _ENOUGH:
        return solved
    for observables, error, residual in _extrapolations(solved.system, solved.x):
        found.append(Sharp(observables, error, residual, solved.system, solved.x))
        if error <= _ENOUGH:
            break
    return min(found, key=lambda one: one.error)


def _extrapolations(system: CoupledSystem, x: Array) -> Iterator[tuple[Array, float, float]]:
    """What two ways to give the outputs a spread, both without effect in the limit, are extrapolated to: errors, the
    change of the test error and the worst residual.
    """
    system.fields(x)
    weight, variance = system.table[:, 1], system.view("Delta")
    square = system.view("mean") ** 2 + variance + (system.slopes**2).sum(axis=0)
    size, response, own = (math.sqrt(weight @ square), weight @ system.view("V"), math.sqrt(weight @ variance))
    problem, spreads = system.problem, [_LARGEST * size / _RATIO**k for k in range(_SPREADS)]
    blurred = (problem._replace(blur=(spread / own * response, spread * spread)) for spread in spreads)
    yield _extrapolation(blurred, system, x)
    yield _extrapolation((problem._replace(floor=(spread / own) ** 2) for spread in spreads), system, x)


def _extrapolation(problems: Iterator[Problem], system: CoupledSystem, x: Array) -> tuple[Array, float, float]:
    """The limit of problems whose spreads fall, as few of them as it takes: that which later ones leave best alone.

    Outputs that come close to a kink and stay there let limits stand still before they move on: one more has to agree.
    """
    values: list[Array] = []
    limits: list[tuple[Array, float, float]] = []  # with the change by the last spread, and the worst residual
    change, worst = math.inf, 0.0
    best = (np.full(3, math.nan), math.inf, worst)
    for problem in problems:
        solved = _Solved.of(problem, system, x, _ORDERS[-1])
        x, worst = solved.x, max(worst, solved.residual)
        values.append(solved.observables)
        limit = _limit(values[-_TOGETHER:])
        if not math.isfinite(limit[0]):
            break
        earlier, change = change, _apart(limits[-1][0], limit) if limits else math.inf
        limits.append((limit, max(change, earlier / _RATIO), worst))  # a small change may be by chance
        told = [_left_alone(limits[k:]) for k in range(len(limits))]
        best = min(told, key=lambda one: one[1])
        if best[1] <= _ENOUGH and best is not told[-1]:
            break
    return best


def _left_alone(limits: list[tuple[Array, float, float]]) -> tuple[Array, float, float]:
    """The first of some limits, with the error that later ones show it to have."""
    limit, error, worst = limits[0]
    return limit, max([error, *(_apart(later, limit) for later, *_ in limits[1:])]), worst


class _Solved(NamedTuple):
    """A solution; what is not solved tells nothing."""

    system: CoupledSystem
    x: Array
    observables: Array
    residual: float

    @classmethod
    def of(cls, problem: Problem, system: CoupledSystem, x: Array, order: int = PANELS[-1]) -> _Solved:
        """That of a problem near the solution x of a system, on panels of an order cut about its own kinks, with nodes
        of the label chosen anew where they were.
        """
        for _ in range(_CUTS):
            make = partial(system_at, x=x) if system.at.laws.chosen else coupled_at
            halvings = max(system.level.halvings, _HALVED)
            here = make(problem, replace(system.level, order=order, halvings=halvings, cuts=cuts_at(problem, x)))
            here.takes(system)
            outcome = newton(here, x, settled=_ALMOST)
            x = outcome.x
        return cls._told(here, outcome, system.on_panels)

    @classmethod
    def on_same_nodes(cls, problem: Problem, system: CoupledSystem, x: Array) -> _Solved:
        """The same of a problem with a higher floor, on nodes of kappa and of the label that serve a lower one."""
        here = coupled_at(problem, system.level, system.at.laws)
        here.takes(system)
        return cls._told(here, newton(here, x, settled=_ALMOST), system.on_panels)

    @classmethod
    def _told(cls, system: CoupledSystem, outcome: Outcome, on_panels: bool) -> _Solved:
        """What the last step tells."""
        observables = system.answer(on_panels) if outcome.converged else np.full(3, math.nan)
        return cls(system, outcome.x, observables, remaining(system, outcome.x))


def _limit(found: list[Array]) -> Array:
    """The limit of errors that fall as the spread, but for powers of its logarithm: both are taken out in turn."""
    while len(found) > 1:
        found = [(_RATIO * after - before) / (_RATIO - 1.0) for before, after in pairwise(found)]
    return found[0]


def _apart(found: Array, other: Array) -> float:
    """The relative change of the test error; infinite where one is not known."""
    change = abs(float(found[0] - other[0]))
    return change / abs(float(other[0])) if change < math.inf and other[0] != 0.0 else math.inf
