"""Two fits after steps on batches of their own: recorded steps, limits, and simulated features of two spikes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from derive.check import check_derivation
from derive.two_batches import two_batches
from giantstep.system.pair_equations import Sharing
from giantstep.system.two_batches import batch_pair
from giantstep.system.two_fits import Fit

MODEL = gs.Model(
    network=gs.Network("tanh", width=0.8),
    step=gs.Step(2.0, 1.5),
    target=gs.Target("tanh", noise=0.1),
    fit=gs.Fit(2.0, 0.05),
)
TWO = MODEL.replace({"network.readout": {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}})
ALL, LAYER, BULK = Sharing(1.0, True, True), Sharing(0.0, False, True), Sharing(1.0, True, False)


def test_every_step_holds_at_a_random_point() -> None:
    for step in check_derivation(two_batches().derivation):
        composed = step.label == "d/dQ1_hat_12, two batches"
        assert step.outcome in ("given", "assumed") or composed or float(step.error) < 1e-45, step.label


def test_the_number_that_agreed_with_networks() -> None:
    """docs/theory.md, section 14: .0850 in theory, .0841(13) of networks."""
    fit = Fit(gs.solve(MODEL, dimension=500))
    assert batch_pair(fit, ALL).half_mean_square == pytest.approx(0.0850, abs=1.1e-4)


@pytest.mark.parametrize("sharing", [LAYER, BULK, Sharing(0.0, False, False)])
def test_a_large_batch_is_the_same_for_both(sharing: Sharing) -> None:
    # the spikes differ by an angle of order 1/sqrt(alpha0), rows by less: half mean squares by order 1/alpha0
    fit = Fit(gs.solve(TWO.replace({"step.samples": 1e5}), dimension=500))
    apart, same = batch_pair(fit, sharing).half_mean_square, fit.pair(sharing).half_mean_square
    assert apart == pytest.approx(same, rel=1e-3) and apart > same


def test_a_small_step_leaves_random_features() -> None:
    # no spike and no noise in the rows are left: the batch does not matter
    fit = Fit(gs.solve(TWO.replace({"step.learning_rate": 3e-3}), dimension=500))
    for sharing in (LAYER, BULK):
        assert batch_pair(fit, sharing).half_mean_square == pytest.approx(fit.pair(sharing).half_mean_square, rel=1e-4)


def test_links_that_turn_within_little_go_to_a_sign() -> None:
    """tanh(a z) differs from sign z by the order 1/a, within a width that panels of z have to find."""
    nothing = Sharing(0.0, False, False)

    def found(link: str) -> float:
        pair = batch_pair(Fit(gs.solve(MODEL.replace({"target.link": link}))), nothing)
        assert pair.error <= 1e-6
        return pair.half_mean_square

    away = [found("sign") - found(f"tanh({a}*z)") for a in (40, 160)]
    assert away[0] / away[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    "changes",
    [{"step.learning_rate": 0.0}, {"network.activation": "abs(z)", "target.link": "abs(z)", "target.noise": 0.2}],
)
def test_steps_without_a_spike(changes: dict[str, object]) -> None:
    """Of no rate, or of an activation that sees no linear part: batches matter by what they do to the rows at most."""
    found = gs.decompose(MODEL.replace(changes)).pairs
    same, apart = found["batch+data+noise+initialisation"], found["data+noise+initialisation"]
    assert abs(same.half_mean_square) < 1e-12
    moves = "network.activation" in changes
    assert (apart.half_mean_square > 1e-3) if moves else abs(apart.half_mean_square) < 1e-6


def test_rows_that_batches_leave_alike() -> None:
    """A linear activation adds no noise to the rows: what they have of their own is rounding."""
    found = gs.decompose(MODEL.replace({"network.activation": "linear"}))
    assert found.bias_squared is not None and min(found.variance.values()) > -1e-12
    assert found.bias_squared + sum(found.variance.values()) == pytest.approx(found.test_error, rel=1e-7)


def test_bias_and_variances_of_a_step() -> None:
    found = gs.decompose(TWO, dimension=500)
    assert found.bias_squared is not None and min(found.variance.values()) > 0.0
    assert found.bias_squared + sum(found.variance.values()) == pytest.approx(found.test_error, rel=1e-7)
    assert len(found.pairs) == 12 and "batch+data+noise+initialisation" in found.variance


def halves(model: gs.Model, dimension: int, seeds: int) -> np.ndarray:
    """E (f_1 - f_2)^2/2 of spiked random features whose spikes and rows have the overlaps of two batches: with common
    data and layer, and with the layer alone, [seed, 2].
    """
    spike, (c,) = gs.solve(model).spike, gs.solve(model).spike.bulk_variance
    n, p = round(model.fit.samples * dimension), round(model.network.width * dimension)
    found = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)

        def rows(count: int, random: np.random.Generator = random) -> np.ndarray:
            drawn = random.standard_normal((count, dimension))
            return drawn / np.linalg.norm(drawn, axis=1)[:, None]

        theta, common, layers = np.eye(dimension)[0], rows(p), []
        for _ in range(2):
            (across,) = rows(1)
            across -= across[0] * theta
            v = spike.alignment * theta + math.sqrt(1.0 - spike.alignment**2) * across / np.linalg.norm(across)
            layers.append(common + math.sqrt(c - 1.0) * rows(p) + spike.strength * v)
        data = []
        for _ in range(2):
            x = random.standard_normal((n, dimension))
            data.append((x, np.tanh(x[:, 0]) + math.sqrt(model.target.noise) * random.standard_normal(n)))

        def fitted(layer: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
            features = np.tanh(x @ layer.T) / math.sqrt(p)
            return np.linalg.solve(features.T @ features + model.fit.ridge * np.eye(p), features.T @ y)

        test = random.standard_normal((2 * n, dimension))
        first, *others = (
            np.tanh(test @ layer.T) @ fitted(layer, *batch) / math.sqrt(p)
            for layer, batch in ((layers[0], data[0]), (layers[1], data[0]), (layers[1], data[1]))
        )
        found.append([0.5 * float(np.mean((first - other) ** 2)) for other in others])
    return np.array(found)


@pytest.mark.parametrize(
    ("dimension", "seeds"),
    [(200, 10), pytest.param(400, 60, marks=pytest.mark.slow), pytest.param(1000, 16, marks=pytest.mark.slow)],
)
def test_simulated_features_of_two_spikes(dimension: int, seeds: int) -> None:
    measured = halves(MODEL, dimension, seeds)
    fit = Fit(gs.solve(MODEL, dimension=dimension))
    theory = [batch_pair(fit, sharing).half_mean_square for sharing in (ALL, LAYER)]
    scores = (measured.mean(axis=0) - theory) / (measured.std(axis=0, ddof=1) / math.sqrt(seeds))
    assert np.abs(scores).max() < 4.0, scores


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fit.loss": "huber"}, "losses other than the square"),
        ({"target.link": "z1 + z1*z2"}, "several indices"),
        ({"step": [{"samples": 2.0, "learning_rate": 1.0}] * 2}, "several giant steps"),
    ],
)
def test_what_has_not_been_derived_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        gs.decompose(MODEL.replace(changes))


def test_a_margin_loss_says_which_pairs_there_are_not() -> None:
    found = gs.decompose(MODEL.replace({"target": {"link": "sign"}, "fit.loss": "logistic"}))
    assert all("batch" in key for key in found.pairs) and len(found.not_derived) == 6
