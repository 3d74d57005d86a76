"""Newton's method as a machine that asks for what it needs: every decision is taken here, whoever evaluates.

``room`` [3n + 11, n] holds the unknowns and what belongs to them, row by row: ``X`` as far as it is known, where it is
to be evaluated next, the residuals there, the step and the size of each unknown; from ``JACOBIAN`` on a matrix, behind
it what its solution needs; or of a matrix that is known along directions only, so many of them, what
``conjugate_residuals`` holds. ``numbers`` are the options and what is remembered between two calls.

Written by hand, in codegen/runtime/newton.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry, inner
from generated.runtime.conjugate_residuals import solve_along
from generated.runtime.steps import solve_step

X, CANDIDATE, RESIDUAL, TRIAL, STEP, SIZE, OTHER, JACOBIAN = range(8)
(MOST, SETTLED, BLIND, SHORTEST, AGAIN, KNOWN) = range(6)  # options
#: AGAIN where what the matrix leaves out goes in one direction only, so that it serves until all of it is solved for
IN_TURN = 1.0
DIRECTIONS = 6  # that the matrix is known along; 0: all of it is known
ENOUGH = 7  # where a shorter step is asked for, it is not made
(PHASE, EVALUATIONS, STEPS, NORM, RELATIVE, SOLVES, LENGTH, LAST, LEAST, IDLE, RATE, LEFT) = range(8, 20)
NUMBERS = 20

#: What is asked for: residuals at the candidate; size and matrix at x; the least of all steps, with its relative length
#: and whether it solves the linear equations; nothing any more.
EVALUATE, DIFFERENTIATE, SHORTEN, CONVERGED, FAILED = range(5)
_FIRST, _AT_X, _STEPPED, _TRIED = range(4)  # phases: what has just been found

SOLVED = 1e-6  # of the residual, what a step may leave of the linear equations
_NOISE = 1e-12  # a residual this small, relative to its unknown, may be rounding
_ROUNDING = 1e-8  # relative step from which on rounding may hold the residual up
_HELD, _PATIENCE = 1e-4, 3  # relative step below which steps that do not shrink that often are rounding
_LESS, _LESS_LEFT = 1e-4, 0.25  # by what a step reduces the residual, or what is left to go, at least


@entry
def advance(room, numbers):
    """Take in what was asked for; returns what is needed next.

    Full steps, shortened to stay feasible and to reduce the residual or the distance: the step that the same matrix
    asks for afterwards, which knows no scale of the equations, one of which may be much stiffer than the others.
    Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, 3.3.
    """
    phase = numbers[PHASE]
    if phase == _FIRST:
        if not _begin(room, numbers):
            return FAILED
        phase = numbers[PHASE] = _AT_X
        if numbers[KNOWN] == 0.0:
            return DIFFERENTIATE
    if phase == _AT_X:
        if numbers[STEPS] >= numbers[MOST]:
            return CONVERGED if _are_solved(room, numbers) else FAILED
        left, change = _solve(room, numbers, RESIDUAL, STEP)
        if math.isnan(left):
            return FAILED
        numbers[RELATIVE], numbers[SOLVES], numbers[PHASE] = change, 1.0, _STEPPED
        numbers[RATE] = 1.0 if numbers[KNOWN] > 0.0 else change
        numbers[KNOWN] = 0.0
        if not left < SOLVED:
            return SHORTEN
        if numbers[STEPS] == 0.0 and change < numbers[ENOUGH]:  # the start is a solution
            numbers[LEFT] = change
            return CONVERGED
        phase = _STEPPED
    if phase == _STEPPED:
        if numbers[BLIND] > 0.0 and numbers[SOLVES] > 0.0 and _settles(numbers):
            _go(room, 1.0)
            _take(room)
            return CONVERGED
        numbers[LENGTH], numbers[PHASE] = 1.0, _TRIED
        _go(room, 1.0)
        return EVALUATE
    return _judge(room, numbers)


@inner
def _begin(room, numbers):
    """From the residuals at the start; whether they are numbers."""
    numbers[EVALUATIONS], numbers[STEPS], numbers[IDLE] = 1.0, 0.0, 0.0
    numbers[LAST] = numbers[LEAST] = math.inf
    _take(room)
    numbers[NORM] = _norm(room, TRIAL)
    return numbers[NORM] < math.inf


@inner
def _settles(numbers):
    """Whether the step leaves no more than one of Newton's method as short as asked for."""
    return numbers[RELATIVE] * numbers[RATE] < numbers[SETTLED] * numbers[SETTLED]


