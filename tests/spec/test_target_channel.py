"""The entry target.channel of a model file: what it may be, what is refused, and what it makes of the clean target."""

from __future__ import annotations

import pytest

from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model, Target
from giantstep.spec.schema import schema
from giantstep.spec.target_channel import Channel

TABLE = {"labels": [-1, 0, 2], "probability": "exp(y*s)/(exp(-s)+1+exp(2*s))"}


@pytest.mark.parametrize("given", ["logit", "poisson", {"name": "binomial", "trials": 4}, TABLE], ids=str)
def test_a_file_holds_it(given: object) -> None:
    data = {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "z/2", "channel": given},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    model = Model.from_dict(data)
    assert Model.from_dict(model.to_dict()) == model
    assert model.replace({"target.probit": 0.1}).target.channel == model.target.channel
    assert model.target.mean_link != model.target.link


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("logti", "did you mean 'logit'"),
        ("bernoulli", "did you mean 'logit'"),
        (3, "name of a channel"),
        ({"name": "logit", "trials": 2}, "has no trials"),
        ({"name": "binomial", "trials": 0}, "whole number"),
        ({"name": "binomial", "tirals": 2}, "unknown key"),
        ({"labels": [1, 1], "probability": "1/2"}, "different labels"),
        ({"labels": [0, 1], "probability": "1/3"}, "do not sum to 1"),
        ({"labels": [0, 1], "probability": "1-y+(2*y-1)*s"}, "not all positive"),
        ({"labels": [0, 1]}, "probability is missing"),
        ({"labels": [0, 1], "probability": "y*q"}, "probability"),
    ],
)
def test_what_is_refused(given: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Target("z", channel=given)  # type: ignore[arg-type]


def test_probabilities_need_to_hold_where_the_link_goes() -> None:
    half = Channel(labels=(-1.0, 1.0), probability="(1+0.8*y*s)/2")
    assert Target("sign", channel=half).takes_only_signs
    with pytest.raises(BadInput, match="not all positive"):
        Target("z", channel=half)


@pytest.mark.parametrize("noise", [{"noise": 0.1}, {"flips": 0.1}])
def test_a_channel_is_all_of_the_noise(noise: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="whole law of the label"):
        Target("sign", channel="logit", **noise)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("link", "probit", "allowed"),
    [
        ("z**2", 0.0, "0.222*z**2 do; from 0.25*z**2"),
        ("z**2/4", 0.0, "0.222*z**2 do; from 0.25*z**2"),
        ("z1*z2/2", 0.0, "0.444*z1*z2 do; from 0.5*z1*z2"),
        ("z1**2/3+z2", 0.0, "0.444*z1*z2 do; from 0.5*z1*z2"),
        ("z**2/8", 1.0, "0.111*z**2 do; from 0.125*z**2"),
        ("z1*z2/4", 1.0, "0.222*z1*z2 do; from 0.25*z1*z2"),
    ],
)
def test_counts_whose_squares_have_no_average_are_refused(link: str, probit: float, allowed: str) -> None:
    """In the words of the model: no link that nobody wrote. E exp(2 c z1 z2) = 1/sqrt(1 - 4 c^2)."""
    with pytest.raises(BadInput, match="grows too fast") as raised:
        Target(link, probit=probit, channel="poisson")  # type: ignore[arg-type]
    assert f"target.link = {link!r}" in raised.value.message
    assert allowed in raised.value.hint


def test_counts_whose_squares_have_an_average_are_taken() -> None:
    """E exp(2 link) of z**2/8 is the square root of 2; that of fourth powers of the mean is infinite."""
    assert Target("z**2/8", channel="poisson").mean_link == "exp(z**2/8)"  # type: ignore[arg-type]
    assert Target("0.444*z1*z2", channel="poisson").mean_link == "exp(0.444*z1*z2)"  # type: ignore[arg-type]
    assert Target("z**2/20", probit=1.0, channel="poisson").second_link == "exp(z**2/20)"  # type: ignore[arg-type]


def test_the_clean_target() -> None:
    target = Target("2*z", channel="logit")  # type: ignore[arg-type]
    assert target.clean(True).link == "sign(2*z)"
    assert target.clean(False).link == target.mean_link
    assert Target("sign", flips=0.1).clean(True) == Target("sign")


@pytest.mark.parametrize("trials", [0, 65, 2.5])
def test_trials_have_bounds(trials: float) -> None:
    with pytest.raises(
        BadInput, match="the number of trials of a label .1 where left out.: give a whole number between 1 and 64"
    ):
        Channel("binomial", trials)  # type: ignore[arg-type]
    given = schema()["properties"]["target"]["properties"]["channel"]["anyOf"][1]["properties"]["trials"]
    assert (given["minimum"], given["maximum"], given["default"]) == (1, 64, Channel("binomial").trials)


def test_a_place_at_zero_has_no_sign() -> None:
    with pytest.raises(BadInput, match="at s = 0 the"):
        Target("-relu(z)", channel={"labels": [0, 1], "probability": "1/s"})  # type: ignore[arg-type]


def test_a_mean_label_that_knows_no_index_needs_a_link_of_one() -> None:
    """Of two it was an internal error."""
    coin = {"labels": [-1, 1], "probability": "1/2"}
    assert Target("z", channel=coin).indices == 1  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="its mean label is that of 1 of the 2 indices"):
        Target("z1*z2", channel=coin)  # type: ignore[arg-type]
