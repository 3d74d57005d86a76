"""The law of the output given kappa, as the checks see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
_OF_ONE = np.array([-100.0, -30.0, -10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0, 30.0, 100.0])
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


def turns_of_mean(places: Array, output: Output) -> list[float]:
    """Where the mean changes sign between places of kappa and the spread of the output is smaller than a panel, and
    about it.
    """
    found: list[float] = []
    for i in np.flatnonzero(np.diff(np.sign(output.mean)) != 0):
        left, right = output.mean[i : i + 2]
        slope = (right - left) / (places[i + 1] - places[i])
        place = places[i] - left / slope if slope else places[i]
        spread = float(np.sqrt(output.variance[i] + (output.slopes[:, i] ** 2).sum()))
        if spread < abs(slope):  # a wider turn is resolved by any panel, and may be one of rounding
            found += list(place + spread / abs(slope) * _OF_ONE)
    return found
