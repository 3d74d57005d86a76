"""The first layer after several giant steps: against its definition, limits, symmetries and simulated networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from layer_states import ROUNDING, invariants, readout, same
from numpy.polynomial.hermite_e import hermegauss

import giantstep as gs
from derive.check import check_derivation
from derive.further_step import further_step
from giantstep.law.further_steps import Gain, Layer, before_steps, state_after
from giantstep.law.layer_state import LayerState
from giantstep.law.spike import spike_of, states_after_steps

Array = np.ndarray
STEP: dict[str, float] = {"samples": 4.0, "learning_rate": 1.5}


def model(activation: str = "tanh", link: str = "sign", steps: int = 2, **tables: Any) -> gs.Model:
    network = {"activation": activation, "width": 0.8, **tables.pop("network", {})}
    target = {"link": link, **tables.pop("target", {})}
    fit = {"samples": 2.0, "ridge": 0.05, **tables.pop("fit", {})}
    return gs.Model.from_dict({"network": network, "target": target, "fit": fit, "step": [STEP] * steps, **tables})


def test_recorded_steps_hold_at_random_points() -> None:
    for check in check_derivation(further_step().derivation):
        assert check.error is None or check.error < 1e-15, check


@pytest.mark.parametrize(
    ("activation", "link", "network", "target"),
    [
        ("gelu", "sign(z-0.4)", readout(1.0, 0.4), {"flips": 0.1, "probit": 0.2}),
        ("relu", "tanh", readout(1.0, -0.5), {"noise": 0.3}),
        ("gelu", "z1+z1*z2", {**readout(1.0, 0.3), "bias": 0.2}, {}),
    ],
)
def test_from_rows_without_a_spike_it_is_the_first_step(
    activation: str, link: str, network: dict[str, Any], target: dict[str, Any]
) -> None:
    """L = 0 and c = 1, whatever the direction is called: the closed map of one step."""
    given = model(activation, link, 1, network=network, target=target)
    (wanted,) = states_after_steps(given)
    blocks, indices = len(given.network.readout.values), given.target.indices
    gamma = (0.6, 0.3)[:indices]
    bare = LayerState(((0.0,),) * blocks, (gamma,), (1.0,) * blocks)
    assert given.step is not None
    same(state_after(given.network, bare, given.step, given.target), wanted)


def test_a_smooth_link_that_is_steep_far_out() -> None:
    """tanh(2*z1*z2), no polynomial along any direction: its moments settle on finer nodes than those of most links."""
    given = model("tanh", "tanh(2*z1*z2)", 1)
    (wanted,), step = states_after_steps(given), given.step
    assert step is not None
    found = state_after(given.network, before_steps(given.network, given.target), step, given.target)
    assert found.bulk_variance == pytest.approx(wanted.bulk_variance, rel=1e-12)
    assert found.loadings[0] == pytest.approx(wanted.loadings[0], rel=1e-12)


def test_rounding_of_what_vanishes_is_no_gap() -> None:
    """Where only noise moves the rows, overlaps are sums that cancel: they are rounded as the noise is large."""
    given = model("softplus", "z1*z2", 1)
    layer = Layer(given.network, before_steps(given.network, given.target), given.target)
    one, none = np.ones(1), np.zeros((1, 1))
    gains = [
        Gain(none, np.array([[0.0, across]]), 0.7 * np.eye(1), -0.5 * one, 0.1 * one) for across in (0, 3e-15, 1e-13)
    ]
    assert layer.agrees(gains[0], gains[1]) and not layer.agrees(gains[0], gains[2])


def by_definition(given: gs.Model, before: LayerState, nodes: int) -> tuple[Array, Array, Array]:
    """The same by one Gauss-Hermite rule in kappa, t, g: no coefficients of the activation, no moments of a label."""
    assert given.step is not None
    x, weight = hermegauss(nodes)
    weight = weight / weight.sum()
    loadings, overlaps = np.array(before.loadings), np.array(before.overlaps)
    values, fractions = np.array(given.network.readout.values), np.array(given.network.readout.fractions)
    (gamma,), (one,) = overlaps, loadings.T  # one direction, one index
    kappa, t, g = np.meshgrid(x, x, x, indexing="ij", sparse=True)
    w = np.einsum("i,j,k->ijk", weight, weight, weight)
    side = -1.0 if given.target.link.startswith("-") else 1.0
    label = side * np.sin(gamma[0] * kappa + math.sqrt(1.0 - gamma[0] ** 2) * t)
    slopes, mean = [], 0.0 * kappa
    for length, c, value, share in zip(one, before.bulk_variance, values, fractions, strict=True):
        h = length * kappa + math.sqrt(c) * g
        mean = mean + share * value * np.einsum("k,ijk->ij", weight, np.tanh(h))[..., None]
        slopes.append(1.0 / np.cosh(h) ** 2)
    e = label - mean
    rate, noise = given.step.learning_rate / given.network.width, given.target.noise
    square = e**2 + noise
    known, common, variance = [], [], []
    for b, (slope, value, c) in enumerate(zip(slopes, values, before.bulk_variance, strict=True)):
        along = one[b] + rate * value * (w * e * slope * kappa).sum()
        known.append((along, rate * value * (w * e * slope * t).sum()))
        drift = (w * e * slope * g).sum() / math.sqrt(c)
        inner = np.einsum("k,ijk->ij", weight, slope)[..., None]
        spread = (w * square * (slope - inner) ** 2).sum() / given.step.samples
        variance.append(c * (1.0 + rate * value * drift) ** 2 + (rate * value) ** 2 * spread)
        common.append(rate * value * inner)
    products = np.array([[(w * square * p * q).sum() for p in common] for q in common]) / given.step.samples
    vectors = np.array(known)
    target = vectors @ np.array([gamma[0], math.sqrt(1.0 - gamma[0] ** 2)])
    return vectors @ vectors.T + products, target[:, None], np.array(variance)


@pytest.mark.parametrize(("values", "link"), [((1.0,), "sin"), ((1.0,), "-sin(z)"), ((1.0, -0.5), "sin")])
def test_second_step_by_definition(values: tuple[float, ...], link: str) -> None:
    """A rule of 40 nodes in each variable; its error is estimated by that of 32. The spike points along the target, or
    against it.
    """
    given = model("tanh", link, network=readout(*values), target={"noise": 0.2})
    first, second = states_after_steps(given)
    wanted, rough = (by_definition(given, first, nodes) for nodes in (40, 32))
    for found, exact, coarse in zip(invariants(second), wanted, rough, strict=True):
        allowed = 10.0 * float(np.abs(exact - coarse).max()) + 1e-10
        assert allowed < 1e-4
        assert found == pytest.approx(exact, rel=0.0, abs=allowed)


def test_blocks_that_are_one_up_to_a_sign() -> None:
    """Equal readout values, and opposite ones with an odd activation, move as one."""
    (*_, single), (*_, equal) = (states_after_steps(model(network=readout(*v))) for v in ((1.0,), (1.0, 1.0)))
    assert equal.rank == 1 and np.allclose(np.array(equal.loadings), single.loadings[0][0], rtol=ROUNDING, atol=0.0)
    waited = model(link="step", network=readout(1.2253403564761671, 1.2253403564761671))
    waited = waited.replace({"step.1.learning_rate": 0.0, "step.2.samples": 2.6, "step.2.learning_rate": 0.76})
    first, second = states_after_steps(waited)[-1].loadings
    assert first == second  # to the last bit, else the readout uses what rounding makes between them
    opposite = states_after_steps(model(network=readout(1.0, -1.0)))[-1]
    assert opposite.rank == 1 and opposite.loadings[0][0] == pytest.approx(-opposite.loadings[1][0], rel=ROUNDING)
    assert gs.solve(model(network=readout(1.0, -1.0))).test_error == pytest.approx(
        gs.solve(model()).test_error, rel=1e-9, abs=0.0
    )


@pytest.mark.usefixtures("in_letters")
def test_a_link_of_one_direction_in_the_plane_of_two_indices() -> None:
    one = model("relu", "tanh(2*z)", network=readout(1.0, 0.4))
    two = model("relu", "tanh(1.2*z1 + 1.6*z2)", network=readout(1.0, 0.4))
    for found, wanted in zip(states_after_steps(two), states_after_steps(one), strict=True):
        (products, along, variance), (exact, target, bulk) = invariants(found), invariants(wanted)
        assert products == pytest.approx(exact, rel=1e-9, abs=1e-11)
        assert along == pytest.approx(target * np.array([0.6, 0.8]), rel=1e-9, abs=1e-11)
        assert variance == pytest.approx(bulk, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(("activation", "rate"), [("tanh", 0.0), ("abs", 1.0)])
def test_rows_without_a_mean_stay_so(activation: str, rate: float) -> None:
    """No step, and an even activation without a linear part on an even target: untrained features of their variance."""
    given = model(activation, "z**2 - 1").replace({"step.learning_rate": rate})
    state = states_after_steps(given)[-1]
    assert np.array(state.loadings) == pytest.approx(0.0, abs=1e-12) and state.rank == 1
    assert rate > 0.0 or gs.solve(given).test_error == pytest.approx(
        gs.solve(given.replace(step=None)).test_error, rel=1e-10, abs=0.0
    )


@pytest.mark.parametrize(
    ("link", "turned"),
    [("sign(z-0.4)", "sign(-z-0.4)"), ("tanh(2*z)+z**2/3", "tanh(-2*z)+z**2/3"), ("z1+z1*z2", "-z1-z1*z2")],
)
@pytest.mark.parametrize(("values", "probit"), [((1.0,), 0.0), ((1.0, 0.4), 0.0), ((1.0,), 0.1)])
def test_a_target_turned_around(link: str, turned: str, values: tuple[float, ...], probit: float) -> None:
    """theta_1 -> -theta_1 is another name of the same target: overlaps change their sign, errors stay."""
    one, other = (model("relu", text, network=readout(*values), target={"probit": probit}) for text in (link, turned))
    side = np.array([-1.0, 1.0])[: one.target.indices]
    for found, wanted in zip(states_after_steps(other), states_after_steps(one), strict=True):
        (products, along, variance), (exact, target, bulk) = invariants(found), invariants(wanted)
        assert products == pytest.approx(exact, rel=1e-9, abs=1e-11)
        assert along == pytest.approx(side * target, rel=1e-9, abs=1e-11)
        assert variance == pytest.approx(bulk, rel=1e-9, abs=0.0)


def test_a_step_of_rate_zero_changes_nothing() -> None:
    before = states_after_steps(model(steps=1))[-1]
    same(states_after_steps(model().replace({"step.2.learning_rate": 0.0}))[-1], before)


def test_the_solution_is_that_of_the_spike_given() -> None:
    """Loadings, overlaps and one bulk variance per block, as a table [spike]."""
    given = model("relu", "tanh(2*z)", network=readout(1.0, 0.4))
    state = states_after_steps(given)[-1]
    assert state.rank == 2
    spike = {
        "strength": 1.0,
        "loadings": [list(row) for row in state.loadings],
        "alignment": [row[0] for row in state.overlaps],
        "bulk_variance": list(state.bulk_variance),
    }
    wanted, found = gs.solve(given.replace(step=None, spike=spike)), gs.solve(given)
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-10, abs=0.0)
    assert found.train_error == pytest.approx(wanted.train_error, rel=1e-10, abs=0.0)


def test_a_staircase_is_climbed_by_the_second_step() -> None:
    """z1 + z1*z2: the first step finds z1, and the second z2, as learnable says."""
    given = model("relu", "z1 + z1*z2", network=readout(1.0, -0.5))
    first, second = states_after_steps(given)
    assert [abs(row[1]) for row in first.overlaps] == pytest.approx([0.0], abs=1e-12)
    assert math.hypot(*(row[1] for row in second.overlaps)) > 0.3
    stages = gs.learnable(given).stages
    assert [(stage.names, stage.order) for stage in stages] == [(("z1",), 1), (("z2",), 1)]


def test_json_has_the_steps() -> None:
    result = gs.solve(model(network=readout(1.0, 0.3)))
    steps = result.to_dict()["steps"]
    assert len(steps) == 2 and set(steps[1]) >= {"loadings", "overlaps", "bulk_variance"}
    assert np.array(steps[1]["along_target"]) == pytest.approx(
        np.array(steps[1]["loadings"]) @ np.array(steps[1]["overlaps"])
    )
    assert spike_of(result.model).to_dict()["loadings"] == steps[1]["loadings"]
    assert "steps" not in gs.solve(model(steps=1)).to_dict()


@pytest.mark.parametrize(
    ("activation", "values", "steps", "dimension", "seeds"),
    [
        ("tanh", (1.0,), 2, 400, 10),
        ("relu", (1.0, 0.3), 2, 300, 10),
        pytest.param("tanh", (1.0,), 3, 2000, 10, marks=pytest.mark.slow),
        pytest.param("tanh", (1.0, -2.0), 2, 1000, 12, marks=pytest.mark.slow),
        pytest.param("relu", (1.0, 0.3), 3, 1000, 12, marks=pytest.mark.slow),
        pytest.param("relu", (1.0, -1.0, 0.4), 2, 2000, 8, marks=pytest.mark.slow),
        pytest.param("tanh", (1.0, 0.5, -1.5), 3, 1000, 12, marks=pytest.mark.slow),
    ],
)
def test_rows_of_simulated_networks(
    activation: str, values: tuple[float, ...], steps: int, dimension: int, seeds: int
) -> None:
    """Products of the means, overlaps, variances after every step: four standard errors and 10/d, relative."""
    simulated = gs.simulate(
        model(activation, "tanh(2*z)", steps, network=readout(*values)),
        dimension=dimension,
        seeds=seeds,
        what="network",
    )
    states = states_after_steps(simulated.model)
    for state, measured in zip(states, simulated.to_dict()["steps"], strict=True):
        for name in ("products", "along_target", "bulk_variance"):
            wanted = np.array(state.to_dict()[name])
            mean, error = (np.array(measured[name][part]) for part in ("mean", "standard_error"))
            assert np.all(np.abs(mean - wanted) < 4.0 * error + 10.0 / dimension * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("loss", "link", "values", "steps", "dimension", "seeds"),
    [
        ("square", "sign", (1.0,), 2, 400, 10),
        pytest.param("square", "sign", (1.0, -2.0), 2, 1000, 12, marks=pytest.mark.slow),
        pytest.param("logistic", "sign", (1.0,), 3, 1000, 12, marks=pytest.mark.slow),
        pytest.param("huber", "tanh(2*z)", (1.0, 0.5, -1.5), 2, 1000, 12, marks=pytest.mark.slow),
    ],
)
def test_errors_of_simulated_networks_of_odd_activations(
    loss: str, link: str, values: tuple[float, ...], steps: int, dimension: int, seeds: int
) -> None:
    """Whose bulk the steps leave without a direction that counts, by measurement: |z| < 4."""
    given = model("tanh", link, steps, network=readout(*values), fit={"loss": loss})
    simulated = gs.simulate(given, dimension=dimension, seeds=seeds, what="network")
    theory = gs.solve(simulated.model, dimension=dimension)
    for name in ("test_error", "train_error"):
        z = (simulated.mean(name).item() - getattr(theory, name)) / simulated.standard_error(name).item()
        assert abs(z) < 4.0, (name, z)
