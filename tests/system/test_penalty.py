"""Fits with a penalty: laws that are equal, the energy, the certificate, sensitivities, and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

from giantstep.observe.finite_system import at_dimension
from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.simulate import simulate
from giantstep.observe.tune import tune
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import coupled_solution
from giantstep.system.merged_blocks import merged
from giantstep.system.penalised_system import PenalisedSystem
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.verify.certificate import certificate

WORST_Z = 4.0
TWO = {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}
BASE: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 0.8},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1},
    "step": {"samples": 4.0, "learning_rate": 1.0},
}


def model(**changes: Any) -> Model:
    return Model.from_dict(BASE).replace({key.replace("__", "."): value for key, value in changes.items()})


def l1(strength: float) -> dict[str, Any]:
    return {"name": "elastic_net", "l1": strength}


@pytest.mark.parametrize("ridge", [10.0, 30.0])
def test_overlaps_that_vanish_do_not_refuse_a_model(ridge: float) -> None:
    """Newton's method leaves 1e-54 of the mean readout, which features and a penalty without a preferred sign have not:
    the equations of that were held against itself. Of odd features dimension changes nothing."""
    tables = {
        "network": {"activation": "erf", "width": 0.9843},
        "target": {"link": "tanh(2*z)"},
        "fit": {"samples": 1.0213, "ridge": ridge, "penalty": l1(0.0746)},
    }
    given = Model.from_dict(tables)
    found = solve(given, dimension=1000)
    assert found.test_error == pytest.approx(solve(given).test_error, rel=1e-9)


@pytest.mark.parametrize("dimension", [None, 300])
@pytest.mark.parametrize(
    "changes", [{}, {"fit__loss": "logistic"}, {"network__activation": "relu", "network__readout": TWO}]
)
def test_half_a_square_is_a_ridge(changes: dict[str, Any], dimension: int | None) -> None:
    """a^2/2 adds 1 to the ridge: other equations, other kernels; the limit is the tolerance of both, 1e-10."""
    penalised = solve(model(fit__penalty="a**2/2", **changes), dimension=dimension)
    plain = solve(model(**changes).replace({"fit.ridge": 1.1}), dimension=dimension)
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(penalised, name) == pytest.approx(getattr(plain, name), rel=1e-9)
    for name in ("psi", "Q1", "Q2", "V1", "V2"):
        np.testing.assert_allclose(penalised.order_parameters[name], plain.order_parameters[name], rtol=1e-8)
    norm = penalised.order_parameters["Q2"].sum()
    assert penalised.penalty == pytest.approx(0.8 * norm / 2, rel=1e-10)


def test_what_is_not_felt_changes_nothing() -> None:
    """A bound of 60 spreads of the readouts, and an l1 of 1e-9, which moves the error by as much, leave the fit."""
    plain = solve(model()).test_error
    assert solve(model(fit__penalty={"name": "box", "bound": 60.0})).test_error == pytest.approx(plain, rel=1e-10)
    assert solve(model(fit__penalty=l1(1e-9))).test_error == pytest.approx(plain, rel=1e-8)


@pytest.mark.parametrize("dimension", [None, 300])
def test_no_l1_is_the_ridge(dimension: int | None) -> None:
    """The lower end of its range: the same equations, to the tolerance of both; there is no slope on one side of it."""
    nothing = model(fit__penalty=l1(0.0), network__activation="relu", network__readout=TWO)
    found, plain = (solve(each, dimension=dimension) for each in (nothing, nothing.replace({"fit.penalty": None})))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9)
    assert found.penalty == 0.0
    with pytest.raises(BadInput, match="in fit.penalty.l1: it is at the end of its range"):
        gradient(nothing, "fit.penalty.l1")


CASES: dict[str, dict[str, Any]] = {
    "lasso": {"fit__penalty": l1(0.3), "fit__ridge": 1e-3},
    "elastic net, logistic": {"fit__penalty": l1(0.1), "fit__loss": "logistic"},
    "absolute loss, noise": {"fit__penalty": l1(0.2), "fit__loss": "absolute", "target__noise": 0.2},
    "two blocks": {"network__activation": "relu", "network__readout": TWO, "fit__penalty": l1(0.1)},
    "quartic, two indices": {"target__link": "tanh(z1)+z2*z2/2", "fit__penalty": "a**4/4"},
    "no negative readouts": {"step__learning_rate": 0.0, "fit__penalty": "non_negative"},
    "bounded readouts": {"network__activation": "relu", "fit__penalty": {"name": "box", "bound": 0.7}},
}
#: Where the mean of the readouts, of order 1/sqrt(d), is as large as their spread.
MEANS: dict[str, dict[str, Any]] = {
    "bounds below the mean": {"fit__penalty": {"name": "box", "bound": 0.15}},
    "no negative readouts after a step": {"fit__penalty": "non_negative"},
    "exponential": {"fit__penalty": "exp(a)/3", "network__readout": TWO},
}


@pytest.mark.parametrize("name", [*CASES, *MEANS])
def test_energy_and_a_second_quadrature(name: str) -> None:
    found = solve(model(**CASES[name])) if name in CASES else solve(model(**MEANS[name]), dimension=300)
    assert found.free_energy == pytest.approx(found.training_loss, rel=1e-10)
    constraint = "bound" in name or "negative" in name  # which costs nothing where it holds
    assert abs(found.penalty) < 1e-12 if constraint else found.penalty > 1e-3
    checked = certificate(found)
    assert checked.holds and not checked.unsettled, checked
    assert {"T of the readouts", "Q2 of the readouts"} <= set(checked.equations)


@pytest.mark.parametrize(("dimension", "seeds"), [(100, 12), pytest.param(400, 12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*CASES, *MEANS])
def test_simulation(name: str, dimension: int, seeds: int) -> None:
    given = at_dimension(model(**{**CASES, **MEANS}[name]), dimension)
    theory = solve(given, dimension=dimension)
    count = seeds if "bound" not in name else seeds // 2  # steep penalties take many steps
    measured = simulate(given, dimension=dimension, seeds=count, seed=3).to_dict()
    for error in ("test_error", "train_error"):
        score = (measured[error]["mean"] - getattr(theory, error)) / measured[error]["standard_error"]
        z = norm.isf(t.sf(abs(score), count - 1))  # as rare under a normal law
        assert z < WORST_Z, (error, z)


@pytest.mark.parametrize(("loss", "dimension"), [("square", None), ("logistic", None), ("square", 100)])
def test_sensitivities_are_derivatives(loss: str, dimension: int | None) -> None:
    """Differences of order 4 with steps of 1e-3: 1e-12 of a fifth derivative, and 1e-10 of quadrature over the step."""
    given = model(fit__penalty=l1(0.2), fit__loss=loss)
    found = gradient(given, dimension=dimension)
    for key in ("fit.ridge", "fit.samples", "network.width", "step.learning_rate"):
        table, field = key.split(".")
        value = getattr(getattr(given, table), field)
        step = 1e-3 * value
        near = [solve(given.replace({key: value + k * step}), dimension=dimension) for k in (-2, -1, 1, 2)]
        for error in ("test_error", "train_error", "free_energy"):
            a, b, c, d = (getattr(one, error) for one in near)
            assert getattr(found, error)[key] == pytest.approx(
                (a - 8 * b + 8 * c - d) / (12 * step), rel=1e-6, abs=1e-9
            )


@pytest.mark.parametrize(
    ("key", "penalty", "value"),
    [
        ("fit.penalty.l1", l1(0.2), 0.2),
        ("fit.penalty.bound", {"name": "box", "bound": 0.6}, 0.6),
        ("fit.penalty.steepness", {"name": "box", "bound": 0.3, "steepness": 0.5}, 0.5),
        ("fit.penalty.steepness", {"name": "box", "bound": 0.3, "steepness": 20.0}, 20.0),
    ],
)
def test_sensitivities_to_the_penalty(key: str, penalty: dict[str, Any], value: float) -> None:
    """The same differences; the law of the readouts is differentiated by such differences too, at 1e-13."""
    given = model(network__activation="relu", fit__penalty=penalty)
    found, step = gradient(given, key), 1e-3 * value
    near = [solve(given.replace({key: value + k * step})) for k in (-2, -1, 1, 2)]
    for error in ("test_error", "train_error", "free_energy"):
        a, b, c, d = (getattr(one, error) for one in near)
        assert getattr(found, error)[key] == pytest.approx((a - 8 * b + 8 * c - d) / (12 * step), rel=1e-6, abs=1e-9)
    with pytest.raises(BadInput, match="is no parameter of the model"):
        gradient(model(), key)


def test_no_derivative_in_the_slope_of_a_bound() -> None:
    with pytest.raises(BadInput, match="in fit.penalty.steepness: it is so steep that it stands for a bound"):
        gradient(model(fit__penalty="box"), "fit.penalty.steepness")


def test_the_best_strength() -> None:
    """Where the derivative vanishes, between two curves' points that are worse."""
    found = tune(model(fit__penalty=l1(0.2)), over="fit.penalty.l1")
    best = found.values["fit.penalty.l1"]
    around = [solve(model(fit__penalty=l1(best * factor))).test_error for factor in (0.9, 1.1)]
    assert abs(found.gradient["fit.penalty.l1"]) < 1e-8 and min(around) > found.result.test_error


