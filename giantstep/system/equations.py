"""What Newton's method needs of a system of equations, and what tells how its solution moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

Array = np.ndarray


class Equations(Protocol):
    """A system at its present parameters."""

    @property
    def again(self) -> float:
        """What steps by the same Jacobian may leave of what is left to go, before it is evaluated anew."""

    def residual(self, x: Array) -> Array:
        """Residuals at x, nan where x is not feasible."""

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x."""

    def matrix_of_step(self) -> Array:
        """The same, as far as a step by the last residuals needs it."""

    def scale(self, x: Array) -> Array:
        """Size of each unknown, that steps are relative to."""

    def sizes_of_equations(self, size: Array) -> Array | None:
        """The same of each equation, in units of which the derivative in its own unknown is about 1; None where it is
        not known.
        """

    def along(self, directions: Array) -> Array:
        """What the residuals do along directions [n, k] at the last x, [n, k]."""


class Tangents(Protocol):
    """How everything that the equations are about moves with what is given."""

    def along(self, moves: Mapping[str, Any], wanted: tuple[str, ...] | None = None) -> Mapping[str, Array]:
        """Tangents by name; moves: those that are given, zero where left out; wanted: names, all where left out."""
