"""The coupled system with a bulk whose covariances do not commute: what its samples add follows from the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.evaluation import Stage
from giantstep.system.added_samples import (
    ADDED,
    ADJOINT,
    SLOPES,
    AddedSamples,
    Stages,
    added_shape,
    slope_matrix,
    solved,
)
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.equations import Tangents
from giantstep.system.newton import IN_TURN, newton
from giantstep.system.responses_of_square import FAMILIES, ResponsesOfSquare, ResponseStages, response_stages
from giantstep.system.rows_hessian import HessianStages, RowsHessian, hessian_stages

Array = np.ndarray
_FEWEST, _LITTLE = 3, 256  # directions that are followed at a time; numbers of an array that cost less than a call
_SOON, _NEAR = 12, 3e-4  # Newton steps of the responses that a solution begins with, and the last of them
# of responses, what is left of their equations where no step of theirs is felt: at most so much, and so little beside
# what is left of the overlaps, which move by ten times as much where tails are heavy; or less than any step that counts
_STILL, _BESIDE, _NOTHING = 1e-6, 1e-2, 1e-10
_KEPT = SLOPES  # what tangents need beside what is given and what follows


class StretchedSystem(BulkSystem):
    """X, what the samples add in their rows, and its adjoint follow from the unknowns; no samples at first."""

    of_samples = True

    @cached_property
    def added(self) -> AddedSamples:
        """X and its adjoint among these."""
        return AddedSamples(self.order.stages, self.numbers)

    @staticmethod
    def orders(equations: ModuleType) -> Orders:
        """See ``BulkSystem``."""
        return orders_of(equations)

    @staticmethod
    def inner(equations: ModuleType, given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
        """See ``BulkSystem``."""
        return dict.fromkeys(equations.INNER, added_shape(given))

    def takes(self, other: CoupledSystem) -> None:
        """See ``CoupledSystem``: X is found from where it is."""
        if isinstance(other, StretchedSystem) and other.numbers[ADDED].shape == self.numbers[ADDED].shape:
            self.added.takes(other.added)

    def of_rows(self, x: Array, curvature: float) -> Array:
        """See ``LinearReadouts``: with T and V1 of these rows."""
        responses = ResponsesOfSquare(self, self.added, x, curvature)
        found = newton(responses, responses.start, most=_SOON, settled=_NEAR, blind=True)
        return responses.with_responses(found.x) if found.converged else x

    def easier(self) -> Callable[[float], CoupledSystem]:
        """See ``CoupledSystem``: with a share of what the samples add to isotropic rows; all of it at one."""
        added = {name: self.numbers[name].copy() for name in ("sample", "base", "along", "earlier", "tie_last")}
        isotropic, chi = np.sign(added["base"]), self.numbers["chi"].copy()

        def at(share: float) -> CoupledSystem:
            moved = {name: share * values for name, values in added.items()}
            moved["base"] += (1.0 - share) * isotropic
            self.numbers.update({**moved, "chi": share**2 * chi, ADDED: 0.0})
            self.evaluated, self.certified = False, None
            self.added.forgets()
            return self

        return at

    def follow(self) -> bool:
        """See ``BulkSystem``: X by Newton's method, its adjoint by a linear equation."""
        self.numbers.run(self.order.stages.before)
        return self.added.follow()

    def directions(self, largest: int) -> int:
        """See ``BulkSystem``: those of V1_hat and T, which rows are followed along; all where rows are cheap."""
        return len(self.first) if largest <= _LITTLE else max(_FEWEST, self.blocks * (self.blocks + 3) // 2)

    def jacobian(self) -> Array:
        """See ``CoupledSystem``."""
        return self.hessian.jacobian(self.exchange)

    def matrix_of_step(self) -> Array:
        """See ``Equations``: what overlaps do along responses is of no account where these are solved for and do not
        follow from anything else. All are linear then, Q1 and Q2 after the others, and two steps by this matrix solve
        for them.
        """
        stand = self._responses_stand()
        self.again = IN_TURN if stand else BulkSystem.again
        return self.hessian.jacobian(self.exchange, responses_stand=stand)

    @property
    def hessian(self) -> RowsHessian:
        """What the Jacobian follows from."""
        return RowsHessian(self.problem.fraction, self.equations, self.order.moved, self.added)

    def _responses_stand(self) -> bool:
        if any(self.averages[place].any() for place in _of_outputs(self.kernel)):
            return False
        left = max(self._left(name) for name in FAMILIES)
        return left < max(_NOTHING, min(_STILL, _BESIDE * self._left("Q1")))

    def _left(self, name: str) -> float:
        """What is left of the equations of a family, relative to its largest member."""
        return float(np.max(np.abs(self.numbers[f"residual_{name}"])) / np.max(np.abs(self.numbers[name])))

    def known(self) -> dict[str, Any]:
        """See ``CoupledSystem``: what has been evaluated."""
        names = (*self.numbers, *_KEPT) if self.evaluated else (*self.given,)
        return {**CoupledSystem.known(self), **{name: self.numbers[name].copy() for name in names}}

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """See ``CoupledSystem``: X and its adjoint move with what they follow from."""
        return Following(super().tangents(known), slope_matrix(known))


@lru_cache(maxsize=16)
def _of_outputs(kernel: ModuleType) -> list[int]:
    """Places of the averages by which h moves with mean, slopes and variance of outputs."""
    names = (name.removeprefix("avg_") for name in kernel.AVERAGES)
    return [place for place, name in enumerate(names) if name.endswith(("hx", "hxx")) and not name.startswith("g")]


@dataclass(frozen=True)
class Orders:
    """The stages of the equations, to the free energy, and of the tangents of their residuals."""

    stages: Stages
    energy: Stage
    moved: HessianStages
    responses: ResponseStages


@lru_cache(maxsize=16)
def orders_of(equations: ModuleType) -> Orders:
    """The stages of a module's equations."""
    of = equations.tangents.contractions
    stages = Stages.to(equations, [*(f"residual_{name}" for name in equations.UNKNOWNS), *of.followed])
    energy = Stage(of, ("free_energy",), after=stages.all)
    return Orders(stages, energy, hessian_stages(equations, stages), response_stages(equations, stages))


@dataclass(frozen=True)
class Following:
    """Tangents in which X and its adjoint move by their own equations; matrix: the derivative of that of X in X."""

    of: Tangents
    matrix: Array

    def along(self, moves: Mapping[str, Any], wanted: tuple[str, ...] | None = None) -> Mapping[str, Array]:
        """See ``Tangents``."""
        for name, matrix in ((ADDED, self.matrix), (ADJOINT, self.matrix.T)):
            left = f"d_residual_{name}"
            moves = {**moves, f"d_{name}": -solved(matrix, self.of.along(moves, (left,))[left])}
        return self.of.along(moves, wanted)
