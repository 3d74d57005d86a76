"""Newton's method with a symbolic Jacobian, kept inside the feasible set, and continuation for hard starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Array = np.ndarray
_MOST = 60
_SHORTEST = 1e-6  # a step this short makes no progress
_SETTLED = 1e-7  # relative step at which the unknowns have converged: the next one is about its square
_SOLVED = 1e-6  # of the residual, what a step may leave of the linear equations
_NOISE = 1e-12  # a residual this small, relative to its unknown, may be rounding
_ROUNDING = 1e-8  # relative step from which on rounding may hold the residual up


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
    system: Equations, x: Array, *, most: int = _MOST, settled: float = _SETTLED, blind: bool = False
) -> Outcome:
    """Solve ``residual = 0`` from x: full steps, shortened to stay feasible and to reduce the residual.

    ``blind``: a step shorter than ``settled`` is the last, and the residual is not evaluated after it.
    """
    residual = system.residual(x)
    evaluations = 1
    if not np.all(np.isfinite(residual)):
        return Outcome(x, evaluations, False)
    last = math.inf
    for _ in range(most):
        size = system.scale(x)
        step, solves = _step(system.jacobian(), residual, size)
        if step is None:
            return Outcome(x, evaluations, False)
        length, now = 1.0, math.sqrt(residual @ residual)
        relative = float(np.max(np.abs(step) / size))
        if blind and solves and relative < settled:
            return Outcome(x - step, evaluations, True)
        while True:
            candidate = system.residual(x - length * step)
            evaluations += 1
            if np.all(np.isfinite(candidate)) and (
                math.sqrt(candidate @ candidate) < (1.0 - 1e-4 * length) * now
                or solves
                and length * relative < _ROUNDING
            ):
                break
            length *= 0.5
            if length < _SHORTEST:  # no better, or as good as rounding allows: a direction may have next to no equation
                return Outcome(x, evaluations, _of_rounding(residual, size))
        x, residual = x - length * step, candidate
        if solves and length == 1.0 and (relative < settled or relative < _ROUNDING and relative > 0.5 * last):
            return Outcome(x, evaluations, True)
        last = relative if length == 1.0 else math.inf
    return Outcome(x, evaluations, _of_rounding(residual, system.scale(x)))


def _of_rounding(residual: Array, size: Array) -> bool:
    return bool(np.all(np.abs(residual) <= _NOISE * size))


def _step(jacobian: Array, residual: Array, size: Array) -> tuple[Array | None, bool]:
    """Newton's step; of least length where a direction has no equation, as m has none when all mu0 vanish.

    Also whether it solves the linear equations: a short step that does not says nothing about the root.
    """
    if not np.all(np.isfinite(jacobian)):
        return None, False
    rows = np.max(np.abs(jacobian), axis=1)
    rows[rows == 0.0] = 1.0
    columns = np.max(np.abs(jacobian / rows[:, None]), axis=0)
    columns[columns == 0.0] = 1.0
    scaled, right = jacobian / rows[:, None] / columns, residual / rows
    allowed = _SOLVED * np.max(np.abs(right), initial=1e-300)
    try:
        step = np.linalg.solve(scaled, right)
        if np.all(np.isfinite(step)) and np.max(np.abs(scaled @ step - right)) < allowed:
            return np.asarray(step / columns), True
    except np.linalg.LinAlgError:
        pass
    step = np.linalg.lstsq(scaled, right, rcond=1e-13)[0]
    missed = (np.abs(scaled @ step - right) > allowed) & (np.abs(residual) > _NOISE * size)
    return np.asarray(step / columns), not missed.any()


def continued(
    at: Callable[[float], Equations],
    start: Array,
    first: float,
    last: float,
    *,
    most: int = 600,
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
        outcome = newton(at(math.exp(goal)), guess, most=12, settled=settled)
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
