"""The sliders of a model, and what the page shows of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

import giantstep as gs
from giantstep.explore.answers import VIEWS, answer
from giantstep.explore.sliders import sliders_of
from giantstep.observe.tune import RANGES

MODEL = gs.Model(
    network=gs.Network("tanh", width=0.5),
    step=gs.Step(samples=16.0, learning_rate=1.0),
    target=gs.Target("sign"),
    fit=gs.Fit(samples=2.0, ridge=0.1),
)


def test_main_numbers_that_count_have_a_slider() -> None:
    keys = [slider.key for slider in sliders_of(MODEL)]
    assert keys == [
        *("fit.samples", "fit.ridge", "network.width", "network.bias", "step.samples", "step.learning_rate"),
        "target.noise",
    ]
    margin = [slider.key for slider in sliders_of(MODEL.replace({"fit.loss": "logistic"}))]
    assert "target.flips" in margin and "target.noise" not in margin


def test_parameters_and_power_laws_have_sliders() -> None:
    found = {slider.key: slider for slider in sliders_of(MODEL.replace({"fit.loss": "quantile"}))}
    assert not found["fit.loss.tau"].log and 0.0 < found["fit.loss.tau"].low < found["fit.loss.tau"].high < 1.0
    found = {slider.key: slider for slider in sliders_of(MODEL.replace({"fit.loss": {"name": "huber", "delta": 0.3}}))}
    assert found["fit.loss.delta"].log and found["fit.loss.delta"].low < 0.3 < found["fit.loss.delta"].high
    found = {slider.key: slider for slider in sliders_of(MODEL.replace({"fit.penalty": "elastic_net"}))}
    assert (found["fit.penalty.l1"].low, found["fit.penalty.l1"].high) == RANGES["fit.penalty.l1"]
    bent = gs.model("linear", "linear", inputs=gs.Inputs(capacity=1.5, source=0.3), learning_rate=None)
    assert {"inputs.capacity", "inputs.source"} <= {slider.key for slider in sliders_of(bent)}


def test_positions_and_values() -> None:
    for slider in sliders_of(MODEL.replace({"fit.ridge": 1e-9})):  # beyond the usual ends
        low, high, step = slider.ends
        assert low <= slider.position <= high and step > 0.0
        assert slider.at(slider.position) == pytest.approx(slider.value, rel=1e-3)
        assert (slider.at(low - 1.0), slider.at(high + 1.0)) == pytest.approx((slider.low, slider.high), rel=1e-3)
    still = {slider.key: slider for slider in sliders_of(MODEL.replace({"step.learning_rate": 0.0}))}
    assert not still["step.learning_rate"].log and still["step.learning_rate"].low == 0.0


def test_answers_are_those_of_the_verbs() -> None:
    along = sliders_of(MODEL)[0]
    found = {view: answer(view, MODEL, along) for view in VIEWS}
    assert all(not one.refused and one.lines for one in found.values())
    x, error = found["learning curve"].lines["test error"]
    assert error[30] == pytest.approx(gs.solve(MODEL.replace({"fit.samples": float(x[30])})).test_error, rel=1e-12)
    assert found["bounds"].numbers["lower bound"] == gs.bounds(MODEL, optimise=False).lower.value
    x, density = found["spectrum"].lines["bulk"]
    mass = trapezoid(density, np.log(x)) if x[0] < x[-1] else -trapezoid(density, np.log(x))
    assert mass == pytest.approx(1.0, abs=1e-3)  # 400 places, a trapezoid


def test_what_is_refused_keeps_its_reason() -> None:
    found = answer("bounds", MODEL.replace({"fit.loss": "hinge"}), sliders_of(MODEL)[0])
    assert not found.lines and "misclassification" in found.refused
