"""X, what the samples of the step add to the rows that they stretch: by its equation, at real or complex arguments.

What follows from unknowns is evaluated in stages: X lies between them, and its adjoint, which is linear in itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Numbers, Stage

Array = np.ndarray
_STEPS, _SWEEPS = 12, 200  # of Newton's method; of the iteration that is sure to go to the solution, from afar
_CLOSE, _ROUNDING = 0.1, 1e-11  # relative changes of X
_SETTLED = 1e-8  # the next one is about its square
_DAMPED = 0.5
ADJOINT = "adjoint_X"


@dataclass(frozen=True, eq=False)
class Stages:
    """What is evaluated in turn: ``before`` X; the residual of X, and its slope in X; what else does not follow from
    the adjoint of X; its residual; what follows from it.
    """

    before: Stage
    resolvent: Stage
    slope: Stage
    chain: Stage
    adjoint: Stage
    last: Stage

    @classmethod
    def to(cls, equations: ModuleType, results: Sequence[str], given: Sequence[str] = ()) -> Stages:
        """The stages that lead to some results, from names that are given."""
        of = equations.tangents.contractions
        before = Stage(of, () if given else ("V1_hat",))
        resolvent = Stage(of, ("residual_X",), after=(before,), given=given)
        slope = Stage(of, ("slope_X",), after=(before, resolvent), given=given)
        done = before, resolvent, slope
        results = (*results, f"residual_{ADJOINT}")
        chain = Stage(of, results, after=done, given=given, without=(ADJOINT,))
        adjoint = Stage(of, (f"residual_{ADJOINT}",), after=(*done, chain), given=given)
        return cls(*done, chain, adjoint, Stage(of, results, after=(*done, chain, adjoint), given=given))

    @property
    def all(self) -> tuple[Stage, ...]:
        return self.before, self.resolvent, self.slope, self.chain, self.adjoint, self.last


def follow(stages: Stages, numbers: Numbers) -> bool:
    """Evaluate all but ``before``, X from where it is or from afar; whether there is a solution."""
    if not found(stages, numbers):
        return False
    numbers.run(stages.chain)
    numbers[ADJOINT] = 0.0
    numbers.run(stages.adjoint)
    numbers[ADJOINT] = -solved(slope(stages, numbers).T, numbers[f"residual_{ADJOINT}"])
    numbers.run(stages.adjoint)
    numbers.run(stages.last)
    return True


def found(stages: Stages, numbers: Numbers) -> bool:
    """X, from where it is or from afar."""
    return _found_near(stages, numbers) or _found_from_afar(stages, numbers)


def _found_near(stages: Stages, numbers: Numbers) -> bool:
    """Newton's method for X from where it is; whether the solution was next to it."""
    before = np.inf
    for _ in range(_STEPS):
        left, x = missed(stages, numbers), numbers["X"]
        if not np.all(np.isfinite(left)):
            return False
        step = solved(slope(stages, numbers), left)
        size = _relative(step, x)
        if not size <= min(before, _CLOSE):
            return bool(before < _ROUNDING)
        x -= step
        before = size
        if size < _SETTLED:
            missed(stages, numbers)
            return True
    return False


def _found_from_afar(stages: Stages, numbers: Numbers) -> bool:
    """X by damped iteration from that without samples, then by Newton's method; without success it stays there."""
    numbers["X"] = numbers["base"]
    for _ in range(_SWEEPS):
        left, x = missed(stages, numbers), numbers["X"]
        if not np.all(np.isfinite(left)):
            break
        x -= _DAMPED * left
        if _relative(left, x) < 0.1 * _CLOSE:
            return _found_near(stages, numbers)
    numbers["X"] = numbers["base"]
    return False


def missed(stages: Stages, numbers: Numbers) -> Array:
    """The residual of X, [2K, 2K]."""
    numbers.run(stages.resolvent)
    return np.asarray(numbers["residual_X"])


def slope(stages: Stages, numbers: Numbers) -> Array:
    """The derivative of the residual of X in X, [4K^2, 4K^2], where that has been evaluated."""
    numbers.run(stages.slope)
    return slope_matrix(numbers["slope_X"])


def slope_matrix(derivative: Array) -> Array:
    """The same of the derivative of what X equals, [2K, 2K, 2K, 2K]."""
    size = derivative.shape[0] ** 2
    return np.asarray(np.eye(size) - derivative.reshape(size, size))


def solved(matrix: Array, right: Array) -> Array:
    """The solution of linear equations, one for each place on the further axes of the right side; nan without one."""
    try:
        return np.asarray(np.linalg.solve(matrix, right.reshape(len(matrix), -1)).reshape(right.shape))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _relative(change: Array, x: Array) -> float:
    return float(np.abs(change).max() / np.abs(x).max())
