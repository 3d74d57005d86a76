"""Models whose labels a channel draws: against laws that they are equal to, the certificate, and simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.channel import labels_given
from giantstep.observe.optimal.optimal import optimal
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel
from giantstep.system.solve import solve
from giantstep.verify.certificate import certificate
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.label_averages import averages_over_labels
from giantstep.verify.output_law import Output
from giantstep.verify.shared_averages import averages_over_drawn

HALF = {"labels": [-1, 1], "probability": "(1+0.8*y*s)/2"}
ODDS = repr(math.log(9.0))


def model(loss: str, target: dict[str, Any], bulk: str = "isotropic") -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {
                "activation": "tanh",
                "width": 1.0,
                "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
            },
            "step": {"samples": 4.0, "learning_rate": 1.5, "bulk": bulk},
            "target": target,
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


EQUAL = [
    ({"link": "2*z", "channel": "probit"}, {"link": "sign", "probit": 0.25}),
    ({"link": f"{ODDS}*sign(z)", "channel": "logit"}, {"link": "sign", "flips": 0.1}),
    ({"link": "sign", "channel": HALF}, {"link": "sign", "flips": 0.1}),
]


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
@pytest.mark.parametrize("loss", ["logistic", "square"])
@pytest.mark.parametrize("targets", EQUAL, ids=["probit", "logit", "own"])
def test_equal_laws_have_equal_solutions(targets: tuple[dict[str, Any], dict[str, Any]], loss: str, bulk: str) -> None:
    """Noise inside the link is a channel of its own, flips another; only what is called clean differs for squares."""
    drawn, plain = (solve(model(loss, target, bulk)) for target in targets)
    assert drawn.train_error == pytest.approx(plain.train_error, rel=1e-11)
    assert drawn.free_energy == pytest.approx(plain.free_energy, rel=1e-11)
    if loss == "logistic":
        assert drawn.test_error == pytest.approx(plain.test_error, rel=1e-11)


def test_two_fits_draw_labels_again_as_they_flip_them() -> None:
    drawn, plain = EQUAL[1]
    found = [
        gs.decompose(model("logistic", target), given=("batch",)).pairs["batch+data"].half_mean_square
        for target in (drawn, plain)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-8)


DRAWN = [
    ("logistic", {"link": "2*z", "channel": "logit"}),
    ("square", {"link": "z/2", "channel": "poisson"}),
    ("huber", {"link": "z", "channel": {"name": "binomial", "trials": 3}}),
]


@pytest.mark.parametrize(("loss", "target"), DRAWN, ids=["logit", "poisson", "binomial"])
def test_the_certificate_holds_and_networks_agree(loss: str, target: dict[str, Any]) -> None:
    """A second quadrature with sums over the labels; twelve systems at d = 150 within 4.5 standard errors."""
    asked = model(loss, target)
    found = certificate(solve(asked))
    assert not found.unsettled
    assert max(*found.errors.values(), *found.equations.values()) < 1e-8
    theory, seen = solve(asked, dimension=150), gs.simulate(asked, dimension=150, seeds=12, seed=4)
    for value, measured in ((theory.test_error, seen.test_error), (theory.train_error, seen.train_error)):
        sample = np.asarray(measured).ravel()
        error = sample.std(ddof=1) / math.sqrt(len(sample))
        assert abs(sample.mean() - value) < 4.5 * error


@pytest.mark.slow
def test_counts_of_two_indices_agree_with_networks() -> None:
    """First solutions have half the nodes of a Poisson law, which was an internal error; 24 systems at d = 300."""
    asked = model("poisson", {"link": "(tanh(z1)+tanh(z2))/2", "channel": "poisson"})
    theory, seen = solve(asked, dimension=300), gs.simulate(asked, dimension=300, seeds=24, seed=5)
    for value, measured in ((theory.test_error, seen.test_error), (theory.train_error, seen.train_error)):
        sample = np.asarray(measured).ravel()
        assert abs(sample.mean() - value) < 4.5 * sample.std(ddof=1) / math.sqrt(len(sample))


def overlap_by_sums(samples: float, target: Target, counts: int) -> float:
    """The fixed point of state evolution by Gauss-Hermite sums over kappa and t, and sums over the labels."""
    t, weight = np.polynomial.hermite_e.hermegauss(90)
    weight, q = weight / weight.sum(), 0.5
    assert target.channel is not None
    scale = 0.25 if target.channel.name == "poisson" else 2.0
    labels = target.channel.values or tuple(map(float, range(counts)))
    for _ in range(60):
        s = scale * (math.sqrt(q) * t[:, None] + math.sqrt(1.0 - q) * t)
        told = 0.0
        for y in labels:
            likely = target.channel.probability_of(np.array(y), s)
            total, first = likely @ weight, likely @ (weight * t)
            told += float(weight @ np.where(total > 1e-280, first**2 / np.maximum(total, 1e-300), 0.0)) / (1.0 - q)
        q = samples * told / (1.0 + samples * told)
    return q


@pytest.mark.parametrize(("link", "channel"), [("2*z", "logit"), ("z/4", "poisson")])
def test_the_best_estimator_of_a_channel(link: str, channel: str) -> None:
    asked = model("square", {"link": link, "channel": channel})
    found = optimal(asked)
    assert found.overlap is not None
    assert float(found.overlap[0, 0]) == pytest.approx(overlap_by_sums(6.0, asked.target, 150), rel=1e-9)


def test_the_certificate_finds_a_channel_that_the_solver_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that are 1e-4 off are no solution of the definition."""

    def wrong(channel: Any, s: np.ndarray, finer: int = 0, rough: bool = False) -> tuple[np.ndarray, np.ndarray]:
        labels, weights = labels_given(channel, s, finer, rough)
        return labels * 1.0001, weights

    monkeypatch.setattr("giantstep.law.labels.labels_given", wrong)
    asked = model("absolute", {"link": "0.51*z", "channel": {"name": "binomial", "trials": 2}})
    found = certificate(solve(asked))
    assert max(*found.errors.values(), *found.equations.values()) > 1e-6


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("learning_rate", [1.0, None])
def test_labels_that_know_nothing_of_the_inputs(loss: str, learning_rate: float | None) -> None:
    """Coins: both labels are equally likely everywhere, and any output is wrong by half."""
    coin = {"labels": [-1, 1], "probability": "1/2"}
    found = gs.solve(gs.model(link="z", channel=coin, loss=loss, learning_rate=learning_rate))
    assert found.test_error == pytest.approx(0.5, abs=1e-11)
    assert 0.0 < found.train_error


