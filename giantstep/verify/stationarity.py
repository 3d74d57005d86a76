"""The free energy at the reported solution is stationary in every order parameter and every conjugate.

Its derivative along a random direction is taken by differences, with averages over the output taken anew where order
parameters move, and T and X solved again where conjugates do.
"""

from __future__ import annotations

import math
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
OWN = ("T", "X")  # unknowns of the spectral potential


def gradient_checks(found: Reference) -> Iterator[Check]:
    """Derivatives of the free energy along random directions, relative to its value."""
    system = found.system
    paired = [name for name, _ in pairs(system.directions, system.spikes)]
    overlaps = ["m", *(name for name in paired if "hat" not in name)]
    conjugates = [name for name in paired if "hat" in name]
    yield Check("gradient of the free energy in the order parameters", _slope(found, overlaps, found.at_order), 1e-9)
    yield Check(
        "gradient of the free energy in the conjugates",
        _slope(found, conjugates, lambda p: _at_own_bulk(found, p)),
        1e-9,
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


def _at_own_bulk(found: Reference, point: Point) -> Point:
    """T, and X where there is one, as the conjugates have them: Newton's method by differences from where they were."""
    names = [name for name in OWN if name in point.families]
    sizes = np.concatenate([np.full(point.families[n].size, np.abs(point.families[n]).max()) for n in names])
    values = np.concatenate([point.families[name].ravel() for name in names])
    for _ in range(40):
        here, columns = _off(found, _with(point, names, values), names), []
        for j, step in enumerate(1e-6 * sizes):
            moved = values.copy()
            moved[j] += step
            columns.append((_off(found, _with(point, names, moved), names) - here) / step)
        change = np.linalg.solve(np.array(np.stack(columns, axis=1), float), np.array(here, float))
        values = values - change
        if np.max(np.abs(change) / sizes) < _SETTLED:
            break
    return _with(point, names, long(values))


def _with(point: Point, names: list[str], values: Array) -> Point:
    """The point with families from one vector of numbers."""
    shapes = [point.families[name].shape for name in names]
    parts = np.split(values, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return point.moved(**{n: part.reshape(shape) for n, part, shape in zip(names, parts, shapes, strict=True)})


def _off(found: Reference, point: Point, names: list[str]) -> Array:
    """What vanishes where T and X solve their equations."""
    interpreter, missed = Interpreter(point), []
    for name in names:
        equation = found.system.equation(name)
        body = np.real(interpreter.value(equation.body, tuple(str(i) for i in equation.indices)))  # of conjugate points
        missed.append((point.families[name] - body if equation.kind == "explicit" else body).ravel())
    return np.concatenate(missed)
