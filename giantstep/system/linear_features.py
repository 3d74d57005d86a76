"""The coupled system of linear features of several blocks beside a small ridge, where responses of blocks cancel.

Directions of the readout that no input tells apart are held by the ridge alone: blocks respond along them by its
inverse, outputs, which feel one combination of the blocks, do not. The response along that combination is an unknown
here, and the equations are evaluated in many digits. All functions of kappa in them are linear, and products of two of
these are all that is averaged, so that three places of kappa stand for all nodes, and many digits cost little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.steps import NONE, RAISED, raise_variances
from generated.runtime.unknowns import COLUMN, FAMILY, RESIDUAL, ROW
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.many_digits import certified, in_many_digits, many, plain
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.state import State, places_in_numbers

Array = np.ndarray
_PLACES = np.array([-1.0, 0.0, 1.0])  # of kappa about its mean, in units of its spread
_FAR = 1e6  # responses of blocks over those of outputs, of whose square double precision leaves derivatives no digits


class LinearFeatures(CoupledSystem):
    """The equations with V1 in an orthonormal frame of the blocks, whose first axis is what outputs feel."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        super().__init__(problem, level, laws)
        count = self.blocks
        first = self.kernel.ROWS + count
        self.slope = self.node[first : first + count, 0]
        self.frame = _reflection(self.slope)
        self.far = bool((self.slope**2).max() > _FAR * problem.model.fit.ridge)
        own = self.members[FAMILY] == self.kernel.UNKNOWNS.index("V1")
        self.responses = np.flatnonzero(own)
        self.pairs = self.members[ROW, own], self.members[COLUMN, own]
        weight = self.table[:, 1]
        away = self.kappa - (weight * self.kappa).sum() / weight.sum()
        spread = np.sqrt((weight * away * away).sum() / weight.sum())
        self.away = away = away / (spread if spread > 0.0 else 1.0)
        # Lagrange's polynomials
        self.places = len(_PLACES) * weight * np.array([away * (away - 1.0), 2.0 - 2.0 * away**2, away * (away + 1.0)])
        self.places *= 0.5
        self.few = many(np.stack([self._linear(row) for row in self.node]))
        self.few[1] = many(np.full(len(_PLACES), 1.0 / len(_PLACES)))
        self.digits = State(self.kernel, count, len(_PLACES), object)
        self.share = many(problem.fraction)
        self.felt = np.zeros((count * count + count, len(self.table)))
        self.felt[0] = self.slope @ self.slope  # of V1 and Q1 in the frame

    def _linear(self, values: Array) -> Array:
        """A linear function of kappa at the places."""
        if np.all(values == values[0]):
            return np.full(len(_PLACES), values[0])
        weight = self.table[:, 1] / self.table[:, 1].sum()
        return np.asarray((weight * values).sum() + (weight * self.away * values).sum() * _PLACES)

    def framed(self, values: Array) -> Array:
        """Unknowns or residuals [n, ...] with V1 of the blocks in the frame, and the reverse."""
        found, blocks = values.copy(), self.blocks
        matrix = np.empty((blocks, blocks, *values.shape[1:]), values.dtype)
        matrix[self.pairs] = values[self.responses]
        matrix[self.pairs[::-1]] = values[self.responses]
        found[self.responses] = self._turned(matrix)[self.pairs]
        return found

    @in_many_digits()
    def _turned(self, matrix: Array) -> Array:
        frame = many(self.frame) if matrix.dtype == object else self.frame
        once = sum(frame[:, b, None].reshape(-1, *[1] * (matrix.ndim - 1)) * matrix[b] for b in range(self.blocks))
        both = np.moveaxis(np.asarray(once), 1, 0)
        twice = sum(frame[:, b].reshape(-1, *[1] * (matrix.ndim - 1)) * both[b] for b in range(self.blocks))
        return np.moveaxis(np.asarray(twice), 0, 1)

    def gathered(self, work: Array) -> Array:
        """See ``CoupledSystem``."""
        return self.framed(super().gathered(work))

    def of_linear_readouts(self, x: Array) -> Array:
        """The unknowns from those of a system of any features."""
        return self.framed(x)

    # --- equations ---------------------------------------------------------------------------------------------------

    def fields(self, x: Array) -> bool:
        """Evaluate V, the mean, its slopes and Delta in many digits; whether x is feasible."""
        self.x, self.told, self.evaluated = x, None, False
        values = self.framed(many(x))
        self.digits.work[self.first] = values
        self.digits.work[self.second] = values
        _plain(self.kernel, "fields")(*self._few_arguments())
        self._take()
        room = self.room.vector, self._matrix_in_frame(x), self.room.field
        weight, blur, floor = self.node[1], self.problem.blur, self.problem.floor
        law = raise_variances(room, self.at.variance_rows, self.felt, weight, blur, floor, self.variance, self.terms)
        self.raised = law == RAISED
        return bool(law != NONE)

    def residual_of_averages(self) -> Array:
        """Residuals of the unknowns where the fields are known."""
        self.average()
        for name in self.kernel.AVERAGES:
            self.digits[name][...] = many((self.places * self.view(name)).sum(axis=1))
        _plain(self.kernel, "residual")(*self._few_arguments())
        self.work[...] = self.digits.work
        self.evaluated = True
        return self.framed(self.digits.work[self.members[RESIDUAL]]).astype(float)

    def along(self, directions: Array) -> Array:
        """What the residuals do along directions [n, k] at the last x, [n, k]."""
        if not self.far:
            return self.framed(super().along(self.framed(directions)))
        found, room = np.empty(directions.shape, object), self.digits.work
        along = self.framed(many(directions))
        _plain(self.kernel, "jacobian")(*self._few_arguments(), room, self.members, along, found)
        return self.framed(found).astype(float)

    def moves(self, rates: Array, of_beta: float = 0.0, penalty: int | None = None) -> dict[str, Array]:
        """See ``CoupledSystem``."""
        return super().moves(self.framed(rates), of_beta, penalty)

    def missed(self, x: Array) -> float:
        """Worst relative residual of all equations at x, in many digits."""
        self.evaluate(x)
        numbers = self.digits.numbers()[None]
        return float(certified(self._certificate, self.share, many(self.parameters[None]), numbers)[0])

    def averaged(self) -> Array:
        """The observables, the free energy in many digits."""
        out, few = super().averaged(), np.zeros(3, object)
        _plain(self.kernel, "observables")(*self._few_arguments(), few)
        out[2] = few[2]
        return out

    @cached_property
    def _certificate(self) -> Any:
        places = places_in_numbers(self.kernel, self.blocks, len(_PLACES))
        return self.kernel.CERTIFICATE.on(self.few.astype(float), places)

    def _few_arguments(self) -> tuple[Array, ...]:
        room = self.digits
        return self.few, self.share, many(self.parameters), room.vector, room.matrix, room.field

    @in_many_digits()
    def _take(self) -> None:
        """The numbers of the places at all nodes, in double precision."""
        self.work[...] = self.digits.work
        for name in ("V", "Delta", "mean", *self.kernel.SLOPES):
            left, middle, right = self.digits[name]
            self.view(name)[...] = float(middle) + 0.5 * float(right - left) * self.away

    def _matrix_in_frame(self, x: Array) -> Array:
        """All matrices, with V1 and Q1 in the frame."""
        found, rows = self.room.matrix.copy(), self.kernel.MATRICES
        for name in ("V1", "Q1"):
            turned = self._turned(self.digits[name].copy())
            found[rows.index(name)] = turned.astype(float)
        return found


def _reflection(along: Array) -> Array:
    """The orthonormal symmetric matrix that turns a vector into the first axis."""
    normal = along / np.sqrt((along * along).sum())
    normal[0] += 1.0 if normal[0] > 0.0 else -1.0
    found: Array = np.eye(len(along)) - 2.0 * np.outer(normal, normal) / (normal * normal).sum()
    return found


@lru_cache(maxsize=16)
def _plain(kernel: ModuleType, name: str) -> Callable[..., Any]:
    """A kernel for numbers of many digits."""
    return plain(getattr(kernel, name))
