"""The usual ways to solve the K = 1 square-loss equations, written by hand: what speed.py compares with.

One damped fixed-point iteration [CUI24, Result 3.3; THEORY section 4], with its averages over kappa taken by nested
`scipy.integrate.quad` or on arrays of NumPy. It is here because it shares nothing with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from scipy.integrate import quad
from scipy.special import erf

REACH = 10.0  # the normal density is 8e-23 there
DAMPING = 0.5
NORM = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Point:
    """Ratios and spike of one model: tanh activation, sign link."""

    alpha: float
    beta: float
    ridge: float
    strength: float
    alignment: float
    variance: float


class Averages(Protocol):
    """Functions of kappa, and their Gaussian mean: scalars or arrays."""

    def mu0(self, kappa: Any) -> Any: ...
    def mu1(self, kappa: Any) -> Any: ...
    def mu2sq(self, kappa: Any) -> Any: ...
    def mean(self, integrand: Callable[[Any], Any]) -> float: ...


def label_moments(point: Point, kappa: Any) -> tuple[Any, Any, Any]:
    """E[y | kappa], E[y t | kappa] and the variance left, for y = sign(gamma kappa + sqrt(1 - gamma^2) t)."""
    ratio = point.alignment / math.sqrt(1.0 - point.alignment**2)
    nu0 = erf(ratio * kappa / math.sqrt(2.0))
    nu1 = 2.0 * NORM * np.exp(-0.5 * (ratio * kappa) ** 2)
    return nu0, nu1, 1.0 - nu0**2 - nu1**2


class Nested:
    """Every average is a call of quad, and so is every coefficient inside it."""

    def __init__(self, point: Point, cached: bool) -> None:
        self.point = point
        keep = lru_cache(maxsize=None) if cached else lambda function: function
        self.mu0 = keep(lambda kappa: self._inner(kappa, lambda g, f: f))
        self.mu1 = keep(lambda kappa: self._inner(kappa, lambda g, f: g * f))
        self._second = keep(lambda kappa: self._inner(kappa, lambda g, f: f * f))

    def mu2sq(self, kappa: float) -> float:
        return self._second(kappa) - self.mu0(kappa) ** 2 - self.mu1(kappa) ** 2

    def mean(self, integrand: Callable[[float], float]) -> float:
        return _gaussian(integrand, [0.0])

    def _inner(self, kappa: float, of: Callable[[float, float], float]) -> float:
        shift, width = self.point.strength * kappa, math.sqrt(self.point.variance)
        return _gaussian(lambda g: of(g, math.tanh(shift + width * g)), None)


def _gaussian(integrand: Callable[[float], float], breaks: list[float] | None) -> float:
    weighted = lambda z: NORM * math.exp(-0.5 * z * z) * integrand(z)  # noqa: E731
    return float(quad(weighted, -REACH, REACH, points=breaks, epsabs=1e-11, epsrel=1e-11, limit=200)[0])


class Vectorised:
    """Gauss-Legendre nodes on both sides of the jump of the link; coefficients computed once, on arrays."""

    def __init__(self, point: Point, nodes: int = 100) -> None:
        half, weight = np.polynomial.legendre.leggauss(nodes)
        self.kappa = 0.5 * REACH * np.concatenate([half - 1.0, half + 1.0])
        self.weight = 0.5 * REACH * NORM * np.tile(weight, 2) * np.exp(-0.5 * self.kappa**2)
        g, weight = np.polynomial.legendre.leggauss(200)
        g, weight = REACH * g, REACH * NORM * weight * np.exp(-0.5 * (REACH * g) ** 2)
        values = np.tanh(point.strength * self.kappa[:, None] + math.sqrt(point.variance) * g)
        self._mu0, self._mu1 = values @ weight, values @ (weight * g)
        self._mu2sq = values**2 @ weight - self._mu0**2 - self._mu1**2

    def mu0(self, kappa: Any) -> Any:
        return self._mu0

    def mu1(self, kappa: Any) -> Any:
        return self._mu1

    def mu2sq(self, kappa: Any) -> Any:
        return self._mu2sq

    def mean(self, integrand: Callable[[Any], Any]) -> float:
        return float(self.weight @ integrand(self.kappa))


def step(point: Point, f: Averages, x: np.ndarray) -> np.ndarray:
    """One undamped sweep over (m, zeta, psi, Q1, Q2, V1, V2)."""
    m, zeta, psi, big_q1, big_q2, v1, v2 = (float(value) for value in x)
    ratio, beta = point.alpha / point.beta, point.beta

    def h(k: Any) -> Any:
        return 1.0 / (1.0 + f.mu1(k) ** 2 * v1 + f.mu2sq(k) * v2)

    def nu(k: Any) -> tuple[Any, Any, Any]:
        return label_moments(point, k)

    def rest(k: Any) -> Any:
        return nu(k)[0] - f.mu0(k) * m - f.mu1(k) * k * zeta

    def risk(k: Any) -> Any:
        variance = f.mu1(k) ** 2 * (big_q1 - psi**2) + f.mu2sq(k) * big_q2
        return rest(k) ** 2 + (nu(k)[1] - f.mu1(k) * psi) ** 2 + nu(k)[2] + variance

    v1_hat = ratio * f.mean(lambda k: f.mu1(k) ** 2 * h(k))
    v2_hat = ratio * f.mean(lambda k: f.mu2sq(k) * h(k))
    q1_hat = ratio * f.mean(lambda k: f.mu1(k) ** 2 * risk(k) * h(k) ** 2)
    q2_hat = ratio * f.mean(lambda k: f.mu2sq(k) * risk(k) * h(k) ** 2)
    zeta_hat = ratio * f.mean(lambda k: f.mu1(k) * k * rest(k) * h(k))
    psi_hat = ratio * f.mean(lambda k: f.mu1(k) * nu(k)[1] * h(k))
    along = f.mean(lambda k: f.mu0(k) * (nu(k)[0] - f.mu1(k) * k * zeta) * h(k))
    m = along / f.mean(lambda k: f.mu0(k) ** 2 * h(k))

    # Marchenko-Pastur: T (lambda + V2_hat + V1_hat/(1 + V1_hat T)) = beta, a quadratic equation
    shifted = point.ridge + v2_hat
    linear = shifted + v1_hat - beta * v1_hat
    t = (-linear + math.sqrt(linear**2 + 4.0 * beta * shifted * v1_hat)) / (2.0 * shifted * v1_hat)
    screen = 1.0 / (1.0 + v1_hat * t)
    source = psi_hat**2 + q1_hat / beta
    slope = zeta_hat**2 + q2_hat / beta + source * screen**2
    response = slope * t / (shifted + v1_hat * screen**2)
    new_q1 = source * (t * screen) ** 2 + response * screen**2
    return np.array([m, t * zeta_hat, t * screen * psi_hat, new_q1, response, t * screen / beta, t / beta])


def solve(point: Point, f: Averages, tolerance: float = 1e-10, most: int = 5000) -> tuple[float, int]:
    """Test error and number of iterations. Raises ArithmeticError where the iteration does not settle."""
    x = np.array([0.5, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0])
    for count in range(1, most + 1):
        change = step(point, f, x) - x
        x = x + DAMPING * change
        if np.abs(change).max() <= tolerance * np.abs(x).max():
            return test_error(point, f, x), count
        if not np.abs(x).max() < 1e6:
            break
    raise ArithmeticError(f"the damped iteration did not converge in {count} steps")


def test_error(point: Point, f: Averages, x: np.ndarray) -> float:
    """E (f_* - f)^2 at given overlaps."""
    m, zeta, psi, big_q1, big_q2 = (float(value) for value in x[:5])

    def risk(k: Any) -> Any:
        nu0, nu1, nu2sq = label_moments(point, k)
        bias = (nu0 - f.mu0(k) * m - f.mu1(k) * k * zeta) ** 2 + (nu1 - f.mu1(k) * psi) ** 2 + nu2sq
        return bias + f.mu1(k) ** 2 * (big_q1 - psi**2) + f.mu2sq(k) * big_q2

    return f.mean(risk)
