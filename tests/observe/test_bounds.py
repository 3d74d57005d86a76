"""Bounds and baselines: closed forms, independent quadrature, the limits that reach them, random solved models."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.baselines import best_linear_error
from giantstep.observe.bound_fits import lower_of, upper_of
from giantstep.observe.bounds import best_bound, bound
from giantstep.observe.conditional_model import conditional
from giantstep.observe.polynomial_error import polynomial_errors
from giantstep.spec.errors import GiantstepError
from giantstep.system.problem import problem_of

SPIKE = {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.3}


def model(activation: str, link: str, spike: dict[str, Any] | None = None, **changes: Any) -> gs.Model:
    base = gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0},
            "spike": spike or SPIKE,
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    return base.replace({key.replace("__", "."): value for key, value in changes.items()})


# ---- baselines


@pytest.mark.parametrize(
    ("link", "degree", "expected"),
    [
        ("sign", 1, 1.0 - 2.0 / math.pi),
        ("sign", 3, 1.0 - 2.0 / math.pi - 1.0 / (3.0 * math.pi)),
        ("sign", 0, 1.0),
        ("relu", 1, 0.5 - 1.0 / (2.0 * math.pi) - 0.25),
        ("sin", 2, (1.0 - math.exp(-2.0)) / 2.0 - math.exp(-1.0)),
        ("cubic", 3, 0.0),
        ("cubic", 2, 1.0),
        ("He(5, z) + 2*He(2, z)", 4, 120.0),
        ("z1*z2", 1, 1.0),
        ("z1*z2", 2, 0.0),
        ("sign(z1*z2)", 2, 1.0 - (2.0 / math.pi) ** 2),
        ("He(3, z1)*z2 + sin(z3)", 3, 6.0 + (1.0 - math.exp(-2.0)) / 2.0 - math.exp(-1.0) * (1.0 + 1.0 / 6.0)),
    ],
)
def test_best_polynomials_have_their_closed_forms(link: str, degree: int, expected: float) -> None:
    entry = gs.Model.from_dict(
        {"network": {"activation": "tanh", "width": 1.0}, "target": {"link": link}, "fit": {"samples": 1, "ridge": 1}}
    )
    found = polynomial_errors(entry.target.link, degree)
    square = found[0] + 1.0
    assert found[degree] == pytest.approx(expected * (1.0 if link != "cubic" else found[0]), abs=1e-11 * square)
    assert all(found[k + 1] <= found[k] + 1e-14 * square for k in range(degree))


@pytest.mark.parametrize("link", ["He(2,z)", "z**3", "z**7/9 + z", "z1 - z2/3", "z1*z2/7 + z1**2"])
def test_polynomials_have_no_error_at_their_degree(link: str) -> None:
    """Zero, not what rounding leaves; a small part of a higher degree stays."""
    found = polynomial_errors(link, 7)
    assert found[7] == 0.0 and found[0] > 0.0
    assert best_linear_error("z1 - z2/3") == 0.0
    small = polynomial_errors("z + He(3,z)/10**12", 3)
    assert small[1] == pytest.approx(6e-24, rel=1e-3, abs=0.0) and small[3] == 0.0


# ---- the bounds, by normal equations on another quadrature


def _by_hand(columns: list[np.ndarray], goal: np.ndarray, weight: np.ndarray) -> float:
    """What is left of the goal, from the Gram matrix."""
    matrix = np.stack(columns, axis=1)
    gram, side = matrix.T @ (weight[:, None] * matrix), matrix.T @ (weight * goal)
    return float(weight @ goal**2 - side @ np.linalg.solve(gram, side))


def test_bounds_of_sign_features_and_a_sine_match_their_closed_coefficients() -> None:
    # sigma = sign: mu0 = erf(r kappa/sqrt(2 c)), mu1 = sqrt(2/pi) exp(-(r kappa)^2/(2 c))   [THEORY section 3]
    # link sin: nu0 = a sin(gamma kappa), nu1 = rho a cos(gamma kappa), a = exp(-rho^2/2)
    from scipy.special import erf, roots_hermitenorm

    kappa, weight = roots_hermitenorm(150)
    weight /= weight.sum()
    r, gamma, c = SPIKE["strength"], SPIKE["alignment"], SPIKE["bulk_variance"]
    rho = math.sqrt(1.0 - gamma**2)
    mu0, mu1 = erf(r * kappa / math.sqrt(2.0 * c)), math.sqrt(2.0 / math.pi) * np.exp(-((r * kappa) ** 2) / (2.0 * c))
    nu0 = math.exp(-(rho**2) / 2.0) * np.sin(gamma * kappa)
    nu1 = rho * math.exp(-(rho**2) / 2.0) * np.cos(gamma * kappa)
    square = (1.0 - math.exp(-2.0)) / 2.0
    rest = square - float(weight @ (nu0**2 + nu1**2))
    upper = _by_hand([mu0], nu0, weight) + float(weight @ nu1**2) + rest
    lower = _by_hand([mu0, kappa * mu1], nu0, weight) + _by_hand([mu1], nu1, weight) + rest
    found = gs.bounds(model("sign", "sin"))
    assert found.upper.value == pytest.approx(upper, rel=1e-10)
    assert found.lower.value == pytest.approx(lower, rel=1e-10)
    assert found.lower.error < 1e-12 and found.best_lower is None


def test_the_functions_of_the_bounds_attain_them_and_the_linear_network_sees_what_is_linear() -> None:
    # a linear network: mu0 = r kappa, mu1 = sqrt c, so all of the linear part and nothing else can be learned
    found = gs.bounds(model("linear", "z + He(2, z)"))
    gamma = SPIKE["alignment"]
    assert found.lower.value == pytest.approx(2.0, rel=1e-11)
    assert found.upper.value == pytest.approx(2.0 + 1.0 - gamma**2, rel=1e-11)
    assert found.upper.m == pytest.approx([gamma / SPIKE["strength"]], rel=1e-11)
    assert found.lower.psi[0, 0] == pytest.approx(math.sqrt((1.0 - gamma**2) / SPIKE["bulk_variance"]), rel=1e-11)


# ---- the limits that reach them

TWO = {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}
LIMITS = {
    "one block": model("tanh", "sign"),
    "two blocks": model("relu", "tanh", network__readout=TWO),
    "noise of all kinds": model("tanh", "sign", target__flips=0.2, target__probit=0.3, target__noise=0.1),
    "fixed bias": model("tanh", "relu", network__bias=0.7),
    "two indices": model("relu", "z1*z2 + z1", {**SPIKE, "alignment": [0.6, 0.5]}, target__probit=0.2),
    "trained bias": model("tanh", "tanh(z + 0.5)", network__bias="trained"),
}


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_an_infinite_ridge_reaches_the_upper_bound(name: str) -> None:
    given = LIMITS[name]
    found = gs.solve(given.replace({"fit.ridge": 1e7}), tolerance=1e-8)
    assert found.test_error == pytest.approx(bound(given, "upper").value, rel=1e-5)


@pytest.mark.parametrize("name", ["one block", "two blocks", "fixed bias"])
def test_many_samples_on_a_wide_network_reach_the_lower_bound(name: str) -> None:
    # what a width p = beta d leaves behind shrinks as 1/beta, and with n >> p nothing else is left
    given, excess = LIMITS[name], []
    lower = bound(given, "lower").value
    for width in (200.0, 400.0):
        wide = given.replace({"network.width": width, "fit.samples": 1e5 * width, "fit.ridge": 1e-6})
        excess.append(gs.solve(wide, tolerance=1e-8).test_error - lower)
    assert 0.0 < excess[1] < 0.02 * lower
    assert excess[0] / excess[1] == pytest.approx(2.0, rel=0.05)


def test_the_minimum_over_the_learning_rate_is_below_every_point_of_a_grid() -> None:
    given = gs.Model.from_toml("examples/tanh_sign.toml")
    for kind in ("lower", "upper"):
        best = best_bound(given, kind)  # type: ignore[arg-type]
        assert best.learning_rate is not None and not best.at_edge
        near = best.learning_rate * np.exp((-0.05, -0.01, 0.01, 0.05))
        for rate in (*np.geomspace(1e-2, 1e2, 9), *near):
            there = bound(given.replace({"step.learning_rate": float(rate)}), kind).value  # type: ignore[arg-type]
            assert best.value <= there + 1e-12
    told: list[tuple[str, int, int]] = []
    edge = best_bound(given, "upper", (0.01, 0.1), progress=lambda *stage: told.append(stage))
    assert told == [("learning rates, upper bound", k, 61) for k in range(61)]
    assert edge.at_edge and edge.learning_rate == pytest.approx(0.1, rel=1e-5)


# ---- random models

ACTIVATIONS = ("tanh", "relu", "erf", "sin", "softplus", "hard_tanh", "cubic")
LINKS = ("sign", "tanh", "sin", "relu", "quadratic", "abs", "cubic")
SEVERAL = ("z1*z2", "tanh(z1) + z2**2")


def _random(number: int) -> gs.Model:
    draw = random.Random(number)
    link, alignment = draw.choice(SEVERAL if draw.random() < 0.05 else LINKS), draw.uniform(-1.0, 1.0)
    several = "z1" in link
    data: dict[str, Any] = {
        "network": {
            "activation": draw.choice(ACTIVATIONS),
            "width": math.exp(draw.uniform(math.log(0.1), math.log(10.0))),
            "bias": draw.choice((0.0, draw.uniform(-1.0, 1.0))),
        },
        "target": {"link": link, "noise": draw.choice((0.0, 0.2))},
        "fit": {
            "samples": math.exp(draw.uniform(math.log(0.1), math.log(30.0))),
            "ridge": math.exp(draw.uniform(math.log(1e-4), math.log(10.0))),
        },
    }
    if draw.random() < 0.4:
        data["network"]["readout"] = {"values": [1.0, draw.uniform(-1.0, 0.3)], "fractions": [0.5, 0.5]}
    if draw.random() < 0.5:
        data["step"] = {"samples": draw.uniform(0.3, 10.0), "learning_rate": draw.uniform(0.1, 3.0)}
    else:
        overlaps = [alignment, math.sqrt(1.0 - alignment**2) * draw.random()] if several else alignment
        data["spike"] = {
            "strength": draw.uniform(0.0, 4.0),
            "alignment": overlaps,
            "bulk_variance": draw.uniform(1.0, 3.0),
        }
    return gs.Model.from_dict(data)


def _feature_scale(given: gs.Model) -> float:
    """The size of the conjugates of V1 and V2, which a ridge is to be compared with."""
    parts = conditional(problem_of(given), 12)
    size = float(parts.weight @ ((1.0 + parts.kappa**2) * (parts.mu1**2 + parts.mu2sq)).max(axis=1))
    return max(1.0, size * (1.0 + given.fit.samples) * (1.0 + 1.0 / given.network.width))


def _respects(given: gs.Model) -> bool:
    """Check one model; False where it is refused."""
    try:
        found = gs.bounds(given, optimise=False)
        large = 1e6 * _feature_scale(given)  # where what the ridge holds down is negligible
        # of several indices the solver is slow at such ridges: the lower bound alone is looked at
        ridges = (given.fit.ridge, 1.0, 1e2, 1e4, large) if given.target.indices == 1 else (given.fit.ridge,)
        errors = [gs.solve(given.replace({"fit.ridge": ridge}), tolerance=1e-8).test_error for ridge in ridges]
    except GiantstepError:
        return False
    square = found.polynomial[0] + 1e-9
    assert found.lower.value <= found.upper.value + 1e-12 * square, given
    assert all(found.lower.value <= error + 1e-9 * square for error in errors), given
    if given.target.indices == 1:
        assert min(errors) <= found.upper.value + 1e-5 * square, given
    return True


def test_thirty_random_models_respect_their_bounds() -> None:
    assert sum(_respects(_random(number)) for number in range(30)) >= 25


@pytest.mark.slow
def test_a_thousand_random_models_respect_their_bounds() -> None:
    solved = sum(_respects(_random(number)) for number in range(1200))
    assert solved >= 1000


# ---- what is refused, and the command


@pytest.mark.parametrize("strength", [1e-3, 1e-6, 1e-10, 1e-14, 1e-100])
def test_the_weaker_the_spike_the_more_its_features_are_polynomials(strength: float) -> None:
    """tanh with one value reads v.x, with two its cube as well: the sign has the Hermite coefficients
    E[y He_k]^2/k! = 2/pi and 1/(3 pi). Terms of the next order are relative to strength^2.
    """
    first, third = 2.0 / math.pi * SPIKE["alignment"] ** 2, 1.0 / (3.0 * math.pi) * SPIKE["alignment"] ** 6
    for values, wanted in (([1.0], 1.0 - first), ([1.0, -2.0], 1.0 - first - third)):
        readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
        found = bound(model("tanh", "sign", {**SPIKE, "strength": strength}, network__readout=readout), "upper")
        assert abs(found.value - wanted) <= found.error + 10.0 * strength**2 + 1e-12
        assert found.error < 1e-9


def test_what_has_no_bounds_is_refused() -> None:
    with pytest.raises(gs.BadInput, match="fit.loss"):
        gs.bounds(model("tanh", "sign", fit__loss="logistic"))
    with pytest.raises(gs.BadInput, match="degree"):
        gs.bounds(model("tanh", "sign"), degree=-1)
    with pytest.raises(gs.BadInput, match="learning rates"):
        gs.bounds(model("tanh", "sign"), rates=(1.0, 0.5))
    with pytest.raises(gs.BadInput, match="step"):
        best_bound(model("tanh", "sign"), "lower")


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    path = "examples/tanh_sign.toml"
    assert main(["bounds", path, "--rates", "0.5:20"]) == 0
    text = capsys.readouterr().out
    assert "lower bound" in text and "best linear predictor" in text and "step.learning_rate" in text
    assert main(["bounds", path, "--no-search", "--degree", "5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["best_lower"] is None and set(data["polynomial"]) == {str(k) for k in range(6)}
    assert data["lower"]["value"] < data["upper"]["value"]
    assert main(["bounds", path, "--rates", "1"]) == 2
    assert "--rates" in capsys.readouterr().err


def test_the_minimum_of_a_trained_bias_that_solve_goes_to_is_told() -> None:
    """Downhill from zero, where another one is lower: at a large ridge, which leaves 1e-8 of its inverse."""
    values = {"values": [-1.7, 1.48], "fractions": [0.54, 0.46]}
    given = gs.Model.from_dict(
        {
            "network": {"activation": "erf", "width": 0.5, "readout": values, "bias": "trained"},
            "step": {"samples": 0.22, "learning_rate": 0.955},
            "target": {"link": "relu"},
            "fit": {"samples": 38.0, "ridge": 1e8},
        }
    )
    found = gs.bounds(given, optimise=False)
    assert found.first_upper is not None and found.first_upper.value > 1.1 * found.upper.value
    solved = gs.solve(given)
    assert solved.test_error == pytest.approx(found.first_upper.value, rel=1e-5)
    assert solved.bias == pytest.approx(found.first_upper.bias, abs=1e-4)
    assert found.to_dict()["first_upper"]["value"] == found.first_upper.value and "where solve has it" in str(found)
    fixed = gs.bounds(given.replace({"network.bias": 0.3}), optimise=False)
    assert fixed.first_upper is None and fixed.to_dict()["first_upper"] is None


@pytest.mark.parametrize("kind", ["lower", "upper"])
def test_learning_rate_and_trained_bias_are_searched_together(kind: Any) -> None:
    """No bias near the one that is told, and no rate, does better; beside a weak spike the best bias is as small."""
    given = gs.Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 1.0, "bias": "trained"},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "relu"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    found = best_bound(given, kind, rates=(0.02, 50.0))
    assert found.learning_rate is not None
    of = lower_of if kind == "lower" else upper_of
    for rate in (0.02, 0.9 * found.learning_rate, 1.1 * found.learning_rate):
        for bias in found.bias * np.array([0.0, 0.8, 0.95, 1.05, 1.25, -1.0]):  # none in the step
            problem = problem_of(given.replace({"step.learning_rate": max(rate, 0.02)}), None, float(bias))
            assert of(conditional(problem, 24)).value >= found.value * (1.0 - 1e-9)
    there = given.replace({"step.learning_rate": found.learning_rate})
    assert bound(there, kind).value == pytest.approx(found.value, rel=1e-12)


@pytest.mark.parametrize(
    ("activation", "link", "strength", "variance", "at_edge"),
    [("quadratic", "tanh", 3.063, 1.48, True), ("relu(z-7)", "He(3,z)", 0.9, 0.2, False)],
)
def test_biases_are_looked_for_as_far_out_as_a_bound_falls(
    activation: str, link: str, strength: float, variance: float, at_edge: bool
) -> None:
    """Beyond four deviations of a pre-activation: no bias that is set has a lower one."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "bias": "trained"},
            "spike": {"strength": strength, "alignment": 1.0, "bulk_variance": variance},
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    found = gs.bounds(model, optimise=False).lower
    assert found.bias_at_edge == at_edge and abs(found.bias) > 4.01 * math.sqrt(strength**2 + variance)
    for bias in [found.bias * share for share in (0.02, 0.5, 0.95)] + [1.05 * found.bias] * (not at_edge):
        held = gs.bounds(model.replace({"network.bias": bias}), optimise=False).lower
        assert held.value > found.value - found.error - held.error


def test_a_training_error_that_falls_without_end_has_no_first_minimum() -> None:
    """Far out `softplus` is a polynomial of the second degree beside all else, as the target is."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": "softplus", "width": 3.0, "bias": "trained"},
            "step": {"samples": 1.1, "learning_rate": 1.06},
            "target": {"link": "z**2"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    found = gs.bounds(model, optimise=False)
    assert found.upper.bias_at_edge and "falls further" in str(found.upper) and found.first_upper is None
    assert found.upper.value < 2.0000003
