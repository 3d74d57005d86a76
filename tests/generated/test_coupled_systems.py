"""The coupled kernels against references in mpmath: solutions, averages, observables, Jacobian; and mutations of them.

At a solution x of the kernels the residual R of the reference, at the very same numbers, gives the error J^-1 R of
every order parameter. Both sides are one system on a few nodes of kappa, so what is left is rounding: 1e-16 times the
number of terms and the condition of J, which is below 1e4 in these models.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from coupled_reference import OBSERVABLES
from loss_cases import (
    MARGIN,
    RESIDUAL,
    families,
    loss_table,
    model,
    reference_of,
    small_system,
    solved,
    vector,
)
from reference_output import Fields, LossCurve, node_averages
from solver_cases import reference_of as reference_of_square
from solver_cases import run, small_table

from derive.loss.loss import analyse_loss, loss_of
from derive.loss.prox_value import moreau_values
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import system_kernel
from giantstep.system.level import Level
from giantstep.system.problem import problem_of

DIGITS = 25
CLOSE = 1e-11  # asked for: 1e-9
PLAIN: dict[str, Any] = {}
SIGNS: tuple[dict[str, Any], ...] = (
    PLAIN,
    {"target__flips": 0.1},
    {"target__probit": 0.3},
    {"target__flips": 0.05, "target__probit": 0.2},
    {"target__link": "sign(z-0.4)", "spike__alignment": -0.95},
)
VALUES: tuple[dict[str, Any], ...] = (
    PLAIN,
    {"target__noise": 0.2},
    {"target__link": "tanh", "target__noise": 0.1},
    {"target__probit": 0.3},
    {"target__link": "relu", "target__noise": 0.1},
)
#: Every loss for one block or for two, the channels in turn.
TURNS = [
    (name, blocks, channels[(number + blocks) % len(channels)])
    for names, channels in ((MARGIN, SIGNS), (RESIDUAL, VALUES))
    for number, name in enumerate(names)
    for blocks in (1 + number % 2,)
]
ALL = [
    (name, blocks, channel)
    for names, channels in (
        (MARGIN, SIGNS),
        (RESIDUAL, (*VALUES, {"target__link": "relu", "target__noise": 0.01})),
    )
    for name in names
    for blocks in (1, 2, 3)
    for channel in (channels if blocks < 3 else channels[:1])
]
FINEST = Level(8, 64, labels=4)
TWO = {"target__link": "tanh(z1) + z2/2", "target__noise": 0.5, "spike__alignment": [0.5, 0.3]}


def compared(found: Model, nodes: int, level: Level = FINEST) -> tuple[float, float]:
    """(error of the order parameters, error of the observables), relative, against the reference on that many nodes."""
    blocks = len(found.network.readout.values)
    system, x = solved(problem_of(found, None if blocks == 1 else 300), nodes, level)
    return errors(system, x)


def errors(system: CoupledSystem, x: Any) -> tuple[float, float]:
    with mpmath.workdps(DIGITS):
        reference = reference_of(system)
        state = reference.state(families(system, x))
        residual = np.array([float(r) for r in vector(system, reference.residual(state))])
        exact = {name: float(value) for name, value in reference.observables(state).items()}
        if system.loss.FORM == "margin":
            exact["test_error"] = float(reference.misclassified(state))
    exact["train_error"] *= system.problem.model.fit.loss.entry.error_scale
    system.residual(x)
    order = np.linalg.solve(system.jacobian(), residual) / system.scale(x)
    out = dict(zip(OBSERVABLES, system.observables(), strict=True))
    return float(np.abs(order).max()), max(abs(out[name] / exact[name] - 1.0) for name in OBSERVABLES)


@pytest.mark.parametrize(("name", "blocks", "channel"), TURNS)
def test_solution_is_that_of_the_reference(name: str, blocks: int, channel: dict[str, Any]) -> None:
    order, observed = compared(model(loss_table(name), blocks, **channel), 3 + blocks)
    assert order < CLOSE
    assert observed < CLOSE


@pytest.mark.slow
@pytest.mark.parametrize(("name", "blocks", "channel"), ALL)
def test_every_loss_and_channel(name: str, blocks: int, channel: dict[str, Any]) -> None:
    order, observed = compared(model(loss_table(name), blocks, **channel), 6)
    assert order < CLOSE
    assert observed < CLOSE


SLOW = [pytest.param(loss, blocks, marks=pytest.mark.slow) for loss, blocks in (("huber", 2), ("log_cosh", 1))]


@pytest.mark.parametrize(("loss", "blocks"), [("huber", 1), *SLOW])
def test_target_of_two_indices(loss: str, blocks: int) -> None:
    order, observed = compared(model(loss, blocks, **TWO), 3 + blocks, Level(8, 64, labels=1))
    assert order < CLOSE
    assert observed < CLOSE


@pytest.mark.parametrize(
    "loss",
    [
        "f**2/2-2*y*f+abs(f)",
        pytest.param("sqrt(1+(y-f)**2)", marks=pytest.mark.slow),
        pytest.param("log(1+exp(-2*y*f))/2+0.01*(y*f)**2", marks=pytest.mark.slow),
    ],
)
def test_losses_of_a_user(loss: str) -> None:
    """General, residual and margin form, through the kernels generated at first use."""
    order, observed = compared(model(loss), 4)
    assert order < CLOSE
    assert observed < CLOSE


def test_square_loss_by_two_routes() -> None:
    """The coupled system of the square loss has the solution of the reference of the direct solver."""
    problem = problem_of(model("square", 2, target__link="sin", target__noise=0.05), 50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters.array())
    exact = reference_of_square(run(system_kernel("square"), *data), *data)
    system, x = solved(problem, 12, Level(8, 64, labels=2))
    names = {name: system.view(name) for name in ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")}
    order = {name: np.array(exact.array(name)) for name in names}
    assert max(np.abs(names[n] - order[n]).max() / np.abs(order[n]).max() for n in names) < 1e-10
    assert system.observables() == pytest.approx([float(exact.observables[n]) for n in OBSERVABLES], rel=1e-10)


@pytest.mark.parametrize(
    ("name", "blocks", "changes"),
    [
        ("logistic", 1, PLAIN),
        ("logistic", 3, {"target__probit": 0.2}),
        ("hinge", 2, {"target__flips": 0.1}),
        ("huber", 1, {"target__link": "tanh", "target__noise": 0.3}),
        ("quantile", 2, {"target__noise": 0.3}),
        ("log_cosh", 1, TWO),
        pytest.param("huber", 2, TWO, marks=pytest.mark.slow),
    ],
)
def test_jacobian_is_the_derivative_of_the_residual(name: str, blocks: int, changes: dict[str, Any]) -> None:
    """Off the solution too. Differences of order 4 with steps of 2e-3 leave (2e-3)^4 times a fifth derivative."""
    problem = problem_of(model(loss_table(name), blocks, **changes), 300)
    system, x = solved(problem, 4, Level(8, 96))
    x = x * (1.0 + 0.05 * np.cos(np.arange(len(x))))
    system.residual(x)
    jacobian, scale = system.jacobian(), system.scale(x)
    for column in range(len(x)):
        step = 2e-3 * scale[column]
        unit = np.zeros(len(x))
        unit[column] = step
        near, far = (system.residual(x + k * unit) - system.residual(x - k * unit) for k in (1, 2))
        slope = (8.0 * near - far) / (12.0 * step)
        size = np.abs(jacobian * scale).max(axis=1)
        assert np.all(np.abs(slope - jacobian[:, column]) * scale[column] < 1e-7 * size), system.kernel.UNKNOWNS


# --- the reference itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic", "probit", "huber", "smoothed_hinge"])
def test_proximal_map_of_the_reference(name: str) -> None:
    """Warm starts along the grid give what bracketing at every point gives."""
    with mpmath.workdps(DIGITS):
        analysis = analyse_loss(loss_of(name))
        grid = [mpmath.mpf(k) / 3 - mpmath.mpf("4.01") for k in range(25)]
        for (envelope, g, h), w in zip(LossCurve(analysis, {}).along(grid, mpmath.mpf("0.7"), 1), grid, strict=True):
            y, omega = (1, w) if analysis.loss.form == "margin" else (0, w)
            exact = moreau_values(analysis, y, omega, mpmath.mpf("0.7"), digits=DIGITS)
            for value, wanted in ((envelope, exact.envelope), (g, exact.g), (h, exact.h)):
                assert abs(value - wanted) < 1e-22 * (1 + abs(wanted))


SETTLED: list[tuple[str, dict[str, Any]]] = [("logistic", {"target__probit": 0.3}), ("exponential", PLAIN)]
SETTLED += [("epsilon_insensitive", {"target__noise": 0.2}), ("log_cosh", {"target__link": "tanh"})]


@pytest.mark.parametrize(("name", "changes"), SETTLED)
def test_quadrature_of_the_reference_has_settled(name: str, changes: dict[str, Any]) -> None:
    """Twice as many panels in omega change nothing: the error of the reference itself."""
    system = small_system(problem_of(model(name, **changes)), 3)
    with mpmath.workdps(DIGITS):
        reference = reference_of(system)
        curve = LossCurve(reference.loss, reference.numbers)
        fields = Fields(mpmath.mpf("0.8"), mpmath.mpf("0.3"), (mpmath.mpf("0.5"),), mpmath.mpf("0.4"))
        once, twice = (node_averages(curve, reference.channel, mpmath.mpf("0.6"), fields, finer) for finer in (1, 2))
        assert max(abs(once[key] - twice[key]) for key in once) < 1e-14


def test_label_noise_of_a_margin_loss_is_refused_by_the_reference() -> None:
    system = small_system(problem_of(model("logistic")), 3)
    reference = reference_of(system)
    fields = Fields(*(mpmath.mpf(1), mpmath.mpf(0), (mpmath.mpf(0),), mpmath.mpf(1)))
    with pytest.raises(ValueError, match="residual"):
        node_averages(LossCurve(reference.loss, {}), replace(reference.channel, noise=0.1), 0, fields)
