"""What every module of the simulator uses: its array type, and its error."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class SimulationError(ValueError):
    """A simulation that cannot be run as asked; the message says what was given, the hint what to change."""

    def __init__(self, message: str, hint: str = "change the model, the dimension or the seeds") -> None:
        super().__init__(message)
        self.hint = hint


class NoMinimum(SimulationError):
    """A draw whose training objective has no minimum: there is no readout whose errors could be told."""
