"""Steps below the giant one [MON23]: which powers of kappa are learned, what they gain, and finite sizes."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

import giantstep as gs
from giantstep.cli.main import main
from giantstep.law.intermediate_steps import at_strength, order_of, powers_of
from giantstep.observe.baselines import random_features
from giantstep.observe.finite_system import at_dimension

NORMAL = roots_hermitenorm(5)  # readouts a_k ~ N(0, 1/p) of [MON23] by five values of the right moments
QUADRATIC = "z + 0.5*He(2, z)"  # mean features without a constant


def readout(count: int = 5) -> gs.Readout:
    values, weights = roots_hermitenorm(count)
    return gs.Readout(tuple(values.tolist()), tuple((weights / weights.sum()).tolist()))


def model(
    exponent: float,
    activation: str = QUADRATIC,
    link: str = "z + 0.8*He(2, z)",
    rate: float = 2.0,
    readouts: gs.Readout | None = None,
    noise: float = 0.2,
    loss: str = "square",
) -> gs.Model:
    network = gs.Network(activation, width=0.8, readout=readouts or readout())
    step = gs.Step(2.0, rate, exponent=exponent)
    return gs.Model(network, gs.Target(link, noise=noise), gs.Fit(1.6, 0.3, loss=gs.FitLoss(loss)), step=step)


@pytest.mark.parametrize(
    ("exponent", "order"), [(0.01, 1), (0.24, 1), (0.26, 2), (0.33, 2), (0.34, 3), (0.37, 3), (0.41, 5), (0.42, 6)]
)
def test_the_order_is_that_of_the_paper(exponent: float, order: int) -> None:
    # (l - 1)/(2 l) < e < l/(2 l + 2)
    assert (order - 1) / (2 * order) < exponent < order / (2 * order + 2)
    assert order_of(model(exponent)) == order


@pytest.mark.parametrize(
    ("activation", "readouts", "expected"),
    [
        (QUADRATIC, None, (1, 2)),
        ("tanh", None, (1, 3)),
        ("relu", None, (0, 1, 2)),
        ("relu", gs.Readout(), (0,)),
        ("tanh", gs.Readout(), (1,)),
        ("relu", gs.Readout((1.0, -1.0), (0.5, 0.5)), (0, 1)),
        ("tanh", gs.Readout((1.0, -1.0), (0.5, 0.5)), (1,)),
        ("tanh", gs.Readout((1.0, 0.3), (0.5, 0.5)), (1, 3)),
        ("quadratic", None, (2,)),
    ],
)
def test_powers_are_those_of_the_mean_features_that_readouts_tell_apart(
    activation: str, readouts: gs.Readout | None, expected: tuple[int, ...]
) -> None:
    assert powers_of(model(0.35, activation, readouts=readouts)) == expected


@pytest.mark.parametrize(
    ("exponent", "activation", "values"),
    [(0.25, "tanh", (1.0,)), (0.25, "relu", (1.0, -1.0)), (0.375, "tanh", (1.0, 0.3)), (0.4, "tanh", (1.0, 0.3))],
)
def test_between_two_orders_what_no_readout_tells_apart_changes_nothing(
    exponent: float, activation: str, values: tuple[float, ...]
) -> None:
    """The limits on both sides are the same, and so is that between them."""
    readouts = gs.Readout(values, (1.0 / len(values),) * len(values))
    errors = [gs.solve(model(e, activation, readouts=readouts)).test_error for e in (exponent, exponent + 1e-3)]
    below = gs.solve(model(exponent - 1e-3, activation, readouts=readouts)).test_error
    assert errors == pytest.approx([below] * 2, rel=1e-12)


def test_where_one_more_power_begins_is_refused() -> None:
    """Three values tell the fifth power of tanh apart, which begins to be learned at 2/5."""
    with pytest.raises(gs.BadInput, match="that of 5"):
        gs.solve(model(0.4, "tanh", readouts=gs.Readout((1.0, 0.3, -2.0), (0.4, 0.3, 0.3))))


@lru_cache(maxsize=32)
def objective(link: str, noise: float, activation: str = QUADRATIC) -> float:
    """2 Phi/alpha of random features: the training loss of [MON23]."""
    found = gs.solve(random_features(model(0.1, activation, link, noise=noise)))
    return 2.0 * found.free_energy / found.model.fit.samples


@pytest.mark.parametrize("samples", [2.0, 1e9])
def test_gains_in_the_training_loss_are_closed_expressions(samples: float) -> None:
    # [MON23]: Delta_1 = c1^2 gamma^2 m2', Delta_2 = Delta_1 + 4/3 c2^2 gamma^4 m1', with m2' the loss of random
    # features per unit of linear signal and m1' that per unit of noise, 1/(1 + V). The norm of the rows makes
    # kappa^2 + C of kappa^2, of squared norm 3 + 2 C + C^2; C vanishes for a large batch only
    first, second = (gs.gains(model(e).replace({"step.samples": samples})) for e in (0.2, 0.3))
    gamma, c1, c2 = first.after.spike.alignment, 1.0, 0.8
    square = (c1**2 + 2.0 * c2**2 + 0.2) / samples  # E e^2/alpha0; mu1 = Var sigma' = 1
    constant = square / (c1**2 + square)
    per_signal = objective("z", 0.0)
    per_noise = objective("z", 1.0) - per_signal
    expected = c1**2 * gamma**2 * per_signal
    assert first.objective == pytest.approx(expected, rel=1e-10)
    gained = 4.0 / (3.0 + 2.0 * constant + constant**2) * c2**2 * gamma**4 * per_noise
    assert second.objective - first.objective == pytest.approx(gained, rel=1e-9)
    if samples > 1e6:
        assert gained == pytest.approx(4.0 / 3.0 * c2**2 * per_noise, rel=1e-6)
    order = first.before.order_parameters
    # mu1 = 1 and mu2^2 = 2 (1/2)^2 of this activation
    response = float(order["V1"].sum() + 0.5 * order["V2"].sum())
    assert per_noise == pytest.approx(1.0 / (1.0 + response), rel=1e-10)
    assert second.test > first.test > 0.0


def test_a_constant_feature_lets_the_square_be_learned_whole() -> None:
    # with 1, kappa, kappa^2 the second Hermite polynomial of kappa is in the span: 2 c2^2 gamma^4 in place of 4/3
    first, second = (gs.gains(model(e, "relu")) for e in (0.2, 0.3))
    gamma, c2 = first.after.spike.alignment, 0.8
    per_noise = objective("z", 1.0, "relu") - objective("z", 0.0, "relu")
    assert second.objective - first.objective == pytest.approx(2.0 * c2**2 * gamma**4 * per_noise, rel=1e-10)


@pytest.mark.parametrize(("exponent", "order"), [(0.1, 1), (0.35, 2)])
def test_the_limit_is_reached_like_the_derived_power_of_the_dimension(exponent: float, order: int) -> None:
    # a wrong polynomial, such as kappa^2 in place of kappa^2 + C, leaves a gap that does not close
    here = model(exponent)
    limit = gs.solve(here).test_error
    near, far = (gs.solve(here, dimension=10**k).test_error - limit for k in (12, 16))
    slope = math.log10(near / far) / 4.0
    # order l is paid for with d^(l (1 - 2e) - 1), and the bulk differs by r^2 = d^(2e - 1); the slower wins
    powers = (1.0 - order * (1.0 - 2.0 * exponent), 1.0 - 2.0 * exponent)
    assert slope == pytest.approx(min(powers), abs=0.01)


@pytest.mark.parametrize("loss", ["huber", "logistic"])
def test_other_losses_have_the_limit_as_well(loss: str) -> None:
    here = model(
        0.1, link="sign" if loss == "logistic" else "z + 0.8*He(2, z)", noise=0.0, loss=loss, readouts=readout(2)
    )
    limit = gs.solve(here)
    far = gs.solve(here, dimension=10**24, tolerance=1e-8)
    assert limit.test_error == pytest.approx(far.test_error, rel=1e-3)
    assert limit.test_error < gs.solve(random_features(here)).test_error


# single-index settings in the spirit of the paper's simulations: a linear target with noise at l = 1, and one with a
# quadratic part at l = 2
SETTINGS = {
    "linear target, l = 1": model(0.2, "relu", "z", 1.0, noise=0.5),
    "quadratic part, l = 2": model(0.3, QUADRATIC, "z/sqrt(2) + He(2, z)/2", 1.0, noise=0.1),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_simulations_follow_the_theory_at_their_own_strength(name: str) -> None:
    # the limit is far: r^l sqrt(d) is of order one. Standard errors of 16 seeds; the rest is of order 1/d
    dimension, seeds = 400, 16
    found = gs.simulate(SETTINGS[name], dimension=dimension, seeds=seeds, seed=3)
    theory = gs.solve(at_dimension(SETTINGS[name], dimension), dimension=dimension)
    for error in ("test_error", "train_error"):
        z = (found.mean(error) - getattr(theory, error)) / found.standard_error(error)
        assert abs(float(z.item())) < 4.0
    limit, before = gs.solve(SETTINGS[name]), gs.solve(random_features(SETTINGS[name]))
    assert limit.test_error < theory.test_error < before.test_error


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1000, 2000])
@pytest.mark.parametrize("name", SETTINGS)
def test_simulated_gains_follow_the_theory_at_larger_sizes(name: str, dimension: int) -> None:
    seeds = 16
    after = gs.simulate(SETTINGS[name], dimension=dimension, seeds=seeds, seed=5)
    before = gs.simulate(random_features(SETTINGS[name]), dimension=dimension, seeds=seeds, seed=5)
    theory = gs.gains(at_dimension(SETTINGS[name], dimension), dimension=dimension)
    for error, gain in (("test_error", theory.test), ("train_error", theory.train)):
        found = float((before.mean(error) - after.mean(error)).item())
        spread = math.hypot(float(before.standard_error(error).item()), float(after.standard_error(error).item()))
        assert abs(found - gain) < 4.0 * spread


def test_the_file_says_it_and_the_command_prints_the_gains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.toml"
    here = model(0.3)
    file.write_text(here.to_toml(), encoding="utf-8")
    assert gs.Model.from_toml(file) == here
    assert main(["solve", str(file)]) == 0
    assert "powers of kappa" in capsys.readouterr().out
    assert main(["solve", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["gains"]
    assert (found["order"], found["powers"]) == (2, [1, 2])
    assert found["objective"] == pytest.approx(gs.gains(here).objective, rel=1e-12)
    assert main(["curve", str(file), "--sweep", "fit.samples=0.5,2"]) == 0
    assert "nan" not in capsys.readouterr().out
    assert main(["derive", str(file), "--steps", "--format", "latex"]) == 0
    assert r"d^{e - \frac{1}{2}}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ("step.exponent=0", "step.exponent"),
        ("step.exponent=0.6", "step.exponent"),
        ("step.exponent=0.25", "one more power"),
        ("step.exponent=0.49", "more than 6"),
    ],
)
def test_what_cannot_be_is_refused(
    changes: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.toml"
    file.write_text(model(0.3).to_toml(), encoding="utf-8")
    assert main(["solve", str(file), "--set", changes]) == 2
    assert words in capsys.readouterr().err


def test_what_needs_a_strength_says_so() -> None:
    limit, untrained = gs.spectrum(model(0.3)), gs.spectrum(random_features(model(0.3)))
    assert limit.bulks[-1].high.x == pytest.approx(untrained.bulks[-1].high.x, rel=1e-8)
    assert gs.spectrum(model(0.3, readouts=readout(2)), dimension=1000).total == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(gs.BadInput, match="nothing to gain"):
        gs.gains(random_features(model(0.3)))
    strength = gs.solve(model(0.3), dimension=1000).spike.strength
    assert np.isclose(strength, gs.solve(at_strength(model(0.3), 1000)).spike.strength)
