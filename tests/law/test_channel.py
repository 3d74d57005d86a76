"""Labels that a channel draws given the value of the link, as all laws of labels take them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import giantstep as gs
from giantstep.law.channel import chances, drawn_label, labels_given
from giantstep.law.few_nodes import Laws
from giantstep.law.gradient_step import step_arguments
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.law.label_moments import label_moments, moments_at_nodes
from giantstep.law.labels import label_law
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel
from giantstep.verify.trained_bulk import sampled_inputs

KAPPA = np.array([-1.7, 0.2, 1.1])
T, WEIGHT = np.polynomial.hermite_e.hermegauss(160)
WEIGHT = WEIGHT / WEIGHT.sum()
THREE = "exp(y*s)/(exp(-s)+1+exp(2*s))"
CHANNELS = (Channel("logit"), Channel("probit"), Channel("binomial", 3), Channel("poisson"))


def law_of(channel: Channel, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities by SciPy."""
    if channel.name == "poisson":
        y = np.arange(400)
        return y, stats.poisson.pmf(y, math.exp(s))
    if channel.name == "binomial":
        y = np.arange(channel.trials + 1)
        return y, stats.binom.pmf(y, channel.trials, expit(s))
    if not channel.name:
        y = np.array(channel.labels)
        return y, np.exp(y * s) / np.exp(y * s).sum()
    y = np.array([-1.0, 1.0])
    return y, expit(y * s) if channel.name == "logit" else stats.norm.cdf(y * s)


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize("s", [-30.0, -3.3, 0.4, 2.9])
@pytest.mark.parametrize("finer", [-1, 0, 1])
def test_labels_are_averaged_over(channel: Channel, s: float, finer: int) -> None:
    """A rule of 12 to 48 nodes for a Poisson law: exact for polynomials, and to 1e-7 for a bell of width 1.5 (1e-5 with
    12, which only lead to a solution).
    """
    labels, weights = labels_given(channel, np.array([[s]]), finer)
    y, p = law_of(channel, s)
    for function in (np.ones_like, lambda x: x, lambda x: x**2, lambda x: (x / 9.0) ** 5):
        assert np.sum(weights * function(labels)) == pytest.approx(np.sum(p * function(y.astype(float))), rel=1e-12)
    bell = [np.sum(w * np.exp(-0.5 * ((x - 2.0) / 1.5) ** 2)) for x, w in ((labels, weights), (y, p))]
    assert bell[0] == pytest.approx(bell[1], abs=1e-7 if finer >= 0 else 1e-5)


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_probabilities_of_all_labels(channel: Channel) -> None:
    s = np.array([-2.0, 0.7])
    found = np.array(list(chances(channel, s, np.ones(2))))
    for place in range(2):
        y, p = law_of(channel, float(s[place]))
        assert found[: len(p), place] == pytest.approx(p[: len(found)], abs=1e-15)


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_drawn_labels_have_the_law(channel: Channel) -> None:
    """Frequencies of 40,000 labels within 4.5 standard errors each."""
    u = np.random.default_rng(3).random(40_000)
    drawn = drawn_label(channel, np.full(len(u), 0.8), u)
    y, p = law_of(channel, 0.8)
    for label, chance in zip(y[:8], p[:8], strict=True):
        error = math.sqrt(chance * (1.0 - chance) / len(u))
        assert abs(np.mean(drawn == label) - chance) < 4.5 * error


@pytest.mark.parametrize("channel", [*CHANNELS, Channel(labels=(-1.0, 0.0, 2.0), probability=THREE)], ids=str)
def test_batches_that_verify_samples_have_the_law(channel: Channel) -> None:
    """Labels of the rows that a trained bulk is checked with were values of the link, without the channel."""
    source = np.random.default_rng(4)
    target = Target("z", channel=channel)
    x, y = sampled_inputs(target, 40_000, 2, source)
    near = np.abs(x[:, 0] - 0.8) < 0.05
    assert set(np.unique(y)) <= set(channel.values or np.arange(200.0))
    for label in np.unique(y)[:4]:
        chance = np.mean([dict(zip(*law_of(channel, s), strict=True))[label] for s in x[near, 0]])
        error = math.sqrt(chance * (1.0 - chance) / near.sum())
        assert abs(np.mean(y[near] == label) - chance) < 4.5 * error


