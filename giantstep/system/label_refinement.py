"""Nodes of the label that settle the averages of a loss: panels of t halved until its averages agree.

A label that is a continuous function of t sweeps the kinks of a loss; where the output varies little, it does so on
scales of t that no fixed rule resolves. The panels are therefore chosen at given fields of the output, node by node of
kappa, with the kernel of the loss itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields
from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_lines import are_lines
from giantstep.law.labels import cuts_of, drawn, is_constant, with_noise
from giantstep.quadrature.gauss import ends_within
from giantstep.spec.expressions import special
from giantstep.spec.link import link_values
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import NOTHING, Level, resolved
from giantstep.system.kernels import bend_of, loss_kernel
from giantstep.system.label_crossings import (
    FAR,
    NARROW,
    NEAR,
    REACH,
    Distance,
    Index,
    Kink,
    Panels,
    Search,
    crossings_of,
    distance_to,
    kinks_of,
)
from giantstep.system.problem import Problem
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.two_index_refinement import settled_law, settles_of_two

Array = np.ndarray
_PANELS = 4  # between two breakpoints, at first
_ORDER, _ROUGH = 12, 11  # nodes of a panel; of the estimate of their error
_TOLERANCE = 1e-12  # of an average of a panel, relative to that over all t
_HALVINGS, _ROUNDED = 36, 1e-15
_MOST = 1 << 20  # nodes
_STILL = 1e-2  # spreads that outputs may move by, where averages turn within one
_WIDE = 0.5  # of panels whose weights are made to sum to their probability; those of others do to rounding
_SEARCH = Search(241, (-40.0, -4.0, 0.0, 4.0, 40.0))


def system_at(problem: Problem, level: Level, x: Array, tolerance: float = _TOLERANCE) -> CoupledSystem:
    """The system of a level, with nodes of the label that settle the averages at the unknowns ``x``.

    Labels that are constant on intervals (as those that may flip are) or of more than two indices stay as they are.
    """
    laws, share = resolved(problem, level), tolerance / 10.0**level.labels
    plain, two = coupled_at(problem, level, laws), settles_of_two(problem)
    chosen = two or settles(problem) and isinstance(laws.labels, Points)
    if not chosen or not plain.fields(x):
        return plain
    if two:
        return coupled_at(problem, level, replace(laws, labels=settled_law(plain, share), kept=False, chosen=True))
    panels = _settled(plain, share)
    law = _packed(plain, panels, _ROUGH if level.rough else _ORDER)
    return coupled_at(problem, level, replace(laws, labels=law, kept=False, chosen=True))


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


def stays(system: CoupledSystem, x: Array, before: Array) -> bool:
    """Whether outputs at the last unknowns x are where they were at those before, beside their spread: nodes of the
    label chosen at either serve.
    """
    if not settles(system.problem):
        return True
    size = np.abs(system.view("mean")) + system.view("V") * np.sqrt(np.maximum(system.view("avg_gg"), 0.0))
    size += REACH * np.abs(system.slopes).sum(axis=0)
    moved = float(np.max(np.abs(x - before) / system.scale(x)))
    return moved * float(np.max(size / _spread(system))) <= _STILL


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


def _settled(system: CoupledSystem, tolerance: float) -> Panels:
    """Panels whose averages, those of the residuals, are those of their halves, but for rounding of the places of
    output and label beside the spread on which an average turns.
    """
    active, done = _first(system), None
    rows = _residual_rows(system)
    weight = system.table[:, 1][None]
    rounding = _ROUNDED * (1.0 + np.abs(system.view("mean")) + math.sqrt(system.signal())) / _spread(system)
    whole = _averages(system, active)[rows]
    local = np.stack([np.bincount(active.owner, np.abs(row), len(system.kappa)) for row in whole])
    total = (weight * local).sum(axis=1, keepdims=True)
    scale = np.maximum(local, total / np.maximum(weight * len(system.kappa), 1e-290))
    for _ in range(_HALVINGS):
        parts = [_averages(system, half)[rows] for half in active.halves()]
        known = rounding[active.owner] * (np.abs(whole) + sum(np.abs(part) for part in parts))
        good = np.all(np.abs(whole - sum(parts)) <= tolerance * scale[:, active.owner] + known, axis=0)
        finished = active.chosen(good)
        done = finished if done is None else done.joined(finished)
        if good.all():
            return done
        left, right = active.chosen(~good).halves()
        active, whole = left.joined(right), np.concatenate([part[:, ~good] for part in parts], axis=1)
        if _ORDER * (len(active.owner) + len(done.owner)) > _MOST:
            break
    return active if done is None else done.joined(active)


def _first(system: CoupledSystem) -> Panels:
    """Panels between the breakpoints of the link, and the places where the output is centred on a kink of the loss."""
    problem, kappa = system.problem, system.kappa
    breaks = np.array(cuts_of(problem.model.target), dtype=float)
    channel = _channel(problem)
    inner = ends_within(breaks, channel.gamma * kappa, channel.width, REACH)
    ends = np.full((len(kappa), 1), REACH)
    edges = np.concatenate([-ends, inner, ends], axis=1)
    cuts = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * (np.arange(_PANELS + 1) / _PANELS)
    edges = np.concatenate([cuts.reshape(len(kappa), -1), crossings(system), _beside(system, inner)], axis=1)
    edges = np.sort(np.clip(edges, -REACH, REACH), axis=1)
    owner, place = np.nonzero(np.diff(edges, axis=1) > 0.0)
    return Panels(owner, edges[owner, place], edges[owner, place + 1])


def crossings(system: CoupledSystem) -> Array:
    """Places t [N, C] around which an average over the output turns, at every node of kappa; see ``crossings_of``."""
    return crossings_of(_distances(system), _width(system), _SEARCH)


def _width(system: CoupledSystem) -> Array:
    """On which distance from a kink an average over the output turns, at every node of kappa."""
    spread = _spread(system)
    return np.maximum(spread, 1.0 / system.loss.STEEPNESS) if system.loss.SMOOTH else spread


def _beside(system: CoupledSystem, breaks: Array) -> Array:
    """Edges at both sides of breakpoints [N, B] of the link, where the output is centred close to a kink there and
    leaves it within a part of t that panels may miss.
    """
    owner, width, found = np.arange(len(breaks)), _width(system)[:, None], [breaks[:, :0]]
    beyond = _SEARCH.around[3:]
    for distance in _distances(system):
        for side in (-1.0, 1.0):
            near, further = (distance(breaks + side * steps * NEAR, owner) for steps in (1.0, 2.0))
            with np.errstate(divide="ignore"):
                reach = width * NEAR / np.abs(further - near)
            felt = (np.abs(near) <= FAR * width) & (reach < NARROW)
            found += [np.where(felt, breaks + side * away * np.minimum(reach, 1.0), breaks) for away in beyond]
    return np.concatenate(found, axis=1)


def _distances(system: CoupledSystem) -> list[Distance]:
    """Functions of t [I, n] and nodes of kappa [I]: how far u of the output's centre is from the image of a kink."""
    channel = _channel(system.problem)
    target, response = system.problem.model.target, system.view("V")
    values = link_values(target.mean_link)
    mean, slope = system.view("mean"), channel.carry * system.slopes[0]

    def at(kink: Kink | None, label: float | None) -> Distance:
        def distance(t: Array, owner: Index) -> Array:
            z = channel.gamma * system.kappa[owner][:, None] + channel.width * t
            y = values(z[None]) if label is None else np.full_like(z, label)
            centre = mean[owner][:, None] + slope[owner][:, None] * t
            return distance_to(system, kink, y, centre, response[owner][:, None])

        return distance

    labels: list[float | None] = [None] if target.channel is None else [*target.channel.values] or [None]
    return [at(kink, label) for kink in kinks_of(system) for label in labels]


