"""How much the test error varies between draws: another way to it, limits, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from one_block_draws import OneBlock

import giantstep as gs
from giantstep.draw.decompose import decompositions_figure
from giantstep.law.gradient_step import step_arguments
from giantstep.observe.decompose import decompose
from giantstep.observe.deviation.batch import _covariance
from giantstep.observe.deviation.readouts import Readouts
from giantstep.observe.deviation.source import error_slopes, moved_by_source
from giantstep.observe.deviation.two_sources import in_both, numbers, trace
from giantstep.observe.finite_system import at_dimension, finite_system
from giantstep.simulate.run import simulate
from giantstep.spec.errors import BadInput
from giantstep.system.pair_equations import Sharing
from giantstep.system.solve import solve
from giantstep.system.two_fits import Fit

Array = np.ndarray


def _model(loss: object = "square", link: str = "tanh(2*z)", **changed: object) -> gs.Model:
    base = {
        "network": {"activation": "tanh", "width": 0.8},
        "target": {"link": link, "noise": 0.1 if link != "sign" else 0.0},
        "fit": {"samples": 1.5, "loss": loss, "ridge": 0.1},
    }
    return gs.Model.from_dict({**base, **changed})


SPIKE = {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2}
STEP = {"samples": 2.0, "learning_rate": 1.0}
BLOCKS = {"activation": "tanh", "width": 0.8, "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}}


@pytest.mark.parametrize("activation, mu1, mu2sq", [("z", 1.0, 0.0), ("z + (z**2 - 1)/2", 1.0, 0.5)])
def test_one_block_is_another_formula(activation: str, mu1: float, mu2sq: float) -> None:
    """Central differences of step 3e-4 of functions of order one: 1e-7, times condition numbers of order ten."""
    model = _model(link="z + 0.3*(z**2 - 1)", network={"activation": activation, "width": 0.8})
    order = {name: float(np.ravel(value)[0]) for name, value in solve(model).order_parameters.items()}
    oracle = OneBlock(1.5, 0.8, 0.1, 0.1, mu1, mu2sq, lambda t: t + 0.3 * (t**2 - 1.0))
    given, whole = oracle.variances(order)
    found = gs.deviation(model).variance
    assert found["data"] == pytest.approx(given, rel=2e-5)
    assert found["data"] + found["initialisation"] == pytest.approx(whole, rel=2e-5)


def test_a_wide_huber_loss_is_the_square_one() -> None:
    """Its kinks are 100 away from residuals of order one: nothing of them is left."""
    square = gs.deviation(_model(spike=SPIKE)).variance
    huber = gs.deviation(_model({"name": "huber", "delta": 100.0}, spike=SPIKE)).variance
    assert huber == pytest.approx(square, rel=1e-8)


def test_kinks_within_narrow_outputs_have_nodes_enough() -> None:
    """The limit of Huber losses, whose variances are off by their width to first order, and a share of its square."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 0.8},
            "target": {"link": "abs(z)"},
            "fit": {"samples": 1.5, "loss": "absolute", "ridge": 10.0},
        }
    )
    huber = [
        model.replace({"fit.loss": {"name": "huber", "delta": delta}, "fit.ridge": 10.0 * delta})
        for delta in (0.01, 0.02)
    ]
    exact, once, twice = (gs.deviation(each).variance["data"] for each in (model, *huber))
    assert exact == pytest.approx(2.0 * once - twice, rel=0.01**2 + 1e-6)
    assert abs(once / exact - 1.0) > 1e-2


def test_blocks_that_are_alike_are_one_block() -> None:
    one = gs.deviation(_model(spike=SPIKE)).variance
    network = {**BLOCKS, "readout": {"values": [1.0, 1.0 + 1e-7], "fractions": [0.5, 0.5]}}
    two = gs.deviation(_model(network=network, spike=SPIKE), dimension=10**9).variance
    assert two == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("loss, link", [("square", "tanh(2*z)"), ("huber", "tanh(2*z)")])
def test_the_source_moves_the_error_as_its_slopes_say(loss: str, link: str) -> None:
    """By the tangent of the emitted test error, and by its slopes in the law of the output."""
    system = Fit(solve(_model(loss, link, network=BLOCKS, spike=SPIKE))).system
    moved, (of_mean, of_slopes, of_variance) = moved_by_source(system), error_slopes(system)
    rate = of_mean * moved.rates["d_mean"] + (of_slopes * moved.slopes).sum(axis=0)
    rate = rate + of_variance * moved.rates["d_Delta"]
    assert moved.rates["d_test_error"] == pytest.approx(system.table[:, 1] @ rate, rel=1e-10)
    assert moved.rates["d_test_error"] < 0.0  # what is penalised shrinks
    assert moved.residual < 1e-10


