"""Nodes of the samples that rows have seen: what is left out of them, and how much of them is held at a time."""

from functools import lru_cache

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.further_steps import Layer, before_steps, gain_of_step
from giantstep.law.repeated_batch import _Both
from giantstep.law.seen_samples import _POINTS, SeenSamples

NOISE = 0.02
TOLERANCE = 1e-11  # of loadings and variances


@lru_cache
def seen(fineness: float) -> _Both:
    """Samples of a link of two indices, with noise."""
    step = {"samples": 2.0, "learning_rate": 0.5}
    model = gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0},
            "target": {"link": "z1 + z1*z2", "noise": NOISE},
            "step": [step, {**step, "batch": "same"}],
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    before, (first, second) = before_steps(model.network, model.target), model.steps
    gain = gain_of_step(model.network, before, first, model.target)
    return _Both(SeenSamples(Layer(model.network, before, model.target), first, gain, fineness), second)


def test_what_is_left_out_of_many_nodes_does_not_grow_with_them() -> None:
    """E y^4 by its nodes: each is left out by its share of the largest, and half a million shares sum to nothing.

    y is z1 times 1 + z2, plus noise: its moments by those of the three.
    """
    expected = 3.0 * 10.0 + 6.0 * 2.0 * NOISE + 3.0 * NOISE**2
    both = seen(4.0)
    labels = both._labels(np.zeros(both.seen.layer.before.rank))
    assert len(labels.weight) > 400_000
    assert labels.weight @ labels.label**4 == pytest.approx(expected, rel=TOLERANCE)


def test_residuals_are_between_the_nodes_of_one_panel() -> None:
    """A polynomial comes out exactly, and what is held of each residual does not depend on how many nodes there are."""
    seen_samples = seen(2.0).seen
    e = np.sort(np.random.default_rng(0).normal(size=50_000))
    nodes, to_residuals = seen_samples.residual_nodes(e)
    assert len(nodes) > 2 * _POINTS
    assert to_residuals.coefficients.shape == (len(e), _POINTS)
    found = to_residuals.at(slice(100, 40_000), np.exp(nodes)[None, None, :, None])
    assert found[0, 0, :, 0] == pytest.approx(np.exp(e[100:40_000]), rel=1e-9)


def test_residuals_that_are_few_are_nodes_themselves() -> None:
    e = np.sort(np.random.default_rng(1).choice([-1.0, 0.25, 1.0], size=1000))
    nodes, to_residuals = seen(1.0).seen.residual_nodes(e)
    assert nodes.tolist() == [-1.0, 0.25, 1.0]
    assert np.array_equal(to_residuals.at(slice(0, 1000), nodes[None, None, :, None])[0, 0, :, 0], e)
