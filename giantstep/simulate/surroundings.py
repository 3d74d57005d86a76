"""What a system may be given in place of its defaults: rows of the first layer, and inputs of another covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.simulate.errors import Array


@dataclass(frozen=True, eq=False)
class GivenRows:
    """A first layer around its spike: rows [p, d] of mean square norm one.

    spike [d], target [indices, d]: unit vectors, orthonormal ones of the target, drawn where None.
    """

    rows: Array
    spike: Array | None = None
    target: Array | None = None


@dataclass(frozen=True)
class InputSpectrum:
    """Inputs of covariance Sigma_in, ``x = Sigma_in^(1/2) g``, by modes: shares ``weights`` of the input dimensions.

    Everything is in whitened inputs g. eigenvalues: of Sigma_in, mean one; target: the part of |theta|^2 in each mode;
    covariances [K][modes]: of the rows of each block around the spike, mean one; spike: (along, random), the spike
    being ``along theta + random eps`` mode by mode, eps a unit vector without direction; None: any at its alignment.
    """

    weights: tuple[float, ...]
    eigenvalues: tuple[float, ...]
    target: tuple[float, ...]
    covariances: tuple[tuple[float, ...], ...]
    spike: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def at(self, values: tuple[float, ...], dimension: int) -> Array:
        """A number of each mode -> one for each of d dimensions: its mean over an equal share of the modes."""
        shares = np.array(self.weights) / math.fsum(self.weights)
        known = np.concatenate([[0.0], np.cumsum(shares)])
        integral = np.concatenate([[0.0], np.cumsum(shares * np.array(values))])
        ends = np.interp(np.arange(dimension + 1) / dimension, known, integral)
        return np.asarray(np.diff(ends) * dimension)

    def direction(self, dimension: int) -> Array:
        """theta [d]: rows and inputs are isotropic within a mode, so that its place there does not matter."""
        density = tuple(part / weight for part, weight in zip(self.target, self.weights, strict=True))
        theta = np.sqrt(self.at(density, dimension))
        return np.asarray(theta / np.linalg.norm(theta))
