"""The recorded saddle-point equations against their functional: derivatives of Phi by differences, to 50 digits.

Phi is evaluated at a random point with two blocks. Each equation says that one derivative of Phi vanishes where one
family has a certain value: the family is given that value, and Phi is differentiated. A random loss stands for any
loss: squares whose weight and label are drawn at random, for which every average over the output is explicit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from codegen.places import block_columns, scalar_columns
from derive.blocks import UNIT, Definition
from derive.random_loss import random_loss
from derive.saddle import Equation, SaddleSystem, pairs
from derive.spectrum import is_along_spectrum
from derive.symbols import SYMMETRIC
from giantstep.verify.interpreter import Interpreter, Point

Array = np.ndarray
DIGITS = 50
_GUARD, _STEP = 60, 36  # central differences of step 1e-36: an error of 1e-72, and 1e-74 by rounding
_BLOCKS, _NODES, _SPECTRUM, _KINDS = 2, 3, 3, 3
_STENCIL = ((-1, -1), (1, 1))
OWN = ("T", "X")  # unknowns of the spectral potential
_HIDDEN = {"M", "S", "P", "Mx", "Sx", "Px"}


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
    """T and X solved again where a conjugate that they depend on was moved: Newton's method from where they were."""
    if name not in ("V1_hat", "V2_hat") or "T" not in there.point.families:
        return there
    own = [system.equation(each) for each in OWN if each in there.point.families]
    slope = _slopes(own, there.point)
    for _ in range(12):
        change = mpmath.lu_solve(slope, mpmath.matrix(list(_off(own, there.point))))
        there = there.moved(**_shifted(own, there.point, [-x for x in change]))
        if max(abs(x) for x in change) < mpmath.mpf(10) ** -(DIGITS + _GUARD - 15):
            break
    return there


def _off(equations: Sequence[Equation], point: Point) -> Array:
    """What vanishes where families solve their equations."""
    missed = []
    for equation in equations:
        body = _members(point, equation)
        missed.append((body if equation.kind == "implicit" else point.families[equation.unknown] - body).ravel())
    return np.concatenate(missed)


def _shifted(equations: Sequence[Equation], point: Point, change: Sequence[Any]) -> dict[str, Array]:
    """The unknowns of equations with something added to them, member by member."""
    found, rest = {}, list(change)
    for equation in equations:
        values = point.families[equation.unknown]
        added, rest = np.array(rest[: values.size], dtype=object), rest[values.size :]
        found[equation.unknown] = values + added.reshape(values.shape)
    return found


def _slopes(equations: Sequence[Equation], point: Point, step: Any = None) -> Any:
    """Derivatives of what vanishes in the unknowns, by differences."""
    step = step or mpmath.mpf(10) ** -_STEP
    here = _off(equations, point)
    matrix = mpmath.matrix(len(here), len(here))
    for j in range(len(here)):
        change = [step if i == j else mpmath.mpf(0) for i in range(len(here))]
        there = _off(equations, point.moved(**_shifted(equations, point, change)))
        for i in range(len(here)):
            matrix[i, j] = (there[i] - here[i]) / step
    return matrix


def _members(point: Point, equation: Equation) -> Array:
    axes = tuple(str(i) for i in equation.indices)
    return np.array(Interpreter(point).value(equation.body, axes), dtype=object)


def _with_symmetry(name: str, values: Array) -> Array:
    return (values + np.swapaxes(values, 0, 1)) / 2 if name in SYMMETRIC else values


# --- a random point -------------------------------------------------------------------------------------------------


