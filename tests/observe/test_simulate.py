"""The finite-size system of a model, alone and on a learning curve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.observe.baselines import random_features
from giantstep.observe.finite_system import at_dimension, default_kind, finite_system
from giantstep.observe.simulate import simulate, simulate_seed
from giantstep.simulate.system import SystemKind
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.sweep.curve import curve
from giantstep.system.solve import solve

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 2.0, "learning_rate": 1.5},
        "target": {"link": "tanh", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
)
DENSITY = MODEL.replace({"network.readout": {"density": "gaussian"}})
TWICE = replace(DENSITY, earlier_steps=(MODEL.step,))
SPIKED = MODEL.replace({"step": None, "spike": {"strength": 1.0, "alignment": 0.8, "bulk_variance": 1.2}})


def test_rounding_gives_whole_numbers_and_is_stable() -> None:
    model = MODEL.replace({"network.width": 0.777, "network.readout": {"values": [1.0, -0.5], "fractions": [0.3, 0.7]}})
    rounded = at_dimension(model, 101)
    assert rounded.network.width == 78 / 101
    assert rounded.fit.samples == 202 / 101 and rounded.step is not None and rounded.step.samples == 202 / 101
    assert [round(f * 78, 9) for f in rounded.network.readout.fractions] == [23.0, 55.0]
    assert at_dimension(rounded, 101) == rounded
    # the rest of the model is untouched
    assert rounded.replace({"network.width": 0.777, "network.readout": model.network.readout}) == model


def test_system_carries_the_model() -> None:
    model = SPIKED.replace({"network.bias": 0.3, "network.readout": {"values": [2.0], "fractions": [1.0]}})
    system = finite_system(model, "srf")
    z = np.linspace(-2.0, 2.0, 7)
    np.testing.assert_array_equal(system.activation(z)[0], np.tanh(z))
    np.testing.assert_allclose(system.activation(z)[1], 1.0 - np.tanh(z) ** 2, atol=1e-15)
    np.testing.assert_array_equal(system.activated(z), np.tanh(z))
    np.testing.assert_array_equal(system.link(z), np.tanh(z))
    assert (system.width, system.bias, system.noise, system.values) == (1.0, 0.3, 0.1, (2.0,))
    assert system.spike is not None and system.spike[:2] == (1.0, 0.8)
    assert system.spike[2] == pytest.approx((1.0 + 4.0 * 0.2,))
    assert system.steps == () and finite_system(MODEL, "network").steps == ((2.0, 1.5),)


def test_gaussian_coefficients_hold_bias_block_and_variance() -> None:
    """Against Gauss-Hermite quadrature: tanh is smooth, 80 nodes leave 1e-9."""
    model = SPIKED.replace({"network.bias": 0.3, "network.readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}})
    coefficients = finite_system(model, "gaussian").coefficients
    assert coefficients is not None
    kappa = np.linspace(-3.0, 3.0, 9)
    mu0, mu1, mu2, mu_c = coefficients(kappa)
    assert not mu_c.any()  # of rows of equal norm
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    for block, (u, c) in enumerate(((1.0, 1.2), (-0.5, 1.05))):
        sigma = np.tanh(u * kappa[:, None] + 0.3 + np.sqrt(c) * nodes)
        np.testing.assert_allclose(mu0[block], sigma @ weights, atol=1e-7)
        np.testing.assert_allclose(mu1[block], sigma @ (weights * nodes), atol=1e-7)
        rest = sigma - (sigma @ weights)[:, None] - (sigma @ (weights * nodes))[:, None] * nodes
        np.testing.assert_allclose(mu2[block] ** 2, rest**2 @ weights, atol=1e-7)


def test_a_seed_does_not_depend_on_how_many_are_run() -> None:
    few = simulate(MODEL, dimension=30, seeds=2)
    more = simulate(MODEL, dimension=30, seeds=3)
    np.testing.assert_array_equal(few.test_error, more.test_error[:2])
    assert len(np.unique(more.test_error)) == 3
    other = simulate(MODEL, dimension=30, seeds=2, seed=1)
    assert not np.isin(other.test_error, more.test_error).any()


def test_simulation_summary_and_single_seed() -> None:
    found = simulate(MODEL, dimension=30, seeds=4)
    errors = found.test_error[:, 0, 0]
    summary = found.to_dict()
    assert summary["test_error"]["mean"] == pytest.approx(errors.mean(), rel=1e-14)
    assert summary["test_error"]["standard_error"] == pytest.approx(errors.std(ddof=1) / 2.0, rel=1e-14)
    assert summary["dimension"] == 30 and summary["seeds"] == 4
    single = simulate(MODEL, dimension=30, seeds=1).to_dict()
    assert single["train_error"]["standard_error"] is None


def test_what_is_simulated_where_nothing_is_said() -> None:
    """What the theory describes; the network where there is none."""
    assert [default_kind(one) for one in (MODEL, DENSITY, TWICE)] == ["srf", "srf", "network"]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (SPIKED, {"what": "network"}),
        (MODEL.replace({"network.activation": "sign"}), {"what": "network"}),
        (MODEL.replace({"network.activation": "sign"}), {"what": "srf"}),
        (MODEL, {"what": "other"}),
        (MODEL, {"dimension": 1}),
        (MODEL, {"dimension": 10.5}),
        (MODEL, {"seeds": 0}),
        (MODEL, {"seeds": 10**12}),
        (MODEL, {"seed": -1}),
        (MODEL, {"dimension": 10**7}),
        (MODEL.replace({"fit.samples": 1e-3}), {}),
        (TWICE, {"what": "srf"}),
        (TWICE, {"what": "gaussian"}),
    ],
)
def test_simulations_that_make_no_sense_are_bad_input(model: Model, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        simulate(model, **{"dimension": 30, "seeds": 1, **options})
    assert caught.value.hint


def test_simulation_shares_what_is_fitted_and_is_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """samples x ridges of one feature law are one simulation per seed; the learning rate is another law."""
    seeds = []

    def counting(*arguments: Any, **options: Any) -> Any:
        seeds.append(arguments)
        return simulate_seed(*arguments, **options)

    monkeypatch.setattr("giantstep.sweep.tasks.simulate_seed", counting)
    found = curve(
        MODEL,
        ["fit.samples=0.5:3:20", "fit.ridge=0.1,1", "step.learning_rate=1,2"],
        simulate=True,
        dimension=24,
        seeds=3,
        simulate_points=4,
    )
    assert len(seeds) == 2 * 3
    simulated = np.isfinite(found.numbers("simulation_test_error")).reshape(2, 2, 20)
    assert (simulated == simulated[0, 0]).all()
    chosen = np.flatnonzero(simulated[0, 0])
    assert len(chosen) == 4 and chosen[0] == 0 and chosen[-1] == 19 and np.diff(chosen).max() <= 7


def test_simulated_numbers_are_those_of_simulate() -> None:
    found = curve(MODEL, ["fit.samples=1,2", "fit.ridge=0.1,1"], simulate=True, dimension=30, seeds=3, seed=5)
    alone = simulate(MODEL, dimension=30, seeds=3, seed=5, samples=(1.0, 2.0), ridges=(0.1, 1.0))
    for name in ("test_error", "train_error"):
        mean, error = alone.mean(name), alone.standard_error(name)
        # rows: ridge is the slow sweep
        np.testing.assert_array_equal(found.numbers(f"simulation_{name}"), mean.T.ravel())
        np.testing.assert_array_equal(found.numbers(f"simulation_{name}_standard_error"), error.T.ravel())
        theory = found.numbers(f"finite_size_{name}")
        np.testing.assert_allclose(
            found.numbers(f"simulation_{name}_z_score"),
            (mean.T.ravel() - theory) / error.T.ravel(),
            rtol=1e-12,
        )
    model = at_dimension(MODEL.replace({"fit.samples": 1.0, "fit.ridge": 0.1}), 30)
    assert found.numbers("finite_size_test_error")[0] == solve(model, dimension=30).test_error


def test_theory_agrees_with_simulation() -> None:
    """12 dependent scores per error, t-distributed with 23 degrees of freedom: |z| < 4 leaves less than 1 %
    to chance; the O(1/d) bias at d = 200 is below one standard error of 24 seeds here."""
    cases: tuple[tuple[Model, SystemKind], ...]
    cases = ((MODEL, "srf"), (SPIKED, "gaussian"), (random_features(MODEL), "network"))
    for model, what in cases:
        found = curve(model, "fit.samples=0.4:3:6", simulate=True, dimension=200, seeds=24, what=what, baselines=False)
        scores = found.numbers("simulation_test_error_z_score")
        assert np.isfinite(scores).all() and np.abs(scores).max() < 4.0


def test_single_seed_has_no_score() -> None:
    found = curve(MODEL, "fit.samples=1,2", simulate=True, dimension=30, seeds=1)
    assert np.isfinite(found.numbers("simulation_test_error")).all()
    assert np.isnan(found.numbers("simulation_test_error_z_score")).all()


def test_progress_is_told_to_a_function_or_shown_as_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, str]] = []
    found = simulate(MODEL, dimension=20, seeds=2, progress=lambda *stage: told.append(stage))
    assert told and told[-1][0] == told[-1][1]
    assert not capsys.readouterr().err
    shown = simulate(MODEL, dimension=20, seeds=2, progress="auto")
    assert "simulation" in capsys.readouterr().err and np.array_equal(shown.test_error, found.test_error)
    with pytest.raises(BadInput, match="progress"):
        simulate(MODEL, dimension=20, seeds=2, progress="bar")  # type: ignore[arg-type]


FREE = Model.from_toml("examples/tanh_sign.toml").replace(
    {"network.activation": "relu", "network.bias": "trained", "fit.samples": 1.0}
)  # at d = 8 the objective of one draw in twenty falls for ever as the bias grows


def test_a_draw_without_a_minimum_is_left_out() -> None:
    found = simulate(FREE, dimension=8, seeds=10, seed=7)
    assert found.without_minimum == (0,) and found.seeds == 9 and found.strength.shape == (9,)
    what = default_kind(FREE)
    system = finite_system(at_dimension(FREE, 8), what)
    others = [
        simulate_seed(system, what, 8, 7, index, (FREE.fit.samples,), (FREE.fit.ridge,)) for index in range(1, 10)
    ]
    assert found.mean() == np.mean([one.test_error for one in others], axis=0)
    with pytest.raises(BadInput, match="no minimum in the bias"):
        simulate_seed(system, what, 8, 7, 0, (FREE.fit.samples,), (FREE.fit.ridge,))
    told = found.to_dict()
    assert told["seeds"] == 9 and told["without_minimum"] == {"seeds": [0], "note": found.left_out}
    assert "1 of 10 draws" in found.left_out and "1 of 10 draws" in str(found)


def test_too_many_draws_without_a_minimum_are_refused() -> None:
    """Others would not stand for all; so few draws that one is many are not either, and more of them are."""
    with pytest.raises(BadInput, match=r"2 of the first 10 draws") as caught:
        simulate(FREE, dimension=8, seeds=10, seed=1)
    assert "network.bias" in caught.value.hint and "more seeds" not in caught.value.hint
    with pytest.raises(BadInput, match=r"1 of the first 1 draws") as caught:
        simulate(FREE, dimension=8, seeds=2, seed=7)
    assert "more seeds" in caught.value.hint
    assert simulate(FREE, dimension=8, seeds=10, seed=7).seeds == 9


def test_simulations_without_a_bias_say_nothing_of_minima() -> None:
    found = simulate(SPIKED, dimension=20, seeds=2)
    assert found.without_minimum == () and "without_minimum" not in found.to_dict() and "left out" not in str(found)
