"""The trained bias of the simulator against Brent's method on the objective J(b), fitted anew at every b."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from erm_cases import fit, loss_of
from scipy.optimize import brentq, minimize_scalar

from giantstep.simulate.bias import _Point, _Search, fixed_bias, trained_bias
from giantstep.simulate.erm import Readout
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.system import FiniteSystem

Array = np.ndarray
COUNT, WIDTH, RIDGE = 90, 40, 0.3


def tanh(z: Array) -> tuple[Array, Array]:
    return np.tanh(z), 1.0 / np.cosh(z) ** 2


def linear(z: Array) -> tuple[Array, Array]:
    return np.array(z), np.ones_like(z)


def system(loss: str | None, activation: Any = tanh) -> FiniteSystem:
    found = None if loss is None else loss_of(loss)
    return FiniteSystem(activation, np.sign, 1.0, loss=found, trained_bias=True)


def data(loss: str | None, seed: int = 4) -> tuple[Array, Array]:
    """Pre-activations of a spiked layer and labels with a mean, which a bias helps to fit."""
    rng = np.random.default_rng(seed)
    inputs, rows = rng.standard_normal((COUNT, 30)), rng.standard_normal((WIDTH, 30)) / np.sqrt(30.0)
    rows[:, 0] += 1.0
    z = inputs[:, 0] + 0.3 * inputs[:, 1]
    labels = np.where(z > 0.5, 1.0, -1.0) if loss == "logistic" else np.tanh(z) + 0.6 + 0.1 * rng.standard_normal(COUNT)
    return inputs @ rows.T, labels


def objective(loss: str | None, inner: Array, labels: Array) -> Callable[[float], float]:
    """J(b) by a dense solve (square loss), or by the certified fit of these features."""

    def of(bias: float) -> float:
        features = np.tanh(inner + bias)
        if loss is not None:
            return fit(loss_of(loss), features, labels, RIDGE)[1].objective
        matrix = features / np.sqrt(WIDTH)
        readout = np.linalg.solve(matrix.T @ matrix + RIDGE * np.eye(WIDTH), matrix.T @ labels)
        return float(0.5 * np.sum((labels - matrix @ readout) ** 2) + 0.5 * RIDGE * readout @ readout)

    return of


@pytest.mark.parametrize("loss", [None, "logistic", "huber"])
def test_slope_of_the_objective(loss: str | None) -> None:
    """dJ/db of a search against differences of order 4: 1e-9 of truncation, and of Huber's loss, whose curvature jumps
    where a residual passes delta, the step times such a jump.
    """
    inner, labels = data(loss)
    search = _Search(system(loss), inner, labels, RIDGE, np.empty_like(inner), None)
    of = objective(loss, inner, labels)
    for bias in (-0.7, 0.0, 0.4):
        h = 5e-3
        slope = (8.0 * (of(bias + h) - of(bias - h)) - of(bias + 2 * h) + of(bias - 2 * h)) / (12.0 * h)
        point = search.at(bias)
        assert point.slope == pytest.approx(slope, rel=1e-4 if loss == "huber" else 1e-6, abs=1e-6)
        assert point.objective == pytest.approx(of(bias), rel=1e-9)


@pytest.mark.parametrize("loss", [None, "logistic", "huber"])
def test_the_lower_of_two_minima(loss: str | None) -> None:
    """A scan finds the minima beside the start; Brent's method the lowest of them."""
    inner, labels = data(loss)
    found = trained_bias(system(loss), inner, labels, (60, COUNT), (RIDGE, 10.0))
    of = objective(loss, inner, labels)
    grid = np.linspace(-4.0, 4.0, 41)
    values = [of(b) for b in grid]
    near = int(np.argmin(values))
    best = minimize_scalar(
        of, bounds=(grid[max(near - 1, 0)], grid[min(near + 1, 40)]), method="bounded", options={"xatol": 1e-7}
    )
    assert found.bias[1, 0] == pytest.approx(best.x, abs=2e-5) and abs(best.x) > 0.05
    # the readout and the training error are those of that bias
    fitted = fixed_bias(system(loss), np.tanh(inner + found.bias[1, 0]), labels, (COUNT,), (RIDGE,), found.bias[1, 0])
    assert found.readouts[:, 2] == pytest.approx(fitted.readouts[:, 0], abs=1e-6)
    assert found.train[1, 0] == pytest.approx(fitted.train[0, 0], rel=1e-8)
    # every sample size and ridge has a bias of its own
    assert len(set(found.bias.ravel().tolist())) == 4


def test_a_bias_is_trained_where_the_activation_jumps() -> None:
    """The slope of sign is zero wherever it has one: the bias stayed at zero. J falls by 10, and jumps by 0.6."""

    def sign(z: Array) -> tuple[Array, Array]:
        return np.sign(z), np.zeros_like(z)

    inner, labels = data(None)
    jumps = replace(system(None, sign), jumps=True)
    found = trained_bias(jumps, inner, labels, (COUNT,), (RIDGE,))
    search = _Search(jumps, inner, labels, RIDGE, np.empty_like(inner), None)
    scan = np.array([search.at(b).objective for b in np.linspace(-1.5, 1.5, 61)])
    fall = search.at(0.0).objective - scan.min()
    assert search.at(float(found.bias[0, 0])).objective - scan.min() < 0.1 * fall
    assert abs(found.bias[0, 0]) > 0.1


def test_an_objective_without_a_minimum_is_refused() -> None:
    """Features w.x + b that all grow with b: a constant output costs ever less."""
    inner, labels = data(None)[0], np.ones(COUNT)
    with pytest.raises(SimulationError, match="no minimum in the bias"):
        trained_bias(system(None, linear), inner, labels, (COUNT,), (RIDGE,))


class _Shallow(_Search):
    """A slope of -0.1 that is positive on an interval shorter than a step of the walk, up to 0.2 at 2.6."""

    def slope(self, bias: float) -> float:
        return -0.1 + 0.3 * float(np.exp(-0.5 * ((bias - 2.6) / 0.15) ** 2))

    def at(self, bias: float) -> _Point:
        objective = -0.1 * bias + 0.3 * 0.15 * math.sqrt(math.pi / 2.0) * math.erf(
            (bias - 2.6) / (0.15 * math.sqrt(2.0))
        )
        return _Point(bias, self.slope(bias), objective, Readout(np.zeros(1), 0.0, bias))


def test_a_minimum_between_two_steps_is_found() -> None:
    """A draw in some hundred has its only minimum there: it was refused, and all draws with it."""
    inner, labels = data(None)
    search = _Shallow(system(None), inner, labels, RIDGE, inner, None)
    assert search.run().bias == pytest.approx(brentq(search.slope, 2.0, 2.6), abs=1e-6)
