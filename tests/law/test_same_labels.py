"""Noise inside a sign and the probit channel of a linear link: one law of labels, told in two forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.law.same_labels import by_channel, by_inner_noise
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel

Z = np.linspace(-2.0, 2.0, 9)


@pytest.mark.parametrize(("link", "chance"), [("sign", ndtr(Z / 0.5)), ("2*step(0.3 - z) - 1", ndtr((0.3 - Z) / 0.5))])
def test_noise_inside_a_sign_is_a_channel_and_back(link: str, chance: np.ndarray) -> None:
    """The probability of the label 1 by the definition of either form."""
    told = by_channel(Target(link, probit=0.25))
    assert told.channel is not None and told.probit == 0.0
    assert told.channel.probability_of(np.array(1.0), link_values(told.link)(Z[None])) == pytest.approx(chance)
    back = by_inner_noise(told)
    assert back.channel is None
    sign = link_values(back.link)(np.array([[-50.0, 50.0]]))
    assert sign[1] == -sign[0] and back.probit == pytest.approx(0.25)
    zero = 0.3 if "0.3" in link else 0.0
    around = link_values(back.link)(zero + np.array([[-1e-12, 1e-12]]))
    assert np.array_equal(around, link_values(link)(zero + np.array([[-1e-12, 1e-12]])))


@pytest.mark.parametrize(
    "target",
    [
        Target("sign"),
        Target("tanh", probit=0.2),
        Target("sign", flips=0.1, probit=0.2),
        Target("sign(z1*z2)", probit=0.2),
        Target("2*z", channel=Channel("logit")),
        Target("z**2", channel=Channel("probit")),
    ],
    ids=str,
)
def test_what_has_no_other_form_stays(target: Target) -> None:
    assert by_channel(target) is target and by_inner_noise(target) is target


def test_deviation_decompose_and_scores_take_either_form() -> None:
    """A loss of the margin, whose test error is that of signs in both: the same numbers."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 0.8},
            "step": {"samples": 4.0, "learning_rate": 1.0},
            "target": {"link": "sign", "probit": 0.25},
            "fit": {"samples": 2.0, "loss": "logistic", "ridge": 0.1},
        }
    )
    inside, channel = model, model.replace(target=Target("2*z", channel=Channel("probit")))
    one, other = (gs.deviation(each).to_dict()["times_dimension"] for each in (inside, channel))
    assert one == pytest.approx(other, rel=1e-9)
    one, other = (gs.decompose(each, scores=[-1.0, 0.5]).to_dict() for each in (inside, channel))
    shared = one["pairs"].keys() & other["pairs"].keys()
    assert {"batch+data", "batch+data+initialisation"} <= shared
    for sources in shared:
        for name in ("half_mean_square", "ensemble_of_2"):
            told, wanted = one["pairs"][sources][name], other["pairs"][sources][name]
            assert math.isclose(told, wanted, rel_tol=1e-9, abs_tol=1e-12)
    for here, there in zip(one["calibration"], other["calibration"], strict=True):
        assert here["probability"] == pytest.approx(there["probability"], rel=1e-9)
