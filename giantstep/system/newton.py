"""Newton's method with a symbolic Jacobian, kept inside the feasible set, and continuation for hard starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from generated.runtime import newton as machine
from generated.runtime.steps import solve_step
from giantstep.system.directions import known_along
from giantstep.system.equations import Equations

Array = np.ndarray
_MOST = 60
SHORTEST, SHORT = 1e-6, 1e-2  # a step this short makes no progress; none worth its cost on a path
IN_TURN, _FOLLOWS = machine.IN_TURN, 3.0  # what a step of some moves by of what is left out, in its own length
_FELT = 1e-200  # a row or a column of a Jacobian below that counts as zero: quotients overflow
_SETTLED = 1e-7  # relative step at which the unknowns have converged: the next one is about its square


@dataclass(frozen=True)
class Outcome:
    """The last x, the number of evaluations, whether it solves the equations, and the last Jacobian [n, n], if any.

    left: relative length of the step that was not made, where x was close enough; moved: how far the solution is from
    the start at most, in units of the unknowns; felt: what the test error moves by from the start to the solution,
    relative, by each unknown for itself, where that is known; in_turn: see ``IN_TURN``, of the Jacobian.
    """

    x: Array
    evaluations: int
    converged: bool
    jacobian: Array | None = None
    left: float = 0.0
    moved: float = 0.0
    felt: float = math.inf
    in_turn: bool = False


def newton(
    system: Equations,
    x: Array,
    *,
    most: int = _MOST,
    settled: float = _SETTLED,
    blind: bool = False,
    shortest: float = SHORTEST,
    near: Outcome | None = None,
    enough: float = 0.0,
) -> Outcome:
    """Solve ``residual = 0`` from x: full steps, shortened to stay feasible and to reduce the residual or the distance.

    ``blind``: a step shorter than ``settled`` is the last, and the residual is not evaluated after it. ``near``: of a
    system next to this one, whose Jacobian serves for the first steps. ``enough``: a shorter step is not made, the
    first one or one by the same Jacobian. What is decided is in ``generated/runtime/newton.py``; the equations are
    evaluated here.
    """
    n = len(x)
    room, numbers = np.empty((3 * n + 11, n)), np.zeros(machine.NUMBERS)
    given = near.jacobian if near is not None and system.again > 0.0 and len(near.x) == n else None
    known = given is not None
    numbers[: machine.KNOWN + 1] = most, settled, blind, shortest, system.again, known
    in_turn = known and near is not None and near.in_turn
    numbers[machine.ENOUGH] = enough / _FOLLOWS if in_turn else enough
    matrix = room[machine.JACOBIAN : machine.JACOBIAN + n]
    room[machine.CANDIDATE] = x
    if given is not None:
        matrix[...] = given
    start, wanted = x, machine.EVALUATE
    while wanted < machine.CONVERGED:
        if wanted == machine.EVALUATE:
            x = room[machine.CANDIDATE].copy()
            room[machine.TRIAL] = system.residual(x)
            if known and numbers[machine.EVALUATIONS] == 0.0:
                room[machine.SIZE] = system.scale(x)
        elif wanted == machine.DIFFERENTIATE:
            room[machine.SIZE] = system.scale(x)
            numbers[machine.DIRECTIONS] = known_along(system, room)
            if numbers[machine.DIRECTIONS] == 0.0:
                matrix[...] = system.matrix_of_step()
                numbers[machine.AGAIN], in_turn = system.again, system.again == IN_TURN
                numbers[machine.ENOUGH] = enough / _FOLLOWS if in_turn else enough
        else:
            _shorten(room, numbers)
        wanted = machine.advance(room, numbers)
    found = room[machine.X].copy(), int(numbers[machine.EVALUATIONS]), wanted == machine.CONVERGED
    left = float(numbers[machine.LEFT]) * (_FOLLOWS if in_turn else 1.0)
    moved = float(np.max(np.abs(found[0] - start) / room[machine.SIZE])) + left if found[2] else math.inf
    return Outcome(*found, matrix.copy() if system.again > 0.0 else None, left, moved, in_turn=in_turn)


def _shorten(room: Array, numbers: Array) -> None:
    """Of all steps the least, where a direction has no equation, as m has none when all mu0 vanish.

    Rows and columns are divided by the largest of each row, then of each column. A short step that does not solve the
    linear equations says nothing about the root.
    """
    n, residual = room.shape[1], room[machine.RESIDUAL]
    jacobian = room[machine.JACOBIAN : machine.JACOBIAN + n]
    rows = _or_one(np.max(np.abs(jacobian), axis=1))
    scaled = jacobian / rows[:, None]
    columns = _or_one(np.max(np.abs(scaled), axis=0))
    scaled, right = scaled / columns, residual / rows
    step = np.linalg.lstsq(scaled, right, rcond=1e-13)[0]
    own = np.diag(scaled)
    alone = (own != 0.0) & (np.count_nonzero(scaled, axis=1) == 1)  # rounding of others would be all that these are
    step[alone] = right[alone] / own[alone]
    left = np.abs(scaled @ step - right) > machine.SOLVED * np.max(np.abs(right), initial=1e-300)
    room[machine.STEP] = step / columns
    relative = np.max(np.abs(room[machine.STEP]) / room[machine.SIZE])
    numbers[machine.RELATIVE] = numbers[machine.RATE] = relative
    numbers[machine.SOLVES] = not any(left[i] and machine.is_felt(room, numbers, i) for i in range(n))


def distance(system: Equations, x: Array) -> float:
    """How far the solution is from x by a Newton step, relative to the size of each unknown; infinite where a direction
    has no equation.
    """
    residual = system.residual(x)
    if not math.sqrt(residual @ residual) < math.inf:
        return math.inf
    n = len(x)
    room = np.empty((3 * n + 11, n))
    room[machine.RESIDUAL], room[machine.SIZE] = residual, system.scale(x)
    if known_along(system, room):
        return float(np.max(np.abs(room[machine.JACOBIAN + n + 2])))  # the solution in units of the sizes
    jacobian = np.ascontiguousarray(system.jacobian(), dtype=float)
    left, change = solve_step(jacobian, residual, room[machine.SIZE], room[machine.JACOBIAN :], np.empty(n))
    return float(change) if left < machine.SOLVED else math.inf


def _or_one(sizes: Array) -> Array:
    return np.where(sizes < _FELT, 1.0, sizes)


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