def test_labels_that_are_equally_likely_on_one_side() -> None:
    """Log odds 3 max(z, 0), by the certificate and by 12 systems at d = 150 within 4.5 standard errors."""
    asked = gs.model(link="3*relu(z)", channel="logit", loss="logistic", step_samples=2.0)
    found = certificate(solve(asked))
    assert max(*found.errors.values(), *found.equations.values()) < 1e-7
    seen = np.asarray(gs.simulate(asked, dimension=150, seeds=12, seed=4).test_error).ravel()
    error = seen.std(ddof=1) / math.sqrt(len(seen))
    assert abs(seen.mean() - solve(asked, dimension=150).test_error) < 4.5 * error


def test_many_counts_share_the_law_of_the_output() -> None:
    """The certificate of a loss that has another curve for each count, of which more than a hundred occur."""
    asked = model("poisson", {"link": "z/2", "channel": "poisson"})
    found = certificate(solve(asked))
    assert not found.unsettled
    assert max(*found.errors.values(), *found.equations.values()) < 1e-9


@pytest.mark.parametrize("loss", ["poisson", "log_cosh"])
def test_shared_averages_are_those_of_one_label_after_the_other(loss: str) -> None:
    """Sums over three counts at two kappa, on the nodes of the output of each place of the target."""
    target = Target("tanh(z)", probit=0.2, channel=Channel("binomial", trials=2))
    law, kappa = LabelLaw.of(target, np.array([[0.6]])), np.array([-0.7, 1.2])
    output = Output(np.array([0.3, -0.2]), np.array([[0.4, 0.7]]), np.array([0.5, 0.8]), np.array([1.3, 0.4]))
    shared = averages_over_drawn(law, FitLoss(loss), kappa, output, 0.5)
    single = averages_over_labels(law, FitLoss(loss), 0.0, kappa, output, 0.5)
    for name, values in single.items():
        np.testing.assert_allclose(shared[name], values, rtol=1e-11, atol=1e-12)


def test_a_loss_with_kinks_on_counts() -> None:
    """The Gauss rule of a Poisson law leaves 1e-6 of the test error, whatever its nodes; all counts are few."""
    found = solve(model("huber", {"link": "2*tanh(z)", "channel": "poisson"}))
    assert found.quadrature_error < 1e-10 and found.residual < 1e-10


@pytest.mark.parametrize(("samples", "ridge"), [(0.5, 1.0), (5.0, 1e-3), (5.0, 0.1), (5.0, 10.0), (5.0, 1e4)])
def test_outputs_on_another_scale_than_counts_are_found(samples: float, ridge: float) -> None:
    """From a square loss of the counts themselves Newton's method ended nowhere, after 20 s."""
    table = model("poisson", {"link": "softplus(z)", "channel": "poisson"}).replace(
        {"network.activation": "relu", "fit.samples": samples, "fit.ridge": ridge}
    )
    result = solve(table)
    assert result.residual < 1e-9
    assert result.training_loss == pytest.approx(result.free_energy, rel=1e-8)
