"""The trained bias of the theory: slope and minimum of the free energy in it, against solves at fixed biases."""

from __future__ import annotations

import math
from typing import Any

import pytest
from loss_cases import model
from scipy.optimize import minimize_scalar

from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system import trained_bias
from giantstep.system.coupled_solver import coupled_solution
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.trained_bias import slope_in_bias

STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
STEP = 0.02


def energy(found: Model, bias: float) -> float:
    return solve(found.replace({"network.bias": bias})).free_energy


@pytest.mark.parametrize(
    ("loss", "blocks", "changes", "bias"),
    [
        ("logistic", 1, {"target__link": "sign(z-0.4)"}, 0.3),
        ("huber", 2, {"target__link": "tanh", "target__noise": 0.2}, -0.4),
        ("square", 1, {"target__link": "sin", "target__probit": 0.1, "network__activation": "tanh"}, 0.5),
        ("hinge", 1, {"target__flips": 0.1, "network__activation": "relu"}, 0.2),
        pytest.param(
            "log_cosh",
            1,
            {"target__link": "tanh(z1)+z2/2", "spike__alignment": [0.5, 0.3]},
            0.3,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_slope_of_the_free_energy(loss: Any, blocks: int, changes: dict[str, Any], bias: float) -> None:
    """Differences of order 4 of independent solves: (0.02)^4/30 times a fifth derivative of order 1, near 1e-8."""
    found = model(loss, blocks, **changes)
    problem, _ = merged(problem_of(found, None, bias))
    system = coupled_solution(problem, 1e-10, None).system
    slope = sum(weight * energy(found, bias + k * STEP) for k, weight in STENCIL) / STEP
    assert slope_in_bias(problem, system) == pytest.approx(slope, abs=3e-8 * max(1.0, abs(slope)))
    assert abs(slope) > 1e-3


@pytest.mark.parametrize(
    ("loss", "changes"),
    [
        ("logistic", {"target__link": "sign(z-0.5)"}),
        ("huber", {"target__link": "relu", "target__noise": 0.1}),
        ("square", {"target__link": "relu", "network__activation": "tanh"}),
    ],
)
def test_trained_bias_is_the_minimum(loss: str, changes: dict[str, Any]) -> None:
    """Brent's method on solves at fixed biases: the minimum is flat, known to the root of 1e-12."""
    found = model(loss, **changes)
    result = solve(found.replace({"network.bias": "trained"}))
    b = result.bias
    lowest = minimize_scalar(lambda x: energy(found, x), bracket=(b - 0.3, b + 0.01, b + 0.3), tol=1e-7)
    assert b == pytest.approx(lowest.x, abs=1e-5) and abs(b) > 0.01
    fixed = solve(found.replace({"network.bias": b}))
    assert result.free_energy == pytest.approx(fixed.free_energy, rel=1e-10)
    assert result.test_error == pytest.approx(fixed.test_error, rel=1e-9)
    assert result.free_energy < energy(found, 0.0)
    assert result.residual < 1e-10


def test_no_minimum_on_the_way_is_passed() -> None:
    """The objective falls to a bias of 2.04, rises, and falls again to 4.27, where it is larger."""
    given = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 1.0, "bias": "trained", "readout": {"values": [1.0, -0.5, 0.3]}},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "sign(z-0.3)"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    found = solve(given)
    assert found.bias == pytest.approx(2.0397949, abs=1e-6)
    for bias in (0.0, 1.0, 1.9, 2.2, 3.0, 4.27):
        problem, _ = merged(problem_of(given, None, bias))
        system = coupled_solution(problem, 1e-10, None).system
        assert system.observables()[2] > found.free_energy


def test_a_symmetric_problem_keeps_its_bias_where_that_is_the_minimum() -> None:
    """An odd activation and an odd target: zero is stationary; it is kept where both sides rise, and left otherwise."""
    found = model("logistic")
    result = solve(found.replace({"network.bias": "trained"}))
    sides = [energy(found, b) for b in (-0.3, 0.3)]
    assert sides[0] == pytest.approx(sides[1], rel=1e-10)
    if min(sides) > energy(found, 0.0):
        assert abs(result.bias) < 1e-9
    else:
        assert abs(result.bias) > 0.01 and result.free_energy < energy(found, 0.0)


def test_a_symmetric_problem_has_a_bias_of_zero_whatever_rounding_says() -> None:
    """Of three values, whose slope at zero is 5e-12 by rounding; with a label that is neither odd nor even it moves."""
    values = {"values": [1.0, -0.5, 0.3], "fractions": [0.4, 0.3, 0.3]}
    spike = {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2}
    network = {"activation": "tanh", "width": 1.0, "bias": "trained", "readout": values}
    given = {"network": network, "spike": spike, "target": {"link": "sign"}, "fit": {"samples": 2.0, "ridge": 0.05}}
    symmetric = Model.from_dict(given)
    assert solve(symmetric).bias == 0.0
    assert abs(solve(symmetric.replace({"target.link": "sign(z) + z**2/10"})).bias or 0.0) > 1e-3


def test_even_part_of_an_odd_network() -> None:
    """cos has no linear coefficient at zero bias: to fit a sign both sides are downhill, and one is taken."""
    found = model("logistic", network__activation="cos", spike__strength=1.0)
    result = solve(found.replace({"network.bias": "trained"}))
    assert abs(result.bias) > 0.1
    assert energy(found, result.bias) < min(energy(found, f * result.bias) for f in (0.0, 0.8, 1.2))
    assert energy(found, -result.bias) == pytest.approx(result.free_energy, rel=1e-9)


@pytest.mark.parametrize(
    ("activation", "values", "step", "about"),
    [
        ("tanh", [1.0], None, 0.0),
        ("tanh", [1.0, -1.0], {"samples": 3.0, "learning_rate": 0.8}, 0.0),
        ("cos", [1.0], None, 0.5 * math.pi),
    ],
)
def test_features_without_a_mean_at_one_bias(
    activation: str, values: list[float], step: dict[str, float] | None, about: float
) -> None:
    """Any bias beside it gives a mean, which labels without one feel: the objective jumps down there.

    It was zero that was told, which is stationary by symmetry; test errors were twice as large. As d grows the bias
    tends to it as the fourth root of 1/d.
    """
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    given = Model.from_dict(
        {
            "network": {"activation": activation, "width": 2.5, "bias": "trained", "readout": readout},
            "target": {"link": "relu"},
            "fit": {"samples": 2.2, "ridge": 0.38},
            **({} if step is None else {"step": step}),
        }
    )
    found = solve(given)
    assert 0.0 < abs(found.bias - about) < 2e-6
    assert found.free_energy < energy(given, about) - 0.05
    large, larger = (solve(given, dimension=d) for d in (10**9, 10**11))
    assert abs(large.bias - about) / abs(larger.bias - about) == pytest.approx(100.0**0.25, rel=0.02)
    for name in ("test_error", "free_energy"):
        limit, one, two = (getattr(result, name) for result in (found, large, larger))
        assert (one - limit) / (two - limit) == pytest.approx(10.0, rel=0.02)


def test_of_mirror_images_one_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a bias and its negative are as good, nothing is solved at a negative one."""
    asked: list[float] = []
    at = trained_bias._Search.at

    def noted(search: trained_bias._Search, bias: float) -> trained_bias._Point:
        asked.append(bias)
        return at(search, bias)

    monkeypatch.setattr(trained_bias._Search, "at", noted)
    network = {"activation": "tanh", "width": 1.0, "bias": "trained"}
    fit = {"samples": 2.0, "ridge": 0.01, "loss": "log_cosh"}
    step = {"samples": 2.0, "learning_rate": 1.0}
    found = Model.from_dict({"network": network, "target": {"link": "z**2"}, "step": step, "fit": fit})
    assert solve(found).bias > 0.1
    assert min(asked) == 0.0


def test_an_objective_that_is_the_same_at_any_bias() -> None:
    """Linear features of opposite values have a constant as soon as there is a bias: any other does as well. Slopes of
    rounding were followed to the end of the search, and the model refused.
    """
    steps = [{"samples": 0.57, "learning_rate": 1.088}, {"samples": 0.776, "learning_rate": 0.879}]
    given = Model.from_dict(
        {
            "network": {
                "activation": "identity",
                "width": 1.047,
                "bias": "trained",
                "readout": {"values": [1.0, -1.0], "fractions": [0.5, 0.5]},
            },
            "target": {"link": "sigmoid(2*z)"},
            "fit": {"samples": 4.677, "ridge": 0.532, "loss": "log_cosh"},
            "step": steps,
        }
    )
    found = solve(given)
    for bias in (0.05, 5.0):
        fixed = solve(given.replace({"network.bias": bias}))
        assert found.free_energy == pytest.approx(fixed.free_energy, rel=1e-9)
        assert found.test_error == pytest.approx(fixed.test_error, rel=1e-9)
    with pytest.raises(NotConverged, match="still falls at 20"):
        solve(given, dimension=1000)


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_an_objective_that_falls_to_a_limit_has_no_minimum(loss: str) -> None:
    """abs at a large bias is linear but for exp(-bias^2/2), and the objective flat: rounding was taken for a minimum.

    With a spike features bend within reach, and the objective rises beyond a bias of 4.28 by more than that.
    """
    given = Model.from_dict(
        {
            "network": {"activation": "abs", "width": 1.8, "bias": "trained"},
            "target": {"link": "sign"},
            "fit": {"samples": 1.33, "ridge": 3.4, "loss": loss},
        }
    )
    near, far, farther = (energy(given, bias) for bias in (4.0, 6.0, 12.0))
    assert near > far > farther > far - 1e-7
    with pytest.raises(NotConverged, match=r"no minimum in the bias: it falls up to 5\.\d+, and is flat from there on"):
        solve(given)
    spiked = given.replace({"spike": {"strength": 1.0, "alignment": 0.7, "bulk_variance": 1.2}})
    found = solve(spiked)
    assert all(energy(spiked, found.bias + side) > found.free_energy for side in (-0.2, 0.2, 5.0))
