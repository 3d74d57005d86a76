"""Moments of a label of several indices given several directions of kappa, against nested adaptive panels."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from giantstep.law import label_moments as module
from giantstep.law.directions import rows_of
from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_moments import label_moments
from giantstep.law.labels import label_law, smooth_rule
from giantstep.law.moments_given_kappa import moments_given_kappa
from giantstep.quadrature.trapezoid import trapezoid
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
TWO = np.array([[0.6, 0.1], [0.2, 0.5], [0.1, 0.3]])
THREE = np.array([[0.6, 0.1, 0.0], [0.2, 0.5, 0.1], [0.1, 0.3, 0.5]])
ALIGNED = np.array([[1.0, 0.0, 0.0], [0.0, 0.4, 0.1], [0.0, 0.0, 0.5]])
KAPPA = np.random.default_rng(1).standard_normal((7, 3))
LINKS = [
    ("z1 + z1*z2", TWO),
    ("tanh(z1) + z1*z2", TWO),
    ("z2*tanh(2*z1*z2)", TWO),
    ("sign(z1*z2)", TWO),
    ("sign(z1) + sign(z2)", TWO),
    ("relu(z1) - abs(z1 - z2)", TWO),
    ("sign(sin(2*z1))*z2", TWO),
    ("max(z1, 0.5)*abs(z2)", TWO),
    ("He(3, z1) + z1*z2*z3", THREE),
    ("z1*tanh(z3)*z2", ALIGNED),
]


@pytest.mark.parametrize(("link", "gamma"), LINKS)
def test_moments_are_those_of_adaptive_panels(link: str, gamma: Array) -> None:
    found = label_moments(Target(link), rows_of(gamma), KAPPA, 0.0, 1, False)
    exact = moments_given_kappa(link, gamma, KAPPA, 0.0, 0, False, adaptive=True)
    for name in ("mean", "linear", "square"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), atol=1e-10, err_msg=name)


@pytest.mark.parametrize("link", ["sign(z1*z2 - 0.3) + z1", "sign(z1**2 - z2)"])
def test_jumps_on_curves_that_run_off_to_infinity(link: str) -> None:
    """The integral over one index turns fast where the jump in the other is far out."""
    found = label_moments(Target(link), rows_of(TWO), KAPPA, 0.0, 2, False)
    exact = moments_given_kappa(link, TWO, KAPPA, 0.0, 0, False, adaptive=True)
    for name in ("mean", "linear", "square"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), atol=1e-10, err_msg=name)


def test_an_index_in_which_the_link_is_no_polynomial_may_come_last() -> None:
    """Against a grid of all three indices."""
    found = label_moments(Target("z1*tanh(z3)*z2"), rows_of(THREE), KAPPA[:2], 0.0, 0, False)
    law = label_law(Target("z1*tanh(z3)*z2"), rows_of(THREE), KAPPA[:2])
    assert isinstance(law, Points)
    np.testing.assert_allclose(found.linear, np.einsum("nj,nj,njd->nd", law.weight, law.label, law.t), atol=1e-11)
    np.testing.assert_allclose(found.square, (law.weight * law.label**2).sum(axis=1), atol=1e-11)


def test_directions_without_overlap_do_not_matter() -> None:
    """Directions with and without overlaps, mixed in the order of kappa: each node has the moments of its place."""
    gamma = np.array([[0.0, 0.0], [0.6, 0.1], [1e-17, 0.0], [0.2, 0.5]])
    axis = np.array([-1.2, 0.3, 0.8])
    kappa = np.stack([x.ravel() for x in np.meshgrid(*[axis] * 4, indexing="ij")], axis=1)
    found = label_moments(Target("tanh(z1)*z2"), rows_of(gamma), kappa, 0.0, 0, False)
    law = label_law(Target("tanh(z1)*z2"), rows_of(gamma), kappa)
    assert isinstance(law, Points)
    np.testing.assert_allclose(found.mean, (law.weight * law.label).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.linear, np.einsum("nj,nj,njd->nd", law.weight, law.label, law.t), atol=1e-12)


def test_a_label_that_kappa_knows_nothing_of() -> None:
    found = label_moments(Target("z1*z2"), ((0.0, 0.0), (0.0, 0.0)), KAPPA[:, :2], 0.0, 0, False)
    np.testing.assert_allclose(found.mean, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.square, 1.0, atol=1e-13)


@pytest.mark.parametrize("probit", [0.5, 8.0])
def test_noise_inside_a_link_of_two_indices_against_a_grid_of_one(probit: float) -> None:
    """E[tanh(u) v] over a Gaussian pair (u, v): v has a mean linear in u given u, and the rest is a sum over u."""
    gamma, kappa = np.array([[0.6, 0.3]]), np.array([[-1.2], [0.4]])
    inside = np.eye(2) - gamma.T @ gamma
    (size, both), (_, other) = inside + probit * np.eye(2)
    u = np.linspace(-12.0, 12.0, 20_001)
    weight = np.exp(-0.5 * u**2)
    weight /= weight.sum()
    found = label_moments(Target("tanh(z1)*z2", probit=probit), rows_of(gamma), kappa, probit, 1, False)
    for number, centre in enumerate(kappa @ gamma):
        first, second = np.sqrt(size) * u, both / np.sqrt(size) * u
        left = np.tanh(centre[0] + first)
        mean, square = left * (centre[1] + second), left**2 * ((centre[1] + second) ** 2 + other - both**2 / size)
        with_second = mean * second + left * (other - both**2 / size)
        about = np.linalg.solve(inside + probit * np.eye(2), [weight @ (mean * first), weight @ with_second])
        linear = np.linalg.solve(np.linalg.cholesky(inside), inside @ about)
        np.testing.assert_allclose(found.mean[number], weight @ mean, atol=1e-11)
        np.testing.assert_allclose(found.square[number], weight @ square, rtol=1e-11)
        np.testing.assert_allclose(found.linear[number], linear, atol=1e-11)


@pytest.mark.parametrize("alignment", [(0.5, 0.5), (0.5, -0.5), (0.3, 0.3)])
def test_labels_that_grow_where_both_indices_do_are_followed_there(alignment: tuple[float, float]) -> None:
    """E exp(2 a z1 z2) = 1/sqrt(1 - 4 a^2): along each index alone it is no more than an exponential."""
    kappa, weight = trapezoid(0.1, 20.0)
    found = label_moments(Target("exp(z1*z2/3)"), (alignment,), kappa[:, None], 0.0, 1, False)
    assert weight @ found.square == pytest.approx(1.0 / np.sqrt(1.0 - 4.0 / 9.0), rel=2e-12)


def test_too_many_nodes_are_refused_before_they_are_made() -> None:
    """They are squares of their numbers along each index; the reason names the link, which is what has to be softer."""
    link, gamma = "tanh(z1*z2)", ((0.5, 0.3),)
    assert len(smooth_rule(link, gamma, 0.0, 5, False)[0]) ** 2 > module._MOST
    label_moments(Target(link), gamma, np.zeros((1, 1)), 0.0, 1, False)
    tracemalloc.start()
    with pytest.raises(NotConverged, match="tanh.* nodes of its indices") as refused:
        label_moments(Target(link), gamma, np.zeros((1, 1)), 0.0, 5, False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "link of fewer indices" in refused.value.hint
    assert peak < 8 * module._TOGETHER
