"""The recorded saddle-point equations against their functional: derivatives of Phi by differences, to 50 digits.

Phi is evaluated at a random point with two blocks. Each equation says that one derivative of Phi vanishes where one
family has a certain value: the family is given that value, and Phi is differentiated. A random loss stands for any
loss: squares whose weight and label are drawn at random, for which every average over the output is explicit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from derive.blocks import Definition
from derive.directions import directions_of
from derive.random_loss import random_loss
from derive.saddle import Equation, SaddleSystem, member, pairs
from derive.symbols import SYMMETRIC
from giantstep.verify.interpreter import Interpreter, Point

Array = np.ndarray
DIGITS = 50
_GUARD, _STEP = 60, 36  # central differences of step 1e-36: an error of 1e-72, and 1e-74 by rounding
_BLOCKS, _NODES, _SPECTRUM, _KINDS = 2, 3, 3, 3
_STENCIL = ((-1, -1), (1, 1))


@dataclass(frozen=True)
class EquationCheck:
    """label: of the recorded step; error: of the derivative, relative to the terms it is made of."""

    label: str
    error: float


def equation_checks(system: SaddleSystem, seed: int = 1) -> Iterator[EquationCheck]:
    """Every equation that stationarity of Phi gives."""
    with mpmath.workdps(DIGITS + _GUARD):
        point = _random_point(system, random.Random(seed))
        if not _spectrum_is_given(system):
            yield EquationCheck("dL/dT", _slope_of_potential(system, point))
        labels = {e.unknown: e for e in system.equations}
        for unknown, fixes in pairs(system.directions, system.spikes):
            carried = fixes == "Q2" and labels["adjoint"].kind == "explicit"  # Q2 by the unknown that carries it
            value = _with_symmetry(fixes, _members(point, labels["adjoint" if carried else fixes]))
            yield EquationCheck(f"d/d{unknown}", _slope(system, point, unknown, {fixes: value}))
        condition = labels["m"]
        found, wanted = _gradient(system, point, "m"), _members(point, condition)
        yield EquationCheck(condition.label, float(max(abs(a - b) for a, b in zip(found, wanted, strict=True))))


def _slope(system: SaddleSystem, point: Point, name: str, fixed: Mapping[str, Array]) -> float:
    """Derivative of Phi in a family where another one has the value of its equation, relative to what it was."""
    before = _gradient(system, point, name)
    after = _gradient(system, point.moved(**fixed), name)
    return float(max(abs(x) for x in after.ravel()) / max(abs(x) for x in before.ravel()))


def _gradient(system: SaddleSystem, point: Point, name: str) -> Array:
    """dPhi by central differences, member by member, T at its own equation."""
    values, found, here = point.families[name], [], Interpreter(point)
    here.value(system.free_energy)
    step = mpmath.mpf(10) ** -_STEP
    for place in np.ndindex(values.shape):
        total = mpmath.mpf(0)
        for k, weight in _STENCIL:
            moved = values.copy()
            for p in {place, place[::-1]} if name in SYMMETRIC else {place}:
                moved[p] = moved[p] + k * step
            there = _at_own_spectrum(system, here.moved(**{name: moved}), name)
            total += weight * there.value(system.free_energy)
        found.append(total / (2 * step))
    return np.array(found, dtype=object)


def _slope_of_potential(system: SaddleSystem, point: Point) -> float:
    """dL/dT of the recorded potential where T solves its equation, relative to the term -beta fraction log T."""
    potential, values = system.derivation.step("spectral potential").rhs, point.families["T"]
    size, step, worst = max(abs(x) for x in point.families["fraction"] / values), mpmath.mpf(10) ** -_STEP, 0.0
    for place in range(_BLOCKS):
        total = mpmath.mpf(0)
        for k, weight in _STENCIL:
            moved = values.copy()
            moved[place] = moved[place] + k * step
            total += weight * Interpreter(point.moved(T=moved)).value(potential)
        worst = max(worst, float(abs(total / (2 * step)) / (size * point.symbols["beta"])))
    return worst


def _at_own_spectrum(system: SaddleSystem, there: Interpreter, name: str) -> Interpreter:
    """T solved again where a conjugate that it depends on was moved: Newton's method from where it was."""
    if name not in ("V1_hat", "V2_hat") or "T" not in there.point.families:
        return there
    equation = next(e for e in system.equations if e.unknown == "T")
    slope = _own_slopes(equation, there.point)
    for _ in range(12):
        values = there.point.families["T"]
        off = values - _members(there.point, equation)
        change = mpmath.lu_solve(slope, mpmath.matrix(list(off)))
        there = there.moved(T=values - np.array(list(change), dtype=object))
        if max(abs(x) for x in change) < mpmath.mpf(10) ** -(DIGITS + _GUARD - 15):
            break
    return there


