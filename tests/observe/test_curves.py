"""Links of two indices with bent kinks: nodes of what is known about curves, against even ones and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.curves import Curves
from giantstep.observe.optimal.cut_nodes import CutNodes
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.told import most_power
from giantstep.observe.optimal.two import _rule, error_by_pieces, told_by_pairs
from giantstep.spec.link import link_values
from giantstep.spec.model import Target


@pytest.mark.parametrize(
    "link", ["relu(z1*z2 - 0.3)", "sign(z1**2 + z2**2 - 1)", "abs(z1*z2 + z1)", "relu(z2 - z1**2)"]
)
def test_nodes_about_curves(link: str) -> None:
    """Against many even ones: curves that leave to infinity, that close, that cross themselves, oblique overlaps."""
    for known in (np.diag([0.93, 0.9]), np.array([[0.95, 0.02], [0.02, 0.93]])):
        nodes, curves = _rule(link, 0.1, Axes.of(known), Fineness())
        assert isinstance(curves, Curves)
        x = np.arange(-5.2, 5.21, 0.08)
        kappa = np.stack(np.meshgrid(x, x)).reshape(2, -1)
        weight = np.exp(-0.5 * (kappa**2).sum(axis=0)) * 0.08**2 / (2.0 * math.pi)
        expected = weight @ nodes.values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
        assert curves.average(nodes.values) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def told_beside_a_jump(noise: float) -> float:
    """Of a jump from -1 to 1 over the whole strip, in widths of t: E[t;y] is the normal density times that of the
    noise about 1 less that about -1.
    """
    s, y = np.linspace(-8.0, 8.0, 1601)[:, None], np.linspace(-4.0, 4.0, 1601)[None]
    up, down = (np.exp(-0.5 * (y - side) ** 2 / noise) / math.sqrt(2.0 * math.pi * noise) for side in (1.0, -1.0))
    first = np.exp(-0.5 * s * s) / math.sqrt(2.0 * math.pi) * (up - down)
    return float((first**2 / (ndtr(s) * up + ndtr(-s) * down)).sum() * 0.01 * 0.005)


@pytest.mark.parametrize("few", [1e-2, 1e-4, 1e-7])
def test_a_jump_on_a_circle_next_to_all_is_known(few: float) -> None:
    """The strip is straight to the next power: the density on the circle is 1/sqrt(e), and the variance of a sign
    in it 4 ndtr(s) ndtr(-s), 4/sqrt(pi) in all.
    """
    target, known = Target("sign(z1**2 + z2**2 - 1)", noise=0.1), (1.0 - few) * np.eye(2)
    told = told_by_pairs(target, known, Fineness(18, 1))
    length = math.sqrt(few) * math.exp(-0.5)
    assert np.diag(told) == pytest.approx(0.5 * length * told_beside_a_jump(0.1), rel=few + 3e-5)
    error = error_by_pieces(target, known, Fineness(18, 1))
    assert error == pytest.approx(length * 4.0 / math.sqrt(math.pi), rel=few + 3e-5)


@pytest.mark.parametrize("few", [1e-5, 1e-7])
def test_slopes_beside_a_bent_kink_next_to_all_is_known(few: float) -> None:
    """In all a label tells (1 - q) E |g|^2/noise, with the next power 200 (1 - q) of it. The slope g = (-2 z1, 1) above
    z2 = z1^2 is blurred to g ndtr(s) in the strip: of its square 1/sqrt(pi) strips are missing.
    """
    target, known = Target("relu(z2 - z1**2)", noise=0.1), (1.0 - few) * np.eye(2)
    z = np.linspace(-7.0, 7.0, 14001)
    bell, square = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi), 1.0 + 4.0 * z * z
    whole = float((bell * square * ndtr(-z * z)).sum() * 1e-3)
    on_curve = np.exp(-0.5 * z**4) / math.sqrt(2.0 * math.pi) * np.sqrt(square)  # of a step of z1
    strip = float((bell * on_curve * square).sum() * 1e-3)
    exact = 10.0 * few * (whole - strip * math.sqrt(few / math.pi))
    assert np.trace(told_by_pairs(target, known, Fineness(18, 1))) == pytest.approx(exact, rel=200.0 * few + 2e-5)


def test_many_samples_of_a_bent_kink() -> None:
    """Each index leaves 1 - Q of its own, as in regression: an error of 2 noise/samples, and a part of its root; a
    label that has noise never leaves nothing.
    """
    network, target = {"activation": "tanh", "width": 1.0}, {"link": "abs(z1*z2 + z1)", "noise": 0.1}
    found = gs.optimal(
        gs.Model.from_dict({"network": network, "target": target, "fit": {"samples": 1e5, "ridge": 0.1}})
    )
    assert found.test_error == pytest.approx(2e-6, rel=1e-2) and found.error < 1e-8


@pytest.mark.parametrize("link", ["relu(z1**2 + z2**2 - 1)", "tanh(relu(z1) + z2)"])
def test_links_that_are_straight_in_no_index(link: str) -> None:
    """Nodes between kinks, close to a curve and far from it, against sums of another hand over t that know no kinks.
    Nodes end at 5.6 deviations: 1.5e-7 of a squared label of up to 30 is beyond.
    """
    known = np.diag([0.9, 0.8])
    nodes, _ = _rule(link, 0.1, Axes.of(known), Fineness(12, 1))
    assert isinstance(nodes, CutNodes)
    root, rest = np.sqrt(np.diag(known)), np.sqrt(1.0 - np.diag(known))
    kappa = np.array([[0.3, 1.1, -0.9, 2.0], [0.2, 0.3, 0.5, -1.0]])
    found = nodes.values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
    variances = nodes.variances(kappa[:, :, None, None], kappa, kappa)[:, 0, 0, 0]
    x = np.linspace(-6.0, 6.0, 1201)
    t = np.stack(np.meshgrid(x, x, indexing="ij")).reshape(2, -1)
    weight = np.exp(-0.5 * (t**2).sum(axis=0)) * 1e-4 / (2.0 * math.pi)
    for place, told, variance in zip(kappa.T, found, variances, strict=True):
        label = link_values(link)(root[:, None] * place[:, None] + rest[:, None] * t)
        cell = ((label - label.min()) * 500.0).astype(int)
        sums = [np.bincount(cell, weights=weight * part) for part in (np.ones(len(label)), t[0], t[1], label)]
        middle = sums.pop() / np.maximum(sums[0], 1e-300)
        y = np.linspace(label.min() - 1.8, label.max() + 1.8, 300)
        bell = np.exp(-0.5 * (y[:, None] - middle) ** 2 / 0.1) / math.sqrt(0.2 * math.pi)
        chance, first, second = (bell @ each for each in sums)
        exact = np.array([first**2, first * second, second**2]) / chance @ np.full(300, y[1] - y[0])
        assert told[:3] == pytest.approx(exact, rel=2e-4, abs=1e-5)
        assert variance == pytest.approx(weight @ (label - weight @ label) ** 2, rel=1e-5, abs=5e-6)


def test_squares_between_kinks() -> None:
    """On a link of one index alone the other one is not seen, and the square of t^2 - 1 is that of either axis."""
    first, second = (
        _rule(link, 0.1, Axes.of(0.5 * np.eye(2)), Fineness(), 0.0, axis)[0]
        for link, axis in (("tanh(relu(z1) + z1/2) + 0*z2", 0), ("tanh(relu(z2) + z2/2) + 0*z1", 1))
    )
    kappa = np.array([[0.4, -1.0], [0.0, 0.0]])
    here = first.values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
    there = second.values(kappa[::-1, :, None, None], kappa, kappa)[:, 0, 0]
    assert here[:, [0, 3]] == pytest.approx(there[:, [2, 3]], rel=1e-9) and np.all(here[:, 3] > 1e-3)
    assert np.max(np.abs(here[:, 1:3])) < 1e-6


def test_random_labels_leave_something_unknown() -> None:
    """Whatever averages next to all that is known look like."""
    noisy = (Target("abs(z1*z2 + z1)", noise=0.1), Target("sign", flips=0.1), Target("sign", probit=0.1))
    assert [most_power(target) for target in noisy] == [1, 1, 1] and most_power(Target("relu")) == 2
