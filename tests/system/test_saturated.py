"""Features that saturate in kappa: signs of outputs that vanish, and turns that the coefficients do not know.

Where an activation saturates, the output has next to no variance beside kappa. Its sign there depends on ratios of
small numbers, and averages over it turn where its mean passes a kink of the loss.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from loss_cases import model
from scipy.integrate import quad
from scipy.special import ndtr

from giantstep.quadrature.mesh import meshes, nodes
from giantstep.quadrature.panels import rows_at
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.level import Level
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

FAR = {"spike__strength": 6.0}


def by_definition(found: Model, result: Result) -> float:
    """P(y f < 0) of the label sign z, t and kappa integrated one inside the other. Source: THEORY section 4."""
    problem, order = problem_of(found), result.order_parameters
    m, zeta, psi, q1, q2 = (order[name] for name in ("m", "zeta", "psi", "Q1", "Q2"))
    (gamma,) = found.spike.alignments
    width = math.sqrt(1.0 - gamma**2)

    def given(kappa: float) -> float:
        row = rows_at(problem.blocks, problem.link, np.array([kappa]), np.ones(1))[0, 5:]
        mu0, mu1, mu2 = row.reshape(3, -1)
        size = max(np.max(np.abs(row[: 2 * len(m)])), 1e-300)  # ratios are what matters
        mean, slope = float(m @ mu0 + zeta @ mu1 * kappa) / size, float(psi @ mu1) / size
        variance = (mu1 / size) @ (q1 - np.outer(psi, psi)) @ (mu1 / size) + q2 @ mu2 / size / size
        if variance <= 0.0:  # below what numbers can tell, far out
            return 0.5
        root, cut = math.sqrt(variance), -gamma * kappa / width

        def inside(t: float) -> float:
            y = 1.0 if t > cut else -1.0
            return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi) * float(ndtr(-y * (mean + slope * t) / root))

        places = sorted({-9.0, 9.0, *(c for c in (cut, -mean / (slope or 1e-300)) if abs(c) < 9.0)})
        return sum(quad(inside, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0] for a, b in pairwise(places))

    edges = meshes((*problem.blocks, problem.link)).edges
    kappa, weight = nodes(edges, 24)
    return float(sum(w * given(k) for k, w in zip(kappa.tolist(), weight.tolist(), strict=True) if w > 1e-14))


@pytest.mark.parametrize(
    ("activation", "loss", "blocks"),
    [("gelu", "logistic", 1), ("relu", "squared_hinge", 1), ("softplus", "hinge", 1), ("gelu", "logistic", 2)],
)
def test_signs_of_outputs_that_vanish(activation: str, loss: str, blocks: int) -> None:
    """Once wrong by 1e-7, where one side of the activation is flat: rounding had a floor there.

    Ten times the error that a solution may have by its own estimate.
    """
    result = solve(model(loss, blocks, network__activation=activation, **FAR))
    assert result.test_error == pytest.approx(by_definition(result.model, result), rel=1e-9)


def test_cuts_lie_about_the_passage_of_the_kink() -> None:
    """At some of them the mean of the output is 1 or 1 - V, the images of the kink of the hinge."""
    result = solve(model("hinge", network__activation="silu", **FAR))
    problem = problem_of(result.model)
    system = CoupledSystem(problem, Level(14, 24, 3))
    x = system.unknowns(order_of(problem, result))
    cuts = np.array(cuts_at(problem, x))
    system.fields(x)
    # linear between nodes that lie a hundredth apart: an error of 1e-4 times the curvature
    mean, response = (np.interp(cuts, system.kappa, system.view(name)) for name in ("mean", "V"))
    assert len(cuts) % 7 == 0 and min(np.min(np.abs(mean - 1.0)), np.min(np.abs(mean + response - 1.0))) < 1e-3
    assert np.min(np.diff(cuts)) > 1e-6  # the mirror images of cuts are not told from others


def test_outputs_that_feel_no_loss_are_certified() -> None:
    """Where softplus has no output beside its mean, no label is further off than epsilon: E g^2 there is rounding."""
    found = model(
        {"name": "epsilon_insensitive", "epsilon": 4.456581465670099},
        network__activation="softplus",
        network__width=0.14444099153471926,
        network__bias=1.0153576623936984,
        network__readout__values=[1.7939356897656944],
        spike__strength=4.308364748223846,
        spike__alignment=1.0,
        spike__bulk_variance=1.4525855200193587,
        target__link="quadratic",
        fit__samples=6.40212856235604,
        fit__ridge=0.0018016753854764834,
    )
    result = solve(found, dimension=1000)
    assert result.residual < 1e-12
    assert result.training_loss == pytest.approx(result.free_energy, rel=1e-10)


def test_energies_do_not_feel_the_floor() -> None:
    """Responses of silu span 24 orders: with a floor of 1e-14 of their mean the energies were 4e-7 apart."""
    result = solve(
        model(
            "probit",
            network__activation="silu",
            network__width=0.8,
            spike={"strength": 42.0, "alignment": 1.0, "bulk_variance": 2.5},
            fit={"samples": 0.075, "ridge": 1e-8, "loss": "probit"},
        )
    )
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-12)


@pytest.mark.parametrize(
    ("activation", "strength", "alignment", "link", "loss"),
    [
        ("softplus", 9.0, 0.4, "sign", "hinge"),
        ("step", 3.2, -1.0, "cos", {"name": "quantile", "tau": 0.375}),
    ],
)
def test_nor_do_those_of_outputs_on_a_kink(
    activation: str, strength: float, alignment: float, link: str, loss: object
) -> None:
    """They were 1e-8 and 7e-8 apart, with a floor and panels cut about the kinks of a solution before the last."""
    result = solve(
        model(
            loss,
            network={"activation": activation, "width": 0.2, "bias": 1.7 if activation == "softplus" else 0.0},
            spike={"strength": strength, "alignment": alignment, "bulk_variance": 2.0},
            target={"link": link},
            fit={"samples": 0.2, "ridge": 1e-7, "loss": loss},
        )
    )
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-12)


def test_training_errors_do_not_feel_the_floor() -> None:
    """A Huber loss whose threshold no residual reaches is the square loss, which has a solver of its own.

    Half of the responses vanish beside a mean of 1e6: with a floor of 1e-14 of that, the training error was 2e-8 off.
    """
    step = model(
        {"name": "huber", "delta": 1e3},
        network__activation="step",
        network__width=0.9,
        spike={"strength": 13.0, "alignment": 1.0 - 1e-9, "bulk_variance": 1.2},
        target={"link": "sin"},
        fit={"samples": 0.9, "ridge": 1e-8, "loss": {"name": "huber", "delta": 1e3}},
    )
    found, square = solve(step, dimension=1000), solve(step.replace({"fit.loss": "square"}), dimension=1000)
    assert 2.0 * found.train_error == pytest.approx(square.train_error, rel=1e-10)  # what both may be off by
    assert found.free_energy == pytest.approx(square.free_energy, rel=1e-10)


def vanishing(activation: str, strength: float) -> Model:
    """Outputs whose mean is zero at every kappa, exponential loss."""
    spike = {"strength": strength, "alignment": 0.0, "bulk_variance": 1.4}
    return model("exponential", network__activation=activation, spike=spike, fit__samples=0.07)


def wrong_sign_of_tanh(result: Result) -> float:
    """P(y f < 0) of the label sign t and f = psi mu1 t + sqrt(Delta) xi: an angle over pi, averaged over kappa.

    tanh - 1 = -2/(1 + e^(2s + 2qg)), times e^(2s): its moments do not underflow.
    """
    order, strength = result.order_parameters, float(result.model.spike.strength)
    psi, q1, q2 = float(order["psi"][0]), float(order["Q1"][0, 0]), float(order["Q2"][0])
    g = np.arange(-14.0, 14.0, 0.04)
    weight, q = 0.04 * np.exp(-0.5 * g * g) / math.sqrt(2 * math.pi), math.sqrt(1.4)
    edges = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0, 16.0, 24.0, 40.0])
    x, w = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(edges)
    s = ((edges[1:] + edges[:-1])[:, None] / 2.0 + half[:, None] * x).ravel()
    share = 2.0 * (half[:, None] * w).ravel() * np.exp(-0.5 * (s / strength) ** 2) / math.sqrt(2 * math.pi) / strength
    rest = -2.0 / (np.exp(-2.0 * s)[:, None] + np.exp(2.0 * q * g))
    mu0, mu1 = rest @ weight, rest @ (weight * g)
    mu2 = (rest - mu0[:, None] - mu1[:, None] * g) ** 2 @ weight
    angle = np.arctan2(np.sqrt(mu1**2 * (q1 - psi**2) + mu2 * q2), np.abs(psi * mu1)) / math.pi
    return float(share @ angle + math.erfc(edges[-1] / strength / math.sqrt(2.0)) * angle[-1])


@pytest.mark.parametrize("strength", [30.0, 1e3, 1e5])
def test_signs_that_rounding_of_the_features_hides(strength: float) -> None:
    """mu1 of tanh itself has no digits from a shift of 20 on, and none is a number from 360 on: signs go by ratios."""
    result = solve(vanishing("tanh", strength))
    assert result.test_error == pytest.approx(wrong_sign_of_tanh(result), rel=1e-10)
    assert result.order_parameters["m"][0] == 0.0


def test_signs_that_hardly_occur_need_not_be_known() -> None:
    """silu at a strength of 43: ratios change by 1e-6 where outputs vanish, which happens with probability 1e-12."""
    spike = {"strength": 43.0, "alignment": 1.0, "bulk_variance": 2.5}
    fit = {"samples": 0.075, "ridge": 1e-8, "loss": "probit"}
    result = solve(model("probit", network__activation="silu", network__width=0.84, spike=spike, fit=fit))
    assert 0.0 < result.test_error < 0.02 and result.quadrature_error <= 1e-10


@pytest.mark.parametrize(
    ("activation", "strength", "variance"),
    [("(exp(z)-exp(-z))/(exp(z)+exp(-z))", 30.0, 1.4), ("erf", 300.0, 1e-4)],
    ids=["a tanh", "erf"],
)
def test_signs_that_nobody_knows(activation: str, strength: float, variance: float) -> None:
    """The limit of this tanh is not found in its text; ratios of an erf of little variance change for long."""
    with pytest.raises(NotConverged, match="the test error changes|test error nan") as caught:
        solve(vanishing(activation, strength).replace({"spike.bulk_variance": variance}))
    assert caught.value.hint.endswith("rounding hides the sign of an output: lower the spike's strength")