def _own_slopes(equation: Equation, point: Point) -> Any:
    """d(T - body)/dT by differences."""
    values, size = point.families["T"], len(point.families["T"])
    matrix, step = mpmath.eye(size), mpmath.mpf(10) ** -_STEP
    here = _members(point, equation)
    for j in range(size):
        moved = values.copy()
        moved[j] = moved[j] + step
        there = _members(point.moved(T=moved), equation)
        for i in range(size):
            matrix[i, j] -= (there[i] - here[i]) / step
    return matrix


def _members(point: Point, equation: Equation) -> Array:
    axes = tuple(str(i) for i in equation.indices)
    return np.array(Interpreter(point).value(equation.body, axes), dtype=object)


def _with_symmetry(name: str, values: Array) -> Array:
    return (values + values.T) / 2 if name in SYMMETRIC else values


# --- a random point -------------------------------------------------------------------------------------------------


def _random_point(system: SaddleSystem, source: random.Random) -> Point:
    """Families and columns at random; the shares of the blocks such that T solves its equation, the adjoint its own."""

    def draw(*shape: int) -> Array:
        flat = [mpmath.mpf(source.randint(200, 1500)) / 1000 for _ in range(int(np.prod(shape)))]
        found: Array = np.array(flat, dtype=object).reshape(shape)
        return found

    names = {e.unknown for e in system.equations} - {"M", "S", "P", "Mx", "Sx", "Px"}
    families = {}
    for name in sorted(names):
        values = draw(*(_BLOCKS,) * len(member(name).indices))
        families[name] = _with_symmetry(name, values)
    families["fraction"] = draw(_BLOCKS)
    spectral = [name for name in _spectral(system) if name not in families]
    families |= {name: draw(_BLOCKS, _SPECTRUM) if name == "Sigma" else draw(_SPECTRUM) for name in spectral}
    columns = {name: draw(_BLOCKS, _NODES) for name in ("mu0", "mu1", "mu2sq")}
    columns |= {name: draw(_NODES) for name in ("nu0", "nu2sq", *directions_of("kappa", system.spikes))}
    columns |= {name: draw(_NODES) for name in directions_of("nu1", system.directions)}
    loss = random_loss(system.directions)
    columns |= {name: draw(_NODES) for name in loss.names}
    explicit = {e.unknown: Definition(e.unknown, e.indices, e.body) for e in system.equations if e.kind == "explicit"}
    hidden = {name: d for name, d in explicit.items() if name in ("M", "S", "Mx", "Sx")}
    if _spectrum_is_given(system):
        del families["T"]
        hidden["T"] = explicit["T"]
    symbols = {name: draw(1)[0] for name in ("alpha", "beta", "ridge", "noise", "inverse_dimension")}
    point = Point(
        _BLOCKS,
        symbols,
        families,
        columns,
        draw(_NODES),
        {d.name: d for d in system.fields} | ({d.name: d for d in loss.averages} if system.partials else {}) | hidden,
        {system.inverse.name: system.inverse},
    )
    return _consistent(system, point)


def _spectrum_is_given(system: SaddleSystem) -> bool:
    """Whether T is a trace that the conjugates fix, and no unknown of its own."""
    return not any(e.unknown == "adjoint" and e.kind == "implicit" for e in system.equations)


def _spectral(system: SaddleSystem) -> tuple[str, ...]:
    """Families over the spectrum: what the equations are given beside everything else."""
    bases = {
        str(node.base.label)
        for e in system.equations
        for node in sp.preorder_traversal(e.body)
        if isinstance(node, sp.Indexed)
    }
    bases |= {str(n.base.label) for n in sp.preorder_traversal(system.inverse.entry) if isinstance(n, sp.Indexed)}
    return tuple(sorted(name for name in bases if name.startswith("law_") or name in ("Sigma", "spectrum")))


def _consistent(system: SaddleSystem, point: Point) -> Point:
    """The shares for which T as drawn is the solution, then the adjoint, which is linear in itself."""
    if _spectrum_is_given(system):
        return point
    equation = system.equation("T")
    wanted = point.families["T"] / _members(point, equation)
    point = point.moved(fraction=point.families["fraction"] * wanted)
    adjoint = system.equation("adjoint")
    zero = np.array([mpmath.mpf(0)] * _BLOCKS, dtype=object)
    origin, matrix = _members(point.moved(adjoint=zero), adjoint), mpmath.matrix(_BLOCKS, _BLOCKS)
    for j in range(_BLOCKS):
        unit = zero.copy()
        unit[j] = mpmath.mpf(1)
        column = _members(point.moved(adjoint=unit), adjoint) - origin
        for i in range(_BLOCKS):
            matrix[i, j] = column[i]
    found = mpmath.lu_solve(matrix, mpmath.matrix(list(-origin)))
    return replace(point, families={**point.families, "adjoint": np.array(list(found), dtype=object)})
