"""What random labels tell that depend smoothly on their indices: closed forms, other rules, and other axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.optimal.blur import blur, grid
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.errors import errors_along
from giantstep.observe.optimal.fineness import Fineness, label_fineness
from giantstep.observe.optimal.path import path_of
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.smooth import on_grid
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.told import Told, fine, information, told
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel

FINE = Fineness(kappa=27, labels=4)
ODDS = {"labels": [-1, 0, 2], "probability": "exp(y*s)/(exp(-s)+1+exp(2*s))"}
TARGETS = [
    Target("tanh", noise=0.1),
    Target("tanh(2*z)", noise=0.1, probit=0.4),
    Target("2*z", channel=Channel("logit")),
    Target("z/2", probit=0.3, channel=Channel("poisson")),
    Target("z + z**2/4", channel=Channel("binomial", 3)),
    Target("tanh(z)", channel=ODDS),  # type: ignore[arg-type]
    Target("z1 + z1*z2", channel=Channel("logit")),
]
SLOW = [
    Target("tanh(z1) + z1*z2/2", noise=0.5),
    Target("z1 + z2**2 - 1", probit=0.2, channel=Channel("probit")),
]


@pytest.mark.parametrize("q", [0.0, 0.4, 0.99, 1.0 - 1e-10])
@pytest.mark.parametrize("k", [0.0, 1.0, 3.0])
def test_averages_of_a_wave(q: float, k: float) -> None:
    """E[cos(k z) | kappa] in closed form. A normal density times cos(k z) has exp(-(pi/h - k)^2/2) beyond the grid, and
    the matrix is a difference over the width of t.
    """
    kappa = np.array([-2.3, 0.0, 1.1])
    closed = np.cos(k * math.sqrt(q) * kappa) * math.exp(-0.5 * k * k * (1.0 - q)) * np.exp(-0.5 * kappa**2)
    for step in (0.5, 0.35):
        z = grid(step, 9.0)
        beyond = math.exp(-0.5 * (math.pi / step - k) ** 2)
        found = blur(z, kappa, q) @ np.cos(k * z) * math.sqrt(2.0 * math.pi)
        np.testing.assert_allclose(found, closed, rtol=0, atol=3.0 * beyond + 1e-15 / math.sqrt(1.0 - q) + 1e-14)


def overlaps(indices: int) -> list[np.ndarray]:
    if indices == 1:
        return [q * np.eye(1) for q in (0.0, 0.4, 0.93)]
    return [np.array([[0.5, 0.2], [0.2, 0.3]])]


def growth(found: Told) -> np.ndarray:
    return np.asarray(np.einsum("k,kab,kcd->abcd", found.weight, found.square, found.square))


def by_nodes(target: Target, known: np.ndarray, nodes: Fineness) -> tuple[np.ndarray, ...]:
    found = told(target, known, nodes)
    return found.information, growth(found), np.array(least_error(target, known, nodes, False))


@pytest.mark.parametrize(
    "target",
    [*TARGETS, *(pytest.param(target, marks=pytest.mark.slow) for target in SLOW)],
    ids=lambda target: f"{target.link}-{target.channel or target.noise}",
)
def test_the_rule_for_any_label_agrees(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of labels given kappa know no grid; they are right to what they change on finer ones.

    With and without moments it is one sum, of densities that are rounding below 1e-14 of the largest. Noisy labels
    have nodes of their own without moments: of one index right to 1e-9, of two to 1e-5 of the largest (``straight``).
    """
    assert on_grid(target)
    for known in overlaps(target.indices):
        found, error = told(target, known, FINE), least_error(target, known, FINE, False)
        assert found.weight.sum() == pytest.approx(1.0, abs=3e-10)
        own = {1: 1e-9, 2: 1e-5 * float(np.max(found.information))}
        one = own[target.indices] if target.noise else 1e-12
        np.testing.assert_allclose(information(target, known, FINE), found.information, rtol=0, atol=one)
        with monkeypatch.context() as patch:
            for module in ("told", "error"):
                patch.setattr(f"giantstep.observe.optimal.{module}.on_grid", lambda target: False)
            patch.setattr("giantstep.observe.optimal.error.is_constant", lambda link: True)
            first = label_fineness(target)
            rough, other = (by_nodes(target, known, nodes) for nodes in (first, first.more_labels().more_kappa()))
        here = (found.information, growth(found), np.array(error))
        for each, coarse, fine_ in zip(here, rough, other, strict=True):
            close = 3.0 * float(np.max(np.abs(fine_ - coarse))) + 1e-9
            assert close < 1e-3
            np.testing.assert_allclose(each, fine_, rtol=0, atol=close)


