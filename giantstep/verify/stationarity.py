"""The free energy at the reported solution is stationary in every order parameter and every conjugate.

Its derivative along a random direction is taken by differences, with averages over the output taken anew where order
parameters move, and T and X solved again where conjugates do. Large m of features that are nearly the same cancel in
the output: a direction in which they do not is shortened until it moves the output by no more than its own size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from derive.saddle import Equation, member, pairs
from derive.symbols import SYMMETRIC
from giantstep.verify.check import Check
from giantstep.verify.equations import long
from giantstep.verify.interpreter import Interpreter, Point
from giantstep.verify.reference import Reference

Array = np.ndarray
_STENCIL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # of a first derivative, over 12
_STEP = 1e-3  # relative, of its differences: the fourth power is left
_EPS = 2.2e-16  # of features, which are doubles
_ALLOWED, _HIDDEN = 1e-9, 1e-6  # of the derivative; where rounding may make more the check cannot tell
_SETTLED = 1e-17  # of T
_MANY = 40_000  # nodes of kappa
OWN = ("T", "X")  # unknowns of the spectral potential


def gradient_checks(found: Reference) -> Iterator[Check]:
    """Derivatives of the free energy along random directions, relative to the sum of its terms' sizes.

    At the interpolation peak the terms cancel, and differences of each are as exact as its own size allows.
    """
    system = found.system
    if (count := len(found.nodes.weight)) > _MANY:
        said = f"differences of averages at {count} nodes of kappa would take minutes"
        yield Check("gradient of the free energy", math.nan, _ALLOWED, said)
        return
    paired = [name for name, _ in pairs(system.directions, system.spikes)]
    overlaps = ["m", *(name for name in paired if "hat" not in name)]
    conjugates = [name for name in paired if "hat" in name]
    name, rounding = "gradient of the free energy in the order parameters", _rounding(found)
    if rounding > _HIDDEN:
        yield Check(name, math.nan, _ALLOWED, f"m cancel in the output: rounding of it alone may make {rounding:.0e}")
    else:
        yield Check(name, _slope(found, overlaps, found.at_order), max(_ALLOWED, rounding))
    yield Check(
        "gradient of the free energy in the conjugates",
        _slope(found, conjugates, lambda p: _at_own_bulk(found, p)),
        _ALLOWED,
    )


def _rounding(found: Reference) -> float:
    """What the rounding of m mu0, terms of the mean output, makes of the derivative, relative to the free energy.

    It shifts the loss's slope g by the curvature h; a direction changes the output by its own size.
    """
    point = found.point
    m, mu0, curvature = (
        np.asarray(x, float) for x in (point.families["m"], point.columns["mu0"], point.columns["avg_h"])
    )
    features = np.array([np.asarray(point.columns[name], float) for name in ("mu0", "mu1", "mu2sq")])
    output, weight = found.output(found.nodes.kappa, features), found.nodes.weight
    shifted = curvature * _EPS * np.einsum("bn,b->n", np.abs(mu0), np.abs(m))
    size = output.mean**2 + output.variance + (output.slopes**2).sum(axis=0)
    energy = _size_of_terms(found, point)
    return float(point.symbols["alpha"] * np.sqrt((weight @ shifted**2) * (weight @ size))) / energy


def _size_of_terms(found: Reference, point: Point) -> float:
    """The sum of the absolute values of the terms of the free energy: loss, entropy, order 1/d."""
    interpreter = Interpreter(point)
    return float(sum(abs(np.real(interpreter.value(term))) for term in sp.Add.make_args(found.system.free_energy)))


def _slope(found: Reference, names: list[str], settled: Callable[[Point], Point]) -> float:
    interpreter = Interpreter(found.point)
    known = {name: np.asarray(interpreter.value(*_member(found, name))) for name in names}
    every = {e.unknown: np.asarray(interpreter.value(*_member(found, e.unknown))) for e in _conjugates(found)}
    source = np.random.default_rng(11)
    direction = {name: _direction(source, name, values) for name, values in known.items()}
    if "m" in names:
        direction["m"] = direction["m"] * found.share_of_output(direction["m"])
    fixed = found.point.moved(**every)  # conjugates do not follow what moves
    total = np.longdouble(0.0)
    for k, weight in _STENCIL.items():
        moved = {name: long(values + k * _STEP * direction[name]) for name, values in known.items()}
        there = settled(fixed.moved(**moved))
        total += weight * np.real(Interpreter(there).value(found.system.free_energy))
    return float(abs(total / (12.0 * _STEP)) / _size_of_terms(found, fixed))


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
    if found.system.law.rows in ("given", "neurons"):  # T is a trace that the conjugates fix
        return _with(point, names, point.families["T"].ravel() - _off(found, point, names))
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
