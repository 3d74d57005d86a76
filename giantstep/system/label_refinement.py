"""Nodes of the label that settle the averages of a loss: panels of t halved until its averages agree.

A label that is a continuous function of t sweeps the kinks of a loss; where the output varies little, it does so on
scales of t that no fixed rule resolves. The panels are therefore chosen at given fields of the output, node by node of
kappa, with the kernel of the loss itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated.runtime.label_points import LabelNodes
from generated.runtime.label_search import NOWHERE
from generated.runtime.nodes import Fields
from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_growth import ENDED, reach_of, share_far_out
from giantstep.law.label_lines import are_lines
from giantstep.law.labels import cuts_of, drawn, is_constant, with_noise
from giantstep.quadrature.crossings import (
    FAR,
    NARROW,
    Distances,
    Index,
    Panels,
    Search,
    crossings_of,
    panels_between,
)
from giantstep.quadrature.gauss import ends_within, legendre, legendre_coefficients, tail
from giantstep.spec.expressions import special
from giantstep.spec.link import link_values
from giantstep.system.averaged_terms import NOTHING
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved
from giantstep.system.kernels import bend_of, loss_kernel
from giantstep.system.label_crossings import distances_to
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.two_index_refinement import settled_labels, settles_of_two

Array = np.ndarray
_LONGEST = 2.25  # a panel at first
_ORDER, _ROUGH = 12, 11  # nodes of a panel; of the estimate of their error
_TOLERANCE = 1e-12  # of an average of a panel, relative to that over all t
_OF_TWO = 100.0  # of the same of two indices, where every digit takes its share of many nodes
_HALVINGS, _ROUNDED = 36, 1e-15
_MOST = 1 << 20  # nodes
# averages with t of three directions: how many there are, those of g, h and the envelope; of g and h with the others
_ROWS, _AVERAGED, _MIDDLE, _LAST = 28, [1, 2, 0], [10, 13], [11, 14]
_LEVEL = 3e-3  # how far coefficients fall at least: what is narrow has a flat part of them
_STEP = 1e-6  # of a slope in t
_STILL = 0.1  # of the tolerance: what moved outputs may be off by
_FOLLOWED = 4  # power of a move, in spreads, that bounds what panels which do not follow it are off by
_WIDE = 0.5  # of panels whose weights are made to sum to their probability; those of others do to rounding
_SEARCH = Search(241, (-7.0, -3.5, 0.0, 3.5, 7.0))
#: The same of outputs that are to move: by more than their spread, on averages that stay what they are.
FOLLOWING = Search(241, (-40.0, -4.0, 0.0, 4.0, 40.0))


def system_at(
    problem: Problem,
    level: Level,
    x: Array,
    tolerance: float = _TOLERANCE,
    search: Search = _SEARCH,
    like: CoupledSystem | None = None,
) -> CoupledSystem:
    """The system of a level, with nodes of the label that settle the averages at the unknowns ``x``.

    Labels that are constant on intervals (as those that may flip are) or of more than two indices stay as they are.
    like: one of two indices whose panels are a beginning.
    """
    laws, share = resolved(problem, level), tolerance / 10.0**level.labels
    plain, two = coupled_at(problem, level, laws), settles_of_two(problem)
    chosen = two or settles(problem) and isinstance(laws.labels, Points)
    if not chosen or not plain.fields(x):
        return plain
    if two:
        found = settled_labels(plain, _OF_TWO * share, None if like is None else like.outer)
        system = coupled_at(problem, level, laws.with_chosen(lambda: found.law, found.moments))
        system.knows(x, found.averages, found.outer)
        return system
    panels = _settled(plain, share, search)
    law = _packed(plain, panels, _ROUGH if level.rough else _ORDER)
    return coupled_at(problem, level, laws.with_chosen(lambda: law))


def settles(problem: Problem) -> bool:
    """Whether the nodes of the label are chosen: those of one index that varies continuously, also given kappa.

    A loss of the residual needs none of a link that is straight between its kinks.
    """
    target, loss = problem.model.target, problem.model.fit.loss
    return varies(problem) and not are_lines(target, problem.overlaps, loss.form, bend_of(loss_kernel(loss)))


def varies(problem: Problem) -> bool:
    """Whether a label of one index takes a range of values at one kappa, and the loss more of it than its moments."""
    target, loss = problem.model.target, problem.model.fit.loss
    between = target.indices == 1 and not is_constant(target.link) and loss.key != "square"
    return between and _channel(problem).width > 0.0


def stays(system: CoupledSystem, x: Array, before: Array, tolerance: float) -> bool:
    """Whether nodes of the label chosen at either serve both the last unknowns x and those before, to a tolerance.

    Panels about a kink follow it as long as it moves by a part of the spread of the output. Where it moves by more, an
    average is off by at most the part of t that is passed, times the weight of kappa: outputs of next to no spread may
    move.
    """
    if not settles(system.problem):
        return True
    steep = np.sqrt(np.maximum(system.view("avg_gg"), 0.0))
    evaluated, here = system.evaluated, _outputs(system)
    feasible, spread = system.fields(before), here[0]
    there = _outputs(system)
    system.fields(x)
    system.evaluated = evaluated  # averages are still those at x
    if not feasible:
        return False
    moved = [np.abs(new - old) for new, old in zip(here, there, strict=True)]
    shift = moved[0] + moved[1] + _reach(system.problem) * moved[2].sum(axis=0) + steep * moved[3]
    off = (spread + shift) * np.minimum(1.0, shift / spread) ** _FOLLOWED
    return float(system.table[:, 1] @ off) <= _STILL * tolerance * math.sqrt(system.signal())


def _outputs(system: CoupledSystem) -> tuple[Array, Array, Array, Array]:
    """Spread, mean and slopes of the output and its response, at every node of kappa."""
    return _spread(system), system.view("mean").copy(), system.slopes.copy(), system.view("V").copy()


@dataclass(frozen=True)
class _Channel:
    """z' = gamma kappa + width t', kappa that along the alignment; t has the mean carry t' and the variance rest."""

    gamma: float
    width: float
    carry: float
    rest: float


