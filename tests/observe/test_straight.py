"""Links of two indices that are straight in one of them: sums of another hand, closed forms, and nodes of both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import norm
from told_by_sums import told_by_sums

import giantstep as gs
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.pair_nodes import PairNodes
from giantstep.observe.optimal.straight import Straight, straight_in
from giantstep.observe.optimal.strips import Strips
from giantstep.observe.optimal.symmetry import is_alike
from giantstep.observe.optimal.two import (
    _rule,
    error_by_pieces,
    lines_of,
    score_by_pieces,
    scored_by_pieces,
    told_by_pairs,
)
from giantstep.spec.link import link_values
from giantstep.spec.model import Target


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("z1 + z2**2", 0),
        ("tanh(z1)*z2", 1),
        ("abs(z1) + z2", 1),
        ("max(z1, 3*z2)", 1),
        ("tanh(z1*z2)", None),
        ("sqrt(abs(z1))*z2", 1),
    ],
)
def test_which_index_a_link_is_straight_in(link: str, place: int | None) -> None:
    """One without pieces first."""
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
            rule(link, 0.1, turn, axes.spread, turn * gamma, 2.0, squared).values(
                kappa, kappa[..., 0, 0], kappa[..., 0, 0]
            )
            for rule in (Straight, PairNodes)
        )
        np.testing.assert_allclose(found, other, rtol=0, atol=1e-5 * float(np.max(other)))


@pytest.mark.parametrize("few", [1e-3, 1e-6, 1e-9])
def test_next_to_all_is_known(few: float) -> None:
    """A label tells (1 - q) E[f' f'^T]/noise, to the next power: of z1 + z2^2, 1 and 4 z2^2. Of |z1| + z2 the slope is
    blurred near the kink: E erf(kappa/sqrt(2 few))^2 is left of the first one, less by 4/(pi sqrt(2)) of the root.
    """
    strip = 4.0 / (math.pi * math.sqrt(2.0)) * math.sqrt(few)
    for link, slopes in (("abs(z1) + z2", [1.0 - strip, 1.0]), ("z1 + z2**2", [1.0, 4.0])):
        found = told_by_pairs(Target(link, noise=0.1), (1.0 - few) * np.eye(2), Fineness(kappa=18))
        exact = 10.0 * np.array(slopes) * few
        np.testing.assert_allclose(np.diag(found), exact, rtol=220.0 * few + 2e-5)


def arcs(q: np.ndarray) -> np.ndarray:
    """E relu(z) relu(z') for a correlation q: Cho, Saul 2009."""
    found: np.ndarray = (np.sqrt(1.0 - q * q) + q * (math.pi - np.arccos(q))) / (2.0 * math.pi)
    return found


@pytest.mark.parametrize("few", [0.6, 1e-2, 1e-4, 1e-6])
def test_least_errors_in_closed_form(few: float) -> None:
    """E Var(f|kappa) is E f(z) f(z') for z' = z less the same for a correlation Q. Next to Q = 1 these cancel, and
    kinks are felt in a narrow strip only.
    """
    oblique, even = few * np.array([[1.0, 0.4], [0.4, 0.9]]), 1.0 - 0.7 * few
    parts, known = np.array([1.0, 0.5]), np.eye(2) - oblique
    sums = parts @ (arcs(np.eye(2)) - arcs(known)) @ parts
    found = error_by_pieces(Target("relu(z1) + relu(z2)/2", noise=0.1), known, Fineness(kappa=18))
    assert found == pytest.approx(sums, rel=1e-5 + 1e-14 / few)
    # max(z1, z2) is (s + |d|)/sqrt(2), of s = (z1 + z2)/sqrt(2) and d = (z1 - z2)/sqrt(2), each known to 1 - 0.7 few
    folded = 1.0 - (2.0 / math.pi) * (math.sqrt(1.0 - even**2) + even * math.asin(even))
    exact = 0.5 * (0.7 * few + folded)
    assert error_by_pieces(Target("max(z1, z2)", noise=0.1), even * np.eye(2), Fineness(kappa=18)) == pytest.approx(
        exact, rel=1e-5 + 1e-14 / few
    )


@pytest.mark.parametrize("few", [1e-3, 1e-6, 1e-9])
def test_oblique_overlaps_of_kinked_links(few: float) -> None:
    """In all a label tells Tr (1 - Q) E[g g^T]/noise, g the slopes blurred near kinks: E Phi(kappa/sqrt(few))^2 is less
    than a half by the root of few over pi sqrt(2).
    """
    left = few * np.array([[1.0, -0.3], [-0.3, 1.0]])
    found = told_by_pairs(Target("relu(z1) + relu(z2)/2", noise=0.1), np.eye(2) - left, Fineness(18, 1))
    half = 0.5 - math.sqrt(few) / (math.pi * math.sqrt(2.0))
    exact = 10.0 * float(np.sum(left * np.array([[half, 0.125], [0.125, 0.25 * half]])))
    assert np.trace(found) == pytest.approx(exact, rel=15.0 * few + 2e-5)


@pytest.mark.parametrize(
    ("link", "lines"),
    [
        ("relu(z1) + relu(z2)", 2),
        ("max(z1, 3*z2) + abs(3*z1 + z2)", 2),
        ("relu(z1)*z2 + relu(z1 + z2)", 2),
        ("relu(z1*z2 - 0.5)", None),
        ("tanh(relu(z1) + z2)", 1),
        ("z1 + z2**2", 0),
    ],
)
def test_kinks_that_are_lines(link: str, lines: int | None) -> None:
    """Others are followed as curves."""
    found = lines_of(link)
    assert (found if found is None else len(found)) == lines


@pytest.mark.parametrize("link", ["relu(z1)*z2 + relu(z1 + z2)", "tanh(z1)*abs(z2)"])
def test_strips_about_lines_that_are_not_linear_beside_them(link: str) -> None:
    """Few nodes of kappa against many even ones."""
    for known in (np.diag([0.93, 0.9]), np.array([[0.95, 0.02], [0.02, 0.93]])):
        nodes, strips = _rule(link, 0.1, Axes.of(known), Fineness())
        assert isinstance(strips, Strips)
        x = np.arange(-5.2, 5.21, 0.13)
        kappa = np.stack(np.meshgrid(x, x)).reshape(2, -1)
        weight = np.exp(-0.5 * (kappa**2).sum(axis=0)) * 0.13**2 / (2.0 * math.pi)
        expected = weight @ nodes.values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
        assert strips.average(nodes.values) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_pieces_that_begin_as_a_root() -> None:
    """A jump on a circle: both indices are told alike, though one is averaged in closed form and the other at nodes."""
    target = Target("sign(z1**2+z2**2-1)", noise=0.1)
    for q in (0.3, 0.9):
        told = told_by_pairs(target, q * np.eye(2), Fineness(18, 1))
        assert told[0, 0] == pytest.approx(told[1, 1], rel=2e-5) and told[0, 0] > 0.05
    assert is_alike(target) and not is_alike(Target("relu(z2 - z1**2)", noise=0.1))


def test_many_samples_of_a_kinked_link() -> None:
    """Each index leaves 1 - Q of its own, as in regression: an error of 2 noise/samples, and a part of its root."""
    fit, network = {"samples": 1e5, "ridge": 0.1}, {"activation": "tanh", "width": 1.0}
    target = {"link": "abs(z1) + z2", "noise": 0.1}
    found = gs.optimal(gs.Model.from_dict({"network": network, "target": target, "fit": fit}))
    assert found.test_error == pytest.approx(2e-6, rel=1e-3) and found.error < 1e-9


@pytest.mark.parametrize("link", ["z1*z2", "relu(z1) + z2"])
def test_the_score_of_a_single_label(link: str) -> None:
    """d log Z/d omega by sums over z, cut off at 7 deviations, right to 2e-4 beside a kink."""
    omega, y, noise = np.array([[0.3, -0.8], [1.2, 0.4]]), np.array([0.7, -0.2]), 0.1
    variance = np.array([[0.5, 0.1], [0.1, 0.3]])
    found = score_by_pieces(Target(link, noise=noise), y, omega, variance)
    x = np.linspace(-7.0, 7.0, 701)
    t = np.stack(np.meshgrid(x, x, indexing="ij")).reshape(2, -1)
    lower = np.linalg.cholesky(variance)
    for n in range(2):
        away = y[n] - link_values(link)(omega[n][:, None] + lower @ t)
        likely = np.exp(-0.5 * (t**2).sum(axis=0) - 0.5 * away**2 / noise)
        np.testing.assert_allclose(found[n], np.linalg.solve(lower.T, t @ likely / likely.sum()), rtol=0, atol=2e-4)


def test_the_score_of_a_product_of_signs() -> None:
    """Z = (1 + y erf erf)/2 where nothing joins the indices; a label that is none has no score."""
    omega, deviation = np.array([[0.3, -0.8], [1.2, 0.4], [0.1, 0.1]]), np.array([0.7, 0.5])
    y = np.array([1.0, -1.0, 0.5])
    found = score_by_pieces(Target("sign(z1*z2)"), y, omega, np.diag(deviation**2))
    sign, bell = erf(omega / deviation / math.sqrt(2.0)), 2.0 * norm.pdf(omega / deviation) / deviation
    exact = y[:, None] * bell * sign[:, ::-1] / (1.0 + y * sign.prod(axis=1))[:, None]
    np.testing.assert_allclose(found[:2], exact[:2], rtol=0, atol=1e-6)
    assert np.all(found[2] == 0.0)


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        (Target("z1*z2", noise=0.1), True),
        (Target("sign(z1*z2)"), True),
        (Target("sign(z1*z2)", flips=0.1), False),
        (Target("tanh(z1*z2)", noise=0.1), False),
    ],
)
def test_which_scores_follow_from_pieces(target: Target, answer: bool) -> None:
    assert scored_by_pieces(target) is answer
