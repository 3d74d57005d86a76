"""The logistic saddle point the way notebooks do it: equations of one block by hand, damped simultaneous iteration.

``vectorised``: NumPy, Gauss-Hermite nodes for kappa and the output, Newton's method for the prox. ``Nested``: scipy
``quad`` in kappa over ``quad`` in the output, ``brentq`` for the prox. Labels are the sign of the target's index.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfc, expit, roots_hermitenorm

Array = np.ndarray
NAMES = ("V1", "V2", "m", "zeta", "psi", "Q1", "Q2")


@dataclass(frozen=True)
class Setting:
    """Numbers of the model, and its coefficients (mu0, mu1, mu2^2) as functions of kappa."""

    alpha: float
    beta: float
    ridge: float
    gamma: float
    coefficients: Callable[[Array], tuple[Array, Array, Array]]


def iterate(
    averages: Callable[[dict[str, float]], dict[str, float]],
    setting: Setting,
    tolerance: float = 1e-10,
    damping: float = 0.5,
    most: int = 4000,
) -> tuple[dict[str, float], int]:
    """Damped iteration of all order parameters at once until they change by less than the tolerance."""
    state = {"V1": 1.0, "V2": 1.0, "m": 0.0, "zeta": 0.0, "psi": 0.1, "Q1": 1.0, "Q2": 1.0}
    for step in range(1, most):
        new = _updated(state, averages(state), setting)
        change = max(abs(new[n] - state[n]) / max(abs(new[n]), 1e-3) for n in NAMES)
        state = {n: damping * state[n] + (1.0 - damping) * new[n] for n in NAMES}
        if change < tolerance:
            return state, step
    raise ArithmeticError("the iteration did not converge")


def _updated(state: dict[str, float], hat: dict[str, float], s: Setting) -> dict[str, float]:
    """The explicit side of the equations: THEORY section 4 for one block."""
    v1, v2 = hat["V1"], hat["V2"]
    shift = s.ridge + v2
    a, b, c = shift * v1, shift + v1 - s.beta * v1, -s.beta
    t = (-b + math.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    p = 1.0 / (1.0 + v1 * t)
    slope = shift + v1 * p * p
    bulk = hat["psi"] ** 2 + hat["q1"] / s.beta
    source = hat["zeta"] ** 2 + hat["q2"] / s.beta + bulk * p * p
    return {
        "V1": t * p / s.beta,
        "V2": t / s.beta,
        "m": state["m"] + hat["m"],
        "zeta": t * hat["zeta"],
        "psi": t * p * hat["psi"],
        "Q1": (t * p) ** 2 * bulk + t * p * p / slope * source,
        "Q2": t / slope * source,
    }


def vectorised(setting: Setting, nodes: int = 96) -> Callable[[dict[str, float]], dict[str, float]]:
    """Averages by NumPy: nodes for kappa times nodes for the output, both labels."""
    x, w = roots_hermitenorm(nodes)
    w = w / math.sqrt(2.0 * math.pi)
    mu0, mu1, mu2 = setting.coefficients(x)
    root = math.sqrt(1.0 - setting.gamma**2)

    def averages(state: dict[str, float]) -> dict[str, float]:
        mean = mu0 * state["m"] + x * mu1 * state["zeta"]
        slope = mu1 * state["psi"]
        delta = mu1**2 * state["Q1"] + mu2 * state["Q2"] - slope**2
        variance = mu1**2 * state["V1"] + mu2 * state["V2"]
        total = np.sqrt(delta + slope**2)
        omega = mean[:, None] + total[:, None] * x
        inner = np.sqrt(delta) / total
        place = (setting.gamma / root * x[:, None] + (slope / total)[:, None] * x) / inner[:, None]
        sums = dict.fromkeys(("g", "h", "gg", "tg"), 0.0)
        for y in (1.0, -1.0):
            g, h = logistic_prox(y, omega, variance[:, None])
            law = 0.5 * erfc(-y * place / math.sqrt(2.0))
            density = y * np.exp(-0.5 * place**2) / math.sqrt(2.0 * math.pi)
            t = (slope / total)[:, None] * x * law + inner[:, None] * density
            sums["g"] = sums["g"] + (law * g) @ w
            sums["h"] = sums["h"] + (law * h) @ w
            sums["gg"] = sums["gg"] + (law * g * g) @ w
            sums["tg"] = sums["tg"] + (t * g) @ w
        rate = setting.alpha / setting.beta
        return {
            "V1": rate * w @ (mu1**2 * sums["h"]),
            "V2": rate * w @ (mu2 * sums["h"]),
            "q1": rate * w @ (mu1**2 * sums["gg"]),
            "q2": rate * w @ (mu2 * sums["gg"]),
            "zeta": rate * w @ (mu1 * x * sums["g"]),
            "psi": rate * w @ (mu1 * (sums["tg"] + slope * sums["h"])),
            "m": w @ (mu0 * sums["g"]) / (w @ (mu0**2 * sums["h"])),
        }

    return averages


def logistic_prox(y: float, omega: Array, variance: Array, steps: int = 60) -> tuple[Array, Array]:
    """g and h of the logistic loss, by a vectorised Newton's method for the prox."""
    f = omega.copy()
    for _ in range(steps):
        p = expit(-y * f)
        step = (f - omega - variance * y * p) / (1.0 + variance * p * (1.0 - p))
        f = f - step
        if np.max(np.abs(step)) < 1e-13 * max(1.0, float(np.max(np.abs(f)))):
            break
    p = expit(-y * f)
    return y * p, p * (1.0 - p) / (1.0 + variance * p * (1.0 - p))


