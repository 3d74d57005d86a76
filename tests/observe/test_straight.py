"""Links of two indices that are straight in one of them: sums of another hand, closed forms, and nodes of both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from told_by_sums import told_by_sums

from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.pair_nodes import PairNodes
from giantstep.observe.optimal.straight import Straight, straight_in
from giantstep.observe.optimal.two import told_by_pairs
from giantstep.spec.model import Target


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("z1 + z2**2", 0),
        ("tanh(z1)*z2", 1),
        ("abs(z1) + z2", 1),
        ("max(z1, 3*z2)", 1),
        ("tanh(z1*z2)", None),
        ("sqrt(abs(z1))*z2", None),
    ],
)
def test_which_index_a_link_is_straight_in(link: str, place: int | None) -> None:
    """One without pieces first; no series beside a kink is used where there is none."""
    assert straight_in(link) == place


@pytest.mark.parametrize("link", ["relu(z1)*z2", "max(z1, z2)", "relu(z1) + relu(z2)"])
def test_kinks(link: str) -> None:
    """The sums of another hand know nothing of kinks: they are right to what finer ones change."""
    known = np.diag([0.3, 0.5])
    found = told_by_pairs(Target(link, noise=0.5), known, Fineness(kappa=18))
    rough, fine = (told_by_sums(link, 0.5, known, (25, count)) for count in (61, 85))
    np.testing.assert_allclose(found, fine, rtol=0, atol=3.0 * np.max(np.abs(fine - rough)) + 1e-5)


def test_nodes_of_both_indices_and_axes_that_are_oblique() -> None:
    """Given kappa, with noise inside the link and the square of t too: nodes of t are right to 1e-5."""
    known, link = np.array([[0.5, 0.2], [0.2, 0.6]]), "z1*z2 + z1"
    axes, kappa = Axes.of(known, 0.2), np.random.default_rng(1).standard_normal((2, 6))[:, :, None, None]
    turn, gamma = axes.turn * math.sqrt(1.2), np.sqrt(axes.known)
    for squared in (None, 0, 1):
        found, other = (
            rule(link, 0.1, turn, gamma, axes.spread, 2.0, squared).values(kappa, kappa[..., 0, 0], kappa[..., 0, 0])
            for rule in (Straight, PairNodes)
        )
        np.testing.assert_allclose(found, other, rtol=0, atol=1e-5 * float(np.max(other)))


@pytest.mark.parametrize("few", [1e-3, 1e-6, 1e-9])
def test_next_to_all_is_known(few: float) -> None:
    """A label tells (1 - q) E[f' f'^T]/noise, to the next power: of |z1| + z2, and of z1 + z2^2, 1 and 4 z2^2."""
    for link, slopes in (("abs(z1) + z2", [1.0, 1.0]), ("z1 + z2**2", [1.0, 4.0])):
        found = told_by_pairs(Target(link, noise=0.1), (1.0 - few) * np.eye(2), Fineness(kappa=18))
        exact = 10.0 * np.array(slopes) * few
        np.testing.assert_allclose(np.diag(found), exact, rtol=220.0 * few + 2e-5)