def test_two_sources_are_numbers_to_first_order_in_each() -> None:
    """A product, an inverse and a trace, against central differences of step 1e-3 (error 1e-6)."""
    random = np.random.default_rng(0)
    value, first, second, other = random.uniform(-0.3, 0.3, (4, 3, 3)) + np.eye(3)
    found = numbers(value, first, second)
    found = trace(np.linalg.inv(found) @ numbers(other) @ found @ found)

    def at(h: float, k: float) -> float:
        moved = value + h * first + k * second
        return float(np.trace(np.linalg.inv(moved) @ other @ moved @ moved))

    step = 1e-3
    mixed = at(step, step) - at(step, -step) - at(-step, step) + at(-step, -step)
    assert in_both(found) == pytest.approx(mixed / (4.0 * step**2), rel=1e-4, abs=1e-5)


def test_readouts_of_one_fit_are_stationary_in_what_both_have_in_common() -> None:
    """T_12 of the pair that shares the first layer but no data makes the functional without q stationary; at a small
    dimension, where sources along the spike and that of m count.
    """
    fit = Fit(solve(_model(network=BLOCKS, spike=SPIKE), dimension=50))
    common = float(fit.known["beta"]) * fit.pair(Sharing(0.0, False, True)).overlaps["Q2_12"]
    rest = Readouts(fit.system, moved_by_source(fit.system))

    def at(t: Array) -> float:
        return float(rest._quadratic(t)[0, 0])  # without sources

    for way in np.eye(2):  # a quadratic function: central differences are exact but for rounding
        slope = (at(common + 1e-4 * way) - at(common - 1e-4 * way)) / 2e-4
        assert abs(slope) < 1e-10


def test_a_batch_varies_as_drawn_ones_do() -> None:
    """Sums over 3000 drawn batches at d = 100 against the covariance that is used: within 4.5 standard errors."""
    model, d, draws = _model(step=STEP), 100, 3000
    random = np.random.default_rng(1)
    z = random.standard_normal((draws, 2 * d))
    e = np.tanh(2.0 * z) + math.sqrt(0.1) * random.standard_normal(z.shape)
    square = (e**2).mean(axis=1)
    rest = (random.standard_normal((draws, d - 1)) ** 2).sum(axis=1) / (d - 1.0)
    values = np.stack([(e * z).mean(axis=1), square, rest])
    apart = values - values.mean(axis=1, keepdims=True)
    products = d * apart[:, None] * apart[None]
    error = products.std(axis=2) / math.sqrt(draws)
    expected = _covariance(model, step_arguments(model))
    assert np.all(np.abs(products.mean(axis=2) - expected) < 4.5 * error + 0.02 * np.abs(expected))


def test_a_dimension_makes_it_a_standard_deviation() -> None:
    found = gs.deviation(_model(step=STEP), dimension=400)
    assert set(found.variance) == {"batch", "data", "initialisation"}
    assert found.standard_deviation == pytest.approx(math.sqrt(sum(found.variance.values()) / 400.0), rel=1e-12)
    assert gs.deviation(_model(step=STEP)).standard_deviation is None


def test_the_batch_is_that_of_the_dimension() -> None:
    """At a dimension values 1 and 1.0001 are one value, of whose square the variance changes by 2e-4 at most; the limit
    makes another model of them. Of one value the limit is a tenth above d = 50."""
    apart = {**BLOCKS, "readout": {"values": [1.0, 1.0001], "fractions": [0.5, 0.5]}}
    two = gs.deviation(_model(step=STEP, network=apart), dimension=50).variance["batch"]
    one = gs.deviation(_model(step=STEP), dimension=50).variance["batch"]
    limit = gs.deviation(_model(step=STEP)).variance["batch"]
    assert two == pytest.approx(one, rel=2e-4)
    assert abs(limit / one - 1.0) > 0.05


def test_decompose_tells_it_where_it_is_asked() -> None:
    model = _model(spike=SPIKE)
    told = decompose(model, dimension=300, deviation=True).to_dict()["deviation"]
    assert told["times_dimension"] == pytest.approx(dict(gs.deviation(model, dimension=300).variance), rel=1e-10)
    assert decompose(model).to_dict()["deviation"] is None
    with pytest.raises(BadInput, match="resampled"):
        decompose(model, deviation=True, bootstrap=True)


