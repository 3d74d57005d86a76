"""Nodes in the plane of kappa, of spikes of two directions, that are chosen at a solution: on lines, with panels about
the places where the mean of the output passes a kink of the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generated.runtime.between_nodes import NOTHING, crosses
from generated.runtime.label_search import NOWHERE
from giantstep.law.kinds_of_labels import Intervals
from giantstep.quadrature.plane import Plane
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved_in_plane, rows_between
from giantstep.system.kappa_panels import integrands
from giantstep.system.label_crossings import distances_to
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_FIELDS = Level(8, 44)  # with what averages over the output are taken
_SETTLED = 1e-12  # of what is integrated, relative
_ABOUT, _FOLLOWED = 7.0, 2.0  # spreads of the output: where nodes are about a kink; how far it may move from them
_STILL = 0.1  # of the tolerance: the weight of nodes that a kink has left


def may_follow(problem: Problem) -> bool:
    """Whether nodes of kappa may be chosen: of two directions, and labels that are constant between jumps."""
    target = problem.model.target
    if problem.rank != 2 or target.indices > 1 or problem.model.fit.loss.key == "square":
        return False
    return isinstance(coupled_at(problem, _FIELDS).labels, Intervals)


def on_lines(problem: Problem, levels: Sequence[Level], x: Array, tolerance: float = _SETTLED) -> list[CoupledSystem]:
    """The systems of levels on nodes that settle their averages at the unknowns ``x``, which have to be feasible.
    Raises NotConverged where there are too many.
    """
    laws = coupled_at(problem, _FIELDS).at.laws

    def at(kappa: Array) -> CoupledSystem:
        rows = rows_between(problem, kappa, np.ones(len(kappa)))
        system = coupled_at(problem, _FIELDS, Resolved.of(rows, laws.labels, laws.clean))
        system.fields(x)
        return system

    def values(kappa: Array) -> Array:
        system = at(kappa)
        average, given = system.averaging
        average(*given)
        return integrands(system)

    rough, fine = Plane.of(AveragedTerms.of(problem).shape, values, lambda kappa: _away(at(kappa)), tolerance).nodes()
    nodes = [rough if level.rough else fine for level in levels]
    return [
        coupled_at(problem, level, resolved_in_plane(problem, level, *given))
        for level, given in zip(levels, nodes, strict=True)
    ]


def turns_in_plane(problem: Problem, x: Array) -> bool:
    """Whether, at the unknowns x, the mean of the output passes a kink of the loss between two nodes on axes, faster
    than a rule on them follows: two rules may then agree without having seen it.
    """
    if not may_follow(problem):
        return False
    system = coupled_at(problem, _FIELDS)
    if not system.fields(x):
        return False
    kappa, away = system.points(), _away(system)
    (felt,) = np.nonzero((kappa**2).sum(axis=1) < NOTHING)
    order = felt[np.lexsort((kappa[felt, 0], kappa[felt, 1]))]
    lines = [line for line in np.split(order, 1 + np.flatnonzero(np.diff(kappa[order, 1]))) if len(line) > 1]
    return any(crosses(kappa[line, 0], row[line], np.ones(len(line))) for row in away for line in lines)


def lines_serve(system: CoupledSystem, x: Array, before: Array, tolerance: float) -> bool:
    """Whether nodes that were chosen at unknowns ``before`` serve the last ones, x: those about kinks of the loss, but
    for next to nothing, are still about them.
    """
    evaluated, here = system.evaluated, _away(system)
    feasible, there = system.fields(before), _away(system)
    system.fields(x)
    system.evaluated = evaluated  # averages are still those at x
    about = (np.minimum(np.abs(here), np.abs(there)) < _ABOUT) | ((here > 0.0) != (there > 0.0))
    lost = (about & (np.abs(here - there) > _FOLLOWED)).any(axis=0)
    return feasible and float(system.table[lost, 1].sum()) <= _STILL * tolerance


def _away(system: CoupledSystem) -> Array:
    """How far the mean output is from every kink of the loss, at every label, in spreads of the output [K, N]."""
    mean, response = system.view("mean"), system.view("V")
    spread = np.sqrt(system.view("Delta") + system.noise + (system.slopes**2).sum(axis=0))
    if system.loss.SMOOTH:
        spread = np.maximum(spread, 1.0 / system.loss.STEEPNESS)
    labels = system.labels.constants or ()
    away = np.concatenate([distances_to(system, np.full_like(mean, label), mean, response, spread) for label in labels])
    return np.asarray(np.clip(away, -NOWHERE * spread, NOWHERE * spread) / spread)
