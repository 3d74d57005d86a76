"""Places in kappa where the output passes a kink of the loss, for ends of panels where it varies little about its mean.

Features that saturate leave the output no variance beside kappa. Averages over the output then turn in kappa as fast as
the mean of the output passes a kink, or leaves one that it is near to at a kink of the link, on a scale that the
coefficients do not know. A label that varies beside kappa smooths that, but where it is stationary: its least and
largest values, beyond which there are no labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from generated.runtime.between_nodes import crosses
from giantstep.law.label_cells import LabelLaw
from giantstep.law.labels import cuts_of, is_constant, jumps_and_kinks
from giantstep.quadrature.panels import table
from giantstep.spec.link import link_values
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved, rows_between
from giantstep.system.label_crossings import Kink, distance_to, kinks_of
from giantstep.system.label_refinement import system_at, varies
from giantstep.system.level import Level
from giantstep.system.link_extremes import extremes, stationary_values
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
Fields = Callable[[Array], CoupledSystem]
_BASE = Level(8, 24)
_FINER, _ROUNDS = 65, 7  # places in a bracket, which shrinks by as much in each round
_AROUND = (-8.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0)  # ends of panels about a turn, in widths of it
_GRADED = (0.0, *(side * 4.0**k for k in range(-1, 16) for side in (-1.0, 1.0)))  # about one whose approach is long
_WIDEST = 0.5  # width of a turn that the panels of the coefficients resolve
_PLAINLY = 1.5  # times that, of one that is followed no further
_FEW = 4  # values of a label that is constant between its jumps
_NEAR, _DIGITS = 1e-6, 11  # step of a slope in kappa; decimals to which two turns are one
_SIDE = 1e-9  # from a kink of the link, where its side begins
_FELT = 9.0  # spreads from a kink of the loss beyond which it is not felt
_AWAY = _WIDEST * 0.5 ** np.arange(26)  # distances from a place at which the output is looked at


class _Passage(NamedTuple):
    """A label as a function of kappa, and a kink of the loss that the output may pass there."""

    label: Callable[[Array], Array]
    kink: Kink | None

    def distance(self, system: CoupledSystem) -> Array:
        """How far the mean output is from the kink, at the nodes of a system."""
        return distance_to(system, self.kink, self.label(system.kappa), system.view("mean"), system.view("V"))

    def spread(self, system: CoupledSystem) -> Array:
        """The distance from it at which it is felt there, of the output and of a label that follows its index."""
        return np.asarray(np.hypot(_width(system), _swept(system.problem, self.label, system.kappa)))


def cuts_at(problem: Problem, x: Array) -> tuple[float, ...]:
    """Ends of panels in kappa about all sharp turns, for the unknowns x; of one direction of kappa."""
    if not _may_turn(problem):
        return ()
    base = resolved(problem, _BASE)
    if not _labels(problem, base.labels):
        return ()

    def at(kappa: Array) -> CoupledSystem:
        rows = rows_between(problem, kappa, np.ones_like(kappa))
        system = coupled_at(problem, _BASE, Resolved.of(rows, base.labels, base.clean))
        system.fields(x)
        return system

    around = _GRADED if _sweeps(problem) else _AROUND
    system = at(_with_sides(table(problem.blocks, problem.link, _BASE.order)[:, 0], _breaks(problem)))
    found = {
        round(place, _DIGITS)
        for passage in _passages(system, base.labels)
        for places in (_sharp(at, system, passage, around), _beside_breaks(at, system, passage, around))
        for place in places
    }
    if system.loss.SYMMETRIC:  # where kappa is folded, panels must be so
        found = {side * abs(place) for place in found for side in (-1.0, 1.0)}
    return tuple(sorted(found))


def cut_anew(system: CoupledSystem, x: Array) -> CoupledSystem:
    """The system with panels in kappa cut, and nodes of the label chosen, at other unknowns."""
    return system_at(system.problem, replace(system.level, cuts=cuts_at(system.problem, x)), x)


def cuts_serve(system: CoupledSystem, x: Array) -> bool:
    """Whether the panels in kappa of a system are those that the unknowns x ask for, but for less than a panel about a
    turn: a rule that steps over one knows nothing of how it moves.
    """
    if not system.level.cuts:
        return True
    wanted, given = np.array(cuts_at(system.problem, x)), np.array(system.level.cuts)
    if len(wanted) < 2:
        return True
    after = np.clip(np.searchsorted(given, wanted), 1, len(given) - 1)
    away = np.minimum(np.abs(wanted - given[after - 1]), np.abs(given[after] - wanted))
    gaps = np.diff(wanted)
    panel = np.minimum(np.append(gaps, gaps[-1]), np.append(gaps[0], gaps))
    return bool(np.all(away <= panel))


def passes_unseen(system: CoupledSystem) -> bool:
    """Whether the output passes a kink of the loss between two nodes of kappa, faster than a rule on them follows.

    Two orders of quadrature may then agree without having seen it.
    """
    problem = system.problem
    if not _may_turn(problem):
        return False
    nodes, fields = system.kappa, (_width(system), system.view("mean"), system.view("V"))
    kappa = _with_sides(nodes, _breaks(problem))
    width, mean, response = (np.interp(kappa, nodes, row) for row in fields) if len(kappa) > len(nodes) else fields
    swept = _swept if _sweeps(problem) else lambda *_: 0.0
    return any(
        crosses(
            kappa,
            distance_to(system, kink, label(kappa), mean, response),
            np.hypot(width, swept(problem, label, kappa)),
        )
        for label, kink in _passages(system, system.labels)
    )


def _with_sides(nodes: Array, breaks: Array) -> Array:
    """Nodes of kappa, with both sides of the breaks between them; of half a table from zero on."""
    if not len(breaks):
        return nodes
    least = min(float(nodes[0]), 0.0)
    sides = np.concatenate([breaks - _SIDE, breaks + _SIDE])
    sides = sides[(sides > least) & (sides < nodes[-1])]
    return np.sort(np.concatenate([nodes, sides])) if len(sides) else nodes


def _breaks(problem: Problem) -> Array:
    """Places of kappa where the link of one index has kinks, and where it turns if kappa tells the label; none of
    labels that are constant between jumps.
    """
    gamma = problem.overlaps[0][0] if problem.link is not None and problem.rank == 1 else 0.0
    if gamma == 0.0 or is_constant(problem.model.target.link):
        return np.empty(0)
    target = problem.model.target
    if _sweeps(problem):  # which blurs narrow turns: kinks and jumps are left
        places = jumps_and_kinks(target)
    else:
        places = (*cuts_of(target), *extremes(target.mean_link))
    return np.unique(np.array(places, dtype=float) / gamma)


def _may_turn(problem: Problem) -> bool:
    """Whether averages may turn with the output: not those of the square loss, which are polynomials of it; nothing is
    told where kappa has several directions.
    """
    return problem.loadings is None and problem.model.fit.loss.key != "square"


def _width(system: CoupledSystem) -> Array:
    """The standard deviation of the output given kappa, or the length on which a smooth loss turns."""
    spread = np.sqrt(system.view("Delta") + system.noise + (system.slopes**2).sum(axis=0))
    return np.asarray(np.maximum(spread, 1.0 / system.loss.STEEPNESS) if system.loss.SMOOTH else spread)


def _swept(problem: Problem, label: Callable[[Array], Array], kappa: Array) -> Array | float:
    """The standard deviation of a label that follows its index beside kappa; nothing of one that is held."""
    gamma = problem.overlaps[0][0]
    if problem.rank > 1 or gamma == 0.0:
        return 0.0
    slope = (label(kappa + _NEAR) - label(kappa - _NEAR)) / (2.0 * _NEAR * gamma)
    return np.asarray(np.abs(slope) * np.sqrt(max(0.0, 1.0 - gamma * gamma)))


def _passages(system: CoupledSystem, law: LabelLaw) -> list[_Passage]:
    """The labels with the kinks that the output may pass; a smooth loss of the margin turns where the output vanishes,
    whatever the label.
    """
    labels = _labels(system.problem, law)
    if system.loss.SMOOTH and system.loss.FORM == "margin":
        labels = labels[:1]
    return [_Passage(label, kink) for label in labels for kink in kinks_of(system)]


def _labels(problem: Problem, law: LabelLaw) -> list[Callable[[Array], Array]]:
    """The values of a label given kappa; where it varies continuously beside kappa, those where it is stationary."""
    if law.constants is not None:
        return [partial(np.full_like, fill_value=value) for value in law.constants]
    if problem.link is None:  # several indices: jumps of the label stand out by its few values
        values = law.few_values(_FEW)
        return [] if values is None else [partial(np.full_like, fill_value=value) for value in values.tolist()]
    channel = problem.model.target.channel
    if channel is not None and channel.values:
        return [partial(np.full_like, fill_value=value) for value in channel.values]
    gamma, link = problem.overlaps[0][0], link_values(problem.model.target.mean_link)

    def middle(kappa: Array) -> Array:
        return link((gamma * kappa)[None])

    if not _sweeps(problem):
        return [middle]
    ends = () if channel is not None else stationary_values(problem.model.target.link)
    return [middle, *(partial(np.full_like, fill_value=value) for value in ends)]


def _sweeps(problem: Problem) -> bool:
    """Whether the label takes a range of values at one kappa."""
    channel = problem.model.target.channel
    return varies(problem) and not (channel is not None and channel.values)


def _sharp(at: Fields, grid: CoupledSystem, passage: _Passage, around: tuple[float, ...]) -> Iterator[float]:
    """Places about the sharp passages of a kink, from the signs on a grid of kappa; around: in widths."""
    low, high = _brackets(passage.distance(grid), grid.kappa)
    for _ in range(_ROUNDS):
        if not len(low):
            return
        places = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _FINER)
        system = at(places.ravel())
        values, spread = (each.reshape(places.shape) for each in (passage.distance(system), passage.spread(system)))
        above = values > 0.0
        first = np.argmax(above != above[:, :1], axis=1)
        ends = np.arange(len(low)), np.array([first - 1, first])
        low, high = places[ends]
        passed, far = np.abs(np.diff(values[ends], axis=0)[0]), spread[ends].min(axis=0) * (high - low)
        sharp = far < _PLAINLY * _WIDEST * passed
        low, high = low[sharp], high[sharp]
    if not len(low):
        return
    system = at(np.concatenate([low, low + _NEAR, low - _NEAR]))
    _, above, below = passage.distance(system).reshape(3, -1)
    spread = passage.spread(system)[: len(low)]
    with np.errstate(divide="ignore", over="ignore"):
        width = 2.0 * _NEAR * spread / np.abs(above - below)
        width = np.exp2(0.5 * np.round(2.0 * np.log2(width)))  # mirror images have the same, and the same ends
    for centre, reach in zip(low[width < _WIDEST].tolist(), width[width < _WIDEST].tolist(), strict=True):
        yield from (centre + reach * part for part in around if reach * abs(part) < 8.0 * _WIDEST)


def _beside_breaks(at: Fields, grid: CoupledSystem, passage: _Passage, around: tuple[float, ...]) -> Iterator[float]:
    """Places beside kinks of the link from where the output leaves a kink of the loss that it is near to, within less
    than panels resolve.
    """
    breaks = _breaks(grid.problem)
    follows_link = len(breaks) > 0 and np.ptp(passage.label(grid.kappa)) > 0.0  # constant ones do not turn with it
    for side in (-1.0, 1.0) if follows_link else ():
        places = breaks[:, None] + side * (_SIDE + _AWAY)
        system = at(places.ravel())
        u = passage.distance(system) / passage.spread(system)
        u = u.reshape(places.shape)
        follows = np.abs(u - u[:, -1:]) < 1.0
        reach = np.exp2(0.5 * np.round(2.0 * np.log2(_AWAY[np.argmax(follows, axis=1)])))
        near = (np.abs(u[:, -1]) < _FELT) & ~follows[:, 0]
        for place, length in zip(breaks[near].tolist(), reach[near].tolist(), strict=True):
            yield from (place + side * length * part for part in around if 0.0 <= length * part < 8.0 * _WIDEST)


def _brackets(values: Array, grid: Array) -> tuple[Array, Array]:
    (place,) = np.nonzero((values[1:] > 0.0) != (values[:-1] > 0.0))
    return grid[place], grid[place + 1]
