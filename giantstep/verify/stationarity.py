"""The free energy at the reported solution is stationary in every order parameter and every conjugate.

Its derivative along a random direction is taken by differences, with averages over the output taken anew where order
parameters move, and T solved again where conjugates do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from derive.saddle import Equation, member, pairs
from derive.symbols import SYMMETRIC
from giantstep.verify.check import Check
from giantstep.verify.equations import long
from giantstep.verify.interpreter import Interpreter, Point
from giantstep.verify.reference import Reference

Array = np.ndarray
_STENCIL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # of a first derivative, over 12
_STEP = 1e-3  # relative, of its differences: the fourth power is left
_SETTLED = 1e-17  # of T


def gradient_checks(found: Reference) -> Iterator[Check]:
    """Derivatives of the free energy along random directions, relative to its value."""
    system = found.system
    paired = [name for name, _ in pairs(system.directions, system.spikes)]
    overlaps = ["m", *(name for name in paired if "hat" not in name)]
    conjugates = [name for name in paired if "hat" in name]
    yield Check("gradient of the free energy in the order parameters", _slope(found, overlaps, found.at_order), 1e-9)
    yield Check(
        "gradient of the free energy in the conjugates", _slope(found, conjugates, lambda p: _at_own_t(found, p)), 1e-9
    )


def _slope(found: Reference, names: list[str], settled: Callable[[Point], Point]) -> float:
    interpreter = Interpreter(found.point)
    known = {name: np.asarray(interpreter.value(*_member(found, name))) for name in names}
    every = {e.unknown: np.asarray(interpreter.value(*_member(found, e.unknown))) for e in _conjugates(found)}
    source = np.random.default_rng(11)
    direction = {name: _direction(source, name, values) for name, values in known.items()}
    fixed = found.point.moved(**every)  # conjugates do not follow what moves
    total = np.longdouble(0.0)
    for k, weight in _STENCIL.items():
        moved = {name: long(values + k * _STEP * direction[name]) for name, values in known.items()}
        there = settled(fixed.moved(**moved))
        total += weight * np.real(Interpreter(there).value(found.system.free_energy))
    size = abs(Interpreter(fixed).value(found.system.free_energy))
    return float(abs(total / (12.0 * _STEP)) / size)


def _conjugates(found: Reference) -> list[Equation]:
    return [e for e in found.system.equations if "hat" in e.unknown]


def _member(found: Reference, name: str) -> tuple[Any, tuple[str, ...]]:
    equation = found.system.equation(name)
    return member(name, equation.indices), tuple(str(i) for i in equation.indices)


def _direction(source: np.random.Generator, name: str, values: Array) -> Array:
    """Random, of the size of each member, symmetric where the family is."""
    size = np.max(np.abs(values)) / 100.0
    found: Array = source.uniform(0.3, 1.0, values.shape) * (np.abs(values) + size)
    return 0.5 * (found + found.T) if name in SYMMETRIC else found


def _at_own_t(found: Reference, point: Point) -> Point:
    """T as the conjugates have it: Newton's method by differences from where it was."""
    equation = found.system.equation("T")
    axes = tuple(str(i) for i in equation.indices)

    def body(values: Array) -> Array:
        return np.real(Interpreter(point.moved(T=values)).value(equation.body, axes))  # of a sum over conjugate points

    values = point.families["T"]
    for _ in range(40):
        here, step = _off(equation, values, body(values)), 1e-6 * np.abs(values)
        columns = []
        for j in range(len(values)):
            moved = values.copy()
            moved[j] += step[j]
            columns.append((_off(equation, moved, body(moved)) - here) / step[j])
        change = np.linalg.solve(np.array(np.stack(columns, axis=1), float), np.array(here, float))
        values = values - change
        if np.max(np.abs(change) / values) < _SETTLED:
            break
    return point.moved(T=long(values))


def _off(equation: Equation, values: Array, body: Array) -> Array:
    return values - body if equation.kind == "explicit" else body
