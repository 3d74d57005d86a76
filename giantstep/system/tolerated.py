"""The tolerance at which a number that has not settled to the one that is asked is told as it is."""

from __future__ import annotations

import math

_SENSIBLE = 1e-3  # a change of a number from which on it is not worth having


def tolerated(change: float, hint: str) -> str:
    """A hint with the tolerance at which a number that changes by so much, relative, is told as it is."""
    if not 0.0 < change < _SENSIBLE:
        return hint
    enough = f"1e{math.ceil(math.log10(change))}"
    return f"for this number with fewer digits take tolerance = {enough} (--tolerance {enough}); for more digits {hint}"
