"""Generated solvers in numbers of many digits: where double precision loses those that the answer needs.

The same functions as plain Python, on numbers of mpmath; a division by zero is infinite, as compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import mpmath
import numpy as np

from generated.runtime.certificate import OnTable, evaluate_points
from giantstep.system.uncompiled import uncompiled

Array = np.ndarray
DIGITS = 40  # a small ridge takes twice its own of them: linear features of several blocks cancel to its square
_KNOWN = 32  # digits to which unknowns are solved for


def _numbers() -> Any:
    """A kind of number with so many digits, whose divisions and roots are those that compiled code takes."""
    context = mpmath.MPContext()
    context.dps = DIGITS
    kind = context.mpf
    divided, divides = kind.__truediv__, kind.__rtruediv__

    def over(self: Any, other: Any) -> Any:
        return divided(self, other) if other != 0 else self * context.inf

    def under(self: Any, other: Any) -> Any:
        return divides(self, other) if self != 0 else other * context.inf

    kind.__truediv__, kind.__rtruediv__, kind.sqrt = over, under, context.sqrt
    return kind


_NUMBER = _numbers()


def many(array: Array) -> Array:
    """An array of double precision as one of many digits."""
    return np.array([_NUMBER(value) for value in array.ravel().tolist()], object).reshape(array.shape)


def solver(kernel: ModuleType) -> Callable[..., Any]:
    """The solver of a generated module for numbers of many digits; its unknowns are known to most of them."""
    return uncompiled(kernel.solve, ENOUGH=10.0**-_KNOWN, CLOSE=10.0 ** (-_KNOWN / 2))


def certified(certificate: OnTable, fraction: Array, parameters: Array, work: Array) -> Array:
    """Worst residuals [P] of solutions work [P, ...] in many digits."""
    worst = np.empty(len(parameters))
    given = (many(certificate.start), many(fraction), many(parameters), work)
    moved = (certificate.source, certificate.target, certificate.rooted)
    uncompiled(evaluate_points)(certificate.rows, *given, *moved, worst)
    return worst
