"""Which resolution a coupled system is solved at, and which of its axes is refined: the one whose error counts.

Two resolutions are compared by all errors that are reported: by symmetry, a test error may be that of a coin on any
nodes. There are three axes: kappa, with the rule over the output, the nodes of the label where it has any, and those of
the law of a sample of a step where the bulk follows from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.label_lines import Lines
from giantstep.law.labels import cuts_of
from giantstep.law.multi_index_labels import has_kinks
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.coupled_system import Array, CoupledSystem
from giantstep.system.evidence import ROUNDED, ROUNDING, others_allowed
from giantstep.system.kappa_lines import may_follow, on_lines
from giantstep.system.kappa_panels import unresolved
from giantstep.system.kernels import loss_kernel
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.label_refinement import settles, system_at
from giantstep.system.level import PANELS, Level
from giantstep.system.newton import Outcome, newton
from giantstep.system.problem import Problem
from giantstep.system.sign_panels import PLAIN, Signs
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.two_index_refinement import settles_of_two

FINE = (Level(PANELS[0], 38, rough=True, samples=38), Level(PANELS[1], 44, samples=44))
_FEW_OF_SEVERAL = 3  # order of what leads to a solution where kappa has several directions, whose nodes are many
_CLOSE = 1e-3  # a relative Newton step whose square is nothing beside what two resolutions differ by
_UNKNOWNS = 10.0  # what unknowns may change by, in units of the tolerance, where nodes of kappa have no panels
_AGREED = 0.1  # share of the test error's change: if the unknowns explain less, something else causes it
_FEW = 100.0  # unknowns may differ by this many times the limit if the test error hardly depends on them
_EXPLAINED = 2.0  # times what one axis does to unknowns: more is of others
_RARE = 0.01  # of the objective of a sample: what a training error that is less is held against
_NEAR = 1e-6  # a Newton step after which averages over the output tell the same
_LEAST = 1e-30
_EVENLY = 2  # halvings of even nodes of a label, before others are chosen
_HIGHER = 2  # orders of panels of kappa more than first, where nodes of the label are chosen
_BESIDE_CHOSEN = 1  # the same of two indices, whose nodes beside each kappa are many
_SQUARED = 0.3  # a change, over the root of the tolerance, whose square is less than that
_ON_LINES = 1e-11  # ten times what averages settle to on nodes that are chosen in a plane
_GROWTH = 1.6  # of nodes by a refinement
_A_LITTLE = 0.35  # of a halving, that nodes without panels come closer together once more
_UNRESOLVED, _MARGIN = 1e-3, 0.1  # a change from which on digits say nothing; the share of the tolerance aimed at
_MOST = 1 << 24  # nodes of label and kappa together


@dataclass(frozen=True)
class Times:
    """How often each axis has been refined; nodes of samples by a part of that where it is enough. chosen: nodes of
    a label of two indices are chosen at the solution. ends: of panels of kappa that are cut; local: how often kappa has
    been refined by these, and not by halving all panels. closer: by what part of a halving nodes of kappa without
    panels have been brought closer together instead. lines: how often nodes in a plane of kappa have been chosen, on
    lines.
    """

    kappa: int = 0
    labels: int = 0
    samples: float = 0.0
    chosen: bool = False
    ends: tuple[float, ...] = ()
    local: int = 0
    closer: float = 0.0
    lines: int = 0

    @property
    def all(self) -> Times:
        """Each once more."""
        return replace(self, kappa=self.kappa + 1, labels=self.labels + 1, samples=self.samples + 1)

    @property
    def chosen_nodes(self) -> Times:
        """With nodes of the label that are chosen."""
        return replace(self, labels=0, chosen=True)


def leading(problem: Problem, level: Level) -> Level:
    """The level of systems that only lead to a solution: fewer nodes of several directions, and of labels with kinks or
    of several indices, which have many.
    """
    target = problem.model.target
    labels = -1 if has_kinks(target.link) or target.indices > 1 else level.labels
    return replace(level, order=level.order if problem.rank == 1 else _FEW_OF_SEVERAL, labels=labels)


def refined(level: Level, times: int) -> Level:
    """The level with everything resolved better."""
    halvings, labels = level.halvings + times, level.labels + times // 2
    output, samples = round(level.output * _GROWTH**times), _samples(level, times)
    return replace(level, output=output, halvings=halvings, labels=labels, samples=samples)


def _samples(level: Level, times: float) -> int:
    return int(round(level.samples * _GROWTH**times))


def pair(problem: Problem, times: Times, x: Array) -> tuple[CoupledSystem, CoupledSystem]:
    """The systems that are compared, with their labels; x: the best unknowns so far. Where nodes of a label of two
    indices are chosen see ``finer_first``. Raises NotConverged where labels have too many nodes.
    """
    systems = _pair(problem, times, x)
    for system in systems:
        _ = system.labels  # which are made when they are asked for
    return systems


def _pair(problem: Problem, times: Times, x: Array) -> tuple[CoupledSystem, CoupledSystem]:
    if settles(problem):
        make = partial(system_at, x=x) if chooses(problem, times) else coupled_at
        coarser, finer = (make(problem, level) for level in _moving(problem, times, x))
        return coarser, finer
    if times.lines:
        wanted = [replace(level, samples=_samples(level, times.samples)) for level in FINE]
        coarser, finer = on_lines(problem, wanted, x, _ON_LINES / 10.0**times.lines)
        return coarser, finer
    coarser, finer = (coupled_at(problem, level) for level in levels_of_pair(problem, times, x))
    return coarser, finer


def levels_of_pair(problem: Problem, times: Times, x: Array) -> tuple[Level, ...]:
    """The levels that are compared, of labels that do not vary beside one direction of kappa, or of several indices."""
    cuts = cuts_at(problem, x) if times.kappa else ()
    kappa = times.kappa - times.local - bool(cuts)  # cuts come first
    cuts = tuple(sorted({*cuts, *times.ends}))
    levels = _levels(problem.rank == 1, kappa + bool(times.closer), times.samples)
    if times.closer:
        levels = tuple(replace(level, halvings=kappa, closer=times.closer) for level in levels)
    if times.labels or cuts or kappa or times.chosen:
        order = _BESIDE_CHOSEN * times.chosen
        levels = tuple(replace(level, order=level.order + order, labels=times.labels, cuts=cuts) for level in levels)
    return levels


def chooses(problem: Problem, times: Times) -> bool:
    """Whether a pair has nodes of the label of one index that are chosen: labels at fixed nodes serve most losses;
    those that they do not, show it.
    """
    return settles(problem) and (times.labels > _EVENLY if _is_even(problem) else times.kappa > 0)


def _is_even(problem: Problem) -> bool:
    """Whether even nodes of the label converge fast."""
    return averages_smoothly(problem) and not _of_counts(problem)


def averages_smoothly(problem: Problem) -> bool:
    """Whether averages over the label are smooth."""
    return loss_kernel(problem.model.fit.loss).SMOOTH and not cuts_of(problem.model.target)


def _moving(problem: Problem, times: Times, x: Array) -> tuple[Level, ...]:
    """The levels of a pair whose label varies beside kappa."""
    levels, chosen = _levels(problem.rank == 1, max(times.kappa - 1, 0), times.samples), chooses(problem, times)
    cuts = cuts_at(problem, x) if chosen or times.kappa > 1 else ()
    if not chosen or _of_counts(problem):
        levels = tuple(replace(level, labels=times.labels) for level in levels)
    if not times.kappa or problem.rank > 1:
        return tuple(replace(level, cuts=cuts) for level in levels)
    ends, halvings = tuple(sorted({*cuts, *times.ends})), max(times.kappa - 1 - times.local, 0)
    return tuple(replace(level, order=level.order + _HIGHER, halvings=halvings, cuts=ends) for level in levels)


def _of_counts(problem: Problem) -> bool:
    """Whether labels are counts without bound, which have nodes of their own."""
    channel = problem.model.target.channel
    return channel is not None and not channel.values


@lru_cache(maxsize=16)
def _levels(single: bool, times: int, samples: float) -> tuple[Level, ...]:
    """Those of a pair; where kappa is not single, nodes of its directions are what is likely to be missing."""
    levels = tuple(replace(refined(level, times), samples=_samples(level, samples)) for level in FINE)
    if single:
        return levels
    outputs = (refined(level, times // 3).output for level in FINE)
    return tuple(
        replace(level, output=output, halvings=3 * times // 2) for level, output in zip(levels, outputs, strict=True)
    )


def next_times(
    times: Times, finer: CoupledSystem, answer: Outcome, told: tuple[Array, Array], tolerance: float
) -> Times:
    """What to refine where a pair tells of other errors than the tolerance allows; answer: of the finer.

    A step of Newton's method on its nodes of kappa, with the nodes of the label of the coarser, or with those of the
    law of a sample, tells the axes apart.
    """
    if not (times.chosen or _is_small(finer)):
        return times.chosen_nodes
    coarse, fine = told
    unlike = unknowns_apart(finer, answer, tolerance)
    alone = apart(coarse[0], fine[0], tolerance) > tolerance  # the others follow from it
    if alone:
        coarse[1:] = fine[1:]

    def between(level: Level) -> tuple[Array, float] | None:
        mixed = (partial(system_at, x=answer.x) if chooses(finer.problem, times) else coupled_at)(finer.problem, level)
        mixed.takes(finer)
        settled = _CLOSE if alone and answer.jacobian is None else _NEAR
        outcome = newton(mixed, answer.x, most=12, settled=settled, blind=True, near=answer)
        if not outcome.converged:
            return None
        found = fine.copy() if alone else told_by(mixed, outcome.x, (fine, finer.signs), tolerance)
        found[0] = mixed.test_error(outcome.x)
        return found, unknowns_apart(finer, outcome, tolerance)

    if finer.of_samples:
        fewer = between(replace(finer.level, samples=_samples(FINE[0], times.samples)))
        if fewer is None:
            return times.all
        others, samples = ((coarse, fewer[0]), (fewer[0], fine))
        by_others, by_samples = (changed(*pair, finer, tolerance) for pair in (others, samples))
        if unlike > _EXPLAINED * fewer[1]:
            by_others = max(by_others, unlike)
        by_samples = max(by_samples, fewer[1])
        if not by_samples <= 0.5:
            times = replace(times, samples=times.samples + _further(by_samples * tolerance, tolerance))
        if by_others <= 0.5:
            return times
    both, change = replace(times, kappa=times.kappa + 1, labels=times.labels + 1), changed(*told, finer, tolerance)
    if times.chosen and not times.labels and answer.felt <= _AGREED * change * tolerance:
        return replace(times, labels=1)  # the test error has label nodes of its own, which are too few
    if closer := _closer(times, finer, (change, unlike), tolerance):
        both = replace(times, labels=times.labels + (not times.chosen), closer=closer)
    if settles(finer.problem):
        both = _cut_further(both, finer, tolerance)
        if not _of_counts(finer.problem) and (chooses(finer.problem, times) or not _is_even(finer.problem)):
            return both
    if times.chosen:
        return _cut_further(both, finer, tolerance)
    if finer.labels.nodes == 0:
        follows = (times.kappa or change >= _SQUARED / math.sqrt(tolerance)) and may_follow(finer.problem)
        return replace(both, lines=times.lines + 1) if follows else both
    if (rough := between(replace(finer.level, rough=True))) is None:
        return both
    of_kappa, of_labels = (changed(*pair, finer, tolerance) for pair in ((coarse, rough[0]), (rough[0], fine)))
    if unlike > _EXPLAINED * rough[1]:
        of_kappa = max(of_kappa, unlike)
    of_labels = max(of_labels, rough[1])
    more = not of_labels <= 0.5
    if more and may_choose(finer.problem, times) and (times.labels or not doubling_serves(finer)):
        return times.chosen_nodes  # what nodes of kappa miss is told once those of the label serve
    return replace(times if of_kappa <= 0.5 else both, labels=times.labels + more)


def _cut_further(times: Times, finer: CoupledSystem, tolerance: float) -> Times:
    """The next times with panels of kappa cut where they do not resolve what is integrated, from the second on; with
    all of them cut, where none tells so.
    """
    if times.kappa < 2 or finer.problem.rank > 1:
        return times
    ends = {*times.ends, *unresolved(finer, tolerance)}
    if len(ends) == len(times.ends):
        return times
    return replace(times, ends=tuple(sorted(ends)), local=times.local + 1)


def _closer(times: Times, finer: CoupledSystem, changes: tuple[float, float], tolerance: float) -> float:
    """By what part of a halving nodes of kappa without panels come closer together; 0 where panels are likely to serve
    better, cut where the output passes a kink of the loss. changes: of what is told and of the unknowns, in
    tolerances. Nodes of the label that are chosen are many: only as much closer as the missing digits need, and once
    more where these are few.
    """
    known, change = times.closer, max(changes) * tolerance
    if times.kappa > 1 or settles(finer.problem) or not changes[0] < _SQUARED / math.sqrt(tolerance):
        return 0.0
    if finer.problem.rank > 1 or AveragedTerms.of(finer.problem).have_panels(finer.level):
        return 0.0
    if not times.chosen or not change < _UNRESOLVED:
        return 0.0 if known else 1.0
    part = math.log2(_growth(change, tolerance))
    return 0.0 if known and (known == 1.0 or part > _A_LITTLE) else min(1.0, known + part)


def _further(change: float, tolerance: float) -> float:
    """How often nodes of samples are to be refined where they change what is told by so much."""
    if not change < _UNRESOLVED:
        return 1.0
    return min(1.0, math.log(_growth(change, tolerance)) / math.log(_GROWTH))


def _growth(change: float, tolerance: float) -> float:
    """How many times as many nodes a rule needs that is off by so much, of Gauss or a trapezoid: its error has digits
    in proportion to its nodes.
    """
    return math.log(_MARGIN * tolerance) / math.log(change)


def answers(coarser: CoupledSystem, finer: CoupledSystem, x: Array, tolerance: float) -> tuple[Array, Array]:
    """(test error, training error, free energy) of a pair at its solutions; x: of the coarser.

    Where nodes of kappa miss nothing but how the sign of the output turns, it is judged on panels that resolve that.
    """
    fine = finer.answer()
    coarse = told_by(coarser, x, (fine, finer.signs), tolerance)
    alone = apart(coarse[0], fine[0], tolerance) > tolerance >= others_apart(coarse, fine, finer)
    if alone and finer.signs is PLAIN and isinstance(finer.clean, Intervals):
        fine = finer.answer(on_panels=True)
        coarse = told_by(coarser, x, (fine, finer.signs), tolerance)
    return coarse, fine


def told_by(coarser: CoupledSystem, x: Array, beside: tuple[Array, Signs | None], tolerance: float) -> Array:
    """(test error, training error, free energy) at x, the latter two as well as is needed beside those of a finer
    system, with where that judges signs. The latter two are those of the averages last taken, of a Newton step before
    x, where these agree.
    """
    fine, signs = beside
    found = coarser.averaged()
    found[0] = coarser.test_error(x, signs)
    if others_apart(found, fine, coarser) <= others_allowed(tolerance):
        found[1:] = fine[1:]
    else:
        coarser.residual(x)
        found[1:] = coarser.averaged()[1:]
    return found


def changed(coarse: Array, fine: Array, system: CoupledSystem, tolerance: float) -> float:
    """By how much a pair differs, in units of what is allowed: of the test error the tolerance."""
    found = (
        apart(float(coarse[0]), float(fine[0]), tolerance) / tolerance,  # numpy's infinities would warn
        others_apart(coarse, fine, system) / others_allowed(tolerance),
    )
    return max(math.inf if math.isnan(change) else change for change in found)


def unknowns_apart(finer: CoupledSystem, answer: Outcome, tolerance: float) -> float:
    """By how much the unknowns of a pair without panels differ, in units of what is allowed, where it is more than
    that; answer: of the finer, from the solution of the coarser.

    What a trapezoid misses goes up and down with its step: that of the test error may vanish by chance on both, that of
    all unknowns, or of the test error by every unknown for itself, does not.
    """
    found = answer.moved / max(_UNKNOWNS * tolerance, ROUNDED)
    if found <= 1.0 or finer.problem.rank > 1 or AveragedTerms.of(finer.problem).have_panels(finer.level):
        return 0.0
    if found <= _FEW:
        found = min(found, answer.felt / tolerance)
    return found if found > 1.0 else 0.0


def felt(system: CoupledSystem, x: Array, start: Array) -> float:
    """What the test error moves by from a start to the solution x, relative, by each unknown for itself: their sum."""
    here, moved = system.test_error(x), 0.0
    for place in np.flatnonzero(x != start):
        there = x.copy()
        there[place] = start[place]
        moved += abs(system.test_error(there) - here)
    system.residual(x)
    return moved / abs(here) if moved == moved and here else math.inf


def others_apart(coarse: Array, fine: Array, system: CoupledSystem) -> float:
    """The change of training error and free energy, relative."""
    (_, train, energy), (_, coarse_train, coarse_energy) = fine.tolist(), coarse.tolist()
    size = abs(train) + _RARE * abs(energy) / system.problem.parameters.samples
    of_train, of_energy = abs(coarse_train - train), abs(coarse_energy - energy)
    worse, other = of_train / max(size, _LEAST), of_energy / max(abs(energy), _LEAST)
    return max(worse, other) if other == other else math.nan


def doubling_serves(system: CoupledSystem) -> bool:
    """Whether averages over the output and noise are so smooth that fixed nodes of the label soon serve."""
    return (system.loss.SMOOTH or system.noise > 0.0) and not isinstance(system.labels, Lines)


def may_choose(problem: Problem, times: Times) -> bool:
    """Whether nodes of a label of two indices, which serve most losses where they are, are still to be chosen."""
    return not times.chosen and settles_of_two(problem)


def is_affordable(system: CoupledSystem, times: Times) -> bool:
    """Whether a system may be refined once more, as far as that is known beforehand; see ``fits``."""
    return times.chosen or _is_small(system) or may_choose(system.problem, times)


def fits(system: CoupledSystem, times: Times, further: Times) -> bool:
    """Whether a refinement of a label of two indices whose nodes are chosen leaves these few enough."""
    more = further.kappa + further.closer - times.kappa - times.closer
    return not times.chosen or system.labels.nodes * 2.0**more <= _MOST


def _is_small(system: CoupledSystem) -> bool:
    """Whether four times as many nodes of the label, which a refinement makes, are not too many."""
    return system.labels.nodes <= _MOST // 4


def apart(estimate: float, value: float, tolerance: float) -> float:
    """The change of the test error between two resolutions, relative."""
    return abs(estimate - value) / max(abs(value), ROUNDING / tolerance)