@inner
def _judge(room, numbers):
    """Whether the candidate is taken, and whether it is the last."""
    numbers[EVALUATIONS] += 1.0
    solves, relative, length = numbers[SOLVES] > 0.0, numbers[RELATIVE], numbers[LENGTH]
    norm = _norm(room, TRIAL)
    taken = norm < math.inf and (
        norm < (1.0 - _LESS * length) * numbers[NORM]
        or solves
        and (
            length * relative < _ROUNDING
            or _distance(room, numbers) < (1.0 - _LESS_LEFT * length) * _relative(room, STEP)
        )
    )
    if not taken:
        numbers[LENGTH] = length = 0.5 * length
        if length < numbers[SHORTEST]:  # no better, or as good as rounding allows: a direction may have no equation
            return CONVERGED if _are_solved(room, numbers) else FAILED
        _go(room, length)
        return EVALUATE
    _take(room)
    numbers[NORM] = norm
    numbers[STEPS] += 1.0
    settled = _settles(numbers) or (relative < _ROUNDING and relative > 0.5 * numbers[LAST])
    if solves and length == 1.0 and settled:
        return CONVERGED
    numbers[IDLE] = 0.0 if relative < numbers[LEAST] else numbers[IDLE] + 1.0
    numbers[LEAST] = min(numbers[LEAST], relative)
    if solves and numbers[LEAST] < _HELD and numbers[IDLE] >= _PATIENCE:  # the unknowns are known to no more digits
        return CONVERGED
    numbers[LAST] = relative if length == 1.0 else math.inf
    numbers[PHASE] = _AT_X
    return _once_more(room, numbers) if numbers[AGAIN] > 0.0 and solves and length == 1.0 else DIFFERENTIATE


@inner
def _once_more(room, numbers):
    """A further step by the same matrix, where the last one left little to go; first it learns what that one left."""
    _learn(room, numbers)
    left, change = _solve(room, numbers, RESIDUAL, STEP)
    rate = change / numbers[RELATIVE] if numbers[RELATIVE] > 0.0 else 0.0
    if not (left < SOLVED and rate < numbers[AGAIN] and numbers[STEPS] < numbers[MOST]):
        return DIFFERENTIATE
    if change < numbers[ENOUGH]:
        numbers[LEFT] = change
        return CONVERGED
    numbers[RELATIVE], numbers[RATE], numbers[LENGTH], numbers[PHASE] = change, rate, 1.0, _TRIED
    _go(room, 1.0)
    if numbers[BLIND] > 0.0 and _settles(numbers):
        _take(room)
        return CONVERGED
    return EVALUATE


@inner
def _learn(room, numbers):
    """The least change of the matrix, in units of the unknowns, by which the last step would have left what it did.

    Source: Broyden (1965).
    """
    if numbers[DIRECTIONS] > 0.0 or numbers[AGAIN] == IN_TURN:
        return
    square = _relative(room, STEP) ** 2
    if not square > 0.0:
        return
    for j in range(room.shape[1]):
        share = room[STEP, j] / (room[SIZE, j] * room[SIZE, j] * square)
        for i in range(room.shape[1]):
            room[JACOBIAN + i, j] -= room[RESIDUAL, i] * share


@inner
def _solve(room, numbers, given, step):
    """The step that the residuals in a row ask for: what it leaves of them, and its largest relative change."""
    n, count = room.shape[1], int(numbers[DIRECTIONS])
    if count > 0:
        return solve_along(room[JACOBIAN:], count, room[given], room[step])
    return solve_step(room[JACOBIAN : JACOBIAN + n], room[given], room[SIZE], room[JACOBIAN + n :], room[step])


@inner
def _take(room):
    """The candidate is the last x."""
    for i in range(room.shape[1]):
        room[X, i] = room[CANDIDATE, i]
        room[RESIDUAL, i] = room[TRIAL, i]


@inner
def _go(room, length):
    """The candidate: a part of the step away from x."""
    for i in range(room.shape[1]):
        room[CANDIDATE, i] = room[X, i] - length * room[STEP, i]


@inner
def _norm(room, row):
    total = 0.0
    for i in range(room.shape[1]):
        total += room[row, i] * room[row, i]
    return math.sqrt(total)


@inner
def _relative(room, row):
    """Length of a step relative to the sizes of the unknowns."""
    total = 0.0
    for i in range(room.shape[1]):
        part = room[row, i] / room[SIZE, i]
        total += part * part
    return math.sqrt(total)


@inner
def _distance(room, numbers):
    """Length of the step that the residuals at the candidate ask for; infinite where there is none."""
    left, _ = _solve(room, numbers, TRIAL, OTHER)
    return _relative(room, OTHER) if left < math.inf else math.inf


@inner
def _are_solved(room, numbers):
    """Whether all residuals may be rounding."""
    solved = True
    for i in range(room.shape[1]):
        solved = solved and not is_felt(room, numbers, i)
    return solved


@entry
def is_felt(room, numbers, i):
    """Whether residual i is no rounding of the unknown that it goes with.

    An equation that no unknown moves holds or does not, however large its own has grown.
    """
    moved = numbers[DIRECTIONS] > 0.0
    for j in range(room.shape[1]):
        moved = moved or room[JACOBIAN + i, j] != 0.0
    size = room[SIZE, i] if moved else min(room[SIZE, i], 1.0)
    return abs(room[RESIDUAL, i]) > _NOISE * size


@entry
def sizes(x, work, diagonal, size):
    """Sizes of unknowns: of an overlap that may vanish, the root of the norm of its block, at ``diagonal`` in work."""
    for i in range(x.shape[0]):
        root = math.sqrt(abs(work[diagonal[i]]))
        size[i] = max(abs(x[i]), 1e-3 * (root if root > 0.0 else 1e-300))

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
