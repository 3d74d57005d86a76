"""Metrics of labels on the edge of a comparison: what holds, holds to the letter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs

PLAIN = gs.model("tanh", link="sign", learning_rate=1.0, step_samples=4.0, samples=2.0, ridge=0.1)
TWO = gs.model("relu", link="z1 + z1*z2", readout=[1.0, -0.5], step_samples=3.0, learning_rate=1.0, samples=2.0)


@pytest.mark.parametrize(
    ("link", "chances"),
    [
        ("sign", {"y > 1": 0.0, "y >= 1": 0.5, "y < 1": 0.5, "y <= -1": 0.5, "(y > 1)*(f < 1)": 0.0}),
        ("relu", {"y > 0": 0.5, "y >= 0": 1.0, "y < 0": 0.0, "y <= 0": 0.5}),
        ("hard_tanh", {"y < 1": ndtr(1.0), "(y >= 1)*abs(y)": ndtr(-1.0), "y > 1": 0.0}),
        ("sign(z1*z2)", {"y > 1": 0.0, "1 <= y": 0.5}),
    ],
)
def test_labels_on_the_edge_of_a_comparison(link: str, chances: dict[str, float]) -> None:
    found = gs.metrics(PLAIN.replace({"target.link": link}), {f"of_{n}": text for n, text in enumerate(chances)})
    for value, right, error in zip(found.values.values(), chances.values(), found.errors.values(), strict=True):
        assert value == pytest.approx(right, rel=0.0, abs=error + 1e-12)


def test_counts_on_the_edge_of_a_comparison() -> None:
    """There are none between two that follow each other."""
    counts = PLAIN.replace({"target.link": "z", "target.channel": {"name": "binomial", "trials": 5}})
    found = gs.metrics(counts, {"more": "(y > 2)*(f > 1)", "least": "(y >= 3)*(f > 1)", "between": "(y > 2.5)*(f > 1)"})
    assert list(found.values.values()) == pytest.approx([found.values["between"]] * 3, rel=1e-10)


@pytest.mark.parametrize(
    ("model", "link", "width"),
    [pytest.param(PLAIN, "z/2", 0.5, marks=pytest.mark.slow), (TWO, "z1/3 + z2/4", math.hypot(1 / 3, 1 / 4))],
    ids=["one index", "two indices"],
)
def test_counts_without_bound_on_the_edge_of_a_comparison(model: gs.Model, link: str, width: float) -> None:
    """The chance of two counts and more by a rule of the mean; nodes of their law, which are none, took all memory."""
    found = gs.metrics(model.replace({"target": {"link": link, "channel": "poisson"}}), {"two": "2 <= y"})
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    rate, weight = np.exp(width * x), weight / weight.sum()
    assert found.values["two"] == pytest.approx(weight @ (1.0 - (1.0 + rate) * np.exp(-rate)), abs=1e-11)
