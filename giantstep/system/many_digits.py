"""Generated solvers in numbers of many digits: where double precision loses those that the answer needs.

The same functions as plain Python, on decimal numbers, which Python computes in C; a division by zero is infinite, as
compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import lru_cache
from typing import Any

import numpy as np

from generated.runtime.certificate import OnTable, evaluate_points
from giantstep.system.uncompiled import uncompiled

Array = np.ndarray
DIGITS = 42  # a small ridge takes twice its own of them: linear features of several blocks cancel to its square
_KNOWN = 32  # digits to which unknowns are solved for
_CONTEXT = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


@contextmanager
def in_many_digits() -> Iterator[None]:
    """What is computed with numbers of many digits is rounded to them."""
    with localcontext(_CONTEXT):
        yield


def many(array: Array) -> Array:
    """An array of double precision as one of many digits."""
    return np.array([_number(value) for value in array.ravel().tolist()], object).reshape(array.shape)


def plain(kernel: Any, **constants: float) -> Callable[..., Any]:
    """A compiled function for numbers of many digits, see ``uncompiled``."""
    return in_many_digits()(uncompiled(kernel, _number, **constants))


@lru_cache(maxsize=16)
def solver(solve: Any) -> Callable[..., Any]:
    """The solver of a generated module for numbers of many digits; its unknowns are known to most of them."""
    return plain(solve, ENOUGH=10.0**-_KNOWN, CLOSE=10.0 ** (-_KNOWN / 2))


def certified(certificate: OnTable, fraction: Array, parameters: Array, work: Array) -> Array:
    """Worst residuals [P] of solutions work [P, ...] in many digits."""
    worst = np.empty(len(parameters))
    given = (many(certificate.start), many(fraction), many(parameters), work)
    moved = (certificate.source, certificate.target, certificate.rooted)
    rows = certificate.rows.astype(np.int64)  # NumPy 1 makes a float of an unsigned number and one of Python
    plain(evaluate_points)(rows, *given, *moved, worst)
    return worst


def _number(value: float) -> Decimal:
    return _CONTEXT.create_decimal(value)