def test_a_sweep_is_drawn_with_its_deviation() -> None:
    along = gs.decompose_along(_model(spike=SPIKE), "fit.samples=1:2:3", deviation=True, dimension=200)
    axes = decompositions_figure(along).axes[0]
    up, down = (line.get_ydata() for line in axes.get_lines() if line.get_linestyle() == ":")
    points = [point for _, point in along.solved]
    assert 0.5 * (up + down) == pytest.approx([point.test_error for point in points], rel=1e-12)
    assert 0.5 * (up - down) == pytest.approx([point.deviation.standard_deviation for point in points], rel=1e-10)
    plain = decompositions_figure(gs.decompose_along(_model(spike=SPIKE), "fit.samples=1:2:3"))
    assert not [line for line in plain.axes[0].get_lines() if line.get_linestyle() == ":"]


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"step": {**STEP, "bulk": "trained"}}, "trained"),
        ({"fit": {"samples": 1.5, "ridge": 0.1, "penalty": {"name": "elastic_net", "l1": 0.1}}}, "penalty"),
        ({"network": {"activation": "tanh", "width": 0.8, "bias": "trained"}}, "trained bias"),
        ({"network": {"activation": "tanh", "width": 0.8, "initialisation": "gaussian"}}, "Gaussian at init"),
    ],
)
def test_what_is_not_derived_is_refused(changed: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        gs.deviation(_model(**changed))


def test_a_batch_that_is_not_derived_is_left_out_with_its_reason() -> None:
    found = gs.deviation(_model(network={"activation": "relu", "width": 0.8}, step=STEP))
    assert set(found.variance) == {"data", "initialisation"} and "stretches" in found.not_derived["batch"]


SIMULATED = {
    "square": (_model(spike=SPIKE), "gaussian"),
    "square, two values": (_model(network=BLOCKS, link="sign", spike=SPIKE), "gaussian"),
    "huber, two values": (_model("huber", network=BLOCKS, spike=SPIKE), "gaussian"),
    "hinge": (_model("hinge", "sign", spike=SPIKE), "gaussian"),
    "spiked random features": (_model(spike=SPIKE), "srf"),
    "network": (_model(step=STEP), "network"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_variance(name: str) -> None:
    """d times the sample variance over 400 draws at d = 200, less that of the test inputs: within 3.5 of its standard
    errors.
    """
    model, what = SIMULATED[name]
    d, seeds = 200, 400
    model = at_dimension(model, d)
    system = finite_system(model, what)
    more = {} if what == "gaussian" else {"test_samples": 20_000}
    run = simulate(system, what, d, seeds, (model.fit.samples,), (model.fit.ridge,), **more)
    error, sampling = run.test_error.ravel(), run.sampling_error.ravel()
    squares = d * ((error - error.mean()) ** 2 * seeds / (seeds - 1.0) - sampling**2 * (what != "gaussian"))
    expected = sum(gs.deviation(model).variance.values())
    assert abs(squares.mean() - expected) < 3.5 * squares.std() / math.sqrt(seeds)


@pytest.mark.parametrize("values", [[1.0], [1.0, 0.5, -0.7]])
@pytest.mark.parametrize("activation, link, loss", [("tanh", "sign(z**2-1)", "logistic"), ("abs", "sign", "hinge")])
def test_odd_outputs_and_even_labels_are_wrong_half_of_the_time(
    activation: str, link: str, loss: str, values: list[float]
) -> None:
    """So are even outputs and odd labels, in every draw; what rounding moved was refined until there was no memory."""
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    network = {"activation": activation, "width": 0.24, "readout": readout}
    found = gs.deviation(_model(loss, link, network=network, spike=SPIKE, target={"link": link}), dimension=1000)
    assert (found.result.test_error, found.standard_deviation) == (pytest.approx(0.5, rel=1e-12), 0.0)


def test_labels_whose_signs_are_as_likely_wherever_kappa_is() -> None:
    """Nothing was left of the slopes of the test error at any kappa; nodes of the label were refined to the last."""
    found = gs.deviation(_model("logistic", "sign(z1*z2)", step=STEP, target={"link": "sign(z1*z2)"}), dimension=500)
    assert found.result.test_error == pytest.approx(0.5, rel=1e-9)
    assert (found.variance["data"], found.variance["initialisation"]) == (0.0, 0.0)


def test_a_bias_that_nearly_vanishes_leaves_what_is_linear_in_it() -> None:
    """The test error leaves 1/2 in proportion to the bias, with its deviation."""
    target = {"link": "sign(z**2-1)"}
    deviations = [
        gs.deviation(
            _model("logistic", spike=SPIKE, target=target, network={"activation": "tanh", "width": 0.24, "bias": bias}),
            dimension=1000,
        ).standard_deviation
        for bias in (1e-7, 1e-8)
    ]
    first, second = (float(each or 0.0) for each in deviations)
    assert second == pytest.approx(0.1 * first, rel=1e-4) and second > 0.0
