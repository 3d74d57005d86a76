"""The best estimator of labels that are linear on polygons of two indices, with noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.on_polygons import OnPolygons
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.strips import Strips
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.two import _rule, error_by_pieces, told_by_pairs, told_of_one_axis
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
OBLIQUE = "relu(z1)+relu(z1+z2-1)"
NOISE = 0.1
KNOWN = np.array([[0.9, 0.05], [0.05, 0.93]])


def by_nodes(rule: OnPolygons, kappa: Array, t: Array, noise: float) -> tuple[Array, float]:
    """E over y of E[t|y] E[t|y]^T and the variance of the link at one kappa, at a grid of t and y."""
    place = (rule.root @ kappa)[:, None, None] + np.einsum("ab,bij->aij", rule.turn * rule.width, np.stack([t, t.T]))
    label, weight = link_values(rule.link)(place), np.exp(-0.5 * (t**2 + t.T**2))
    weight /= weight.sum()
    y = np.arange(label.min() - 2.5, label.max() + 2.5, 0.1)
    likely = weight * np.exp(-0.5 * (y[:, None, None] - label) ** 2 / noise) / math.sqrt(2.0 * math.pi * noise)
    chance, first = likely.sum(axis=(1, 2)), np.stack([(likely * x).sum(axis=(1, 2)) for x in (t, t.T)])
    mean = (weight * label).sum()
    return 0.1 * (first / chance) @ first.T, float((weight * (label - mean) ** 2).sum())


@pytest.mark.parametrize("link", [OBLIQUE, "sign(z1)*z2 + relu(z1-z2)"])
def test_what_labels_tell_at_nodes_of_t(link: str) -> None:
    """At steps h of t, of a density with kinks or jumps: off by h^2, or h; the axes of the overlap are reflected."""
    axes = Axes.of(KNOWN)
    rule, _ = _rule(link, NOISE, axes, Fineness().more_labels())
    assert isinstance(rule, OnPolygons) and np.linalg.det(rule.turn) < 0.0
    kappa = np.array([[0.0, 0.7, -0.4], [0.3, -0.2, 1.1]])
    told, variance = (f(kappa[:, :, None, None], kappa, kappa)[:, 0, 0] for f in (rule.values, rule.variances))
    x = np.arange(-5.0, 5.01, 0.04)
    t = np.repeat(x[:, None], len(x), axis=1)
    close = 2e-2 if "sign" in link else 1e-3
    for at in range(kappa.shape[1]):
        expected, spread = by_nodes(rule, kappa[:, at], t, NOISE)
        found = np.array([[told[at, 0], told[at, 1]], [told[at, 1], told[at, 2]]])
        assert found == pytest.approx(expected, abs=close) and variance[at, 0] == pytest.approx(spread, abs=close)


@pytest.mark.parametrize("link", [OBLIQUE, "max(z1,max(z2,0))"])
def test_few_nodes_of_kappa_about_the_kinks(link: str) -> None:
    """Against a trapezoid in the plane, and turned by the axes of another overlap."""
    target = Target(link, noise=NOISE)
    nodes, strips = _rule(link, NOISE, Axes.of(KNOWN), Fineness())
    assert isinstance(strips, Strips)
    x = np.arange(-5.4, 5.41, 0.15)
    kappa = np.stack(np.meshgrid(x, x)).reshape(2, -1)
    weight = np.exp(-0.5 * (kappa**2).sum(axis=0)) * 0.15**2 / (2.0 * math.pi)
    expected = weight @ nodes.values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
    assert strips.average(nodes.values) == pytest.approx(expected, rel=2e-6, abs=1e-7)
    finer = told_by_pairs(target, KNOWN, Fineness(18, 1))
    assert told_by_pairs(target, KNOWN, Fineness()) == pytest.approx(finer, rel=1e-5, abs=1e-6)


def test_one_sign_of_what_is_known_is_enough() -> None:
    for link in ("abs(z1)+z2", "abs(z1-z2)", "sign(z1)+sign(z2)"):
        nodes, strips = _rule(link, NOISE, Axes.of(np.diag([0.8, 0.9])), Fineness(18, 3))
        assert isinstance(strips, Strips) and any(strips.even)
        whole = replace(strips, even=(False, False))
        assert len(strips.nodes()[1]) <= 0.6 * len(whole.nodes()[1])
        assert strips.average(nodes.values) == pytest.approx(whole.average(nodes.values), rel=2e-6, abs=1e-12)


def test_all_but_known() -> None:
    """Away from kinks labels are linear: E[E[t|y] E[t|y]^T]/(1 - q) goes to E[b b^T]/noise, b the slope."""
    target, rest = Target("relu(z1)+relu(z1+z2)", noise=NOISE), 1e-8
    told = told_by_pairs(target, (1.0 - rest) * np.eye(2), Fineness()) / rest
    both, one, other = 3.0 / 8.0, 1.0 / 8.0, 1.0 / 8.0  # by the angles of the polygons
    slopes = both * np.outer([2.0, 1.0], [2.0, 1.0]) + one * np.outer([1.0, 0.0], [1.0, 0.0]) + other * np.ones((2, 2))
    assert told == pytest.approx(slopes / NOISE, rel=2e-3)
    error = error_by_pieces(target, (1.0 - rest) * np.eye(2), Fineness()) / rest
    assert error == pytest.approx(float(np.trace(slopes)), rel=2e-3)


def test_what_a_symmetry_hides_is_told_by_its_square() -> None:
    """Of z1 - z2 labels that do not see the order of z1 and z2 tell no sign, whatever the axes and their signs."""
    target, axis = Target("max(z1,max(z2,0))", noise=NOISE), np.array([-1.0, 1.0]) / math.sqrt(2.0)
    for q in (0.1, 0.5, 0.97):
        first, square = told_of_one_axis(target, q * np.full((2, 2), 0.5), axis, Fineness(18, 1))
        assert first < 1e-15 and square > 0.1


def test_overlaps_next_to_one() -> None:
    """Kinks that are oblique to one another: refused before, as nodes along axes were too many."""
    given = gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0},
            "target": {"link": OBLIQUE, "noise": NOISE},
            "fit": {"samples": 3e4, "ridge": 0.1},
        }
    )
    found = gs.optimal(given)
    assert found.mean_overlap is not None and found.test_error is not None
    # next to an overlap of one each direction is linear regression with the mean square of slopes
    z = np.random.default_rng(0).standard_normal((2, 400_000))
    slopes = (z[0] > 0.0) * np.array([[1.0], [0.0]]) + (z[0] + z[1] > 1.0) * np.array([[1.0], [1.0]])
    inverse = np.linalg.inv(slopes @ slopes.T / z.shape[1]) * NOISE / 3e4
    assert 1.0 - found.mean_overlap == pytest.approx(0.5 * float(np.trace(inverse)), rel=0.01)
    assert found.test_error == pytest.approx(2.0 * NOISE / 3e4, rel=0.01)


def test_even_steps_or_strips() -> None:
    """Where an axis begins to be sharp, whatever the overlap off the diagonal, both are right."""
    for sign in (1.0, -1.0):
        for q in (0.5, 0.66):
            known = q * np.eye(2) + sign * 0.2 * (1.0 - np.eye(2))
            found, finer = (
                told_by_pairs(Target("max(z1,z2)", noise=NOISE), known, f) for f in (Fineness(), Fineness(36))
            )
            assert found == pytest.approx(finer, abs=1e-5)


def test_directions_that_are_found_at_once_are_exact() -> None:
    """Labels that do not see the order of two indices tell nothing of their difference at first, however little noise
    there is; what nodes of a rule for any label left of it was taken for something.
    """
    found = first_threshold(Sought(Target("max(z1,z2)", noise=0.01)), Fineness(18, 2))
    assert found.samples == 0.0 and np.abs(found.directions) == pytest.approx(np.full((1, 2), math.sqrt(0.5)), abs=1e-9)
