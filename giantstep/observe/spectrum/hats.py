"""What the response of the rows depends on, and how T follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Hats:
    """What M depends on: T [K], V1_hat [K, K] and ridge + V2_hat [K], complex."""

    t: Array
    v1: Array
    shift: Array

    @property
    def rows(self) -> Array:
        """T and V1_hat, which the response of the rows depends on, [K + K^2]."""
        return np.concatenate([np.asarray(self.t, complex), np.asarray(self.v1, complex).ravel()])


def gaussian_trace(hats: Hats, response: Array, share: Array) -> Array:
    """``T_b = beta pi_b/(ridge + V2_hat_b + (V1_hat M)_bb/T_b)`` of Gaussian rows, whatever their covariance."""
    with np.errstate(all="ignore"):  # a response that was not found is not a number
        return np.asarray(share / (hats.shift + np.einsum("bc,cb->b", hats.v1, response) / hats.t))