def sums_over(channel: Channel, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[y | s] and E[y^2 | s]."""
    if channel.name == "poisson":
        return np.exp(s), np.exp(s) + np.exp(2.0 * s)
    chance = [(y, channel.probability_of(np.array(y), s)) for y in channel.values]
    return sum(y * p for y, p in chance), sum(y * y * p for y, p in chance)  # type: ignore[return-value]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize("probit", [0.0, 0.3])
def test_moments_of_a_drawn_label(channel: Channel, probit: float) -> None:
    """At nodes, and as the square loss knows them, against Gauss-Hermite sums over z and sums over labels."""
    gamma, target = 0.6, Target("0.7*z", probit=probit, channel=channel)
    width = math.sqrt(1.0 - gamma**2)
    exact = np.zeros((3, len(KAPPA)))
    inner = np.add.outer(width * T, math.sqrt(probit) * T)
    both = np.outer(WEIGHT, WEIGHT)
    for k, kappa in enumerate(KAPPA):
        s = 0.7 * (gamma * kappa + inner)
        first, second = sums_over(channel, s)
        linear = T[:, None] * first
        exact[:, k] = [(both * part).sum() for part in (first, linear, second)]
    law = label_law(target, (gamma,), KAPPA)
    assert isinstance(law, Points)
    found = [(law.weight * law.label).sum(axis=1), (law.weight * law.label * law.t[..., 0]).sum(axis=1)]
    found.append((law.weight * law.label**2).sum(axis=1))
    assert np.array(found) == pytest.approx(exact, rel=1e-10)
    rows = np.column_stack([KAPPA, np.ones(3), np.zeros((3, 3))])
    moments = moments_at_nodes(rows, target, (gamma,), 0, False)
    assert np.array([moments.mean, moments.linear[:, 0], moments.square]) == pytest.approx(exact, rel=1e-10)


def test_a_logit_of_signs_flips_them() -> None:
    """log odds of log(9) keep a sign with the probability .9: the law of flips of .1, labels at nodes included."""
    flips, odds = Target("sign", flips=0.1), Target(f"{math.log(9.0)!r}*sign(z)", channel=Channel("logit"))
    laws = [label_law(target, (0.6,), KAPPA) for target in (flips, odds)]
    assert all(isinstance(law, Intervals) for law in laws)
    sorted_laws = [sorted(zip(law.low, law.high, law.label, np.round(law.weight, 12), strict=True)) for law in laws]  # type: ignore[union-attr]
    assert sorted_laws[0] == sorted_laws[1]
    of_two = Target(f"{math.log(9.0)!r}*sign(z1*z2)", channel=Channel("logit"))
    drawn = label_moments(of_two, (0.6, 0.3), KAPPA[:, None], 0.0, 0, False)
    plain = label_moments(Target("sign(z1*z2)"), (0.6, 0.3), KAPPA[:, None], 0.0, 0, False)
    assert drawn.mean == pytest.approx(0.8 * plain.mean, rel=1e-12)
    assert drawn.square == pytest.approx(np.ones(3), abs=1e-15)


def test_residuals_of_drawn_labels() -> None:
    laws = Laws(np.array([[math.log(9.0), -math.log(9.0)]]), np.array([[[0.3, 0.7], [1.0, 2.0]]]))
    found = laws.drawn(Target("z", channel=Channel("logit")))
    assert (found.rows[0] @ found.e[0]) == pytest.approx([0.8 * (0.3 - 0.7), 0.8 * (1.0 - 2.0)], rel=1e-12)
    assert found.rows.sum(axis=2) == pytest.approx(laws.rows.sum(axis=2), rel=1e-14)


CLIP = Channel(labels=(-1.0, 1.0), probability="clip((1+y*s)/2,0,1)")


@pytest.mark.parametrize(
    ("link", "channel"),
    [("50*z", Channel("logit")), ("1e-6*z", Channel("logit")), ("z", CLIP)],
    ids=["sharp", "faint", "kinked"],
)
def test_probabilities_that_turn_fast_hardly_or_with_kinks(link: str, channel: Channel) -> None:
    """Nodes end where the mean label has kinks or turns; faint odds keep their digits. Against 400,000 even places."""
    t = np.linspace(-9.0, 9.0, 400_001)
    density = np.exp(-0.5 * t * t) * (t[1] - t[0]) / math.sqrt(2.0 * math.pi)
    law = label_law(Target(link, channel=channel), (0.6,), KAPPA)
    assert isinstance(law, Points)
    for k, kappa in enumerate(KAPPA):
        z = 0.6 * kappa + 0.8 * t
        mean = {"50*z": np.tanh(25.0 * z), "1e-6*z": np.tanh(5e-7 * z), "z": np.clip(z, -1.0, 1.0)}[link]
        found = (law.weight[k] @ law.label[k], (law.weight[k] * law.label[k]) @ law.t[k, :, 0])
        assert found == pytest.approx((density @ mean, density @ (mean * t)), rel=2e-9, abs=1e-15)


@pytest.mark.parametrize("probit", [0.0, 0.2])
def test_moments_of_counts_whose_fourth_powers_have_none(probit: float) -> None:
    """Means exp(z^2/8) given kappa: averages of exponentials of squares in closed form."""
    gamma, target = 0.6, Target("z**2/8", probit=probit, channel=Channel("poisson"))
    rest, inside = 1.0 - gamma**2, 1.0 - gamma**2 + probit
    rows = np.column_stack([KAPPA, np.ones(3), np.zeros((3, 3))])
    found = moments_at_nodes(rows, target, (gamma,), 0, False)

    def average(a: float) -> np.ndarray:
        left = 1.0 - 2.0 * a * inside
        return np.exp(a * (gamma * KAPPA) ** 2 / left) / math.sqrt(left)

    slope = 0.25 * gamma * KAPPA / (1.0 - 0.25 * inside)
    exact = [average(0.125), math.sqrt(rest) * slope * average(0.125), average(0.125) + average(0.25)]
    assert np.array([found.mean, found.linear[:, 0], found.square]) == pytest.approx(np.array(exact), rel=1e-10)


@pytest.mark.parametrize(
    ("link", "mean", "square", "overlap"),
    [
        ("2.5*z", math.exp(3.125), math.exp(12.5), 2.5 * math.exp(3.125)),
        ("6.5*z", math.exp(21.125), math.exp(84.5), 6.5 * math.exp(21.125)),
        ("z**2/8", math.sqrt(4.0 / 3.0), math.sqrt(2.0), 0.0),
    ],
)
def test_the_step_of_counts_of_heavy_tails(link: str, mean: float, square: float, overlap: float) -> None:
    """E y^2 is the sum of the averages of the mean count and of its square; tanh has no mean of its own."""
    found = step_arguments(gs.model(link=link, channel="poisson"))
    assert (found.s0, found.e2, found.overlaps[0]) == pytest.approx((mean, mean + square, overlap), rel=1e-11)


def test_a_residual_that_is_rounding_is_told() -> None:
    with pytest.raises(gs.BadInput, match="residual of the gradient step vanishes"):
        step_arguments(gs.model("sigmoid", link="0*z+1/2"))
    assert step_arguments(gs.model("sigmoid", link="1/2+z/1e6")).e2 == pytest.approx(1e-12, rel=1e-2)


@pytest.mark.parametrize("s", [-30.0, -3.3, 0.4, 5.0, 8.0])
@pytest.mark.parametrize("rough", [False, True])
def test_counts_themselves_average_what_has_kinks(s: float, rough: bool) -> None:
    """All counts, of the third halving; of the second those of rates up to hundreds. Every h-th serves what varies
    slowly: h is 2 for a rate of 3000, 3 where rough. Logarithms of probabilities are rounded in units of rate*s.
    """
    rate, allowed = math.exp(s), 2e-10
    rounded = 1e-12 + 2.0**-52 * rate**1.5 * abs(s)
    y = np.arange(int(rate + 40.0 * math.sqrt(rate) + 60.0))
    p = stats.poisson.pmf(y, rate)
    for finer in (2, 3):
        labels, weights = labels_given(Channel("poisson"), np.array([[s]]), finer, rough)
        for slow in (lambda x: x, lambda x: x**2, lambda x: np.exp(-0.5 * (x - rate) ** 2 / (rate + 1.0))):
            assert np.sum(weights * slow(labels)) == pytest.approx(np.sum(p * slow(y.astype(float))), rel=allowed)
        kinked = [np.sum(w * np.abs(x - rate - 0.3)) for x, w in ((labels, weights), (y, p))]
        differs = abs(kinked[0] - kinked[1])
        assert differs < rounded if finer == 3 or s < 7.0 else differs > 1e-4


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("place", ["", "-0.37"])
def test_a_channel_that_jumps_is_a_link_that_does(place: str, steps: int) -> None:
    """Of a trained bulk: residuals of labels whose probabilities jump were averaged across the jump."""
    step = {"samples": 2.0, "learning_rate": 1.0}
    table = {
        "network": {"activation": "tanh", "width": 0.8},
        "fit": {"samples": 2.0, "ridge": 0.05},
        "step": [step, {**step, "bulk": "trained"}][-steps:],
    }
    by_channel = {"link": "z", "channel": {"labels": [-1, 1], "probability": f"0.5+y*0.4*sign(s{place})"}}
    drawn, flipped = (
        gs.solve(gs.Model.from_dict({**table, "target": target}))
        for target in (by_channel, {"link": f"sign(z{place})", "flips": 0.1})
    )
    assert drawn.train_error == pytest.approx(flipped.train_error, rel=1e-11)
