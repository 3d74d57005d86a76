"""Any convex loss: the free energy is stationary in every order parameter and every conjugate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

from codegen.plan import Block, nodes_of
from derive.blocks import KAPPA, block_field
from derive.directions import directions_of
from derive.evaluate import Evaluator, Place, State
from derive.saddle import pairs
from derive.symbols import SYMMETRIC
from giantstep.law.derivation import system_of
from giantstep.law.labels import Intervals
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem, floored
from giantstep.verify.check import Check
from giantstep.verify.coupled_system import Solved, families_of, state_of
from giantstep.verify.reference_system import solve_block

_DIGITS = 22
_STENCIL = ((-2, 1), (-1, -8), (1, 8), (2, -1))  # of a first derivative, over 12
_STEP = mpmath.mpf("1e-3")  # relative, of its differences: the fourth power is left


def gradient_checks(model: Model, solved: Solved) -> Iterator[Check]:
    """Derivatives of the free energy at the solution along a random direction, relative to its value."""
    system, kernel = system_of(model), solved.system
    paired = [name for name, _ in pairs(system.directions, system.spikes)]
    overlaps = ["m", *(name for name in paired if "hat" not in name)]
    conjugates = [name for name in paired if "hat" in name]
    nodes = nodes_of(system)
    spectral = Block("nonlinear", (nodes["T"],), (nodes["P"], nodes["S"], nodes["M"]), ())

    def in_overlaps(moved: State) -> Any:
        columns = {**moved.columns, ("avg_M", ()): _envelope(kernel, Evaluator(moved))}
        return Evaluator(replace(moved, columns=columns)).value(system.free_energy)

    def in_conjugates(moved: State) -> Any:
        there = solve_block(moved, spectral, {"T": moved.families["T"]}, _DIGITS)
        return Evaluator(there).value(system.free_energy)

    with mpmath.workdps(_DIGITS):
        state = state_of(system, kernel, families_of(system, kernel))
        for names, energy, words in (
            (overlaps, in_overlaps, "order parameters"),
            (conjugates, in_conjugates, "conjugates"),
        ):
            yield Check(f"gradient of the free energy in the {words}", _along_random(state, names, energy), 1e-9)


def _envelope(kernel: CoupledSystem, evaluator: Evaluator) -> list[Any]:
    """avg_M of the loss kernel for the fields of a state."""
    names = ("V", "mean", "Delta", *directions_of("slope", kernel.directions))
    columns = [np.array([float(x) for x in evaluator.nodes(block_field(name)(KAPPA))]) for name in names]
    v, mean, delta, slopes, out = *columns[:3], np.array(columns[3:]), np.empty_like(kernel.averages)
    for variance in (v, delta):
        floored(variance)  # as in the solver, where features do not vary
    law, rule, numbers = kernel.labels, (kernel.gauss, kernel.level.output), (kernel.noise, kernel.constants)
    fields = (v, mean, slopes, delta, kernel.scratch, out)
    if isinstance(law, Intervals):
        where = (kernel.kappa, law.low, law.high, law.weight, law.label, law.channel)
        kernel.loss.intervals(*rule, *where, *numbers, *fields)
    else:
        kernel.loss.points(*rule, law.weight, law.t, law.label, law.rest, *numbers, *fields)
    return [mpmath.mpf(x) for x in out[kernel.kernel.AVERAGES.index("avg_M")].tolist()]


def _along_random(state: State, names: list[str], energy: Callable[[State], Any]) -> float:
    source = random.Random(11)
    direction = {name: _direction(source, name, state.families[name]) for name in names}
    total = mpmath.mpf(0)
    for k, weight in _STENCIL:
        moved = {
            name: {place: x + k * _STEP * direction[name][place] for place, x in state.families[name].items()}
            for name in names
        }
        total += weight * energy(state.with_families(moved))
    return float(abs(total / (12 * _STEP)) / abs(energy(state)))


def _direction(source: random.Random, name: str, members: Mapping[Place, Any]) -> dict[Place, Any]:
    """Random, of the size of each member, symmetric where the family is."""
    size = max(abs(x) for x in members.values()) / 100
    found = {place: mpmath.mpf(source.randint(300, 1000)) / 1000 * (abs(x) + size) for place, x in members.items()}
    if name in SYMMETRIC:
        found = {place: found[min(place, place[::-1])] for place in found}
    return found
