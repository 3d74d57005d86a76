"""Nodes of labels that jump, for averages of smooth functions: curves that leave to infinity, lines in a plane."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from giantstep.law.directions import mixing
from giantstep.law.multi_index_labels import nodes_given_kappa
from giantstep.spec.link import link_values
from giantstep.spec.model import Model
from giantstep.system.solve import solve

Array = np.ndarray
#: Nodes of weights below 1e-16 are left out, tens of thousands of them, and t ends at 8.5.
LEFT_OUT = 1e-10


def tilted(link: str, gamma: Array, kappa: float, tilt: Array, finer: int) -> float:
    """E[y exp(tilt.t)] given kappa, on nodes."""
    lower = mixing(gamma)
    weight, t = nodes_given_kappa(link, gamma[None], lower, np.array([[kappa]]), finer, False)
    z = kappa * gamma + t @ lower.T
    y = link_values(link)(np.moveaxis(z, 2, 0))
    return float((weight * y * np.exp(t @ tilt)).sum())


def piecewise(function: object, ends: Sequence[float]) -> float:
    return sum(
        quad(function, low, high, epsabs=1e-14, epsrel=1e-12)[0] for low, high in zip(ends, ends[1:], strict=False)
    )


def test_a_curve_that_leaves_to_infinity() -> None:
    """sign(z1 z2 - 0.3): the integral over z2 has an essential singularity at z1 = 0; it was known to 2e-5."""
    gamma, kappa, tilt, link = np.array([0.6, 0.3]), 0.4, np.array([0.5, -0.8]), "sign(z1*z2-0.3)"
    lower = mixing(gamma)
    mean = kappa * gamma + lower @ tilt  # which the tilt moves

    def along(z1: float) -> float:
        beside = mean[1] + lower[1, 0] / lower[0, 0] * (z1 - mean[0])
        above = norm.sf((0.3 / z1 - beside) / lower[1, 1])
        return float(norm.pdf(z1, mean[0], lower[0, 0]) * (2.0 * (above if z1 > 0.0 else 1.0 - above) - 1.0))

    near = [0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 12.0]
    exact = math.exp(0.5 * tilt @ tilt) * piecewise(along, [*(-x for x in near[::-1]), 0.0, *near])
    assert tilted(link, gamma, kappa, tilt, 1) == pytest.approx(exact, abs=LEFT_OUT)


@pytest.mark.parametrize("gamma", [(1 / 3, 2 / 3, 2 / 3), (0.64, 0.48, 0.6)])
def test_three_lines_in_the_plane_beside_kappa(gamma: tuple[float, ...]) -> None:
    """sign(z1 z2 z3) where kappa and a plane are all; axes of the plane lay so that lines passed steeply."""
    overlaps, kappa, tilt = np.array(gamma), 0.4, np.array([0.5, -0.8, 0.0])
    lower = mixing(overlaps)[:, :2]  # there is no third direction
    mean = kappa * overlaps + lower @ tilt[:2]

    def along(t: float) -> float:
        fixed = mean + lower[:, 0] * t
        roots = -fixed[1:] / lower[1:, 1]
        first, last = norm.cdf(np.sort(roots))
        outside = np.sign(fixed[0]) * np.sign(lower[1, 1] * lower[2, 1])
        return float(norm.pdf(t) * outside * (1.0 - 2.0 * (last - first)))

    rows = np.column_stack([mean, lower])
    meet = np.linalg.solve(rows[1:, 1:], -rows[1:, 0])[0]
    exact = math.exp(0.5 * tilt @ tilt) * piecewise(along, sorted([-12.0, -mean[0] / lower[0, 0], meet, 12.0]))
    assert tilted("sign(z1*z2*z3)", overlaps, kappa, tilt, 0) == pytest.approx(exact, abs=LEFT_OUT)


def test_a_loose_tolerance_leaves_the_error_told_above_what_is_missed() -> None:
    """Two rules that both miss how the curve leaves agreed to 3e-6, 5e-5 off."""
    model = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 0.8},
            "spike": {"strength": 1.5, "alignment": [0.6, 0.5], "bulk_variance": 1.2},
            "target": {"link": "sign(z1*z2-0.3)"},
            "fit": {"samples": 2.0, "loss": "hinge", "ridge": 0.1},
        }
    )
    loose, tight = (solve(model, tolerance=tolerance) for tolerance in (1e-2, 1e-10))
    assert abs(loose.test_error / tight.test_error - 1.0) <= loose.quadrature_error + tight.quadrature_error


@pytest.mark.slow
def test_a_margin_on_a_curve_that_leaves_to_infinity() -> None:
    """The test error at the overlaps that are told, by another rule: z1 and z2 outside, panels that get smaller towards
    z1 = 0, and kappa given both.
    """
    model = Model.from_dict(
        {
            "network": {"activation": "tanh(z)+z**2/5", "width": 1.2},
            "spike": {"strength": 1.5, "alignment": [0.6, 0.3], "bulk_variance": 1.2},
            "target": {"link": "sign(z1*z2-0.3)", "flips": 0.05},
            "fit": {"samples": 2.0, "loss": "squared_hinge", "ridge": 0.1},
        }
    )
    assert solve(model).test_error == pytest.approx(0.4529708254567702, rel=1e-10)
