"""A trained bias in the limit of a step below the giant one: against growing dimensions, scans, and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from long_runs import every

import giantstep as gs
from giantstep.law.intermediate_steps import frees_at_zero, polynomials_of, powers_of
from giantstep.law.mean_feature_orders import free_polynomials
from giantstep.observe.baselines import random_features
from giantstep.system.coupled_solver import coupled_solution
from giantstep.system.problem import problem_of

ONE, TWO = gs.Readout(), gs.Readout((1.0, -0.5), (0.5, 0.5))
THREE = gs.Readout((1.0, 0.5, -0.3), (0.3, 0.3, 0.4))
LINK = "z + 0.8*He(2, z) + 0.5*He(3, z) + 0.3"
BENT = "tanh(z - 0.4) + 0.3*tanh(2*z + 1)"  # no moment vanishes at zero, and a large bias leaves little of it


def model(
    exponent: float, activation: str, readout: gs.Readout = ONE, link: str = LINK, loss: str = "square"
) -> gs.Model:
    network = gs.Network(activation, width=0.8, readout=readout, bias="trained")
    noise = 0.0 if loss == "logistic" else 0.2
    fit = gs.Fit(1.6, 0.3, loss=gs.FitLoss(loss))
    return gs.Model(network, gs.Target(link, noise=noise), fit, step=gs.Step(2.0, 2.0, exponent=exponent))


def energy(here: gs.Model, bias: float) -> float:
    """The free energy at a bias that is held."""
    return float(coupled_solution(problem_of(here, None, bias, intermediate=True), 1e-10, None).observables[2])


@pytest.mark.parametrize(
    ("activation", "readout", "exponent", "at_zero", "beside"),
    [
        (BENT, ONE, 0.1, (0,), (0,)),
        (BENT, TWO, 0.3, (0, 1), (0, 1)),
        ("tanh", ONE, 0.1, (0, 1), (0,)),
        ("tanh", TWO, 0.1, (0, 1), (0, 1)),
        ("tanh", TWO, 0.3, (0, 1), (0, 1)),
        ("tanh", TWO, 0.34, (0, 1, 3), (0, 1)),
        ("tanh", THREE, 0.34, (0, 1, 2, 3), (0, 1, 2)),
        ("tanh(z) + 1", THREE, 0.34, (0, 1, 2, 3), (0, 1, 2)),
        ("tanh(z) + 1", TWO, 0.34, (0, 1), (0, 1)),
        ("z + 0.5*He(2, z)", ONE, 0.1, (0, 1), (0,)),
        ("z + 0.5*He(2, z)", THREE, 0.34, (0, 1, 2), (0, 1, 2)),
        ("quadratic", TWO, 0.34, (0,), (0,)),
    ],
)
def test_which_orders_are_features(
    activation: str, readout: gs.Readout, exponent: float, at_zero: tuple[int, ...], beside: tuple[int, ...]
) -> None:
    here = model(exponent, activation, readout)
    assert powers_of(here, 0.0) == at_zero
    assert powers_of(here, 0.2) == beside == powers_of(here, -1.0)
    assert frees_at_zero(here) == (at_zero != beside)


def test_a_polynomial_has_no_orders_beyond_its_degree_and_no_strength_no_others() -> None:
    here = model(0.41, "z + 0.5*He(2, z)", THREE)
    assert here.step is not None
    assert free_polynomials(here.network, replace(here.step, learning_rate=0.0), here.target, 5, 0.3).keys() == {
        0,
        1,
        2,
    }
    assert powers_of(here.replace({"step.learning_rate": 0.0}), 0.3) == (0,)


@pytest.mark.parametrize("bias", [0.3, -0.7])
@pytest.mark.parametrize("activation", ["tanh(z)", BENT])
def test_at_a_bias_the_orders_of_the_mean_features_span_the_polynomials(activation: str, bias: float) -> None:
    """P_0, P_1, P_2 of an activation that is shifted by hand, with the step that it would take."""
    here = model(0.34, activation, THREE)
    shifted = here.replace({"network.bias": 0.0, "network.activation": activation.replace("z", f"(z + {bias})")})
    ours, fixed = polynomials_of(here, bias), polynomials_of(shifted)
    assert ours.keys() == fixed.keys()
    rows = np.array([[*p, *[0.0] * (3 - len(p))] for found in (ours, fixed) for p in found.values()])
    assert np.linalg.matrix_rank(rows, tol=1e-9) == len(ours) == 3


# where the free energy has its minimum away from zero, at zero, and in the well at zero that two features share
CASES = {
    "one value": (model(0.1, BENT), 1e-2),
    "two values": (model(0.1, BENT, TWO), 1e-2),
    "odd, one value": (model(0.1, "tanh"), 1e-4),
    "odd, two values, third order": (model(0.355, "tanh", TWO), 1e-4),
    "odd, logistic": (model(0.1, "tanh", link="sign(z - 0.3)", loss="logistic"), 1e-4),
}


@pytest.mark.parametrize("name", CASES)
def test_the_solution_at_growing_dimension_approaches_the_limit(name: str) -> None:
    here, close = CASES[name]
    limit = gs.solve(here)
    gaps = []
    for power in (8, 11, 14):
        found = gs.solve(here, dimension=10**power, tolerance=1e-8)
        gaps.append([abs(found.test_error - limit.test_error) / limit.test_error, abs(found.bias - limit.bias)])
    near, _, far = np.array(gaps)
    assert np.all(far <= 0.4 * near) and far[0] < 5e-3, gaps
    assert far[1] < close


@pytest.mark.parametrize("name", CASES)
def test_the_free_energy_is_least_at_the_bias(name: str) -> None:
    here, _ = CASES[name]
    found = gs.solve(here)
    scan = [energy(here, found.bias + step) for step in (-0.1, -0.01, 0.01, 0.1)]
    assert min(scan) > found.free_energy
    if frees_at_zero(here):  # a well: the free energy beside it is higher by a finite amount
        assert found.bias == 0.0 and energy(here, 1e-5) > found.free_energy * (1.0 + 1e-4)
    else:
        assert abs(energy(here, found.bias + 1e-5) - found.free_energy) < 1e-9


def test_by_hand_one_value_of_an_odd_activation() -> None:
    """1 and kappa are free: the constant and the spike's part of the linear target are learned whole.

    What is left is a problem of random features: the training loss falls by theirs for the linear part along the spike.
    """
    here = model(0.1, "tanh", link="z + 0.3")
    found = gs.solve(here)
    gamma = found.spike.alignment

    def plain(link: str, noise: float) -> float:
        bare = random_features(here.replace({"network.bias": 0.0, "target.link": link, "target.noise": noise}))
        return gs.solve(bare).free_energy

    per_signal, per_noise = plain("z", 0.0), plain("z", 1.0) - plain("z", 0.0)
    assert found.free_energy == pytest.approx((1.0 - gamma**2) * per_signal + 0.2 * per_noise, rel=1e-9)


def test_a_held_bias_of_zero_has_one_feature_less() -> None:
    here = model(0.1, "tanh")
    held = gs.solve(here.replace({"network.bias": 0.0}))
    assert gs.solve(here).free_energy < 0.99 * held.free_energy


def test_gradient_knows_that_the_learning_rate_has_no_part() -> None:
    for here in (model(0.1, BENT), model(0.1, "tanh"), model(0.1, BENT).replace({"network.bias": 0.0})):
        found = gs.gradient(here, ["step.learning_rate", "fit.ridge"])
        assert found.test_error["step.learning_rate"] == found.free_energy["step.learning_rate"] == 0.0
        faster = gs.solve(here.replace({"step.learning_rate": 5.0}))
        assert faster.test_error == pytest.approx(found.result.test_error, rel=1e-9)


@pytest.mark.parametrize("key", every(3, ["fit.ridge", "network.width", "fit.samples"]))
def test_gradient_follows_the_bias(key: str) -> None:
    here = model(0.1, BENT)
    found = gs.gradient(here, key).test_error[key]
    table, _, name = key.partition(".")
    value, step = float(getattr(getattr(here, table), name)), 1e-3
    ends = [gs.solve(here.replace({key: value * (1.0 + k * step)})).test_error for k in (-2, -1, 1, 2)]
    differences = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step * value)
    assert found == pytest.approx(differences, rel=1e-5)


def test_other_verbs() -> None:
    here = model(0.1, "tanh")
    found = gs.bounds(here, optimise=False)
    # 1 and kappa are features at a bias of zero, and nothing else is nearby
    assert found.lower.bias == 0.0 and found.lower.value < gs.solve(here).test_error
    assert gs.spectrum(here).total == pytest.approx(1.0, abs=1e-6)
    assert gs.gains(here).powers == (0, 1)