def _channel(problem: Problem) -> _Channel:
    gamma = problem.overlaps[0][0]
    found = noisy_indices(np.array([[gamma]]), problem.model.target.probit)
    return _Channel(gamma, *(float(part[0, 0]) for part in (found.lower, found.carry, found.rest)))


def _spread(system: CoupledSystem) -> Array:
    """Standard deviation of the output about its centre, at every node of kappa."""
    inside = _channel(system.problem).rest * system.slopes[0] ** 2
    return np.asarray(np.sqrt(system.view("Delta") + system.noise + inside))


def _settled(system: CoupledSystem, tolerance: float, search: Search) -> Panels:
    """Panels whose averages, those of the residuals, are known, but for rounding of the places of output and label
    beside the spread on which an average turns. Others are halved, where there are averages at all.
    """
    active, done = _first(system, search), []
    weight = system.table[:, 1][None]
    rounding, spread = _ROUNDED * (1.0 + np.abs(system.view("mean")) + math.sqrt(system.signal())), _spread(system)
    scale: Array | None = None
    for _ in range(_HALVINGS):
        size, error = _told(system, active)
        known = rounding[active.owner] / np.maximum(spread[active.owner], _passed(system, active)) * size
        if scale is None:
            local = np.stack([np.bincount(active.owner, row, len(system.kappa)) for row in size])
            total = (weight * local).sum(axis=1, keepdims=True)
            scale = np.maximum(local, total / np.maximum(weight * len(system.kappa), 1e-290))
            if not np.all(np.isfinite(scale)):
                break
        good = np.all(error <= tolerance * scale[:, active.owner] + known, axis=0)
        done.append(active.chosen(good))
        active = active.chosen(~good)
        if good.all() or _ORDER * (len(active.owner) + sum(len(part.owner) for part in done)) > _MOST:
            break
        lower, upper = active.halves()
        active = lower.joined(upper)
    return active.joined(*done)


def _first(system: CoupledSystem, search: Search = _SEARCH) -> Panels:
    """Panels between the breakpoints of the link, and the places where the output is centred on a kink of the loss."""
    problem, kappa = system.problem, system.kappa
    breaks, reach = np.array(cuts_of(problem.model.target), dtype=float), _reach(problem)
    channel = _channel(problem)
    inner = ends_within(breaks, channel.gamma * kappa, channel.width, reach)
    cuts = [inner.T, crossings(system, search).T, _beside(system, inner, search).T]
    return panels_between(cuts, _LONGEST, reach)


