"""Solving with a trained bulk: limits, certificate, Jacobian, losses, and the simulated network."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.cli.main import main
from giantstep.law.derivation import derive
from giantstep.observe.finite_system import default_kind
from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.simulate import simulate
from giantstep.spec.model import Model
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.system_of_problem import coupled_at
from giantstep.verify.coupled_system import kernel_checks, solved_again

PLAIN = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 0.5, "learning_rate": 3.0, "bulk": "trained"},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)
VOCABULARY = {"values": [1.0, -0.6], "fractions": [0.6, 0.4]}
MODELS: dict[str, dict[str, Any]] = {
    "square": {},
    "logistic": {"fit.loss": "logistic", "target.flips": 0.1, "target.probit": 0.2},
    "vocabulary, noise": {
        "network.readout": VOCABULARY,
        "fit.loss": "huber",
        "target.link": "tanh",
        "target.noise": 0.2,
    },
    "long tails": {"target.link": "linear", "step.samples": 0.2, "network.activation": "-erf(z)"},
    "stretched": {"network.activation": "gelu", "target.link": "tanh(z) + tanh(z)**2", "step.samples": 2.0},
    "stretched, margin": {"network.activation": "relu", "fit.loss": "logistic", "step.samples": 2.0},
    "stretched, vocabulary": {
        "network.activation": "relu",
        "network.readout": VOCABULARY,
        "target.link": "tanh(z) + tanh(z)**2",
        "step.samples": 2.0,
    },
    "trained bias": {"network.bias": "trained", "target.link": "tanh(z+0.5)", "fit.samples": 1.0},
}


@lru_cache(maxsize=16)
def solved(name: str) -> Result:
    return solve(PLAIN.replace(MODELS[name]))


@pytest.mark.parametrize("name", MODELS)
def test_solutions_are_certified(name: str) -> None:
    """The free energy is the training loss, which does not know how the order parameters were found. A Newton step that
    is shorter than a tenth of the tolerance is not made: as much of the equations may remain.
    """
    result = solved(name)
    assert result.residual < 1e-11 and result.quadrature_error < 1e-10
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-10)
    isotropic = solve(result.model.replace({"step.bulk": "isotropic"}))
    assert abs(result.test_error / isotropic.test_error - 1.0) > 0.005


@pytest.mark.parametrize("name", MODELS)
def test_checks_of_the_kernel(name: str) -> None:
    """Jacobian by differences, averages by quadrature, the law of the bulk against one batch."""
    result = solved(name)
    found = list(kernel_checks(result.model, solved_again(result.model, result)))
    assert all(check.ok for check in found), "\n".join(check.line() for check in found)
    assert any("one batch" in check.name for check in found)


@pytest.mark.parametrize(
    "changes",
    [
        {"step.learning_rate": 0.0},
        {"network.activation": "linear"},
        {"network.readout": VOCABULARY, "fit.loss": "logistic", "network.activation": "linear"},
    ],
    ids=["no step", "linear features", "linear features, vocabulary"],
)
def test_without_covariance_it_is_the_isotropic_law(changes: dict[str, Any]) -> None:
    model = PLAIN.replace(changes)
    # at a dimension, as the m of linear features are told apart by terms of finite size only
    one, other = (solve(m, dimension=1000) for m in (model, model.replace({"step.bulk": "isotropic"})))
    assert one.test_error == pytest.approx(other.test_error, rel=1e-10)
    for name, values in other.order_parameters.items():
        assert one.order_parameters[name] == pytest.approx(values, rel=1e-9, abs=1e-10), name
    assert one.order_parameters["norm"] == pytest.approx(0.0, abs=1e-10)


def test_the_difference_is_linear_in_a_small_covariance() -> None:
    """a = A^2 Var sigma'/alpha0 is quadratic in the learning rate."""

    def gap(rate: float) -> float:
        model = PLAIN.replace({"step.learning_rate": rate})
        return solve(model).test_error / solve(model.replace({"step.bulk": "isotropic"})).test_error - 1.0

    small, smaller = gap(1e-2), gap(1e-3)
    assert abs(smaller) < 1e-7 and small / smaller == pytest.approx(100.0, rel=1e-3)


@pytest.mark.parametrize("activation", ["gelu", "tanh"])
def test_the_first_step_moves_the_error(activation: str) -> None:
    """The derivative at a learning rate of zero, where the spectrum is one point, by one-sided differences."""
    given = PLAIN.replace({"network.activation": activation, "target.link": "tanh(z) + tanh(z)**2"})

    def error(rate: float) -> float:
        return solve(given.replace({"step.learning_rate": rate}), dimension=1000).test_error

    start, steps = error(0.0), (2.5e-4, 5e-4, 1e-3)
    one, two, four = ((error(step) - start) / step for step in steps)
    first, second = 2.0 * one - two, 2.0 * two - four
    found = gradient(given.replace({"step.learning_rate": 0.0}), "step.learning_rate", dimension=1000)
    # what is left is 8 c step^3, where c step^4 is in the error; c is 6400 for tanh
    assert found.test_error["step.learning_rate"] == pytest.approx((4.0 * first - second) / 3.0, abs=2e-6)


