"""Variance of the test error between draws, for one block without a spike and the square loss: another way to it.

Phi and the covariance of two free energies are written in the spectrum of the rows (the law of Marchenko and Pastur),
not in T, and all derivatives are central differences. Given the rows the readouts of two fits have
    tr(A_1^-1 B A_2^-1 B)/2 + beta psi_1 psi_2 theta.W^T A_1^-1 B A_2^-1 W theta;
rows without a direction add the covariance of two quadratic forms, 2 (<K_1 K_2> - <K_1><K_2>)/d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
_T, _WEIGHT = np.polynomial.hermite_e.hermegauss(40)
_WEIGHT = _WEIGHT / _WEIGHT.sum()


@dataclass(frozen=True)
class OneBlock:
    """Samples, width, ridge, noise; mu1 and mu2^2 of the activation; the label as a polynomial of t."""

    alpha: float
    beta: float
    ridge: float
    noise: float
    mu1: float
    mu2sq: float
    link: Callable[[Array], Array]

    @property
    def label(self) -> Array:
        return np.asarray(self.link(_T))

    def law(self, x: Array) -> tuple[float, float]:
        """(V, Delta)"""
        psi, q1, q2, v1, v2 = x[:5]
        return self.mu1**2 * v1 + self.mu2sq * v2, self.mu1**2 * (q1 - psi**2) + self.mu2sq * q2

    def free_energy(self, x: Array) -> float:
        psi, q1, q2, v1, v2, psi_hat, q1_hat, q2_hat, v1_hat, v2_hat = x
        s, weight = rows_of(self.beta)
        response, _ = self.law(x)
        curvature = self.ridge + v2_hat + v1_hat * s
        of_rows, of_all = weight @ (s / curvature), weight @ (1.0 / curvature)
        form = psi_hat**2 * of_rows + (q1_hat * of_rows + q2_hat * of_all) / self.beta
        pairs = psi_hat * psi + 0.5 * (q1_hat * v1 + q2_hat * v2 - v1_hat * q1 - v2_hat * q2)
        risk = self.test_error(x) + self.noise
        return float(self.alpha * 0.5 * risk / (1.0 + response) + self.beta * (pairs - 0.5 * form))

    def test_error(self, x: Array) -> float:
        return float(_WEIGHT @ (self.label - self.mu1 * x[0] * _T) ** 2 + self.law(x)[1])

    def covariance(self, x: Array, layer: bool) -> float:
        """Of the free energies of fits x[:10] and x[10:20] with overlaps and conjugates x[20:], over d."""
        first, second, (q1, q2, q1_hat, q2_hat) = x[:10], x[10:20], x[20:]
        s, weight = rows_of(self.beta)
        apart = [self.label - self.mu1 * each[0] * _T for each in (first, second)]
        own = [self.noise + self.law(each)[1] for each in (first, second)]
        both = self.noise + self.mu1**2 * (q1 - first[0] * second[0]) + self.mu2sq * q2
        squares = [a**2 + c for a, c in zip(apart, own, strict=True)]
        product = _WEIGHT @ (squares[0] * squares[1] + 4.0 * apart[0] * apart[1] * both + 2.0 * both**2)
        product -= (_WEIGHT @ squares[0]) * (_WEIGHT @ squares[1])
        gains = [1.0 + self.law(each)[0] for each in (first, second)]
        curvatures = [self.ridge + each[9] + each[8] * s for each in (first, second)]
        inverse, coupled = 1.0 / (curvatures[0] * curvatures[1]), q1_hat * s + q2_hat
        sources = first[5] * second[5]
        found = self.alpha * product / (4.0 * gains[0] * gains[1]) - self.beta * (q1_hat * q1 + q2_hat * q2)
        found += 0.5 * (weight @ (coupled**2 * inverse)) + self.beta * sources * (weight @ (s * coupled * inverse))
        if layer:
            means = [weight @ (s / each) for each in curvatures]
            spread = weight @ (s**2 * inverse) - means[0] * means[1]
            found += 0.5 * self.beta**2 * sources**2 * spread
        return float(found)

    def variances(self, order: dict[str, float]) -> tuple[float, float]:
        """d times the variance of the test error (given the rows, rows and data drawn), at psi, Q1, Q2, V1, V2."""
        x = self._with_conjugates(np.array([order[name] for name in ("psi", "Q1", "Q2", "V1", "V2")]))
        moved = -np.linalg.solve(_curvature(self.free_energy, x), _slope(self.test_error, x))
        both = np.concatenate([x, x, x[[1, 2, 6, 7]]])
        return self._along(both, moved, False), self._along(both, moved, True)

    def _with_conjugates(self, known: Array) -> Array:
        """x where Phi is stationary in the overlaps and responses."""
        energy = _slope(lambda five: self.free_energy(np.concatenate([five, np.zeros(5)])), known) / self.beta
        of_psi, of_q1, of_q2, of_v1, of_v2 = energy
        return np.concatenate([known, [-of_psi, -2.0 * of_v1, -2.0 * of_v2, 2.0 * of_q1, 2.0 * of_q2]])

    def _along(self, x: Array, moved: Array, layer: bool) -> float:
        matrix = _curvature(lambda place: self.covariance(place, layer), x)
        a, b, c = slice(0, 10), slice(10, 20), slice(20, 24)
        return float(moved @ (matrix[a, b] - matrix[a, c] @ np.linalg.solve(matrix[c, c], matrix[c, b])) @ moved)


def rows_of(beta: float) -> tuple[Array, Array]:
    """Eigenvalues of W W^T and their weights over d: Gauss rule of the second kind between the edges."""
    low, high = (1.0 - np.sqrt(beta)) ** 2, (1.0 + np.sqrt(beta)) ** 2
    angle = np.arange(1, 201) * np.pi / 201
    s = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angle)
    weight = np.pi / 201 * np.sin(angle) ** 2 * (0.5 * (high - low)) ** 2 / (2.0 * np.pi * s)
    return np.append(s, 0.0), np.append(weight, beta - weight.sum())


_STEP = 3e-4


def _slope(function: Callable[[Array], float], x: Array) -> Array:
    ways = np.eye(len(x)) * _STEP
    return np.array([(function(x + way) - function(x - way)) / (2.0 * _STEP) for way in ways])


def _curvature(function: Callable[[Array], float], x: Array) -> Array:
    ways = np.eye(len(x)) * _STEP
    found = np.empty((len(x), len(x)))
    for i, one in enumerate(ways):
        for j, other in enumerate(ways[: i + 1]):
            same = function(x + one + other) + function(x - one - other)
            across = function(x + one - other) + function(x - one + other)
            found[i, j] = found[j, i] = (same - across) / (4.0 * _STEP**2)
    return found
