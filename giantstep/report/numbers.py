"""Numbers as formulas between dollar signs, for both formats: powers of ten as such, minus signs as long as plus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from giantstep.draw.formulas import decimal
from giantstep.spec.rounding import meant


def number(value: float, digits: int = 12) -> str:
    """At most that many digits, none that say nothing."""
    return f"${decimal(value, digits)}$"


def size(value: float) -> str:
    """Two digits, of an error or a tolerance; nothing for nan."""
    return "" if value != value else number(value, 2)


def rows(values: float | Sequence[object] | np.ndarray) -> str:
    """Entries of a row with commas, rows with semicolons; what is rounding beside the largest is zero."""
    array = np.atleast_1d(np.asarray(values, dtype=float))
    largest = float(np.max(np.abs(array), initial=0.0))
    table = array.reshape(-1, array.shape[-1]).tolist()
    return "; ".join(", ".join(number(meant(value, largest), 9) for value in row) for row in table)
