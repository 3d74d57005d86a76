"""Newton's method with a symbolic Jacobian, kept inside the feasible set, and continuation for hard starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from generated.runtime.steps import solve_step

Array = np.ndarray
_MOST = 60
SHORTEST, SHORT = 1e-6, 1e-2  # a step this short makes no progress; none worth its cost on a path
_SETTLED = 1e-7  # relative step at which the unknowns have converged: the next one is about its square
_SOLVED = 1e-6  # of the residual, what a step may leave of the linear equations
_NOISE = 1e-12  # a residual this small, relative to its unknown, may be rounding
_ROUNDING = 1e-8  # relative step from which on rounding may hold the residual up
_HELD, _PATIENCE = 1e-4, 3  # relative step below which steps that do not shrink that often are rounding
_LESS, _LESS_LEFT = 1e-4, 0.25  # by what a step reduces the residual, or what is left to go, at least


class Equations(Protocol):
    """What Newton's method needs of a system at its present parameters."""

    def residual(self, x: Array) -> Array:
        """Residuals at x, nan where x is not feasible."""

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x."""

    def scale(self, x: Array) -> Array:
        """Size of each unknown, that steps are relative to."""


@dataclass(frozen=True)
class Outcome:
    """The last x, the number of evaluations, and whether it solves the equations."""

    x: Array
    evaluations: int
    converged: bool


def newton(
    system: Equations,
    x: Array,
    *,
    most: int = _MOST,
    settled: float = _SETTLED,
    blind: bool = False,
    shortest: float = SHORTEST,
) -> Outcome:
    """Solve ``residual = 0`` from x: full steps, shortened to stay feasible and to reduce the residual or the distance.

    The distance is the step that the same Jacobian asks for afterwards: it knows no scale of the equations, one of
    which may be much stiffer than the others. Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, 3.3.
    ``blind``: a step shorter than ``settled`` is the last, and the residual is not evaluated after it.
    """
    residual = system.residual(x)
    evaluations = 1
    if not _norm(residual) < math.inf:
        return Outcome(x, evaluations, False)
    last = least = math.inf
    idle = 0  # steps since the least one
    for _ in range(most):
        size = system.scale(x)
        linear = _Linear(system.jacobian(), size)
        found = linear.step(residual)
        if found is None:
            return Outcome(x, evaluations, False)
        step, relative, solves = found
        length = 1.0
        if blind and solves and relative < settled:
            return Outcome(x - step, evaluations, True)
        while True:
            candidate = system.residual(x - length * step)
            evaluations += 1
            if _norm(candidate) < math.inf and (
                _norm(candidate) < (1.0 - _LESS * length) * _norm(residual)
                or solves
                and (
                    length * relative < _ROUNDING
                    or linear.distance(candidate) < (1.0 - _LESS_LEFT * length) * _norm(step / size)
                )
            ):
                break
            length *= 0.5
            if length < shortest:  # no better, or as good as rounding allows: a direction may have next to no equation
                return Outcome(x, evaluations, linear.are_solved(residual))
        x, residual = x - length * step, candidate
        if solves and length == 1.0 and (relative < settled or relative < _ROUNDING and relative > 0.5 * last):
            return Outcome(x, evaluations, True)
        idle = 0 if relative < least else idle + 1
        least = min(least, relative)
        if solves and least < _HELD and idle >= _PATIENCE:  # the unknowns are known to no more digits
            return Outcome(x, evaluations, True)
        last = relative if length == 1.0 else math.inf
    return Outcome(x, evaluations, _Linear(system.jacobian(), system.scale(x)).are_solved(residual))


def distance(system: Equations, x: Array) -> float:
    """How far the solution is from x by a Newton step, relative to the size of each unknown; infinite where a direction
    has no equation.
    """
    residual = system.residual(x)
    if not _norm(residual) < math.inf:
        return math.inf
    size = system.scale(x)
    left, change = _Linear(system.jacobian(), size).only(residual)[1:]
    return change if left < _SOLVED else math.inf


def _norm(x: Array) -> float:
    return math.sqrt(x @ x)


class _Linear:
    """The linear equations of a step."""

    def __init__(self, jacobian: Array, size: Array) -> None:
        self.jacobian, self.size = np.ascontiguousarray(jacobian, dtype=float), size
        self.room = np.empty((2 * len(size) + 4, len(size)))

    def step(self, residual: Array) -> tuple[Array, float, bool] | None:
        """Newton's step; of least length where a direction has no equation, as m has none when all mu0 vanish.

        With its largest change of an unknown, relative to its size, and whether it solves the linear equations: a short
        step that does not says nothing about the root. None where the Jacobian is not finite.
        """
        step, left, change = self.only(residual)
        if left < _SOLVED:
            return step, change, True
        return None if math.isnan(left) else self._least(residual)

    def only(self, residual: Array) -> tuple[Array, float, float]:
        """The step where there is one only, what it leaves of the equations, and its largest relative change."""
        step = np.empty(len(residual))
        left, change = solve_step(self.jacobian, residual, self.size, self.room, step)
        return step, left, change

    def _least(self, residual: Array) -> tuple[Array, float, bool]:
        """Of all steps the least, rows and columns divided by the largest of each row, then of each column."""
        rows = _or_one(np.max(np.abs(self.jacobian), axis=1))
        scaled = self.jacobian / rows[:, None]
        columns = _or_one(np.max(np.abs(scaled), axis=0))
        scaled, right = scaled / columns, residual / rows
        step = np.linalg.lstsq(scaled, right, rcond=1e-13)[0]
        left = np.abs(scaled @ step - right) > _SOLVED * np.max(np.abs(right), initial=1e-300)
        missed = left & self._is_felt(residual)
        step = np.asarray(step / columns)
        return step, float(np.max(np.abs(step) / self.size)), not missed.any()

    def are_solved(self, residual: Array) -> bool:
        """Whether residuals may be rounding."""
        return not np.any(self._is_felt(residual))

    def _is_felt(self, residual: Array) -> NDArray[np.bool_]:
        """Which residuals are no rounding of the unknowns that they go with.

        An equation that no unknown moves holds or does not, however large its own has grown.
        """
        size = np.where(np.any(self.jacobian, axis=1), self.size, np.minimum(self.size, 1.0))
        return np.asarray(np.abs(residual) > _NOISE * size)

    def distance(self, residual: Array) -> float:
        """Length, relative to the sizes, of the step that a residual asks for; infinite where there is none."""
        step, left, _ = self.only(residual)
        return _norm(step / self.size) if left < math.inf else math.inf


def _or_one(sizes: Array) -> Array:
    return np.where(sizes == 0.0, 1.0, sizes)


def continued(
    at: Callable[[float], Equations],
    start: Array,
    first: float,
    last: float,
    *,
    most: int = 2000,
    settled: float = 1e-7,
) -> Outcome:
    """Follow the solution from parameter ``first`` (solved from start) to ``last``, both positive, in steps of the log.

    Steps extrapolate the logarithm of the unknowns: what diverges or vanishes as a power of the parameter is followed.
    """
    outcome = newton(at(first), start, settled=settled)
    total = outcome.evaluations
    if not outcome.converged:
        return Outcome(start, total, False)
    here, x = math.log(first), outcome.x
    before: tuple[float, Array] | None = None
    step = math.copysign(min(1.5, abs(math.log(last) - here)), math.log(last) - here)
    while here != math.log(last) and total < most:
        if abs(math.log(last) - here) < abs(step) * 1.0001:
            step = math.log(last) - here
        goal = here + step
        guess = x if before is None else extrapolated(x, before[1], step / (here - before[0]))
        outcome = newton(at(math.exp(goal)), guess, most=12, settled=settled, shortest=SHORT)
        total += outcome.evaluations
        if outcome.converged:
            before, here, x = (here, x), goal, outcome.x
            step *= 1.6 if outcome.evaluations < 7 else 1.0
        else:
            step *= 0.4
            if abs(step) < 1e-3:
                return Outcome(x, total, False)
    return Outcome(x, total, here == math.log(last))


def extrapolated(x: Array, before: Array, factor: float) -> Array:
    """The unknowns a step further, as powers of the parameter; factor: the step over that from ``before`` to x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((x != 0.0) & (before != 0.0) & (x * before > 0.0), x / before, 1.0)
    return np.asarray(x * np.clip(ratio, 1e-6, 1e6) ** factor)
