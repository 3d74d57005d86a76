"""Which labels a loss is for: those of the margin are signs, likelihoods of counts have bounds and trials."""

from __future__ import annotations

from typing import Any

import pytest

from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.labels_of_loss import check_labels
from giantstep.spec.model import Model, Target
from giantstep.spec.target_channel import Channel

POISSON, ONE, THREE = FitLoss("poisson"), FitLoss("binomial"), FitLoss("binomial", {"trials": 3.0})
COIN = {"labels": [0, 2], "probability": "1/2+y*0"}


def target(link: str, **more: Any) -> Target:
    return Target(link, **more)


@pytest.mark.parametrize(
    ("channel", "hint"),
    [
        (Channel("binomial"), 'write channel = "logit", the same law'),
        (Channel(labels=(0.0, 1.0), probability="1/2"), "write the two labels as -1 and 1"),
        (Channel("poisson"), "choose a channel of labels"),
        (Channel("binomial", 5), "choose a channel of labels"),
        (None, "choose a link"),
    ],
    ids=str,
)
def test_a_margin_loss_says_what_has_signs(channel: Channel | None, hint: str) -> None:
    with pytest.raises(BadInput, match="needs labels") as raised:
        check_labels(FitLoss("logistic"), Target("z/2", channel=channel))
    assert raised.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("loss", "given", "words"),
    [
        (POISSON, target("sign"), "needs labels >= 0, and target.link = 'sign' gives labels between -1 and 1"),
        (POISSON, target("z/2"), "target.link = 'z/2' gives labels between -4.5 and 4.5"),
        (POISSON, target("z/2", probit=3.0), "gives labels between -9 and 9"),
        (POISSON, target("z1*z2"), "needs labels >= 0"),
        (POISSON, target("relu(z)", noise=0.1), "target.noise = 0.1 adds Gaussian noise"),
        (POISSON, target("z", channel="logit"), "target.channel = logit gives labels between -1 and 1"),
        (POISSON, target("1", flips=0.1), "gives labels between -1 and 1"),
        (POISSON, target("z", channel=Channel("binomial", 4)), "channel = binomial\\(4\\) draws counts from 0 to 4"),
        (ONE, target("sign"), "needs labels between 0 and 1, and"),
        (ONE, target("z", channel="logit"), "needs labels between 0 and 1, and target.channel = logit"),
        (ONE, target("z", channel=COIN), "gives labels between 0 and 2"),
        (ONE, target("z", channel=Channel("binomial", 3)), "likelihood of counts from 0 to 1, and"),
        (THREE, target("z", channel=Channel("binomial", 2)), "from 0 to 3, and .* draws counts from 0 to 2"),
        (THREE, target("z", channel="poisson"), "draws counts without a bound"),
        (THREE, target("3.001*sigmoid(z)"), "gives labels between 0.0003703 and 3.001"),
    ],
)
def test_labels_that_do_not_fit_are_refused(loss: FitLoss, given: Target, words: str) -> None:
    with pytest.raises(BadInput, match=words) as raised:
        check_labels(loss, given)
    assert str(loss) in raised.value.message and raised.value.hint


@pytest.mark.parametrize(
    ("loss", "given"),
    [
        (POISSON, target("z", channel="poisson")),
        (POISSON, target("exp(z/2)", probit=0.5)),
        (POISSON, target("z1**2 + abs(z2)")),
        (POISSON, target("z/2 + 6")),
        (POISSON, target("z", channel=COIN)),
        (ONE, target("step(z)")),
        (ONE, target("z", channel=Channel("binomial"))),
        (THREE, target("3*sigmoid(z)")),
        (THREE, target("z", channel=COIN)),
        (FitLoss("exp(2*f) - y*f"), target("sign")),
        (FitLoss("square"), target("sign", noise=1.0)),
    ],
)
def test_labels_that_fit_are_taken(loss: FitLoss, given: Target) -> None:
    """Below 9 standard deviations of the index, z/2 + 6 is never negative."""
    check_labels(loss, given)


def test_the_hint_is_the_way_out() -> None:
    """What is refused is taken with the loss that the hint names."""
    data = {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "z", "channel": {"name": "binomial", "trials": 5}},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": {"name": "binomial", "trials": 3}},
    }
    with pytest.raises(BadInput, match="likelihood of counts from 0 to 3") as raised:
        Model.from_dict(data)
    assert raised.value.hint.startswith('write fit.loss = { name = "binomial", trials = 5 }, or')
    data["fit"]["loss"] = {"name": "binomial", "trials": 5}
    assert Model.from_dict(data).fit.loss.label_range == (0.0, 5.0)
