"""What a system may be given in place of its defaults: rows of the first layer, and inputs of another covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from giantstep.simulate.errors import Array

Rows: TypeAlias = tuple[tuple[float, ...], ...]
_SIGNS = np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]])  # of up to four directions that are spread alike, orthogonal


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

    Everything is in whitened inputs g. eigenvalues: of Sigma_in, mean one; target [indices][modes]: coefficients of
    every theta_i along one direction of each mode, orthonormal rows; one row for all of them where they are spread
    alike, orthogonal within the modes. covariances [K][modes]: of the rows of each block around the spike, mean one;
    along [q][indices][modes], random [q][R][modes]: of each direction of the spike, which is ``sum_i along_i theta_i +
    sum_k random_k eps_k`` mode by mode, eps_k unit vectors without direction; None: any at its alignments.
    """

    weights: tuple[float, ...]
    eigenvalues: tuple[float, ...]
    target: tuple[tuple[float, ...], ...]
    covariances: Rows
    along: tuple[Rows, ...] | None = None
    random: tuple[Rows, ...] = ()

    def at(self, values: tuple[float, ...], dimension: int) -> Array:
        """A number of each mode -> one for each of d dimensions: its mean over an equal share of the modes."""
        shares = np.array(self.weights) / math.fsum(self.weights)
        known = np.concatenate([[0.0], np.cumsum(shares)])
        integral = np.concatenate([[0.0], np.cumsum(shares * np.array(values))])
        ends = np.interp(np.arange(dimension + 1) / dimension, known, integral)
        return np.asarray(np.diff(ends) * dimension)

    def directions(self, indices: int, dimension: int) -> Array:
        """theta [indices, d]: rows and inputs are isotropic within a mode, so that their place there does not matter.

        Directions that are spread alike differ by signs that alternate.
        """
        theta = np.stack([self._lengths(row, dimension) for row in self.target])
        if len(theta) < indices:
            theta = theta * _SIGNS[:indices, np.arange(dimension) % 4]
        left, _, right = np.linalg.svd(theta, full_matrices=False)
        return np.asarray(left @ right)  # the nearest orthonormal ones

    def spikes(self, theta: Array, drawn: Array) -> Array:
        """Directions of the spike [q, d], of target directions theta [m, d] and normal vectors drawn [R, d]; about
        orthonormal.
        """
        assert self.along is not None
        units, found = drawn / np.linalg.norm(drawn, axis=1)[:, None], []
        for along, random in zip(self.along, self.random, strict=True):
            parts = np.array([self.at(part, theta.shape[1]) for part in (*along, *random)])
            found.append(np.einsum("id,id->d", parts, np.concatenate([theta, units])))
        return np.array(found)

    def _lengths(self, row: tuple[float, ...], dimension: int) -> Array:
        """The root of the part of |theta|^2 in each dimension, with the sign of the coefficients there."""
        both = zip(row, self.weights, strict=True)
        parts = tuple((c * abs(c) / weight, c * c / weight) for c, weight in both)
        signed, squares = (self.at(part, dimension) for part in zip(*parts, strict=True))
        return np.asarray(np.copysign(np.sqrt(squares), signed))
