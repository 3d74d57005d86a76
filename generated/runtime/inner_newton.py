"""An equation within equations, X by Newton's method, and its adjoint, which is linear in itself.

Every decision is taken here, whoever evaluates: ``follow`` does where all contractions are small. X, its residual and
what else is read lie among the numbers of equations, ``value``, from the places that ``Followed`` tells.

Written by hand, in codegen/runtime/inner_newton.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import entry, inner, kept, making_entry, making_inner
from generated.runtime.contractions import ALONG
from generated.runtime.evaluation import run
from generated.runtime.inverses import invert_large
from generated.runtime.products import LARGE_MATRIX

(PHASE, BEFORE, KNOWN, FRESH, COUNT, FAR) = range(6)
STATE = 6  # numbers that are remembered: KNOWN says whether an inverse is, FRESH whether it is that at this X
#: What is asked for: the residual of X; its slope, and the inverse of that; nothing any more, X is found or is not.
#: In the end the same inverse at X itself, where the adjoint cannot do without.
RESOLVE, DIFFERENTIATE, FOUND, LOST, INVERT = range(5)
BEGUN, _NEAR, _INVERTED, _LAST, _SWEPT = range(5)  # phases: what has just been found

_STEPS, _SWEEPS = 20, 200  # of Newton's method; of the iteration that is sure to go to the solution, from afar
_CLOSE, _ROUNDING = 0.1, 1e-11  # relative changes of X
_SETTLED = 1e-16  # the next one
_SLOW = 0.1  # what a step by the slope of another X may leave of what is left to go, before that is evaluated anew
_DAMPED = 0.5


class Followed(NamedTuple):
    """Rows of stages, and where among all numbers are: X, its residual, its adjoint, the residual of that, [n] each.

    own [S, m, m]: of the slope of what X equals, a part that each of S steps has for itself, in a resolvent; within
    [S, m, n]: of that of the resolvent in X.
    """

    resolvent: Any
    slope: Any
    to_adjoint: Any
    from_adjoint: Any
    x: Any
    left: Any
    adjoint: Any
    adjoint_left: Any
    own: Any
    within: Any


@inner
def _are_numbers(value, places):
    found = True
    for place in places:
        found = found and abs(value[place]) < np.inf
    return found


@kept(**ALONG)
def _multiply(matrix, vector, result):
    """A matrix [1, n, n] times a vector."""
    for i in range(vector.shape[0]):
        total = 0.0 * vector[0]
        for j in range(vector.shape[0]):
            total += matrix[0, i, j] * vector[j]
        result[i] = total


@inner
def _step_by(inverse, value, of, room):
    """The step that residuals ask for by an inverse [1, n, n]: its largest entry over that of X; -1 where they are no
    numbers. room [3, n]: the step comes first.
    """
    largest, size = 0.0, 0.0
    if not _are_numbers(value, of.left):
        return -1.0
    for i in range(room.shape[1]):
        room[1, i] = value[of.left[i]]
    _multiply(inverse, room[1], room[0])
    for i in range(room.shape[1]):
        if not abs(room[0, i]) <= largest:
            largest = abs(room[0, i])
        size = max(size, abs(value[of.x[i]]))
    return largest / size if largest != 0.0 else 0.0


@inner
def _go(value, places, step):
    for i in range(step.shape[0]):
        value[places[i]] -= step[i]


@inner
def _is_zero(value, places):
    found = True
    for place in places:
        found = found and value[place] == 0.0
    return found


@inner
def _begin(of, value, state):
    """From afar: no samples."""
    for place in of.x:
        value[place] = 0.0
    state[KNOWN] = state[FRESH] = state[COUNT] = 0.0
    state[FAR], state[PHASE] = 1.0, _SWEPT


@inner
def _lost(of, value, state):
    """Newton's method does not go on from here: it begins from afar, once; without success X stays there."""
    far = state[FAR] > 0.0
    _begin(of, value, state)
    return LOST if far else RESOLVE


@inner
def _sweep(of, value, state):
    """A step of the damped iteration."""
    largest, size = 0.0, 0.0
    if not _are_numbers(value, of.left):
        return _lost(of, value, state)
    for i in range(of.x.shape[0]):
        value[of.x[i]] -= _DAMPED * value[of.left[i]]
        largest, size = max(largest, abs(value[of.left[i]])), max(size, abs(value[of.x[i]]))
    state[COUNT] += 1.0
    if largest <= _SLOW * _CLOSE * size:
        state[BEFORE], state[COUNT], state[PHASE] = np.inf, 0.0, _NEAR
    elif state[COUNT] >= _SWEEPS:
        return _lost(of, value, state)
    return RESOLVE


