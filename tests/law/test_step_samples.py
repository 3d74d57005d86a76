"""Samples of several steps at nodes: what follows from them by definition is the map of the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.further_steps import state_after
from giantstep.law.layer_state import LayerState
from giantstep.law.spike import states_after_steps
from giantstep.law.step_samples import StepSamples, later_samples

Array = np.ndarray
NODES = 44  # averages right to about 1e-9 for these models


def model(activation: str, link: str, values: tuple[float, ...], **target: Any) -> gs.Model:
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.8, "readout": readout},
        "step": [{"samples": 3.0, "learning_rate": 1.0}] * 3,
        "target": {"link": link, **target},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
    return gs.Model.from_dict(tables)


CASES = [
    model("gelu", "tanh(2*z)+He(2,z)/2", (1.0,), noise=0.1),
    model("relu", "relu", (1.0, -0.5)),
    model("relu", "z1+z1*z2", (1.0, 0.3)),
]


@pytest.mark.parametrize("given", CASES, ids=["one block", "kinks", "two indices"])
def test_rows_after_the_next_step(given: gs.Model) -> None:
    """Means along all directions that samples know and along the noise of their own batch, and squared norms."""
    states = states_after_steps(given)[:2]
    before, after = states
    of = later_samples(given.network, states, given.steps[1], given.target, NODES)
    known = len(of.along)
    moved, were = (np.array(state.loadings) @ np.array(state.axes) for state in (after, before))
    assert before.axes and known == np.array(before.axes).shape[1]
    # own = sum_b own_b e E_b sigma', and the noise of a block is what its samples have added: for one block both follow
    if len(after.bulk_variance) == 1:
        size = given.steps[1].learning_rate / given.network.width
        slope = of.own[0] / np.array(after.own)[0, 0]
        gained = size * (of.along @ slope)
        assert moved[0, :known] == pytest.approx(were[0] + gained, abs=1e-8)
    # orthonormal directions of the noise, and axes that are orthonormal
    gram = of.samples * np.einsum("n,rn,sn->rs", of.weight, of.own, of.own)
    assert gram == pytest.approx(np.eye(len(of.own)), abs=1e-8)
    axes = np.array(after.axes)
    assert axes @ axes.T == pytest.approx(np.eye(after.rank), abs=1e-9)
    assert axes[:, : given.target.indices] == pytest.approx(np.array(after.overlaps), abs=1e-9)
    c = np.array(before.bulk_variance)
    squares = (1.0 + of.stretch @ of.weight) ** 2 * c + c * (of.stretch**2 @ of.weight) / of.samples
    assert squares + of.noise @ of.weight == pytest.approx(np.array(after.bulk_variance), rel=1e-8)


def test_weights_between_directions_are_those_of_a_gaussian() -> None:
    """Of a sample whose own residual is left out: t t^T - 1 averages to nothing, t to nothing."""
    given = CASES[2]
    states = states_after_steps(given)[:2]
    of: StepSamples = later_samples(given.network, states, given.steps[1], given.target, NODES)
    known = len(of.along)
    assert of.weight.sum() == pytest.approx(1.0, abs=1e-10)
    assert of.along.sum(axis=1) == pytest.approx(np.zeros(known), abs=1e-9)
    assert of.between[:known, :known].sum(axis=2) == pytest.approx(np.zeros((known, known)), abs=1e-9)


def test_directions_of_a_spike_that_is_lost() -> None:
    """A step of rate zero has no noise, and leaves the directions as they are."""
    given = CASES[0].replace({"step.2.learning_rate": 0.0})
    first, second = states_after_steps(given)[:2]
    assert second.own == () and len(second.axes[0]) == len(first.axes[0])
    assert np.array(second.axes) == pytest.approx(np.array(first.axes), abs=1e-12)
    bare = LayerState(*_bare(first), first.axes, kept=first.kept, alike=first.alike)
    assert state_after(given.network, bare, given.steps[1], given.target) == second


def _bare(state: LayerState) -> tuple[Any, Any, Any]:
    return state.loadings, state.overlaps, state.bulk_variance