class Nested:
    """One average after the other by nested ``quad``; counts the evaluations of the prox."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.evaluations = setting, 0

    def average(self, state: dict[str, float], weight: Callable[[float, float, float], float], power: str) -> float:
        """E[weight(mu0, mu1, mu2^2) <power>], power one of g, h, gg."""

        def outer(kappa: float) -> float:
            mu0, mu1, mu2 = (float(c[0]) for c in self.setting.coefficients(np.array([kappa])))
            return self._density(kappa) * weight(mu0, mu1, mu2) * self._inner(state, kappa, (mu0, mu1, mu2), power)

        return float(quad(outer, -8.0, 8.0, epsabs=1e-10, epsrel=1e-10, limit=200)[0])

    def _inner(self, state: dict[str, float], kappa: float, mu: tuple[float, float, float], power: str) -> float:
        mu0, mu1, mu2 = mu
        mean, slope = mu0 * state["m"] + kappa * mu1 * state["zeta"], mu1 * state["psi"]
        delta = mu1**2 * state["Q1"] + mu2 * state["Q2"] - slope**2
        variance, total = mu1**2 * state["V1"] + mu2 * state["V2"], math.sqrt(delta + slope**2)
        root = math.sqrt(1.0 - self.setting.gamma**2)

        def integrand(x: float) -> float:
            omega, value = mean + total * x, 0.0
            place = (self.setting.gamma / root * kappa + slope / total * x) * total / math.sqrt(delta)
            for y in (1.0, -1.0):
                self.evaluations += 1
                f = brentq(
                    lambda f, y=y: f - omega - variance * y * expit(-y * f),
                    omega - variance - 1.0,
                    omega + variance + 1.0,
                    xtol=1e-13,
                )
                p = float(expit(-y * f))
                g, h = y * p, p * (1.0 - p) / (1.0 + variance * p * (1.0 - p))
                value += 0.5 * math.erfc(-y * place / math.sqrt(2.0)) * {"g": g, "h": h, "gg": g * g}[power]
            return self._density(x) * value

        return float(quad(integrand, -8.5, 8.5, epsabs=1e-11, epsrel=1e-11, limit=200)[0])

    @staticmethod
    def _density(x: float) -> float:
        return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
