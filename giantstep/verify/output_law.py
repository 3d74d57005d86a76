"""The law of the output given kappa, as the checks see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
AROUND = np.array([-9.0, -3.0, -1.0, 0.0, 1.0, 3.0, 9.0])  # edges of panels about a turn, in its widths


@dataclass(frozen=True)
class Output:
    """omega = mean + slopes.t + sqrt(variance) xi given kappa, and its response V: arrays over the nodes."""

    mean: Array
    slopes: Array  # [m, N]
    variance: Array
    response: Array

    def at(self, rows: slice) -> Output:
        """The law at some of the nodes."""
        return Output(self.mean[rows], self.slopes[:, rows], self.variance[rows], self.response[rows])
