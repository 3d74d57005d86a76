"""Losses that are flat at zero output for every label: the readout is zero, which is solved without iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loss_cases import model
from scipy.integrate import quad

import giantstep as gs
from giantstep.observe.simulate import simulate
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.system.causes import settling_hint
from giantstep.system.held_readout import may_be_held
from giantstep.system.loss_at_zero import probability_felt
from giantstep.system.problem import problem_of
from giantstep.system.solve import _lost_hint, solve
from giantstep.system.stalled import hint

WIDE = {"name": "epsilon_insensitive", "epsilon": 2.0}


def second_moment(function: Any) -> float:
    value, _ = quad(lambda z: function(z) ** 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi), -12, 12, epsabs=1e-14)
    return float(value)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize(
    ("loss", "link", "test", "train"),
    [
        (WIDE, "tanh", second_moment(math.tanh), 0.0),
        ({"name": "epsilon_insensitive", "epsilon": 1.0}, "erf(z)", second_moment(math.erf), 0.0),
        ("max(0, abs(y-f)-3)", "sign", 1.0, 0.0),
        ({"name": "epsilon_insensitive", "epsilon": 1.0}, "sign", 1.0, 0.0),
        ("max(0, abs(f)-2) + y**2", "tanh", second_moment(math.tanh), second_moment(math.tanh)),
    ],
)
def test_the_readout_is_zero(loss: Any, link: str, test: float, train: float, blocks: int) -> None:
    result = solve(model(loss, blocks, target__link=link))
    assert result.test_error == pytest.approx(test, rel=1e-11)
    assert result.train_error == pytest.approx(train, rel=1e-10, abs=1e-300)
    assert result.free_energy == pytest.approx(1.7 * train, rel=1e-10, abs=1e-300)
    order = result.order_parameters
    assert all(np.all(order[name] == 0.0) for name in ("m", "zeta", "psi", "Q1", "Q2"))
    fractions = np.array(result.model.network.readout.fractions)
    assert order["V2"] == pytest.approx(fractions / 0.1, rel=1e-15)  # 1/ridge for every neuron: nothing but the ridge
    assert np.diag(order["V1"]) == pytest.approx(order["V2"])


def test_the_minimiser_at_finite_size_is_zero() -> None:
    found = model(WIDE, target__link="tanh")
    simulated = simulate(found, dimension=40, seeds=3, what="srf")
    theory = solve(simulated.model, dimension=40)
    assert float(simulated.mean("train_error").item()) == theory.train_error == 0.0
    error = float(simulated.standard_error("test_error").item())
    assert abs(float(simulated.mean("test_error").item()) - theory.test_error) <= 4.0 * error + 1e-12


def test_two_indices() -> None:
    found = model(WIDE, target__link="tanh(z1*z2)", spike__alignment=[0.5, 0.3])
    result = solve(found)
    # the product of two normals has the density K0(|x|)/pi
    from scipy.special import k0

    exact, _ = quad(lambda x: 2.0 * math.tanh(x) ** 2 * k0(x) / math.pi, 0.0, 40.0, epsabs=1e-13)
    assert result.test_error == pytest.approx(exact, rel=1e-10)
    assert result.order_parameters["psi"].shape == (1, 2)


def test_labels_that_are_felt_are_solved() -> None:
    """Just inside: the readout is small and pulls the labels to the edge of the flat part."""
    result = solve(model({"name": "epsilon_insensitive", "epsilon": 0.99}, target__link="sign"))
    assert result.order_parameters["Q2"][0] > 0.0
    assert 0.97 < result.test_error < 1.0


def test_labels_too_rare_to_average_move_nothing() -> None:
    """A bound of what they may do is part of the stated error: by an expansion in their share they do 1e-17 here."""
    rare = model({"name": "epsilon_insensitive", "epsilon": 8.55}, target__link="linear", fit__ridge=1e-7)
    result = solve(rare, dimension=100)
    assert result.test_error == pytest.approx(1.0, abs=1e-12)  # E y^2
    assert 1e-12 < result.quadrature_error <= 1e-10
    with pytest.raises(NotConverged, match="below what double precision resolves"):
        solve(rare, dimension=100, tolerance=1e-14)


def test_noise_reaches_beyond() -> None:
    found = model(WIDE, target__link="tanh", target__noise=0.3)
    assert probability_felt(found.fit.loss, found.target) > 1e-6
    assert solve(found).order_parameters["Q2"][0] > 0.0
    assert probability_felt(found.fit.loss, model(WIDE, target__link="tanh").target) == 0.0


def test_a_probability_is_that_of_the_tail() -> None:
    found = model({"name": "epsilon_insensitive", "epsilon": 4.0}, target__link="linear")
    assert probability_felt(found.fit.loss, found.target) == pytest.approx(math.erfc(4.0 / math.sqrt(2.0)), rel=0.1)


def test_a_sign_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="flat around f = 0"):
        solve(model("max(0,-1-y*f)"))


def test_a_kink_holds_the_output_at_zero() -> None:
    """The slope 0.2 of the rest does not move it."""
    result = solve(model("abs(f) + 0.1*(y - f)**2", target__link="sign"))
    assert result.test_error == pytest.approx(1.0, rel=1e-12)
    assert result.train_error == pytest.approx(0.1, rel=1e-12)
    assert not any(result.order_parameters[name].any() for name in ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2"))


def test_errors_say_why() -> None:
    everywhere = model({"name": "epsilon_insensitive", "epsilon": 9.0}, target__link="softplus")
    with pytest.raises(NotConverged, match="nothing but these decides on the mean features") as caught:
        solve(everywhere)
    assert "--dimension" in caught.value.hint
    rare = model({"name": "epsilon_insensitive", "epsilon": 6.0}, target__link="tanh", target__noise=0.3)
    with pytest.raises(NotConverged, match="all but a share"):
        solve(rare)


def test_labels_rarer_than_all_numbers_decide_on_no_mean_feature() -> None:
    """A share of 1e-180 is far below rounding, and no zero readout follows from it at infinite dimension."""
    tiny = model({"name": "epsilon_insensitive", "epsilon": 8.7}, target__link="step", target__noise=0.075)
    with pytest.raises(NotConverged, match="nothing but these decides on the mean features"):
        solve(tiny)
    assert solve(tiny, dimension=1000).test_error == pytest.approx(0.5, rel=1e-11)  # E step^2


def test_a_best_output_that_no_label_feels() -> None:
    """A constant is a feature here, and the best one leaves next to no label beyond the flat part."""
    width = 5.57
    found = model(
        {"name": "epsilon_insensitive", "epsilon": width},
        target__link="leaky_relu",
        network__activation="sign",
        network__bias=1.26,
        spike__strength=0.0,
        fit__samples=0.5,
    )

    def mean_loss(output: float) -> float:
        """Above output + width, and below output - width, where labels are 0.01 z."""
        above, below = output + width, 100.0 * (width - output)
        return sum(
            slope * (math.exp(-x * x / 2) / math.sqrt(2 * math.pi) - x * math.erfc(x / math.sqrt(2)) / 2)
            for slope, x in ((1.0, above), (0.01, below))
        )

    assert min(mean_loss(output) for output in np.linspace(0.0, width, 101)) < 1e-18
    assert mean_loss(0.0) > 1e-10
    with pytest.raises(NotConverged, match="at the best output") as caught:
        solve(found)
    assert "--dimension" in caught.value.hint
    assert solve(found, dimension=1000).residual < 1e-10


@pytest.mark.parametrize("loss", ["hinge", "absolute", "huber", "squared_hinge"])
def test_losses_without_a_flat_part_around_zero(loss: str) -> None:
    found = model(loss)
    assert probability_felt(found.fit.loss, found.target) == pytest.approx(1.0)


def test_rare_labels_are_named_as_what_does_not_settle() -> None:
    """Features that saturate are the usual suspect; a tail of 7e-15 of the labels is what was measured."""
    loss, noisy = (
        {"name": "epsilon_insensitive", "epsilon": 7.7},
        {"target__link": "leaky_relu", "target__noise": 0.007},
    )
    saturated = {"network__activation": "hard_tanh", "spike__strength": 12.0}
    rare = problem_of(model(loss, **noisy, **saturated))
    assert "flat part" in settling_hint(rare) and "e-15" in settling_hint(rare)
    assert "saturate" in settling_hint(problem_of(model("absolute", **noisy, **saturated)))


def test_linear_features_of_several_values_beside_a_small_ridge() -> None:
    """Their responses, 1e7 each, add up to less than one."""
    found = {"network__activation": "linear", "fit__ridge": 1e-7}
    assert "responses of several blocks cancel" in settling_hint(problem_of(model("absolute", 2, **found)))
    assert "responses of several blocks cancel" in _lost_hint(problem_of(model("square", 2, **found)))
    assert "blocks cancel" not in settling_hint(problem_of(model("absolute", 1, **found)))
    assert "blocks cancel" not in settling_hint(problem_of(model("absolute", 2, fit__ridge=1e-7)))
    bent = {"network__activation": "abs", "spike__strength": 60.0, "spike__alignment": 0.2}
    assert "linear at most kappa" in hint(problem_of(model("hinge", 2, **{**found, **bent})))
    saturated = {**bent, "network__activation": "hard_tanh"}
    assert "blocks cancel" not in hint(problem_of(model("hinge", 2, **{**found, **saturated})))
    # without a spike their mean is constant too, which one value is solved with
    found |= {"spike__strength": 0.0, "spike__alignment": 1.0}
    assert "responses of several blocks cancel" in hint(problem_of(model("absolute", 2, **found)))
    assert "constant on a kink" in hint(problem_of(model("absolute", 1, **found)))


def test_counts_that_are_left_out_are_named_where_a_loss_turns_between_them() -> None:
    """A mean of exp(6/2 + 6) = 8103 spreads over 1646 counts, and every fourth of them is one of 512."""
    counts = {"target__link": "z/2+6", "target__channel": "poisson"}
    assert "up to 8103 occur, of which every 4th" in settling_hint(problem_of(model("huber", **counts)))
    assert "counts" not in settling_hint(problem_of(model("poisson", **counts)))
    assert "counts" not in settling_hint(problem_of(model("huber", **{**counts, "target__link": "z/2"})))


def test_the_training_error_is_the_average_over_the_labels() -> None:
    """Also of labels that are constant on intervals: (2 + y)^2 is 9 with the probability of z > 0.4, else 1."""
    above = 0.5 * math.erfc(0.4 / math.sqrt(2.0))
    result = solve(model("max(0, abs(f)-2) + (2+y)**2", target__link="sign(z-0.4)"))
    assert result.train_error == pytest.approx(1.0 + 8.0 * above, rel=1e-11)


def test_labels_too_rare_to_move_the_test_error() -> None:
    """softplus(z) > 9 has the probability 1e-19: at finite size the test error is E y^2 to twelve digits."""
    rare = model({"name": "epsilon_insensitive", "epsilon": 9.0}, target__link="softplus")
    assert 0.0 < probability_felt(rare.fit.loss, rare.target) < 1e-18
    result = solve(rare, dimension=200)
    assert result.test_error == pytest.approx(second_moment(lambda z: math.log1p(math.exp(z))), rel=1e-10)
    assert result.train_error == 0.0 and result.quadrature_error < 1e-10
    with pytest.raises(NotConverged, match="all but a share"):  # nothing else decides on the mean features
        solve(rare)


@pytest.mark.parametrize(("activation", "link"), [("tanh", "abs"), ("cos", "linear"), ("tanh", "z**2-1")])
def test_mirrored_samples_leave_no_mean(activation: str, link: str) -> None:
    """Of rare labels none decides on features of the other parity; equations of labels that are not rare say so too."""
    changes = {"network__activation": activation, "target__link": link}
    width = (80.0, 15.0) if link == "z**2-1" else (8.6, 4.0)
    rare, often = (model({"name": "epsilon_insensitive", "epsilon": e}, **changes) for e in width)
    found = solve(rare)
    assert found.order_parameters["V2"] == pytest.approx([10.0], rel=1e-15)
    assert not any(found.order_parameters[name].any() for name in ("m", "zeta", "psi", "Q1", "Q2"))
    felt = solve(often).order_parameters
    assert felt["Q2"].max() > 1e-9
    assert all(np.abs(felt[name]).max() < 1e-12 for name in ("m", "zeta", "psi"))


def test_a_held_output_is_looked_for_before_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median of most labels is zero, a kink; paths from easier models take seconds, of two indices a minute."""

    def path(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("giantstep.system.first_solution.continued", path)
    result = solve(gs.model("relu", "relu(z-2)", samples=2.0, ridge=0.05, loss="absolute", learning_rate=None))
    density, tail = math.exp(-2.0) / math.sqrt(2.0 * math.pi), 0.5 * math.erfc(math.sqrt(2.0))
    assert result.test_error == pytest.approx(5.0 * tail - 2.0 * density, rel=1e-10)  # E relu(z - 2)^2
    assert not result.order_parameters["Q2"].any()


@pytest.mark.parametrize("link", ["relu(z-1)", "relu(z1*z2-1.5)"])
def test_which_outputs_may_be_held(link: str) -> None:
    """By labels of which more than a half are alike, where the loss has a kink."""
    alignment = [0.6, 0.5] if "z1" in link else 0.8
    found = {
        loss: may_be_held(problem_of(model(loss, target__link=link, spike__alignment=alignment)))
        for loss in ("absolute", "huber")
    }
    assert found == {"absolute": True, "huber": False}


def test_which_outputs_hold_nothing() -> None:
    assert not may_be_held(problem_of(model("hinge", target__link="sign")))
    # many labels next to zero, none of them zero, at nodes that every kappa has
    quantile = {"name": "quantile", "tau": 0.02}
    assert not may_be_held(problem_of(model(quantile, target__link="z**4/4", spike__alignment=0.0)))