def _reach(problem: Problem) -> float:
    """Where t ends, as the label does."""
    return reach_of(problem.model.target.link, problem.overlaps[:1], problem.model.target.probit, ENDED)


def crossings(system: CoupledSystem, search: Search = _SEARCH) -> Array:
    """Places t [N, C] around which an average over the output turns, at every node of kappa, and the middle; see
    ``crossings_of``.
    """
    found = crossings_of(_distances(system), _width(system), search.as_far_as(_reach(system.problem)))
    return np.concatenate([np.zeros((len(found), 1)), found], axis=1)


def _width(system: CoupledSystem) -> Array:
    """On which distance from a kink an average over the output turns, at every node of kappa."""
    spread = _spread(system)
    return np.maximum(spread, 1.0 / system.loss.STEEPNESS) if system.loss.SMOOTH else spread


def _beside(system: CoupledSystem, breaks: Array, search: Search) -> Array:
    """Edges at both sides of breakpoints [N, B] of the link, where the output is centred close to a kink there and
    leaves it within a part of t that panels may miss.
    """
    owner, width, beyond = np.arange(len(breaks)), _width(system)[:, None], search.around[3:]
    if not breaks.size:
        return breaks
    distances, found = _distances(system), []
    for side in (-1.0, 1.0):
        near, further = (distances(breaks + side * steps * _STEP, owner) for steps in (1.0, 2.0))
        with np.errstate(divide="ignore"):
            reach = width * _STEP / np.abs(further - near)
        felt = (np.abs(near) <= FAR * width) & (reach < NARROW)
        found += [np.where(felt, breaks + side * away * np.minimum(reach, 1.0), breaks) for away in beyond]
    return np.concatenate([kink for each in found for kink in each], axis=1)


def _distances(system: CoupledSystem) -> Distances:
    """How far u of the output's centre is from the image of each kink, at t [I, n] of nodes of kappa [I]."""
    channel = _channel(system.problem)
    target, response = system.problem.model.target, system.view("V")
    values = link_values(target.mean_link)
    mean, slope, spread = system.view("mean"), channel.carry * system.slopes[0], _spread(system)
    constants = () if target.channel is None else target.channel.values

    def distances(t: Array, owner: Index) -> Array:
        z = channel.gamma * system.kappa[owner][:, None] + channel.width * t
        centre = mean[owner][:, None] + slope[owner][:, None] * t
        labels = [np.full_like(z, label) for label in constants] or [values(z[None])]
        given = centre, response[owner][:, None], spread[owner][:, None]
        return np.concatenate([distances_to(system, label, *given) for label in labels])

    return distances


def _passed(system: CoupledSystem, panels: Panels) -> Array:
    """By how much u of the output's centre moves from end to end of panels."""
    ends = _distances(system)(np.stack([panels.low, panels.high], axis=1), panels.owner)
    moved = np.abs(ends[..., 1] - ends[..., 0])
    return np.asarray(np.where(np.abs(ends).max(axis=-1) < NOWHERE / 10.0, moved, 0.0).max(axis=0))


def _told(system: CoupledSystem, panels: Panels) -> tuple[Array, Array]:
    """Sizes [average, panel] of averages within each panel, and estimates of their errors.

    Of labels that are drawn at a node by noise or without bound each passes a kink at a place of its own, which is not
    looked for: halves of a panel tell whether it has missed some.
    """
    found, error = _averages(system, panels)
    target = system.problem.model.target
    counts = target.channel is not None and not target.channel.values
    if counts or target.noise > 0.0 and system.loss.FORM != "residual":
        error = np.maximum(error, np.abs(found - sum(_averages(system, half)[0] for half in panels.halves())))
    return np.abs(found), error