def test_the_certificate_sees_a_wrong_solution() -> None:
    """Each unknown off by 1e-6 of its size; overlaps that nearly vanish by a hundredth of the readout's norm."""
    result = solved("vocabulary, noise")
    system = coupled_at(problem_of(result.model), Level(8, 44))
    x = newton(system, system.unknowns(order_of(system.problem, result))).x
    assert system.certificate(x) < 1e-12
    size = np.maximum(np.abs(x), 10.0 * system.scale(x))
    for place in range(len(x)):
        wrong = x.copy()
        wrong[place] += 1e-6 * size[place]
        assert system.certificate(wrong) > 1e-9, place


def test_heavy_tails_are_solved_at_every_learning_rate() -> None:
    """Overlaps move by ten times what responses do: a step that left out a small change of these led nowhere."""
    given = {"network.activation": "exp(z)/2", "step.samples": 0.4, "step.learning_rate": 0.9}
    rates = np.linspace(0.9, 1.1, 5)
    errors = [solve(PLAIN.replace({**given, "step.learning_rate": rate})).test_error for rate in rates.tolist()]
    assert np.abs(np.diff(np.log(errors), 3)).max() < 0.01  # a smooth curve, along which the error grows tenfold


@pytest.mark.parametrize("bulk", ["trained", "isotropic"])
def test_an_activation_of_degree_two_leaves_rows_without_noise(bulk: str) -> None:
    """Networks at d = 300: the trained law within four standard errors, the isotropic one not."""
    step = {"step.learning_rate": 1.5, "step.samples": 3.0, "network.width": 0.8}
    given = PLAIN.replace({"network.activation": "z + z**2/4", "target.link": "tanh(2*z) + He(2,z)/2", **step})
    found = simulate(given, what="network", dimension=300, seeds=16)
    theory = solve(given.replace({"step.bulk": bulk}), dimension=300)
    score = (found.mean("test_error").item() - theory.test_error) / found.standard_error("test_error").item()
    assert (abs(score) < 4.0) == (bulk == "trained")


def test_equal_values_are_one_block() -> None:
    """K = 1 written as two equal blocks, and as opposite ones of an odd activation and an odd link's network."""
    model = PLAIN.replace({"network.readout": {"values": [1.0, 1.0], "fractions": [0.3, 0.7]}})
    assert solve(model).test_error == pytest.approx(solved("square").test_error, rel=1e-12)
    near = PLAIN.replace({"network.readout": {"values": [1.0, 0.97], "fractions": [0.5, 0.5]}})
    assert solve(near, dimension=1000).test_error == pytest.approx(solved("square").test_error, rel=0.02)


@lru_cache(maxsize=4)
def simulated(name: str) -> Any:
    return simulate(PLAIN.replace(MODELS[name]), dimension=300, seeds=60 if name == "square" else 20)


@pytest.mark.parametrize("name", ["square", "vocabulary, noise"])
def test_against_the_simulated_network(name: str) -> None:
    """|z| < 4 at d = 300 with relative corrections of 3/d beyond those of the theory."""
    found = simulated(name)
    assert found.what == "network" == default_kind(found.model)
    theory = solve(found.model, dimension=300)
    for error in ("test_error", "train_error"):
        mean, spread = found.mean(error).item(), found.standard_error(error).item()
        value = getattr(theory, error)
        assert abs(mean - value) < 4.0 * math.hypot(spread, 0.01 * value), error


def test_the_isotropic_law_is_another_one() -> None:
    """It is rejected where the trained one holds: few samples in the step, large learning rate."""
    found = simulated("square")
    isotropic = solve(found.model.replace({"step.bulk": "isotropic"}), dimension=300)
    assert found.mean("train_error").item() - isotropic.train_error > 4.0 * found.standard_error("train_error").item()


def test_derivation_and_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = derive(PLAIN).latex()
    assert "Bulk of the trained network" in text and "stretched bulk" in text
    path = tmp_path / "model.toml"
    path.write_text(PLAIN.to_toml(), encoding="utf-8")
    assert main(["solve", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["test_error"] == pytest.approx(solved("square").test_error, rel=1e-12)
    assert answer["model"]["step"]["bulk"] == "trained"
    assert main(["derive", str(path)]) == 0
    assert "law_along" in capsys.readouterr().out
    table = tmp_path / "curve.csv"
    assert main(["curve", str(path), "--sweep", "fit.samples=1:2:3", "--output", str(table)]) == 0
    assert str(answer["test_error"])[:10] in table.read_text(encoding="utf-8")
    assert main(["spectrum", str(path), "--set", "target.link=z1*z2+z1"]) == 3  # no edge
