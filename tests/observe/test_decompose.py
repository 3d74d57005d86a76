"""Bias and variance: their sums, ensembles, finite systems, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.simulate.pairs import SOURCES

SQUARE = gs.Model(
    network=gs.Network("tanh", width=0.8, readout=gs.Readout([1.0, -2.0], [0.5, 0.5])),
    spike=gs.Spike(1.0, 0.8, 1.2),
    target=gs.Target("tanh", noise=0.1),
    fit=gs.Fit(2.0, 0.05),
)
LOGISTIC = gs.Model(
    network=gs.Network("tanh", width=0.8),
    spike=gs.Spike(1.5, 0.8, 1.2),
    target=gs.Target("sign", flips=0.1),
    fit=gs.Fit(2.0, 0.1, "logistic"),
)
INDICES = gs.Model(
    network=gs.Network("erf", width=0.8),
    spike=gs.Spike(1.0, (0.6, 0.4), 1.2),
    target=gs.Target("z1 + z1*z2", noise=0.1),
    fit=gs.Fit(2.0, 0.1, "huber"),
)
TRAINED = gs.Model(
    network=gs.Network("relu", width=1.0, readout=gs.Readout([1.0, -0.5], [0.5, 0.5])),
    step=gs.Step(3.0, 1.0, bulk="trained"),
    target=gs.Target("z+He(2,z)/2", noise=0.1),
    fit=gs.Fit(2.0, 0.1),
)
STEPS = gs.Model.from_dict(
    {
        "network": {"activation": "gelu", "width": 1.0},
        "step": [{"samples": 4.0, "learning_rate": 1.0, "bulk": "trained"}] * 2,
        "target": {"link": "z+He(2,z)/2", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)


def test_sources_that_a_model_lacks_have_no_variance() -> None:
    """Not even that of rounding: it was -5.6e-17."""
    model = gs.model(width=0.5, step_samples=16.0)
    for samples in np.linspace(0.1, 3.0, 10):
        found = gs.decompose(model.replace({"fit.samples": float(samples)}))
        of_noise = [value for name, value in found.variance.items() if "noise" in name]
        assert of_noise and not any(of_noise) and found.variance["data"] > 0.0


def test_bias_and_variances_sum_to_the_test_error() -> None:
    found = gs.decompose(SQUARE, members=3)
    assert found.bias_squared is not None
    total = found.bias_squared + sum(found.variance.values())
    assert total == pytest.approx(found.test_error, rel=1e-12)
    assert found.test_error == gs.solve(SQUARE).test_error
    assert found.bias_squared == found.shared[""] and "" not in found.variance
    assert min(found.variance.values()) > 0.0
    same = found.shared["data+noise"]
    assert found.members_share == "data+noise"
    for k, error in found.ensemble.items():
        assert error == pytest.approx(same + (found.test_error - same) / k, rel=1e-12)
    assert found.pairs["data"].ensemble_of_2 == pytest.approx(0.5 * (found.test_error + found.shared["data"]))


def test_what_is_held_counts_as_bias() -> None:
    found, held = gs.decompose(SQUARE), gs.decompose(SQUARE, given="data,noise")
    assert held.bias_squared == pytest.approx(found.shared["data+noise"], rel=1e-12)
    assert set(held.variance) == {"data+noise+initialisation"}
    features = gs.decompose(SQUARE, given="initialisation")  # fits of an ensemble differ in something all the same
    assert features.members_share == "initialisation"
    assert features.ensemble[2] == pytest.approx(found.pairs["initialisation"].ensemble_of_2, rel=1e-12)


@pytest.mark.parametrize("link", ["sign", "sign(0.4 - z)"])
def test_noise_inside_a_sign_is_drawn_again(link: str) -> None:
    """The square loss, by the variance of the label given the inputs, is a Huber loss of a threshold beyond reach, by
    nodes of the label.
    """
    given = gs.Model.from_toml("examples/tanh_sign.toml").replace({"target.link": link, "target.probit": 0.3})
    found, wanted = (
        gs.decompose(given.replace({"fit.loss": loss}), given=("batch",))
        for loss in ("square", {"name": "huber", "delta": 1e4})
    )
    assert found.shared == pytest.approx(wanted.shared, rel=1e-10)
    noise = found.shared["batch+data+noise"] / found.shared["batch+data"]
    assert noise > 1.05  # which is what the noise adds
    with pytest.raises(gs.BadInput, match="and not for the link 'sign.* with target.flips = 0.1"):
        gs.decompose(given.replace({"target.flips": 0.1}), given=("batch",))


def test_samples_drawn_again_add_a_variance() -> None:
    for options in ({"bootstrap": True}, {"subsample": 0.6}):
        found = gs.decompose(SQUARE, members=50, **options)  # type: ignore[arg-type]
        assert found.bias_squared is not None and found.variance["resampling"] > 0.01
        assert found.bias_squared + sum(found.variance.values()) == pytest.approx(found.test_error, rel=1e-12)
        # means of many fits of drawn samples: next to the fit of all of them in error, for bagging of a stable fit
        assert found.ensemble[50] < found.test_error and found.members_share == "data+noise+initialisation"
    whole = gs.decompose(SQUARE, subsample=1.0)
    assert whole.variance["resampling"] == pytest.approx(0.0, abs=1e-12)


def scores(model: gs.Model, dimension: int, seeds: int, **options: Any) -> dict[str, float]:
    """Theory against simulated pairs, in standard errors; pairs whose fits are the same have none."""
    found = gs.decompose(model, dimension=dimension, simulate=True, seeds=seeds, **options)
    run = found.simulation
    assert run is not None
    told: dict[str, float] = {}
    for kind, values in (("half_mean_square", run.half_mean_square), ("ensemble_of_2", run.ensemble_of_2)):
        for key, measured in values.items():
            error = measured.std(ddof=1) / math.sqrt(seeds)
            theory = getattr(found.pairs[key], kind)
            if measured.max() > 1e-12:
                told[f"{kind} {key}"] = float((measured.mean() - theory) / error)
    return told


CASES: dict[str, tuple[gs.Model, dict[str, Any]]] = {
    "square": (SQUARE, {}),
    "square, bootstrap": (SQUARE, {"bootstrap": True}),
    "logistic": (LOGISTIC, {}),
    "logistic, subsample": (LOGISTIC, {"subsample": 0.6}),
    "hinge": (LOGISTIC.replace({"fit.loss": "hinge"}), {}),
    "two indices, huber": (INDICES, {}),
    "trained bulk, bootstrap": (TRAINED, {"bootstrap": True, "given": "batch,initialisation"}),
    "trained bulk of two steps": (STEPS, {"given": "batch,initialisation"}),
}


def test_overlaps_that_cancel() -> None:
    """Features of p > d linear neurons span the inputs, whatever the first layer: as the ridge vanishes each fit is
    that of least squares in the inputs, and the initialisation adds nothing. Below, overlaps of two blocks cancel, and
    rounding gave variances of either sign.
    """
    linear = SQUARE.replace({"network.activation": "linear", "network.width": 1.2})
    found = gs.decompose(linear.replace({"fit.ridge": 1e-6}))
    error = max(pair.error for pair in found.pairs.values())
    allowed = found.test_error * (2.0 * error + 10.0 * 1e-6)
    bias = found.bias_squared
    assert found.variance["data"] == pytest.approx(bias, abs=allowed)  # bias/(alpha - 1)
    assert found.variance["data+noise"] == pytest.approx(0.1, abs=allowed)
    assert abs(found.variance["data+noise+initialisation"]) < allowed
    with pytest.raises(gs.NotConverged, match=r"off by rounding.*raise fit.ridge"):
        gs.decompose(linear.replace({"fit.ridge": 1e-9}))


def test_finite_systems() -> None:
    found = scores(SQUARE, 200, 6)
    assert max(map(abs, found.values())) < 4.5, found  # of six seeds: heavier tails than a normal law's
    found = scores(LOGISTIC, 200, 6, given="data,noise")
    assert max(map(abs, found.values())) < 4.5, found
    model, options = CASES["trained bulk, bootstrap"]
    found = scores(model, 150, 8, **options)
    assert len(found) == 6 and max(map(abs, found.values())) < 4.5, found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_finite_systems_of_every_kind(name: str) -> None:
    model, options = CASES[name]
    found = scores(model, 400, 12, **options)
    assert max(map(abs, found.values())) < 4.0, found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_finite_systems_that_are_large(name: str) -> None:
    model, options = CASES[name]
    found = scores(model, 1000, 12, **options)
    assert max(map(abs, found.values())) < 4.0, found


def test_json_and_picture(tmp_path: Path) -> None:
    found = gs.decompose(SQUARE)
    told = json.loads(found.to_json())
    assert {"test_error", "bias_squared", "shared", "variance", "pairs", "ensemble"} <= set(told)
    sets = {"", "data", "initialisation", "data+noise", "data+initialisation", "data+noise+initialisation"}
    assert set(told["shared"]) == set(told["pairs"]) == sets
    assert found.pairs["data+noise+initialisation"].half_mean_square == 0.0  # fits that are one
    assert set(told["pairs"]["data"]) >= {"half_mean_square", "ensemble_of_2"} and set(told["ensemble"]) == {"1", "2"}
    along = gs.decompose_along(SQUARE, "fit.samples=0.5:1.5:3", members=4)
    peak = max(point.test_error for point in along.points if point is not None)
    assert len(along.solved) == 3 and peak == along.points[0].test_error  # type: ignore[union-attr]
    for number, result in enumerate((found, gs.decompose(LOGISTIC), along)):
        gs.plot(result, tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 10_000
    # each source by itself, then what two do together; noise comes with the data that have it
    drawn = gs.plot(replace(found, variance={"data": 0.1, "batch+data": 0.2, "data+noise": 0.3}, given=frozenset()))
    names = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert names == ["bias squared", "data", "label noise", r"batch $\times$ data"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"members": 0}, "members = 0"),
        ({"share": "rows"}, "no source 'rows'"),
        ({"share": "noise"}, "noise of labels of different data"),
        ({"bootstrap": True, "subsample": 0.5}, "exclude"),
        ({"subsample": 1.5}, "subsample = 1.5"),
        ({"simulate": True}, "needs a dimension"),
        ({"scores": [0.0]}, "scores belong to a loss of the margin"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        gs.decompose(SQUARE, **options)


def test_names_are_looked_at_before_anything_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    def solved(*_: object) -> None:
        raise AssertionError("a model was solved")

    monkeypatch.setattr("giantstep.observe.decompose._solved", solved)
    for share in ("rows", "noise"):
        with pytest.raises(gs.BadInput):
            gs.decompose(SQUARE, share=share)


def test_sources_are_named_in_one_order() -> None:
    assert SOURCES == ("batch", "data", "noise", "initialisation")
    assert np.all([name in SOURCES for name in gs.decompose(SQUARE, given=("noise", "data")).given])
