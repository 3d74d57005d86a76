"""X, what the samples of the step add to the rows that they stretch: by its equation, at real or complex arguments.

What follows from unknowns is evaluated in stages: X lies between them, and its adjoint, which is linear in itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Joined, Numbers, Stage
from generated.runtime.products import inverted, step_by

Array = np.ndarray
_STEPS, _SWEEPS = 20, 200  # of Newton's method; of the iteration that is sure to go to the solution, from afar
_CLOSE, _ROUNDING = 0.1, 1e-11  # relative changes of X
_SETTLED = 1e-16  # the next one
_SLOW = 0.1  # what a step by the slope of another X may leave of what is left to go, before that is evaluated anew
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

    @cached_property
    def to_adjoint(self) -> Joined:
        """From X to the residual of its adjoint."""
        return Joined(self.slope, self.chain, self.adjoint)

    @cached_property
    def from_adjoint(self) -> Joined:
        """From the adjoint of X to the end."""
        return Joined(self.adjoint, self.last)


class AddedSamples:
    """X and its adjoint among the numbers of equations.

    inverse: of the derivative of the residual of X in X, [4K^2, 4K^2], at this X or another near it; None where none
    is known.
    """

    def __init__(self, stages: Stages, numbers: Numbers) -> None:
        self.stages, self.numbers = stages, numbers
        self.inverse: Array | None = None

    def follow(self) -> bool:
        """Evaluate all but ``before``, X from where it is or from afar; whether there is a solution."""
        numbers = self.numbers
        if not self.found():
            return False
        numbers[ADJOINT] = 0.0
        numbers.run(self.stages.to_adjoint)
        self.inverse = inverse = self._inverse()
        left = numbers[f"residual_{ADJOINT}"]
        numbers[ADJOINT] = -(inverse.T @ left.ravel()).reshape(left.shape)
        numbers.run(self.stages.from_adjoint)
        return True

    def found(self) -> bool:
        """X, from where it is or from afar."""
        return self._found_near() or self._found_from_afar()

    def _found_near(self) -> bool:
        """Newton's method for X from where it is, by one slope as long as that serves; whether the solution was next
        to it.
        """
        before, fresh = np.inf, False
        for _ in range(_STEPS):
            left, x = self.missed(), self.numbers["X"]
            step, size = self._step(left, x)
            if size < 0.0:
                return False
            if not fresh and not size <= min(_SLOW * before, _CLOSE):
                self.slope()
                step, size = self._step(left, x)
                fresh = True
            if not size <= min(before, _CLOSE):
                return bool(before < _ROUNDING)
            x -= step
            rate = size if fresh else min(1.0, size / before) if before < np.inf else 1.0
            if size * rate < _SETTLED:
                self.missed()
                return True
            before, fresh = size, False
        return False

    def _found_from_afar(self) -> bool:
        """X by damped iteration from that without samples, then by Newton's method; without success it stays there."""
        numbers = self.numbers
        numbers["X"], self.inverse = numbers["base"], None
        for _ in range(_SWEEPS):
            left, x = self.missed(), numbers["X"]
            if not np.isfinite(left).all():
                break
            x -= _DAMPED * left
            if _relative(left, x) < 0.1 * _CLOSE:
                return self._found_near()
        numbers["X"] = numbers["base"]
        return False

    def missed(self) -> Array:
        """The residual of X, [2K, 2K]."""
        self.numbers.run(self.stages.resolvent)
        return np.asarray(self.numbers["residual_X"])

    def slope(self) -> Array:
        """The inverse at this X."""
        self.numbers.run(self.stages.slope)
        self.inverse = self._inverse()
        return self.inverse

    def _inverse(self) -> Array:
        return np.asarray(inverted(slope_matrix(self.numbers["slope_X"])))

    def _step(self, left: Array, x: Array) -> tuple[Array, float]:
        """The step by the inverse that is known, and its size; infinite where there is none, -1 where the residual is
        no number.
        """
        if self.inverse is None:
            return left, np.inf if np.isfinite(left).all() else -1.0
        step = np.empty_like(x)
        return step, step_by(self.inverse, left.ravel(), x.ravel(), step.ravel())


def slope_matrix(derivative: Array) -> Array:
    """The derivative of the residual of X in X, of that of what X equals, [2K, 2K, 2K, 2K]."""
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
