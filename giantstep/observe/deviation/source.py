"""The test error as a source: what everything of a fit does where a multiple h of it is added to the objective.

The test error is a function o of mean, slopes and variance of the output given kappa. Its derivatives stand in the
equations where the averages of g, t g and h over the samples do. Source: docs/theory.md, section 14.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.directions import directions_of
from generated.runtime.evaluation import Stage
from giantstep.observe.gradient.linear import solved
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.mean_predicted import mean_error_slopes
from giantstep.system.misclassification import wrong_sign_slopes
from giantstep.system.state import State

Array = np.ndarray
Slopes = tuple[Array, Array, Array]
_STILL = 1e-3  # of the largest relative rate: rounding of the others' is seen in what moves less
_ROUNDING, _LOST = 1e-12, 1e-3  # of a force, relative to that of half of kappa; relative to it, where nothing is left


@dataclass(frozen=True)
class Moved:
    """Everything of a fit by name, its derivatives in h, those of the slopes of the output [D, N], the worst
    relative residual of the linear equations that these solve, and the relative rounding of their right sides; zero
    where nothing but rounding moves.
    """

    known: Mapping[str, Array]
    rates: Mapping[str, Array]
    slopes: Array
    residual: float
    rounding: float


def error_slopes(system: CoupledSystem) -> Slopes:
    """Derivatives of the test error given kappa in mean [N], slopes [D, N] and variance [N] of the output."""
    if system.loss.FORM == "margin":
        return wrong_sign_slopes(system.plain_output())
    if system.predicts is not None:
        weight = system.table[:, 1]
        return mean_error_slopes(system.predicts, system.plain_output(), system.clean_nodes, weight)
    mean, slopes = system.view("mean"), np.array(system.slopes)
    label = system.table[:, 2], system.table[:, 3 : 3 + len(slopes)].T
    return 2.0 * (mean - label[0]), 2.0 * (slopes - label[1]), np.ones_like(mean)


def moved_by_source(system: CoupledSystem) -> Moved:
    """What the solution in the workspace of a system does along the test error as a source."""
    known, unknowns = system.known(), system.kernel.UNKNOWNS
    of_mean, of_slopes, of_variance = error_slopes(system)
    alpha = system.parameters[0]
    pushes = {"d_avg_g": -of_mean / alpha, "d_avg_h": 2.0 * of_variance / alpha}
    names = (f"d_avg_{t}g" for t in directions_of("t", len(of_slopes)))
    pushes |= dict(zip(names, -of_slopes / alpha, strict=True))

    tangents = system.tangents(known)
    numbers = tangents.numbers  # type: ignore[attr-defined]
    followed = [
        name for name in (f"d_{own}" for own in numbers.contractions.followed) if name in numbers.layout.defined
    ]
    tangents.along({})
    matrix, scale = system.jacobian().copy(), system.scale(system.x)
    force = _force(system, numbers, pushes)
    one_side = _force(system, numbers, _on_one_side(system, pushes))
    rounding = _rounding(force, one_side, np.abs(matrix) @ scale)
    if rounding > _LOST:
        pushes, rounding = {name: np.zeros_like(push) for name, push in pushes.items()}, 0.0
    force = _force(system, numbers, pushes)
    pushed = {name: numbers[name].copy() for name in followed if name not in pushes}

    rates = -solved(matrix, force, scale)
    moves = system.moves(rates)
    found = tangents.along(moves)
    left = _gathered(system, {name: found[f"d_residual_{name}"] for name in unknowns}) + force
    # what stands still by symmetry is held against the others' rates relative to their size
    least = _STILL * float(np.max(np.abs(rates) / scale)) * scale
    terms = np.abs(matrix) @ np.maximum(np.abs(rates), least) + np.abs(force)
    moving = {**{name: numbers[name].copy() for name in followed}, **moves, **found}
    for name, push in pushed.items():
        moving[name] = moving[name] + push
    slopes = np.array([moving[f"d_{name}"] for name in system.kernel.SLOPES])
    residual = float(np.max(np.abs(left) / np.maximum(terms, 1e-300)))
    return Moved(known, moving, slopes, residual, rounding)


def _force(system: CoupledSystem, numbers: Any, pushes: Mapping[str, Array]) -> Array:
    """What pushes of functions of kappa do to the equations, in the workspace of tangents."""
    wanted = {name: f"d_residual_{name}" for name in system.kernel.UNKNOWNS}
    for name, push in pushes.items():
        numbers[name] = push
    numbers.run(Stage(numbers.contractions, tuple(wanted.values()), given=tuple(pushes), of=tuple(pushes)))
    return _gathered(system, {name: numbers[residual] for name, residual in wanted.items()})


def _on_one_side(system: CoupledSystem, pushes: Mapping[str, Array]) -> dict[str, Array]:
    """Sizes of the same on one half of the space of kappa, which no symmetry maps to itself.

    Slopes of the probability of a wrong sign are at most about the density of the output at zero: where labels of both
    signs are as likely at every kappa, nothing is left of them there.
    """
    kappa = system.points().reshape(len(system.table), -1)
    beyond = kappa @ np.linspace(1.0, 0.6, kappa.shape[1]) > 0.0
    least = np.zeros(len(kappa))
    if system.loss.FORM == "margin":
        variance = system.view("Delta") + (np.array(system.slopes) ** 2).sum(axis=0)
        variance = np.maximum(variance, 1e-300)
        least = np.exp(-0.5 * system.view("mean") ** 2 / variance) / (system.parameters[0] * np.sqrt(variance))
    return {name: np.maximum(np.abs(push), least * (name != "d_avg_h")) * beyond for name, push in pushes.items()}


def _rounding(force: Array, one_side: Array, terms: Array) -> float:
    """That of a force, relative to it, from what one half of kappa adds to it; terms: sizes of those of the equations.

    The test error of an odd output and an even label is 1/2 in every draw: both halves cancel, and what rounding leaves
    would never settle.
    """
    left, size = (float(np.max(np.abs(each) / np.maximum(terms, 1e-300))) for each in (force, one_side))
    return 0.0 if size == 0.0 else _ROUNDING * size / max(left, 1e-300)


def _gathered(system: CoupledSystem, residuals: Mapping[str, Array]) -> Array:
    """Residuals by name in the order of the unknowns."""
    room = State(system.kernel, system.blocks, 0)
    for name, values in residuals.items():
        room[name][...] = values
    return system.gathered(room.work)