@pytest.mark.parametrize("power, free", [(1.05, 0.0), (1.2, 0.3)])
def test_slopes_like_a_root(power: float, free: float) -> None:
    """max(0, |a| - free)^power, once refused: E a^2 by its definition, at the law of what the proximal map is given.

    With a = free + s^(1/(power - 1)) its slope is power s, which no quadrature has to resolve.
    """
    found = solve(model(fit__penalty=f"max(0,abs(a)-{free})**{power}")).order_parameters
    width, spread = float(found["prox_width"][0]), float(np.sqrt(found["prox_variance"][0]))

    def beyond(s: float) -> float:
        a = free + s ** (1.0 / (power - 1.0))
        stretch = s ** (1.0 / (power - 1.0) - 1.0) / (power - 1.0) + width * power
        return float(a * a * norm.pdf(a + width * power * s, scale=spread) * stretch)

    reach = (9.0 * spread) ** (power - 1.0)
    inside = quad(lambda a: a * a * norm.pdf(a, scale=spread), 0.0, free)[0]
    square = 2.0 * (inside + quad(beyond, 0.0, reach, epsabs=1e-14, limit=200)[0])
    assert found["Q2"][0] == pytest.approx(square, rel=1e-9)


def test_readouts_with_a_mean_need_a_dimension() -> None:
    with pytest.raises(BadInput, match="feel without bound as the dimension grows"):
        solve(model(**MEANS["exponential"]))


def test_a_penalty_that_holds_all_readouts_is_refused_with_the_reason() -> None:
    with pytest.raises(NotConverged) as refusal:
        solve(model(fit__penalty=l1(5.0)))
    assert "holds all readouts at zero but for a share of 2e-08" in refusal.value.message
    assert refusal.value.hint.startswith("weaken fit.penalty")


def test_means_move_with_the_unknowns_in_their_places() -> None:
    """By differences of order 2: their error is a third derivative, of order one, times (1e-4)^2."""
    given = model(network__activation="relu", network__readout=TWO, fit__penalty=l1(0.1), fit__loss="huber")
    problem, _ = merged(problem_of(given, 300))
    system = coupled_solution(problem, 1e-10, None).system
    assert isinstance(system, PenalisedSystem)
    x, step = system.x.copy(), 1e-4
    for block, place in enumerate(system.places[-1]):
        means = []
        for side in (1.0, -1.0):
            there = x.copy()
            there[place] += side * step
            assert system.fields(there)
            means.append(system.view("m").copy())
        system.fields(x)
        moved = (means[0] - means[1]) / (2.0 * step)
        assert moved[block] == pytest.approx(system.moves_means_by()[block], rel=1e-6)
        assert moved[1 - block] == 0.0
