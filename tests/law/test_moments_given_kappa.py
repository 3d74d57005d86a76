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


@pytest.mark.parametrize("alignment", [(0.5, 0.4), (0.7, -0.7)])
def test_moments_of_what_is_steep_between_kinks_settle(alignment: tuple[float, float]) -> None:
    """Panels between the kinks of abs(tanh(z1*z2)) are halved: further out it turns within a part of them."""
    gamma, kappa = np.array([alignment]), np.array([[-1.3], [0.4], [2.2]])
    found = moments_given_kappa("abs(tanh(z1*z2))", gamma, kappa, 0.0, 0, rough=False)
    points, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(-9.0, 9.0, 61)  # zero among them
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    z, weight = (middle[:, None] + half[:, None] * points).ravel(), np.outer(half, weights).ravel()
    inverse = np.linalg.inv(np.eye(2) - gamma.T @ gamma)
    y = np.abs(np.tanh(np.outer(z, z)))
    for number, center in enumerate(kappa[:, 0, None] * gamma[0]):
        a, b = (z - center[0])[:, None], (z - center[1])[None]
        square = inverse[0, 0] * a * a + 2.0 * inverse[0, 1] * a * b + inverse[1, 1] * b * b
        density = np.outer(weight, weight) * np.exp(-0.5 * square)
        exact = [np.sum(density * y) / np.sum(density), np.sum(density * y * y) / np.sum(density)]
        assert [found.mean[number], found.square[number]] == pytest.approx(exact, rel=2e-11)
