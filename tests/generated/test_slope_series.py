"""Hermite coefficients of the slope: closed for losses of quadratic pieces, against their formulas in many digits."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import mpmath as mp
import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss, hermevander
from scipy.special import expit, factorial

from generated.losses import log_cosh, logistic
from generated.runtime.nodes import SCRATCH_SHAPE, Output, Rule
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.model import Fit
from giantstep.system.kernels import loss_kernel

ORDERS, OUTPUTS = 60, 24


Knots = list[tuple[mp.mpf, mp.mpf, mp.mpf]]


def huber(V: mp.mpf) -> Knots:
    """(place, g there, how much h grows) of the knots, at the label 0 and a threshold of one."""
    return [(-1 - V, mp.mpf(1), 1 / (1 + V)), (1 + V, mp.mpf(-1), -1 / (1 + V))]


def hinge(V: mp.mpf) -> Knots:
    """The same at the label 1."""
    return [(1 - V, mp.mpf(1), 1 / V), (mp.mpf(1), mp.mpf(0), -1 / V)]


def wanted(knots: Knots, center: mp.mpf, spread: mp.mpf) -> np.ndarray:
    """By parts: g falls with -h, the derivative of h are steps at the knots."""
    z = [(place - center) / spread for place, _, _ in knots]
    steps = [spread * step for _, _, step in knots]

    def below(x: mp.mpf) -> mp.mpf:  # E max(0, g - x) of a standard normal g
        return mp.npdf(x) - x * mp.ncdf(-x)

    found = [knots[0][1] - sum(step * below(x) for x, step in zip(z, steps, strict=True))]
    found.append(-sum(step * mp.ncdf(-x) for x, step in zip(z, steps, strict=True)))
    here = [(mp.npdf(x), mp.mpf(0)) for x in z]
    for n in range(2, ORDERS):
        total = -sum(step * first for step, (first, _) in zip(steps, here, strict=True))
        found.append(total / mp.sqrt(mp.factorial(n)))
        here = [(x * a - (n - 2) * b, a) for x, (a, b) in zip(z, here, strict=True)]
    return np.array([float(each) for each in found])


@pytest.mark.parametrize(("name", "label", "knots"), [("huber", 0.0, huber), ("hinge", 1.0, hinge)])
def test_series_of_quadratic_pieces(name: str, label: float, knots: Callable[[mp.mpf], Knots]) -> None:
    """Of responses from 1e-13 on, where a kink is narrower than rounding of its place; ends of a part of 1e-3 spreads
    cancel to 2e-13.
    """
    loss = Fit(1.0, 0.1, name).loss
    rng = np.random.default_rng(1)
    center, spread = 1.5 * rng.normal(size=OUTPUTS), np.exp(rng.normal(size=OUTPUTS))
    V = np.geomspace(1e-13, 1e2, OUTPUTS)
    rule = Rule(gauss_rule(44), 44, np.array(list(loss.values), dtype=float), 0.0)
    found = np.empty((OUTPUTS, ORDERS))
    labels = np.full(OUTPUTS, label)
    loss_kernel(loss).LOSS.slope_series(rule, labels, Output(center, spread, V), np.zeros(SCRATCH_SHAPE), found)
    with mp.workdps(60):
        for i in range(OUTPUTS):
            exact = wanted(knots(mp.mpf(V[i])), mp.mpf(center[i]), mp.mpf(spread[i]))
            assert found[i] == pytest.approx(exact, abs=4e-13 * float(np.sqrt(np.sum(exact**2)))), i


@pytest.mark.parametrize(("loss", "label"), [(logistic, 1.0), (logistic, -1.0), (log_cosh, 0.4)])
def test_series_of_smooth_losses(loss: ModuleType, label: float) -> None:
    """By Gauss's rule over the output, with the prox by Newton's method: 100 nodes leave 1e-14 of slopes so flat."""
    center, spread, V = np.array([0.3, -0.8]), np.array([0.5, 0.9]), np.array([0.7, 2.0])
    found = np.empty((2, 7))
    outputs = Output(center, spread, V)
    rule = Rule(gauss_rule(44), 44, np.empty(0), 0.0)
    loss.LOSS.slope_series(rule, np.full(2, label), outputs, np.zeros(SCRATCH_SHAPE), found)
    x, weight = hermegauss(100)
    omega = center[:, None] + spread[:, None] * x
    prox = omega.copy()
    for _ in range(20):
        if loss is logistic:
            g = label * expit(-label * prox)
            curvature = expit(prox) * expit(-prox)
        else:
            g, curvature = -np.tanh(prox - label), np.cosh(prox - label) ** -2
        prox -= (prox - V[:, None] * g - omega) / (1.0 + V[:, None] * curvature)
    exact = (g * weight / np.sqrt(2.0 * np.pi)) @ hermevander(x, 6) / np.sqrt(factorial(np.arange(7)))
    assert found == pytest.approx(exact, rel=0.0, abs=1e-12)
