"""The best estimator: closed values, limits, and message passing on drawn samples."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.monomials import told_by_product
from giantstep.observe.optimal.one import _Rule, told_by_nodes
from giantstep.observe.optimal.path import path_of
from giantstep.observe.optimal.preimages import places_of
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import _largest, first_threshold
from giantstep.observe.optimal.told import told
from giantstep.quadrature.gauss import normal_nodes
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel


def model(link: str, samples: float, loss: str = "square", **target: object) -> gs.Model:
    """A model whose steps and fit have that many samples together."""
    return gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0},
            "step": {"samples": 0.25 * samples, "learning_rate": 1.0},
            "target": {"link": link, **target},
            "fit": {"samples": 0.75 * samples, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize(("samples", "error"), [(1.0, 0.25437297), (3.0, 0.129854826), (10.0, 0.04357320)])
def test_a_perceptron(samples: float, error: float) -> None:
    found = gs.optimal(model("sign", samples, "logistic"))
    assert found.test_error == pytest.approx(error, abs=1e-8) and found.mean_overlap is not None
    assert found.test_error == pytest.approx(math.acos(math.sqrt(found.mean_overlap)) / math.pi, abs=1e-9)
    assert not found.hard and [t.samples for t in found.thresholds] == [0.0]


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_a_link_of_fewer_directions_than_letters_is_one_of_these(loss: str) -> None:
    """It was averaged over all letters: minutes, on Hermite rules that overflow."""
    found, one = (gs.optimal(model(link, 2.0, loss)) for link in ("sign(z1+z2/2)", "sign"))
    assert found.test_error == one.test_error and one.overlap is not None and found.mean_overlap is not None
    along = np.array([2.0, 1.0]) / math.sqrt(5.0)
    assert found.overlap == pytest.approx(one.overlap[0, 0] * np.outer(along, along), abs=1e-14)
    assert found.mean_overlap == pytest.approx(0.5 * one.overlap[0, 0], rel=1e-14)
    assert np.abs(found.thresholds[0].directions) == pytest.approx(along[None], abs=1e-14)
    passed = gs.optimal(found.model, dimension=60, seeds=2).to_dict()["simulated"]["overlap"]["mean"]
    assert passed == pytest.approx(0.5 * gs.optimal(one.model, dimension=60, seeds=2).simulated.overlap.mean())  # type: ignore[union-attr]


def test_jumps_of_overlaps_count_all_letters() -> None:
    found, one = (gs.optimal(model(link, 1.0)).transitions for link in ("abs(z1+z2)", "abs(z)"))
    assert found and one and len(found) == len(one)
    for jump, other in zip(found, one, strict=True):
        assert (jump.before, jump.after) == pytest.approx((0.5 * other.before, 0.5 * other.after), rel=1e-9)
        assert jump.information == pytest.approx(other.information, rel=1e-9)


def test_labels_that_rarely_vary_are_followed_where_they_do() -> None:
    """Nodes followed the deviation of the link, a thousandth of how far it varies where it does: 6000 on a side.

    What labels tell where next to nothing is known is an integral over the index at every label.
    """
    target, q = Target("max(0,z-4.2)", noise=0.01), 1e-8
    z, weight = normal_nodes(np.concatenate([[-9.0, -4.0, 0.0, 2.0, 4.0], np.arange(4.2, 9.01, 0.1)]), 12)
    y = np.arange(-1.0, 4.0, 0.01)[:, None]
    density = np.exp(-0.5 * ((y - np.maximum(z - 4.2, 0.0)) / 0.1) ** 2) / 0.1 / math.sqrt(2.0 * math.pi)
    wanted = 0.01 * ((density @ (weight * z)) ** 2 / np.maximum(density @ weight, 1e-300)).sum()
    assert told_by_nodes(target, q, Fineness(labels=4)) == pytest.approx(wanted, rel=1e-5)  # q z^4 is 3e-6
    rule = _Rule.of(target, 0.5, Fineness(), 0.1)
    assert rule._numbers(np.array([0.0]), np.array([9.0])).max() < 200


@pytest.mark.parametrize("samples", [0.01, 2.0, 100.0])
@pytest.mark.parametrize("target", [{"flips": 0.499}, {"flips": 0.45}, {"probit": 1e4}])
def test_the_error_next_to_that_of_a_coin(samples: float, target: dict[str, float]) -> None:
    """It falls as the root of the overlap: polynomials of the overlap told up to 8e-5 too much or too little."""
    found = gs.optimal(model("sign", samples, "logistic", **target))
    assert found.mean_overlap is not None
    won = math.asin(math.sqrt(found.mean_overlap)) / math.pi
    assert 0.5 - found.test_error == pytest.approx(won, rel=1e-8)


@pytest.mark.parametrize(
    ("link", "target", "threshold"),
    [
        ("sign(z1*z2)", {}, math.pi**2 / 4.0),
        ("sign(z1*z2)", {"flips": 0.1}, math.pi**2 / 4.0 / 0.8**2),
        ("z**2", {}, 0.5),
        ("abs(z)", {}, 0.5),
        ("z**2", {"probit": 0.3}, 0.5 * 1.3**2),
        ("z1*z2", {}, 0.593751),
        ("z1*z2*z3", {}, 2.565180),
        ("-2*z1*z2*z3*z4", {}, 3.725077),
        ("He(3,z)", {}, 0.0),
        ("z**4 - 6*z**2", {}, 0.6448505),  # the last two by quadrature of E[z^2 - 1 given y]^2 over both roots z^2
        ("z**4 - z**2", {}, 0.5093917),
    ],
)
def test_thresholds_of_weak_recovery(link: str, target: dict[str, Any], threshold: float) -> None:
    found = path_of(Sought(Target(link, **target))).thresholds
    assert found[0].samples == pytest.approx(threshold, abs=1e-6)
    assert len(found[0].directions) == found[0].directions.shape[1]


@pytest.mark.parametrize(
    ("link", "same", "threshold"),
    [
        ("z1**2 + z2**2", "", 1.0),  # G = (r^2/2 - 1) 1, and r^2/2 is exponential
        ("(z1**2 - z2**2)/2", "z1*z2", 0.5937510982),
        ("(z1**2 - z2**2)**2", "z1**2*z2**2", 1.461545115),  # zeros that are double
        ("z1**3 - 3*z1*z2**2", "(z1**3 - 3*z1*z2**2)/2 + sqrt(3)/2*(3*z1**2*z2 - z2**3)", 1.273764286),  # turned
    ],
)
def test_thresholds_of_homogeneous_polynomials(link: str, same: str, threshold: float) -> None:
    found = [first_threshold(Sought(Target(each)), Fineness()).samples for each in (link, same) if each]
    assert found == pytest.approx([threshold] * len(found), rel=3e-9)
    assert gs.learnable(link).possible == found[0]


def test_the_threshold_of_a_product_of_five() -> None:
    found = told_by_product((1,) * 5)
    assert 1.0 / _largest(found.weight, found.square)[0] == pytest.approx(4.911914, abs=1e-6)


@pytest.mark.parametrize(("noise", "samples"), [(0.5, 1.0), (0.1, 0.7), (2.0, 5.0)])
def test_a_linear_target_is_a_gaussian_channel(noise: float, samples: float) -> None:
    """Q = Qh/(1 + Qh), Qh = alpha/(1 - Q + noise): a quadratic equation."""
    b = 1.0 + noise + samples
    overlap = 0.5 * (b - math.sqrt(b * b - 4.0 * samples))
    found = gs.optimal(model("z", samples, noise=noise))
    assert found.mean_overlap == pytest.approx(overlap, abs=1e-9)
    assert found.test_error == pytest.approx(1.0 - overlap, abs=1e-9)


@pytest.mark.parametrize("link", ["z", "tanh(2*z)", "z**3/3 + z"])
def test_monotone_labels_without_noise_are_linear_equations(link: str) -> None:
    assert gs.optimal(model(link, 0.6)).mean_overlap == pytest.approx(0.6, abs=1e-10)
    assert gs.optimal(model(link, 1.2)).test_error == 0.0


def test_phase_retrieval_is_hard_between_one_and_more() -> None:
    assert gs.optimal(model("z**2", 0.49)).mean_overlap == 0.0
    middle = gs.optimal(model("z**2", 1.05))
    assert middle.hard and middle.test_error == 0.0 and middle.algorithmic_error is not None
    assert not gs.optimal(model("z**2", 1.2)).hard


@pytest.mark.parametrize(
    ("link", "noise", "error", "overlap"),
    [("sin(2*z)", 0.1, 0.165605976, 0.899490027), ("tanh(3*z) - z", 0.02, 0.0308588, 0.965314089)],
)
def test_noisy_labels_that_are_not_monotone(link: str, noise: float, error: float, overlap: float) -> None:
    """Against two rules of another hand, panels and trapezoids in omega, z and y."""
    found = gs.optimal(model(link, 2.0, noise=noise))
    assert found.mean_overlap == pytest.approx(overlap, abs=2e-8)
    assert found.test_error == pytest.approx(error, abs=1e-7)


def test_what_labels_tell_by_definition() -> None:
    """E[t|y] of relu and tanh at nodes of noise so small that it hardly matters, and without."""
    for link in ("relu(z)", "tanh(z) + z**2/4"):
        known = np.array([[0.4]])
        clean = told(Target(link), known, Fineness()).information[0, 0]
        noisy = [told(Target(link, noise=s), known, Fineness(labels=7)).information[0, 0] for s in (4e-4, 1e-4)]
        assert clean > noisy[1] > noisy[0]
        assert clean - noisy[1] < 0.6 * (clean - noisy[0]) < 0.05


def test_signs_of_labels_that_a_channel_hides() -> None:
    """Signs of z are wrong by the angle. What that may be off by was held against E f_*^2, which is 2e-5."""
    found = gs.optimal(model("0.01*z", 2.0, "logistic", channel="logit"))
    assert found.test_error is not None and found.mean_overlap is not None
    won = math.asin(math.sqrt(found.mean_overlap)) / math.pi
    assert found.error < 1e-8
    assert found.test_error == pytest.approx(0.5 - won, abs=0.5 * found.error)
    # a label of chances 1/2 +- z/400 tells E z^2/200^2 of z, and q is that of 2 samples, to first order
    assert found.mean_overlap == pytest.approx(2.0 * 0.005**2, rel=1e-3)


@pytest.mark.parametrize(
    ("given", "dimensions"),
    [
        (model("sign", 2.0, "logistic"), (200, 400)),
        # the length of w, which these labels hardly feel, is still some percent off: the overlap read 1.03
        (model("sign", 12.0), (400,)),
        (model("sign", 2.0, "logistic", flips=0.1), (300,)),
        (model("relu", 0.7), (300,)),
        (model("tanh", 2.0, noise=0.1), (300,)),
        (model("sign", 2.0, probit=0.5), (300,)),
        # samples enough: where the overlap still rises, finite systems scatter about the limit and some runs swing
        pytest.param(model("z**2", 3.0, noise=0.3), (500, 1000), marks=pytest.mark.slow),
        pytest.param(model("sign(z1*z2)", 6.0), (300, 600), marks=pytest.mark.slow),
        pytest.param(model("z1*z2", 5.0, noise=0.1), (500, 1000), marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value.target.link) if isinstance(value, gs.Model) else "",
)
def test_message_passing_reaches_it(given: gs.Model, dimensions: tuple[int, ...]) -> None:
    """Overlap and error of eight runs; their distance from the limit shrinks as 1/d."""
    for d in dimensions:
        found = gs.optimal(given, dimension=d, seeds=8)
        runs = found.simulated
        assert runs is not None and found.algorithmic is not None and found.algorithmic_error is not None
        assert runs.unsettled == 0
        limits = (float(np.trace(found.algorithmic)) / len(found.algorithmic), found.algorithmic_error)
        for measured, limit in zip((runs.overlap, runs.test_error), limits, strict=True):
            error = np.std(measured, ddof=1) / math.sqrt(8)
            assert abs(np.mean(measured) - limit) < 4.0 * error + 3.0 / d


def test_runs_that_still_move_are_told() -> None:
    found = gs.optimal(model("tanh", 2.0, noise=0.1), dimension=100, seeds=2)
    assert found.simulated is not None
    moving = replace(found, simulated=replace(found.simulated, unsettled=1))
    assert "2 seeds; 1 of them had not settled)" in str(moving) and "settled)" not in str(found)
    assert moving.to_dict()["simulated"]["unsettled"] == 1


def test_two_plateaus_of_one_label() -> None:
    """clip(|z|, 1/2, 3/2) is 3/2 on both sides: the mean of t there is one of both tails."""
    places = places_of(Target("clip(abs(z),0.5,1.5)"))
    assert places is not None
    low, high = (-1.5 - 0.3) / math.sqrt(0.6), (1.5 - 0.3) / math.sqrt(0.6)
    expected = (norm.pdf(high) - norm.pdf(low)) / (norm.sf(high) + norm.cdf(low))
    found = places.mean(np.array([1.5]), np.array([0.3]), 0.6)
    assert found[0, 0] == pytest.approx(expected, abs=1e-13)


def test_no_fit_is_better() -> None:
    for loss, link, ridge in (("square", "tanh", 0.05), ("logistic", "sign", 0.2)):
        given = model(link, 3.0, loss, noise=0.1 if loss == "square" else 0.0).replace({"fit.ridge": ridge})
        best = gs.optimal(given).test_error
        assert best is not None and best < gs.solve(given).test_error


def test_in_curves_and_from_the_shell(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    given = model("sign", 2.0, "logistic")
    data = gs.curve(given, "fit.samples=1,2", baselines=False, optimal=True)
    expected = [gs.optimal(given.replace({"fit.samples": n})).test_error for n in (1.0, 2.0)]
    assert data.numbers("optimal_test_error").tolist() == expected
    path = tmp_path / "m.toml"
    path.write_text(given.to_toml())
    assert main(["optimal", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test_error"] == gs.optimal(given).test_error and found["thresholds"] == [0.0]
    assert main(["optimal", str(path)]) == 0 and "least test error" in capsys.readouterr().out


def test_what_is_not_known_is_refused_or_said() -> None:
    found = gs.optimal(model("z1*z2", 2.0))
    assert found.test_error is None and "noise" in found.reason and found.thresholds
    with pytest.raises(gs.BadInput, match="constant"):
        gs.optimal(model("1 + 0*z", 1.0))
    with pytest.raises(gs.BadInput, match="do not depend"):
        gs.optimal(model("sign", 1.0, flips=0.5))


@pytest.mark.slow
def test_a_product_with_noise() -> None:
    """THEORY: Q = .6411, error .5890 at two samples per dimension."""
    found = gs.optimal(model("z1*z2", 2.0, noise=0.1))
    assert found.mean_overlap == pytest.approx(0.6411, abs=5e-4)
    assert found.test_error == pytest.approx(0.5890, abs=5e-4)


def test_an_alignment_that_is_given_is_said_to_be_left_out() -> None:
    model = gs.model(
        "tanh", link="sign", samples=2.0, ridge=0.1, spike=gs.Spike(strength=1.0, alignment=0.8, bulk_variance=1.2)
    )
    found = gs.optimal(model)
    assert "alignment" in found.ignores and "not counted" in repr(found) and found.to_dict()["ignores"]
    assert not gs.optimal(model.replace({"spike.alignment": 0.0})).ignores


def test_the_least_misclassification_of_labels_that_are_equally_likely() -> None:
    """Log odds 3 max(z, 0): whatever is known, z > 0 has its likelier label, and z < 0 none."""
    target = Target("3*relu(z)", channel=Channel("logit"))
    assert least_error(target, np.array([[0.6]]), Fineness(), True) == pytest.approx(0.25, abs=1e-8)


def test_the_likelier_label_is_averaged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many nodes as memory holds at a time; what is still refused is said in the words of the model."""
    target, known = Target("2*z1*z2", channel=Channel("logit")), np.diag([0.5, 0.4])
    whole = least_error(target, known, Fineness(), True)
    monkeypatch.setattr("giantstep.observe.optimal.error._TOGETHER", 37)
    assert least_error(target, known, Fineness(), True) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr("giantstep.law.multi_index_labels._MOST", 100)
    with pytest.raises(NotConverged, match=r"of target.link = '2\*z1\*z2' with target.channel = logit needs") as raised:
        least_error(target, known, Fineness(), True)
    assert "fit.loss=square for the least squared error" in raised.value.hint


@pytest.mark.parametrize("samples", [6.0, 1e5])
def test_counts_of_an_exponential_mean_have_a_closed_error(samples: float) -> None:
    """E exp(2z) - E E[exp(z)|kappa]^2 = exp(2) - exp(1 + Q) for the overlap Q: far out most of it is decided."""
    given = {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "z", "channel": "poisson"},
        "fit": {"samples": samples, "ridge": 0.1, "loss": "poisson"},
    }
    found = gs.optimal(gs.Model.from_dict(given)).to_dict()
    known = math.exp(2.0) - math.exp(1.0 + float(found["overlap"]))
    assert found["test_error"] == pytest.approx(known, rel=1e-10 + 1e-16 * math.exp(2.0) / known, abs=0.0)