def _residual_rows(system: CoupledSystem) -> list[int]:
    """Averages that enter the residuals and the observables."""
    names = system.kernel.AVERAGES
    return [names.index(name) for name in ("avg_M", "avg_g", "avg_gg", "avg_h", "avg_tg")]


def _averages(system: CoupledSystem, panels: Panels) -> Array:
    """Averages over the output and the label within each panel: [average, panel]."""
    law = _law(system, panels, _ORDER)
    V, mean, Delta = (np.ascontiguousarray(system.view(name)[panels.owner]) for name in ("V", "mean", "Delta"))
    fields = Fields(V, mean, np.ascontiguousarray(system.slopes[:, panels.owner]), Delta)
    out = np.empty((len(system.averages), len(panels.owner)))
    labels = LabelNodes(law.weight, law.t, law.label, law.rest)
    system.loss.points(system.rule, labels, fields, system.scratch, out)
    return out


def _law(system: CoupledSystem, panels: Panels, order: int) -> Points:
    """Labels at the nodes of each panel, [panel, node], with the noise of a loss that is not of the residual."""
    target, channel = system.problem.model.target, _channel(system.problem)
    t, weight = panels.nodes(order)
    wide = panels.high - panels.low > _WIDE
    weight[wide] *= (_mass(panels.chosen(wide)) / weight[wide].sum(axis=1))[:, None]
    z = channel.gamma * system.kappa[panels.owner][:, None] + channel.width * t
    label, mean = link_values(target.link)(z[None]), np.ascontiguousarray(channel.carry * t[:, :, None])
    law = drawn(
        Points(weight, label, mean, np.array([[channel.rest]])), target, system.level.labels, system.level.rough
    )
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
    panel, place = np.nonzero(law.weight > NOTHING)
    by_owner = np.argsort(panels.owner[panel], kind="stable")
    panel, place = panel[by_owner], place[by_owner]
    owner = panels.owner[panel]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    weight, label, t = np.zeros((3, count, int(rank.max()) + 1))
    weight[owner, rank], label[owner, rank] = law.weight[panel, place], law.label[panel, place]
    t[owner, rank] = law.t[panel, place, 0]
    return Points(weight, label, t[:, :, None], law.rest)
