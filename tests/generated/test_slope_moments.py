"""Moments of the slope of a loss, and how they move with the centre of the output."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from generated.losses import hinge, logistic, square
from generated.runtime.nodes import SCRATCH_SHAPE, Output, Rule
from giantstep.quadrature.gauss import gauss_rule

Array = np.ndarray
RULE = Rule(gauss_rule(24), 60, np.empty(0), 0.0)
V, SPREAD = 0.7, 0.6


def _moments(loss: object, label: float, centre: float) -> Array:
    out = np.empty((1, 8))
    outputs = Output(np.array([centre]), np.array([SPREAD]), np.array([V]))
    loss.LOSS.slope_moments(RULE, np.array([label]), outputs, np.empty(SCRATCH_SHAPE), out)  # type: ignore[attr-defined]
    return out[0]


def _slope_of_hinge(y: float, omega: float) -> float:
    """y where y omega is below 1 - V, nothing above 1, the way to the kink between: the prox of max(0, 1 - y f)."""
    u = y * omega
    return y * min(1.0, max(0.0, (1.0 - u) / V))


def _slope_of_square(y: float, omega: float) -> float:
    return (y - omega) / (1.0 + V)


@pytest.mark.parametrize("label, centre", [(1.0, 0.3), (-1.0, 0.4), (1.0, -0.9)])
@pytest.mark.parametrize("loss, slope", [(hinge, _slope_of_hinge), (square, _slope_of_square)])
def test_moments_are_integrals_over_the_prox(loss: object, slope: object, label: float, centre: float) -> None:
    """Adaptive quadrature to 1e-12 between the kinks."""
    kinks = sorted(z for z in ((label * u - centre) / SPREAD for u in (1.0, 1.0 - V)) if abs(z) < 9.0)

    def average(power: int, order: int) -> float:
        def integrand(z: float) -> float:
            hermite = (1.0, z / SPREAD, (z * z - 1.0) / SPREAD**2)[order]
            value = slope(label, centre + SPREAD * z)  # type: ignore[operator]
            return float(value**power * hermite * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi))

        return float(integrate.quad(integrand, -9.0, 9.0, points=kinks, epsabs=1e-13, epsrel=1e-12, limit=200)[0])

    wanted = [average(k, j) for k, j in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0))]
    assert _moments(loss, label, centre) == pytest.approx(wanted, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_derivatives_are_those_in_the_centre(label: float) -> None:
    """Central differences of step 1e-3 have the error 1e-6."""
    step = 1e-3
    up, here, down = (_moments(logistic, label, 0.3 + side * step) for side in (1, 0, -1))
    for value, slope in ((0, 1), (2, 3), (3, 4), (5, 6)):
        assert here[slope] == pytest.approx((up[value] - down[value]) / (2.0 * step), rel=1e-5, abs=1e-7)