def _averages(system: CoupledSystem, panels: Panels) -> tuple[Array, Array]:
    """Averages [average, panel] over the output and the label within each panel, those of g, h and the envelope, and
    estimates of their errors.

    t has two more directions, which do not move the output: Legendre polynomials of a panel, by which averages of g and
    h tell coefficients in their middle and at their end. The envelope is as smooth as the label and g are.
    """
    law = _law(system, panels, _ORDER, _polynomials())
    V, mean, Delta = (np.ascontiguousarray(system.view(name)[panels.owner]) for name in ("V", "mean", "Delta"))
    slope = np.zeros((3, len(panels.owner)))
    slope[0] = system.slopes[0, panels.owner]
    out = np.empty((_ROWS, len(panels.owner)))
    labels = LabelNodes(law.weight, law.t, law.label, law.rest)
    system.loss.points(system.rule, labels, Fields(V, mean, slope, Delta), system.scratch, out)
    middle, last = np.zeros((3, len(panels.owner))), np.zeros((3, len(panels.owner)))
    middle[:2], last[:2] = np.abs(out[_MIDDLE]), np.abs(out[_LAST])
    told = np.matmul((law.weight * law.label)[:, None], law.t)[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.nan_to_num(np.sqrt(out[3] / law.weight.sum(axis=1)))
    middle[2], last[2] = steep * np.abs(told[:, 1]), steep * np.abs(told[:, 2])
    return out[_AVERAGED], tail(middle, last, power=2, least=_LEVEL)


@lru_cache(maxsize=1)
def _polynomials() -> Array:
    """At the nodes [n, 2] of a panel sums of two Legendre polynomials, times what makes averages coefficients: those of
    the middle, and the last.

    One of a pair is even, and they are opposite at one end: no coefficient of what is there is cancelled.
    """
    even, odd = np.array([1.0, 0.5]), legendre_coefficients(_ORDER) / legendre(_ORDER)[1]
    return np.stack([even @ odd[[_ORDER // 2, _ORDER // 2 - 1]], even @ odd[[_ORDER - 2, _ORDER - 1]]], axis=1)


def _law(system: CoupledSystem, panels: Panels, order: int, beside: Array | None = None) -> Points:
    """Labels at the nodes of each panel, [panel, node], with the noise of a loss that is not of the residual; beside:
    values [node, n] that are further directions of t.
    """
    target, channel = system.problem.model.target, _channel(system.problem)
    t, weight = panels.nodes(order)
    wide = panels.high - panels.low > _WIDE
    weight[wide] *= (_mass(panels.chosen(wide)) / weight[wide].sum(axis=1))[:, None]
    z = channel.gamma * system.kappa[panels.owner][:, None] + channel.width * t
    label, directions = link_values(target.link)(z[None]), 1 if beside is None else 1 + beside.shape[1]
    mean, rest = np.empty((*t.shape, directions)), np.zeros((directions, directions))
    mean[:, :, 0], rest[0, 0] = channel.carry * t, channel.rest
    if beside is not None:
        mean[:, :, 1:] = beside
    law = drawn(Points(weight, label, mean, rest), target, system.level.labels, system.level.rough)
    if target.noise > 0.0 and system.loss.FORM != "residual":
        noisy = with_noise(law, target.noise, system.level.labels, system.level.rough)
        assert isinstance(noisy, Points)  # as labels at nodes stay
        return noisy
    return law


def _mass(panels: Panels) -> Array:
    """The probability that t is in a panel, in the tails too."""
    low, high = panels.low, panels.high
    below, above = np.where(low > 0.0, -high, low), np.where(low > 0.0, -low, high)
    return np.asarray(special.ndtr(above) - special.ndtr(below))


def _packed(system: CoupledSystem, panels: Panels, order: int) -> Points:
    """The nodes of all panels of a kappa that count in one row, filled up with nodes of no weight."""
    law, count = _law(system, panels, order), len(system.kappa)
    panel, place = np.nonzero(law.weight > NOTHING * share_far_out(_reach(system.problem)))
    by_owner = np.argsort(panels.owner[panel], kind="stable")
    panel, place = panel[by_owner], place[by_owner]
    owner = panels.owner[panel]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    weight, label, t = np.zeros((3, count, int(rank.max()) + 1))
    weight[owner, rank], label[owner, rank] = law.weight[panel, place], law.label[panel, place]
    t[owner, rank] = law.t[panel, place, 0]
    return Points(weight, label, t[:, :, None], law.rest)