def plain(link: str, samples: float, **target: float) -> gs.Model:
    """A model without a step."""
    fit, network = {"samples": samples, "ridge": 0.1}, {"activation": "tanh", "width": 1.0}
    return gs.Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit})


@pytest.mark.parametrize("samples", [0.4, 6.0])
def test_a_linear_target_along_no_axis(samples: float) -> None:
    """z1 + 2 z2 is one index of variance 5: its overlap by a quadratic equation, along (1, 2), and none beside it."""
    b = 1.0 + 0.5 / 5.0 + samples
    overlap = 0.5 * (b - math.sqrt(b * b - 4.0 * samples))
    found = gs.optimal(plain("z1+2*z2", samples, noise=0.5))
    assert found.overlap is not None and found.test_error is not None
    direction = np.array([1.0, 2.0]) / math.sqrt(5.0)
    np.testing.assert_allclose(found.overlap, overlap * np.outer(direction, direction), rtol=0, atol=1e-6)
    assert found.test_error == pytest.approx(5.0 * (1.0 - overlap), abs=1e-5)


def test_noise_inside_a_linear_link_is_noise_of_its_label() -> None:
    inside, beside = gs.optimal(plain("z", 1.5, probit=0.2, noise=0.1)), gs.optimal(plain("z", 1.5, noise=0.3))
    assert inside.mean_overlap == pytest.approx(beside.mean_overlap, abs=1e-8)


def test_the_threshold_of_a_noisy_square() -> None:
    """1 / E_y (E[z^2 - 1 | y])^2 by sums over z and y of another hand; steps of 1e-3 and 0.01 settle twelve digits."""
    z = np.linspace(-9.0, 9.0, 18001)
    weight = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * (z[1] - z[0])
    total = 0.0
    for y in np.arange(-3.0, 60.0, 0.02):
        chance = weight * np.exp(-((y - z * z) ** 2) / 0.2) / math.sqrt(0.2 * math.pi)
        if chance.sum() > 0.0:
            total += 0.02 * float(chance @ (z * z - 1.0)) ** 2 / float(chance.sum())
    target = Target("z**2", noise=0.1)
    assert first_threshold(Sought(target), fine(target)).samples == pytest.approx(1.0 / total, rel=3e-8)


@pytest.mark.parametrize("channel", ["logit", "probit", "poisson", {"name": "binomial", "trials": 3}, ODDS], ids=str)
def test_slopes_of_probabilities(channel: Any) -> None:
    law = Target("tanh(z)", channel=channel).channel
    assert law is not None
    s, y, step = np.linspace(-2.0, 1.5, 8), np.array(law.values or (0.0, 1.0, 4.0))[:, None], 1e-5
    slope = (law.probability_of(y, s + step) - law.probability_of(y, s - step)) / (2.0 * step)
    np.testing.assert_allclose(law.slope_of(y, s), slope, rtol=0, atol=1e-9)


def test_steep_and_rough_labels_are_averaged_elsewhere() -> None:
    assert not on_grid(Target("He(3,z)", noise=0.1)) and not on_grid(Target("relu", noise=0.1))
    assert not on_grid(Target("tanh")) and not on_grid(Target("sign", channel=Channel("logit")))


def test_errors_of_links_that_vary_fast() -> None:
    """Against panels of another hand, and nodes that are much finer."""
    target, q = Target("tanh(3*z) - z", noise=0.02), 0.965314089
    errors = errors_along(path_of(Sought(target)), by_sign=False)
    assert errors.at(q) == pytest.approx(0.0308588, abs=1e-7) and errors.off(q) < 1e-8
    sharp, q = Target("z + exp(-20*z**2)/3", noise=0.2), 0.99
    errors = errors_along(path_of(Sought(sharp)), by_sign=False)
    best = least_error(sharp, np.array([[q]]), Fineness(60, 10), by_sign=False)
    assert errors.off(q) < 1e-8 and errors.at(q) == pytest.approx(best, rel=1e-6)