def _random_point(system: SaddleSystem, source: random.Random) -> Point:
    """Families and columns at random; the shares of the blocks such that T solves its equation, the adjoint its own."""

    def draw(*shape: int) -> Array:
        flat = [mpmath.mpf(source.randint(200, 1500)) / 1000 for _ in range(int(np.prod(shape)))]
        found: Array = np.array(flat, dtype=object).reshape(shape)
        return found

    hidden_names = _HIDDEN | _names_of_bulk(system)
    names = {e.unknown for e in system.equations} - hidden_names
    families = {}
    for name in sorted(names):
        values = draw(*(_BLOCKS,) * len(system.equation(name).indices))
        families[name] = _with_symmetry(name, values)
    families |= {name: _given_values(system, name, draw) for name in sorted(_given(system))}
    columns = {name: draw(_BLOCKS, _NODES) for name in block_columns(system.law.norms)}
    scalars = scalar_columns(system.directions, system.spikes, system.drawn)
    columns |= {name: draw(_NODES) for name in scalars if name != "weight"}
    loss = random_loss(system.directions)
    columns |= {name: draw(_NODES) for name in loss.names}
    explicit = {e.unknown: Definition(e.unknown, e.indices, e.body) for e in system.equations if e.kind == "explicit"}
    hidden = {name: d for name, d in explicit.items() if name in hidden_names}
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
        {inverse.name: inverse for inverse in system.inverses},
    )
    return _consistent(system, point)


def _names_of_bulk(system: SaddleSystem) -> set[str]:
    """What follows from T, X and the adjoint of X: all up to the equations of the readout."""
    names = [e.unknown for e in system.equations]
    return {*names[: names.index("V1_hat")]} - {"T", "X", "adjoint", "adjoint_X"}


def _spectrum_is_given(system: SaddleSystem) -> bool:
    """Whether T is a trace that the conjugates fix, and no unknown of its own."""
    return not any(e.unknown == "adjoint" and e.kind == "implicit" for e in system.equations)


def _given(system: SaddleSystem) -> dict[str, int]:
    """What the equations are given beside order parameters and conjugates: name -> number of indices."""
    bodies = [e.body for e in system.equations] + [inverse.entry for inverse in system.inverses]
    members = {node for body in bodies for node in sp.preorder_traversal(body) if isinstance(node, sp.Indexed)}
    known = {e.unknown for e in system.equations} | {inverse.name for inverse in system.inverses}
    return {str(node.base.label): len(node.indices) for node in members if str(node.base.label) not in known} | {
        inverse.identity: 2 for inverse in system.inverses if inverse.identity
    }


def _given_values(system: SaddleSystem, name: str, draw: Callable[..., Array]) -> Array:
    """Of a family that is given: the last index of some is one over the spectrum; identities are what they are."""
    if name.startswith(UNIT):
        return np.array(np.eye(_BLOCKS, dtype=int) * mpmath.mpf(1), dtype=object)
    rank = _given(system)[name]
    over = is_along_spectrum(name) and system.law.rows != "neurons"  # whose points are pairs of rows
    return _with_symmetry(name, draw(*(_BLOCKS,) * (rank - over), *(_SPECTRUM,) * over))


def _consistent(system: SaddleSystem, point: Point) -> Point:
    """The shares, or ridges, for which T as drawn is the solution, what is given for which X is; then the adjoints,
    which are linear in themselves.
    """
    if _spectrum_is_given(system):
        return point
    if system.law.stand_in:  # a ridge that is free
        point = point.moved(excess=point.families["excess"] - _members(point, system.equation("T")))
    else:
        wanted = point.families["T"] / _members(point, system.equation("T"))
        point = point.moved(fraction=point.families["fraction"] * wanted)
    if "X" in point.families:
        missed = point.families["X"] - _members(point, system.equation("X"))
        point = point.moved(base=point.families["base"] + missed)
    adjoints = [system.equation(name) for name in ("adjoint", "adjoint_X") if name in point.families]
    origin = point.moved(**{e.unknown: 0 * point.families[e.unknown] for e in adjoints})
    change = mpmath.lu_solve(_slopes(adjoints, origin, mpmath.mpf(1)), mpmath.matrix(list(-_off(adjoints, origin))))
    return replace(point, families={**point.families, **_shifted(adjoints, origin, list(change))})
