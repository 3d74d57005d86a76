"""X, what the samples of the step add to the rows that they stretch: by its equation, at real or complex arguments.

What follows from unknowns is evaluated in stages: X lies between them, and its adjoint, which is linear in itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType

import numpy as np

from generated.runtime import inner_newton as machine
from generated.runtime.evaluation import Joined, Layout, Numbers, Stage, are_small, places_in
from generated.runtime.products import inverted

Array = np.ndarray
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
    """X and its adjoint among the numbers of equations: see ``generated/runtime/inner_newton.py``.

    inverse [4K^2, 4K^2]: of the derivative of the residual of X in X, at this X or another near it, where one is known.
    """

    def __init__(self, stages: Stages, numbers: Numbers) -> None:
        self.stages, self.numbers = stages, numbers
        self.of, self.small = _followed(stages, numbers.layout)
        size, kind = numbers["X"].size, numbers.value.dtype
        self.state = np.zeros(machine.STATE)
        self._inverse, self._room = np.empty((1, size, size), kind), np.empty((2, size), kind)

    def takes(self, other: AddedSamples) -> None:
        """X is found from where it is among other numbers, and by the inverse there."""
        self.numbers["X"], self._inverse[...] = other.numbers["X"], other._inverse
        self.state[machine.KNOWN] = other.state[machine.KNOWN]
        self.state[machine.FRESH] = 0.0

    def forgets(self) -> None:
        """No inverse is known."""
        self.state[machine.KNOWN] = self.state[machine.FRESH] = 0.0

    def follow(self) -> bool:
        """Evaluate all but ``before``, X from where it is or from afar; whether there is a solution."""
        return self._followed(whole=True)

    def found(self) -> bool:
        """X, from where it is or from afar."""
        return self._followed(whole=False)

    def _followed(self, whole: bool) -> bool:
        given = self.of, self.numbers.value, self.state, self._inverse, self._room
        self.state[machine.PHASE], step = machine.BEGUN, self._room[0]
        if self.small:
            while (wanted := machine.follow(*given, whole)) == machine.DIFFERENTIATE:
                self.state[machine.FRESH] = 0.0
                self.inverse_here()
            if wanted == machine.INVERT:
                self.inverse_here()
                machine.finish(*given)
            return bool(wanted != machine.LOST)
        while (wanted := machine.advance(*given[:-1], step)) < machine.FOUND:
            if wanted == machine.RESOLVE:
                self.numbers.run(self.stages.resolvent)
            else:
                self.slope()
        if whole and wanted == machine.FOUND:
            self.numbers[ADJOINT] = 0.0
            self.numbers.run(self.stages.to_adjoint)
            if not machine.carry(*given):
                self.inverse_here()
                machine.carry(*given)
            self.numbers.run(self.stages.from_adjoint)
        return bool(wanted == machine.FOUND)

    def missed(self) -> Array:
        """The residual of X, [2K, 2K]."""
        self.numbers.run(self.stages.resolvent)
        return np.asarray(self.numbers["residual_X"])

    def slope(self) -> Array:
        """The inverse at this X."""
        self.numbers.run(self.stages.slope)
        self.state[machine.FRESH] = 0.0
        return self.inverse_here()

    def inverse_here(self) -> Array:
        """The same, where the slope has been evaluated."""
        if self.state[machine.FRESH] == 0.0:
            self._inverse[0] = inverted(slope_matrix(self.numbers["slope_X"]))
            self.state[machine.KNOWN] = self.state[machine.FRESH] = 1.0
        return np.array(self._inverse[0])


@lru_cache(maxsize=64)
def _followed(stages: Stages, layout: Layout) -> tuple[machine.Followed, bool]:
    """The rows of stages with the places that these are about, and whether all is small."""
    used = stages.resolvent, stages.slope, stages.to_adjoint, stages.from_adjoint
    names = "X", "base", "residual_X", "slope_X", ADJOINT, f"residual_{ADJOINT}"
    places = [places_in(layout, name) for name in names]
    small = all(are_small(layout, stage) for stage in used)
    return machine.Followed(*(layout.part(stage) for stage in used), *(int(each.flat[0]) for each in places)), small


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
