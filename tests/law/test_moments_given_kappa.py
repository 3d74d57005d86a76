"""Moments of labels of three indices given kappa: a jump that one index crosses is a normal probability."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from giantstep.law.directions import noisy_indices
from giantstep.law.moments_given_kappa import moments_given_kappa

Array = np.ndarray
KAPPA = np.array([[-2.3], [-0.4], [0.7], [3.0]])


def moments_by_a_plane(gamma: Array, probit: float, kappa: float) -> tuple[float, Array]:
    """E y and E y t of y = sign(z1 + z2 z3): given (z2, z3) z1 is normal, and these two have trapezoids."""
    noisy = noisy_indices(gamma[None], probit)
    covariance = noisy.lower @ noisy.lower.T
    slope = np.linalg.solve(covariance[1:, 1:], covariance[1:, 0])
    width = math.sqrt(covariance[0, 0] - covariance[0, 1:] @ slope)
    line = np.arange(-9.0, 9.0, 0.08)
    x = np.stack([each.ravel() for each in np.meshgrid(line, line, indexing="ij")])
    weight = 0.08**2 * np.exp(-0.5 * (x**2).sum(axis=0)) / (2.0 * math.pi)
    beside = np.linalg.cholesky(covariance[1:, 1:]) @ x
    z2, z3 = gamma[1:, None] * kappa + beside
    middle = gamma[0] * kappa + slope @ beside
    place = (middle + z2 * z3) / width
    label = 2.0 * ndtr(place) - 1.0
    first = slope @ beside * label + 2.0 * width * np.exp(-0.5 * place**2) / math.sqrt(2.0 * math.pi)
    z = np.array([weight @ first, *((beside * label) @ weight)])  # E y (z - gamma kappa)
    return float(weight @ label), noisy.carry @ np.linalg.solve(noisy.lower, z)


@pytest.mark.parametrize("probit", [0.0, 0.3])
@pytest.mark.parametrize("overlaps", [(0.5, 0.3, 0.4), (0.0, 0.6, -0.6), (-0.8, 0.1, 0.2)])
def test_a_jump_that_one_index_crosses(overlaps: tuple[float, ...], probit: float) -> None:
    gamma = np.array(overlaps)
    for rough in (False, True):
        found = moments_given_kappa("sign(z1 + z2*z3)", gamma[None], KAPPA, probit, 0, rough)
        for kappa, mean, linear in zip(KAPPA[:, 0], found.mean, found.linear, strict=True):
            exact = moments_by_a_plane(gamma, probit, kappa)
            # nodes settle to 2e-12 of all moments with the weight of their kappa
            assert mean == pytest.approx(exact[0], abs=1e-11 * math.exp(0.5 * kappa**2))
            assert linear == pytest.approx(exact[1], abs=1e-11 * math.exp(0.5 * kappa**2))
        assert found.square == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("link", ["relu(z1*z2 + z3)", "sign(z1)*z2*relu(z3)", "sign(z1*z2*z3)"])
def test_nodes_and_adaptive_panels_agree(link: str) -> None:
    gamma, kappa = np.array([[0.5, 0.3, 0.4]]), KAPPA[1:2]
    found, halved = (moments_given_kappa(link, gamma, kappa, 0.0, 0, False, adaptive) for adaptive in (False, True))
    for name in ("mean", "linear", "square"):
        assert getattr(found, name) == pytest.approx(getattr(halved, name), abs=1e-10), name


def test_kappa_that_is_too_far_out_is_not_felt() -> None:
    found = moments_given_kappa("sign(z1 + z2*z3)", np.array([[0.5, 0.3, 0.4]]), np.array([[12.0]]), 0.0, 0, False)
    assert found.mean.tolist() == [0.0] and found.square.tolist() == [0.0]
