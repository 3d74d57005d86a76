"""Equations of m that any of many solves but for rounding, at infinite dimension, where no ridge holds it.

Labels that the spike all but decides are felt close to where they turn; functions of a span are powers of the distance
there, and all but one function. And a loss may be as good as linear wherever outputs are, as |y - f| is below all
labels: it tells nothing of m then.
"""

from __future__ import annotations

import numpy as np

from generated.runtime.mean_outputs import bend_beside_slope
from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.newton import distance
from giantstep.system.span import orthonormal

Array = np.ndarray
_ALIKE = 1e-5  # what a function has beside the others, of which equations know the square, and rounding hides 1e-11
_FLAT = 1e-11  # of its slope, what a loss loses by outputs of their size; labels round by 1e-14: m has few digits then
_MOVED, _ROUNDING = 0.1, 1e-12  # of the output, a share that is added to it; of slopes, what rounding leaves
_NEAR = 1e-3  # a Newton step, relative to its unknown, that ends at the solution


def require_decided(system: CoupledSystem, x: Array) -> None:
    """Raise NotConverged where unknowns x satisfy the equations and are not their solution."""
    _require_curvature(system, x)
    if system.span is None or system.span.rank < 2:
        return
    rest = _least_rest(system)
    if rest > _ALIKE or distance(system, x) < _NEAR:
        return
    values = "" if system.problem.model.network.readout.density is not None else ", or equal readout values"
    raise NotConverged(
        f"where the loss feels the output, one of the mean features is the others but for {rest:.0e} of itself: which "
        "combination is the best is lost in rounding",
        f"give a dimension (--dimension), label noise (target.flips or target.probit){values}",
    )


def _require_curvature(system: CoupledSystem, x: Array) -> None:
    """Raise NotConverged where the loss is as good as linear wherever outputs are, and its solution another one."""
    if system.problem.parameters.inverse_dimension > 0.0:
        return  # the ridge holds m
    if _bend(system) <= _FLAT and (_solved_by_others(system, x) or not distance(system, x) < _NEAR):
        require_bend(system)


def require_bend(system: CoupledSystem) -> None:
    """Raise NotConverged where the loss is as good as linear wherever the outputs of a solution are."""
    if (change := _bend(system)) > _FLAT or _passes_a_kink(system):
        return
    raise NotConverged(
        f"the loss is as good as linear wherever outputs are (its slope changes by {change:.0e} of itself there), so "
        "that nothing decides m, the mean readout weight of each group of neurons, at infinite dimension",
        "give a dimension (--dimension): the ridge then holds m",
    )


def _bend(system: CoupledSystem) -> float:
    """How much the slope of the loss changes by outputs of their size, over that slope."""
    mu0 = system.at.columns.node[-3 * system.blocks :][: system.blocks]
    laws, averages = (tuple(map(system.view, names)) for names in (("mean", "Delta"), ("avg_gg", "avg_h")))
    return float(bend_beside_slope(mu0, system.node[1], laws, averages))


def _solved_by_others(system: CoupledSystem, x: Array) -> bool:
    """Whether the equations of m hold as well, but for rounding, where every mean function adds to the output what is
    a share of its size.
    """
    mu0, weight = system.at.columns.node[-3 * system.blocks :][: system.blocks], system.node[1]
    size = np.sqrt(weight @ (system.view("mean") ** 2 + system.view("Delta")))
    norms = np.sqrt(mu0**2 @ weight)
    system.view("m")[...] += _MOVED * size / np.where(norms > 0.0, norms, np.inf)
    moved = system.gathered(system.work)
    system.residual(moved)
    left = np.abs(system.view("residual_m"))
    slopes = np.abs(mu0) @ (weight * np.sqrt(system.view("avg_gg")))
    system.evaluate(x)
    return bool(np.all(left <= _ROUNDING * slopes))


def _passes_a_kink(system: CoupledSystem) -> bool:
    """Whether slopes of a loss of the margin differ over kappa: outputs without spread pass its kink between nodes.
    At a kappa that hardly occurs they may.
    """
    if system.loss.FORM != "margin":
        return False
    squares, weight = system.view("avg_gg"), system.node[1]
    return bool(min(weight @ (squares.max() - squares), weight @ (squares - squares.min())) > _FLAT * squares.max())


def _least_rest(system: CoupledSystem) -> float:
    """What the mean features have beside each other, relative, under the curvature of the loss at the last x."""
    rank = 0 if system.span is None else system.span.rank
    curvature = np.maximum(system.view("avg_h"), 0.0)
    felt = np.sqrt(system.table[:, 1] * curvature)[:, None] * system.table[:, -3 * system.blocks :][:, :rank]
    found = orthonormal(felt, np.sqrt((felt**2).sum(axis=0)))
    return found.least if found.rank == rank else found.dropped
