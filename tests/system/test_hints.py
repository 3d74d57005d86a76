"""What is said where equations are not solved: the cause that was measured, or that none was found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.system.causes import settling_hint
from giantstep.system.problem import problem_of
from giantstep.system.resampled_fit import settled_system
from giantstep.system.slight_response import largest_response, slight_hint
from giantstep.system.span import span_of
from giantstep.system.square_loss import rounding_hint
from giantstep.system.stalled import hint
from giantstep.system.tolerated import tolerated

SEVERAL = {"network.readout.values": [1.0, -0.5], "network.readout.fractions": [0.3, 0.7]}


@pytest.mark.parametrize("changes", [{}, SEVERAL])
def test_the_largest_response_is_that_without_data(changes: dict[str, Any]) -> None:
    """V of a solution is below it, and tends to it as the ridge takes over: 1 - O(1/ridge)."""
    kappa = np.linspace(-3.0, 3.0, 13)
    for ridge in (0.1, 10.0, 1e6):
        model = gs.Model.from_toml("examples/tanh_sign.toml").replace({**changes, "fit.ridge": ridge})
        found, problem = gs.solve(model).order_parameters, problem_of(model)
        mu1, rest = np.array([term.coefficients(kappa)[1:3] for term in problem.blocks]).swapaxes(0, 1)
        response = np.einsum("bk,bc,ck->k", mu1, found["V1"], mu1) + found["V2"] @ rest
        assert response.max() <= largest_response(problem) * (1.0 + 1e-9)
    assert response.max() == pytest.approx(largest_response(problem), rel=1e-5)


def test_a_slight_response_is_told_with_its_size() -> None:
    model = gs.Model.from_toml("examples/tanh_sign.toml")
    small, usual = (problem_of(model.replace({"fit.ridge": ridge})) for ridge in (1e6, 20.0))
    assert f"{largest_response(small):.0e}" in slight_hint(small) and slight_hint(small).startswith("lower fit.ridge")
    assert rounding_hint(small) == hint(small) == slight_hint(small)
    assert slight_hint(usual) == ""


@pytest.mark.parametrize("loss", ["huber", "logistic"])
def test_where_no_cause_is_found_that_is_said_after_what_to_do(loss: str) -> None:
    problem = problem_of(gs.Model.from_toml("examples/tanh_sign.toml").replace({"fit.loss": loss}))
    for found in (rounding_hint(problem), hint(problem)):
        assert found == "raise fit.ridge, which most often helps (no cause was found)"


def test_fewer_samples_than_neurons_are_separable() -> None:
    few = {"fit.loss": "logistic", "fit.samples": 0.5, "network.width": 1.0}
    model = gs.Model.from_toml("examples/tanh_sign.toml").replace(few)
    found = [hint(problem_of(model.replace({"fit.ridge": ridge}))) for ridge in (1e-4, 0.1)]
    assert ["fewer samples than neurons" in each for each in found] == [True, False]


@pytest.mark.parametrize(("samples", "ridge", "told"), [(1.0, 1e-6, True), (1.0, 1.0, False), (2.0, 1e-6, False)])
def test_the_interpolation_peak_is_a_cause(samples: float, ridge: float, told: bool) -> None:
    """A ridge is small beside the squares of the features."""
    model = gs.Model.from_toml("examples/tanh_sign.toml").replace(
        {"network.width": 1.0, "fit.samples": samples, "fit.ridge": ridge, "fit.loss": "absolute", "step": None}
    )
    large = model.replace({"network.activation": "1000*tanh(z)", "fit.ridge": 1e6 * ridge})
    assert ["errors peak" in hint(problem_of(each)) for each in (model, large)] == [told, told]


def test_the_interpolation_peak_is_told_before_mean_features_that_are_nearly_dependent() -> None:
    """A dimension does not help there, with which mean features are no span."""
    model = gs.model("relu", link="sign(sin(2*z))", bias=0.3, width=6.7, samples=6.7, ridge=1e-8).replace(
        {
            "network.readout": {"values": [1.29, 1.52, 1.19, 0.88]},
            "spike": {"strength": 4.8, "alignment": 1.0 - 1e-9, "bulk_variance": 1.0},
            "step": None,
        }
    )
    span = span_of(problem_of(model))
    assert span is not None and span.least < 1e-3
    assert "errors peak" in rounding_hint(problem_of(model))


def test_a_tolerance_that_takes_the_number_is_one_that_does() -> None:
    found = tolerated(4.8e-10, "raise fit.ridge")
    assert found.endswith("--tolerance 1e-9); for more digits raise fit.ridge")
    for change in (2e-3, math.inf, math.nan):  # which no tolerance makes a number of
        assert tolerated(change, "raise fit.ridge") == "raise fit.ridge"


MODEL = gs.model("tanh", ridge=1e6)  # whose responses are slight
OF_VERBS = {  # a verb that looks at a solution, and what it may miss, which nothing meets when it is negative
    "gradient": (lambda: gs.gradient(MODEL, "fit.ridge"), "observe.gradient.gradient._CERTIFIED"),
    "gradient on nodes": (lambda: gs.gradient(MODEL, "fit.ridge"), "observe.gradient.gradient._WORST"),
    "deviation": (lambda: gs.deviation(MODEL), "observe.deviation.deviation._RESIDUAL"),
    "deviation on nodes": (lambda: gs.deviation(MODEL), "observe.deviation.deviation._WORST"),
    "two fits": (lambda: gs.decompose(MODEL, given="batch"), "system.two_fits.RESIDUAL"),
    "two batches": (lambda: gs.decompose(MODEL), "system.two_batches.RESIDUAL"),
    "resampled": (
        lambda: settled_system(replace(gs.solve(MODEL), quadrature_error=-1.0)),
        "system.resampled_fit._ALLOWED",
    ),
}


@pytest.mark.parametrize("verb", OF_VERBS)
def test_what_looks_at_a_solution_tells_why_it_is_lost(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, limit = OF_VERBS[verb]
    monkeypatch.setattr(f"giantstep.{limit}", -1.0)
    with pytest.raises(NotConverged) as caught:
        ask()
    assert caught.value.hint == slight_hint(problem_of(MODEL))


def test_labels_that_a_kink_holds_outputs_at() -> None:
    """Networks have no error then, beside any small ridge; and one beside a larger ridge, noise, or fewer samples."""
    given = gs.Model.from_dict(
        {
            "network": {"activation": "linear", "width": 3.0, "readout": {"values": [0.4, -0.8]}},
            "target": {"link": "linear"},
            "fit": {"samples": 2.0, "ridge": 1e-3, "loss": {"name": "quantile", "tau": 0.8}},
            "spike": {"strength": 1e-5, "alignment": 0.9, "bulk_variance": 2.0},
        }
    )
    assert "holds all outputs at their labels" in hint(problem_of(given))
    assert np.all(gs.simulate(given, dimension=40, seeds=2).test_error < 1e-15)
    assert np.all(gs.simulate(given.replace({"fit.ridge": 10.0}), dimension=40, seeds=2).test_error > 0.1)
    for change in ({"target.noise": 0.1}, {"fit.samples": 0.9}, {"fit.loss": "huber"}, {"network.activation": "tanh"}):
        assert "at their labels" not in hint(problem_of(given.replace(change)))


def test_nodes_of_a_drawn_label_of_two_indices() -> None:
    """Of counts with a smooth mean there are millions at the first resolution; no cause was found."""
    drawn = gs.model("relu", link="tanh(z1)+tanh(z2)/2", width=1.2, samples=2.0, ridge=0.1).replace(
        {
            "target.channel": "poisson",
            "fit.loss": "poisson",
            "spike": {"strength": 1.5, "alignment": [0.6, 0.3], "bulk_variance": 1.2},
            "step": None,
        }
    )
    assert settling_hint(problem_of(drawn)).startswith("take the square loss")
    assert gs.solve(drawn.replace({"fit.loss": "square"})).quadrature_error < 1e-10
