"""What the integral over readouts, and over the rows that two fits share, adds to the variance of the test error."""

from __future__ import annotations

from typing import Any

import numpy as np

from derive.directions import directions_of
from generated.draws import readouts
from giantstep.observe.deviation.source import Moved
from giantstep.observe.deviation.two_sources import SIDE, in_both, numbers, trace
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray


class Readouts:
    """The functional of two fits with a source each; what is common to both goes half of the way with each source."""

    def __init__(self, system: CoupledSystem, moved: Moved) -> None:
        self.moved = moved
        _, self.beta, _, _, inverse_dimension = system.parameters.tolist()
        self.shares = numbers(np.diag(self.beta * system.problem.fraction))
        self.T = self._own("T", np.diag)
        self.V = self._own("V1_hat")
        target = directions_of("psi_hat", system.indices)
        spike = directions_of("zeta_hat", system.problem.rank)
        self.sources = self._products(target), self._products(spike), inverse_dimension * self._products(("m",))

    def of_one_fit(self) -> float:
        """Where both fits have all in common."""
        return in_both(trace(self._at(self._common("Q1_hat"), self._common("adjoint", np.diag), self._common("Q1"))))

    def of_one_layer(self) -> float:
        """Where they have the first layer in common and data of their own: the functional is quadratic in T_12, which
        makes it stationary.
        """
        count = len(self.T[0]) // SIDE
        ends = np.eye(count)
        values = {(b, sign): self._quadratic(sign * ends[b]) for b in range(count) for sign in (1.0, -1.0)}
        linear = [0.5 * (values[b, 1.0] - values[b, -1.0]) for b in range(count)]
        curved = np.empty((count, SIDE, count, SIDE))
        for b in range(count):
            for c in range(count):
                pair = self._quadratic(ends[b] + ends[c]) - values[b, 1.0] - values[c, 1.0]
                curved[b, :, c] = pair if b != c else values[b, 1.0] + values[b, -1.0]
        size = SIDE * count
        column, row = np.concatenate(linear, axis=0), np.concatenate(linear, axis=1)
        return in_both(-0.5 * row @ np.linalg.solve(curved.reshape(size, size), column))

    def _quadratic(self, common: Array) -> Array:
        nothing = np.zeros_like(self.T[0])
        return trace(self._at(nothing, numbers(np.diag(common)) / self.beta, nothing))

    def _at(self, conjugate: Array, overlap: Array, matrix: Array) -> Array:
        """The functional at Q1_hat_12, Q2_12 and Q1_12."""
        common = self.beta * overlap
        given = *self.V, *self.T, conjugate, common, self.beta * matrix, self.shares
        return np.asarray(readouts(*given, *self.sources))

    def _own(self, name: str, shape: Any = np.asarray) -> tuple[Array, Array]:
        """A number of each fit, with its source."""
        value, rate = self._shaped(name, shape)
        return numbers(value, first=rate), numbers(value, second=rate)

    def _common(self, name: str, shape: Any = np.asarray) -> Array:
        value, rate = self._shaped(name, shape)
        return numbers(value, 0.5 * rate, 0.5 * rate)

    def _shaped(self, name: str, shape: Any) -> tuple[Array, Array]:
        return shape(self.moved.known[name]), shape(self.moved.rates[f"d_{name}"])

    def _products(self, names: tuple[str, ...]) -> Array:
        """beta times the sum of j_2 j_1^T."""
        total = np.zeros_like(self.T[0])
        for name in names:
            value, rate = self._shaped(name, np.asarray)
            second, first = numbers(value[:, None], second=rate[:, None]), numbers(value[None], first=rate[None])
            total = total + self.beta * second @ first
        return total
