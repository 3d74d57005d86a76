"""What the samples of the steps add in the rows that they stretch, X_own: by its equation, at real or complex
arguments.

What follows from unknowns is evaluated in stages: X_own, here X for short, lies between them, and its adjoint, which
is linear in itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType

import numpy as np

from generated.runtime import inner_newton as machine
from generated.runtime.evaluation import Joined, Layout, Numbers, Stage, are_small, places_in
from generated.runtime.products import inverted

Array = np.ndarray
ADDED, ADJOINT = "X_own", "adjoint_X_own"
SLOPES = "slope_own", "slope_Res"  # of X in the mean resolvent in its rows, and of that in X


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
        resolvent = Stage(of, (f"residual_{ADDED}",), after=(before,), given=given)
        slope = Stage(of, SLOPES, after=(before, resolvent), given=given)
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

    inverse [n, n]: of the derivative of the residual of X in X, at this X or another near it, where one is known.
    """

    def __init__(self, stages: Stages, numbers: Numbers) -> None:
        self.stages, self.numbers = stages, numbers
        self.of, self.small = _followed(stages, numbers.layout)
        size, kind = numbers[ADDED].size, numbers.value.dtype
        self.state = np.zeros(machine.STATE)
        self._inverse, self._room = np.empty((1, size, size), kind), np.empty((3, size), kind)

    def takes(self, other: AddedSamples) -> None:
        """X is found from where it is among other numbers, and by the inverse there."""
        self.numbers[ADDED], self._inverse[...] = other.numbers[ADDED], other._inverse
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
        self.state[machine.PHASE] = machine.BEGUN
        if self.small:
            while (wanted := machine.follow(*given, whole)) == machine.DIFFERENTIATE:
                self.state[machine.FRESH] = 0.0
                self.inverse_here()
            if wanted == machine.INVERT:
                self.inverse_here()
                machine.finish(*given)
            return bool(wanted != machine.LOST)
        while (wanted := machine.advance(*given)) < machine.FOUND:
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

    def moved(self, resolvent: Array) -> Array:
        """How X moves where the mean resolvent in its rows moves so by itself, [S, 2K, 2K, ways]; by the last slope."""
        here = _through(self.numbers[SLOPES[0]], resolvent)
        return np.asarray((self.inverse_here() @ here).reshape(resolvent.shape))

    def missed(self) -> Array:
        """The residual of X, [S, 2K, 2K]."""
        self.numbers.run(self.stages.resolvent)
        return np.asarray(self.numbers[f"residual_{ADDED}"])

    def slope(self) -> Array:
        """The inverse at this X."""
        self.numbers.run(self.stages.slope)
        self.state[machine.FRESH] = 0.0
        return self.inverse_here()

    def inverse_here(self) -> Array:
        """The same, where the slope has been evaluated."""
        if self.state[machine.FRESH] == 0.0:
            self._inverse[0] = inverted(slope_matrix(self.numbers))
            self.state[machine.KNOWN] = self.state[machine.FRESH] = 1.0
        return np.array(self._inverse[0])


@lru_cache(maxsize=64)
def _followed(stages: Stages, layout: Layout) -> tuple[machine.Followed, bool]:
    """The rows of stages with the places that these are about, and whether all is small."""
    used = stages.resolvent, stages.slope, stages.to_adjoint, stages.from_adjoint
    names = ADDED, f"residual_{ADDED}", ADJOINT, f"residual_{ADJOINT}"
    places = [places_in(layout, name).astype(np.uint64).ravel() for name in names]
    slope, within = (places_in(layout, name).astype(np.uint64, order="C") for name in SLOPES)  # one layout, one kernel
    steps, rows = len(slope), slope.shape[1] ** 2
    slopes = slope.reshape(steps, rows, rows), within.reshape(steps, rows, -1)
    small = all(are_small(layout, stage) for stage in used)
    return machine.Followed(*map(layout.part, used), *places, *slopes), small


def added_shape(given: Mapping[str, Array]) -> tuple[int, ...]:
    """The shape of X, by the arrays that equations are given."""
    steps, rows, _ = given["own_rows"].shape
    return steps, rows, rows


def slope_matrix(known: Mapping[str, Array]) -> Array:
    """The derivative of the residual of X in X, [n, n], by the slopes that are known."""
    found = _through(known[SLOPES[0]], known[SLOPES[1]])
    return np.asarray(np.eye(len(found)) - found)


def _through(slope: Array, resolvent: Array) -> Array:
    """How what X equals moves, [n, ...], with the mean resolvent in its rows [S, 2K, 2K, ...]."""
    steps, rows = len(slope), slope.shape[1] ** 2
    here = slope.reshape(steps, rows, rows) @ resolvent.reshape(steps, rows, -1)
    return np.asarray(here.reshape(steps * rows, -1))


def solved(matrix: Array, right: Array) -> Array:
    """The solution of linear equations, one for each place on the further axes of the right side; nan without one."""
    try:
        return np.asarray(np.linalg.solve(matrix, right.reshape(len(matrix), -1)).reshape(right.shape))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)