@inner
def _advance(of, value, state, inverse, room):
    """Take in what was asked for; what is needed next.

    Newton's method from where X is, by one slope as long as that serves; or else from afar, by damped iteration first.
    """
    phase = state[PHASE]
    if phase == _LAST:
        return FOUND
    if phase == _SWEPT:
        return _sweep(of, value, state)
    if phase == BEGUN:
        state[BEFORE], state[FRESH], state[COUNT], state[FAR], state[PHASE] = np.inf, 0.0, 0.0, 0.0, _NEAR
        if _is_zero(value, of.x):
            _begin(of, value, state)
        return RESOLVE
    size = np.inf
    if state[KNOWN] > 0.0:
        size = _step_by(inverse, value, of, room)
    elif not _are_numbers(value, of.left):
        size = -1.0
    if size < 0.0:
        return _lost(of, value, state)
    before, fresh = state[BEFORE], phase == _INVERTED
    if not fresh and not size <= min(_SLOW * before, _CLOSE):
        state[PHASE], state[KNOWN], state[FRESH] = _INVERTED, 1.0, 1.0
        return DIFFERENTIATE
    state[PHASE] = _NEAR
    if not size <= min(before, _CLOSE):
        return FOUND if before < _ROUNDING else _lost(of, value, state)
    _go(value, of.x, room[0])
    rate = size if fresh else min(1.0, size / before) if before < np.inf else 1.0
    state[FRESH], state[BEFORE] = 0.0, size
    state[COUNT] += 1.0
    if size * rate < _SETTLED:
        state[PHASE] = _LAST
    elif state[COUNT] >= _STEPS:
        return _lost(of, value, state)
    return RESOLVE


@making_inner
def _invert_slope(of, value, inverse):
    """The inverse [1, n, n] of the derivative of the residual of X in X."""
    n, (steps, rows, _) = inverse.shape[1], of.own.shape
    matrix, within = inverse[0], np.empty((rows, n), value.dtype)
    for s in range(steps):
        for k in range(rows):
            for j in range(n):
                within[k, j] = value[of.within[s, k, j]]
        for i in range(rows):
            row = matrix[s * rows + i]
            row[:] = 0.0
            row[s * rows + i] = 1.0
            for k in range(rows):
                slope = value[of.own[s, i, k]]
                for j in range(n):
                    row[j] -= slope * within[k, j]
    invert_large(matrix)


@inner
def _leave(of, value, room):
    """Subtract from the second row of the room what the adjoint is by the slope; the third is room."""
    steps, rows, _ = of.own.shape
    for s in range(steps):
        for k in range(rows):
            room[2, k] = 0.0
        for i in range(rows):
            adjoint = value[of.adjoint[s * rows + i]]
            for k in range(rows):
                room[2, k] += adjoint * value[of.own[s, i, k]]
        for k in range(rows):
            for j in range(room.shape[1]):
                room[1, j] -= room[2, k] * value[of.within[s, k, j]]


@inner
def _carry(of, value, state, inverse, room):
    """The adjoint by an inverse, refined where that is of another X; whether this goes to the solution.

    room [3, n]: the step, and what is left.
    """
    n, before = inverse.shape[1], np.inf
    for i in range(n):
        value[of.adjoint[i]], room[1, i] = 0.0, value[of.adjoint_left[i]]
    for _ in range(_STEPS):
        largest, size = 0.0, 0.0
        for i in range(n):
            room[0, i] = 0.0
        for j in range(n):
            for i in range(n):
                room[0, i] += inverse[0, j, i] * room[1, j]
        _go(value, of.adjoint, room[0])
        for i in range(n):
            if not abs(room[0, i]) <= largest:
                largest = abs(room[0, i])
            size = max(size, abs(value[of.adjoint[i]]))
            room[1, i] = value[of.adjoint_left[i]] + value[of.adjoint[i]]
        if state[FRESH] > 0.0 or largest == 0.0:
            return True
        change = largest / size
        if before < np.inf and not change < _SLOW * before:
            return False
        if before < np.inf and change * change / before < _SETTLED:
            return True
        before = change
        _leave(of, value, room)
    return False


@entry
def advance(of, value, state, inverse, room):
    """See ``_advance``."""
    return _advance(of, value, state, inverse, room)


@entry
def carry(of, value, state, inverse, room):
    """See ``_carry``."""
    return _carry(of, value, state, inverse, room)


@making_entry
def follow(of, value, state, inverse, room, whole):
    """X, from where it is or from afar; ``whole``: then its adjoint and all that follows. Whether there is X: or what
    is asked for in between, the inverse of a large derivative, DIFFERENTIATE before X is found and INVERT after that.
    """
    large = inverse.shape[1] >= LARGE_MATRIX
    wanted = _advance(of, value, state, inverse, room)
    while wanted < FOUND:
        if wanted == RESOLVE:
            run(of.resolvent, value)
        else:
            run(of.slope, value)
            if large:
                return wanted
            _invert_slope(of, value, inverse)
        wanted = _advance(of, value, state, inverse, room)
    if whole and wanted == FOUND:
        for place in of.adjoint:
            value[place] = 0.0
        run(of.to_adjoint, value)
        if not _carry(of, value, state, inverse, room):
            if large:
                return INVERT
            _invert_slope(of, value, inverse)
            state[FRESH] = 1.0
            _carry(of, value, state, inverse, room)
        run(of.from_adjoint, value)
    return wanted


@making_entry
def finish(of, value, state, inverse, room):
    """The adjoint by the inverse at X, and all that follows."""
    _carry(of, value, state, inverse, room)
    run(of.from_adjoint, value)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
