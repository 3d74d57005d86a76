"""Nodes of the label that settle the averages of a loss: panels of t halved until its averages agree.

A label that is a continuous function of t sweeps the kinks of a loss; where the output varies little, it does so on
scales of t that no fixed rule resolves. The panels are therefore chosen at given fields of the output, node by node of
kappa, with the kernel of the loss itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields
from giantstep.law.directions import noisy_indices
from giantstep.law.labels import Points, cuts_of, drawn, is_constant, with_noise
from giantstep.quadrature.gauss import legendre
from giantstep.spec.expressions import special
from giantstep.spec.link import link_values
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import NOTHING, Level, resolved
from giantstep.system.problem import Problem
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
Index = NDArray[np.intp]
Distance = Callable[[Array, Index], Array]  # at t [I, n] of nodes of kappa [I]
Kink = tuple[int, int]  # its number, and 0 or 1 for the piece before or after it
_REACH = 9.0  # of t: the Gaussian weight beyond is 1e-18
_NOWHERE = 1e300
_PANELS = 4  # between two breakpoints, at first
_ORDER, _ROUGH = 12, 11  # nodes of a panel; of the estimate of their error
_TOLERANCE = 1e-12  # of an average of a panel, relative to that over all t
_HALVINGS, _ROUNDED = 36, 1e-15
_MOST = 1 << 20  # nodes
_WIDE = 0.5  # of panels whose weights are made to sum to their probability; those of others do to rounding
_GRID, _BISECTIONS, _NEAR = 241, 48, 1e-6  # where a crossing is looked for, and the steps of its slope
_AROUND = (-40.0, -4.0, 0.0, 4.0, 40.0)  # edges of panels about a crossing, in spreads
_FAR = 40.0  # spreads from a kink at which an average does not feel it
_NARROW, _THIRDS, _STEP = 0.1, 30, 1e-3  # of t: what panels may miss; of a search for the least distance; of its bend


@dataclass(frozen=True)
class _Panels:
    """Panels [low, high] of t, each of the node ``owner`` of kappa."""

    owner: Index
    low: Array
    high: Array

    def chosen(self, keep: NDArray[np.bool_]) -> _Panels:
        return _Panels(self.owner[keep], self.low[keep], self.high[keep])

    def halves(self) -> tuple[_Panels, _Panels]:
        middle = 0.5 * (self.low + self.high)
        return _Panels(self.owner, self.low, middle), _Panels(self.owner, middle, self.high)

    def joined(self, other: _Panels) -> _Panels:
        owner = np.concatenate([self.owner, other.owner])
        return _Panels(owner, np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high]))


def system_at(problem: Problem, level: Level, x: Array, tolerance: float = _TOLERANCE) -> CoupledSystem:
    """The system of a level, with nodes of the label that settle the averages at the unknowns ``x``.

    Labels that are constant on intervals (as those that may flip are) or of several indices stay as they are.
    """
    laws = resolved(problem, level)
    plain = coupled_at(problem, level, laws)
    if not isinstance(laws.labels, Points) or not settles(problem) or not plain.fields(x):
        return plain
    panels = _settled(plain, tolerance / 10.0**level.labels)
    law = _packed(plain, panels, _ROUGH if level.rough else _ORDER)
    return coupled_at(problem, level, replace(laws, labels=law))


def settles(problem: Problem) -> bool:
    """Whether the nodes of the label are chosen: those of one index that varies continuously, also given kappa.

    The square loss needs none: moments are all that it knows.
    """
    target, loss = problem.model.target, problem.model.fit.loss
    varies = target.indices == 1 and not is_constant(target.link) and loss.key != "square"
    return varies and _channel(problem).width > 0.0


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


def _settled(system: CoupledSystem, tolerance: float) -> _Panels:
    """Panels whose averages, those of the residuals, are those of their halves, but for rounding of the places of
    output and label beside the spread on which an average turns.
    """
    active, done = _first(system), None
    rows = _residual_rows(system)
    weight = system.table[:, 1][None]
    rounding = _ROUNDED * (1.0 + np.abs(system.view("mean")) + math.sqrt(system.signal())) / _spread(system)
    scale: Array | None = None
    for _ in range(_HALVINGS):
        whole = _averages(system, active)[rows]
        parts = [_averages(system, half)[rows] for half in active.halves()]
        if scale is None:
            local = np.stack([np.bincount(active.owner, np.abs(row), len(system.kappa)) for row in whole])
            total = (weight * local).sum(axis=1, keepdims=True)
            scale = np.maximum(local, total / np.maximum(weight * len(system.kappa), 1e-290))
        known = rounding[active.owner] * (np.abs(whole) + sum(np.abs(part) for part in parts))
        good = np.all(np.abs(whole - sum(parts)) <= tolerance * scale[:, active.owner] + known, axis=0)
        finished = active.chosen(good)
        done = finished if done is None else done.joined(finished)
        if good.all():
            return done
        left, right = active.chosen(~good).halves()
        active = left.joined(right)
        if _ORDER * (len(active.owner) + len(done.owner)) > _MOST:
            break
    return active if done is None else done.joined(active)


def _first(system: CoupledSystem) -> _Panels:
    """Panels between the breakpoints of the link, and the places where the output is centred on a kink of the loss."""
    problem, kappa = system.problem, system.kappa
    breaks = np.array(cuts_of(problem.model.target), dtype=float)
    channel = _channel(problem)
    inner = np.clip((breaks[None] - channel.gamma * kappa[:, None]) / channel.width, -_REACH, _REACH)
    ends = np.full((len(kappa), 1), _REACH)
    edges = np.concatenate([-ends, inner, ends], axis=1)
    cuts = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * (np.arange(_PANELS + 1) / _PANELS)
    edges = np.concatenate([cuts.reshape(len(kappa), -1), crossings(system), _beside(system, inner)], axis=1)
    edges = np.sort(np.clip(edges, -_REACH, _REACH), axis=1)
    owner, place = np.nonzero(np.diff(edges, axis=1) > 0.0)
    return _Panels(owner, edges[owner, place], edges[owner, place + 1])


def crossings(system: CoupledSystem) -> Array:
    """Places t [N, C] around which an average over the output turns: what no rule finds that does not look there.

    Where the centre of the output passes the image of a kink, or comes close to it and turns back, and some spreads of
    the output to either side; for a smooth loss, where it passes zero. Rows are filled up with repeated places.
    """
    width = _width(system)
    grid = np.linspace(-_REACH, _REACH, _GRID)
    found = [np.zeros((len(width), 1))]
    for distance in _distances(system):
        values = distance(np.broadcast_to(grid, (len(width), _GRID)), np.arange(len(width)))
        found.append(_turning_back(distance, values, width))
        owner, place = np.nonzero((values[:, 1:] > 0.0) != (values[:, :-1] > 0.0))
        low, high, rising = grid[place], grid[place + 1], values[owner, place + 1] > 0.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            beyond = (distance(middle[:, None], owner)[:, 0] > 0.0) == rising
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        ends = (distance(np.clip(x, -_REACH, _REACH)[:, None], owner)[:, 0] for x in (low - _NEAR, low + _NEAR))
        with np.errstate(divide="ignore"):
            reach = np.minimum(2.0 * _NEAR * width[owner] / np.abs(np.subtract(*ends)), _REACH)
        found.append(_in_rows(owner, low, reach, len(width)))
    return np.concatenate(found, axis=1)


def _width(system: CoupledSystem) -> Array:
    """On which distance from a kink an average over the output turns, at every node of kappa."""
    spread = _spread(system)
    return np.maximum(spread, 1.0 / system.loss.STEEPNESS) if system.loss.SMOOTH else spread


def _in_rows(owner: Index, place: Array, reach: Array, count: int) -> Array:
    """Edges about places, a row for each of so many nodes of kappa."""
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    places = np.zeros((count, int(rank.max(initial=-1)) + 1, len(_AROUND)))
    places[owner, rank] = place[:, None] + reach[:, None] * np.array(_AROUND)
    return places.reshape(count, -1)


def _turning_back(distance: Distance, values: Array, width: Array) -> Array:
    """Edges about places where the distance, known on the grid, is the least without passing zero, and is felt on a
    part of t that panels may miss.
    """
    grid, size = np.linspace(-_REACH, _REACH, _GRID), np.abs(values)
    inner = size[:, 1:-1]
    least = (inner <= size[:, :-2]) & (inner < size[:, 2:]) & (np.sign(values[:, :-2]) * values[:, 2:] > 0.0)
    owner, place = np.nonzero(least)
    low, high = grid[place], grid[place + 2]

    def at(t: Array) -> Array:
        return np.abs(distance(t[:, None], owner)[:, 0])

    for _ in range(_THIRDS):
        third = (high - low) / 3.0
        left = at(low + third) <= at(high - third)
        low, high = np.where(left, low, low + third), np.where(left, high - third, high)
    middle = 0.5 * (low + high)
    bend = (at(middle - _STEP) + at(middle + _STEP) - 2.0 * at(middle)) / _STEP**2
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.sqrt(2.0 * width[owner] / np.maximum(bend, 0.0))
    felt = (at(middle) <= _FAR * width[owner]) & (reach < _NARROW)
    return _in_rows(owner[felt], middle[felt], reach[felt], len(width))


def _beside(system: CoupledSystem, breaks: Array) -> Array:
    """Edges at both sides of breakpoints [N, B] of the link, where the output is centred close to a kink there and
    leaves it within a part of t that panels may miss.
    """
    owner, width, found = np.arange(len(breaks)), _width(system)[:, None], [breaks[:, :0]]
    for distance in _distances(system):
        for side in (-1.0, 1.0):
            near, further = (distance(breaks + side * steps * _NEAR, owner) for steps in (1.0, 2.0))
            with np.errstate(divide="ignore"):
                reach = width * _NEAR / np.abs(further - near)
            felt = (np.abs(near) <= _FAR * width) & (reach < _NARROW)
            found += [np.where(felt, breaks + side * away * np.minimum(reach, 1.0), breaks) for away in _AROUND[3:]]
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


def kinks_of(system: CoupledSystem) -> list[Kink | None]:
    """The kinks of a loss, from both sides; None for a smooth one, which turns at zero."""
    kinks = range(system.loss.COUNT - 1)
    return [(k, side) for k in kinks for side in (0, 1)] or [None]


def distance_to(system: CoupledSystem, kink: Kink | None, label: Array, centre: Array, response: Array) -> Array:
    """How far u of an output is from the image of a kink under the proximal map; arrays of one shape."""
    loss, constants = system.loss, system.constants
    u = label * centre if loss.FORM == "margin" else centre - label if loss.FORM == "residual" else centre
    if kink is None:
        return np.asarray(u)
    number, side = kink
    if loss.FORM == "general":
        image = np.vectorize(lambda y, v: _image(loss, constants, number, side, y, v), [float])
        return np.asarray(u - image(label, response))
    place = loss.edge(number, 0.0, constants)
    steep = loss.piece(number + side, place, 0.0, constants)[1]
    return np.asarray(u - place - response * steep)


def _image(loss: ModuleType, constants: Array, kink: int, side: int, label: float, response: float) -> float:
    """Where the prox passes one side of a kink of the loss at a label; far out where it has fewer kinks."""
    start, count = loss.cell(label)
    if kink >= count - 1:
        return -_NOWHERE
    place = float(loss.edge(start + kink, label, constants))
    return place + response * float(loss.piece(start + kink + side, place, label, constants)[1])


def _residual_rows(system: CoupledSystem) -> list[int]:
    """Averages that enter the residuals and the observables."""
    names = system.kernel.AVERAGES
    return [names.index(name) for name in ("avg_M", "avg_g", "avg_gg", "avg_h", "avg_tg")]


def _averages(system: CoupledSystem, panels: _Panels) -> Array:
    """Averages over the output and the label within each panel: [average, panel]."""
    law = _law(system, panels, _ORDER)
    V, mean, Delta = (np.ascontiguousarray(system.view(name)[panels.owner]) for name in ("V", "mean", "Delta"))
    fields = Fields(V, mean, np.ascontiguousarray(system.slopes[:, panels.owner]), Delta)
    out = np.empty((len(system.averages), len(panels.owner)))
    labels = LabelNodes(law.weight, law.t, law.label, law.rest)
    system.loss.points(system.rule, labels, fields, system.scratch, out)
    return out


def _law(system: CoupledSystem, panels: _Panels, order: int) -> Points:
    """Labels at the nodes of each panel, [panel, node], with the noise of a loss that is not of the residual."""
    target, channel = system.problem.model.target, _channel(system.problem)
    points, weights = legendre(order)
    half, middle = 0.5 * (panels.high - panels.low)[:, None], 0.5 * (panels.high + panels.low)[:, None]
    t = middle + half * points
    weight = half * weights * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
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


def _mass(panels: _Panels) -> Array:
    """The probability that t is in a panel, in the tails too."""
    low, high = panels.low, panels.high
    below, above = np.where(low > 0.0, -high, low), np.where(low > 0.0, -low, high)
    return np.asarray(special.ndtr(above) - special.ndtr(below))


def _packed(system: CoupledSystem, panels: _Panels, order: int) -> Points:
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
