"""Losses with kinks where the ridge leaves the output next to no variance: its mean passes a kink in a narrow place.

Against the same equations on thousands of equal panels, which need not know where.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, ndtr

import giantstep as gs
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.square_start import unknowns_of_square_loss
from giantstep.system.system_of_problem import coupled_at

_PLACES, _WEIGHT = np.polynomial.hermite_e.hermegauss(80)
_WEIGHT = _WEIGHT / _WEIGHT.sum()
MANY = Level(8, 64, 9)  # panels of a few thousandths, several in the spread of each output below
CASE = {
    "network": {"activation": "tanh", "width": 1.0},
    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
    "target": {"link": "sign"},
    "fit": {"samples": 1.5, "loss": "hinge", "ridge": 30.0},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},  # once refused, with the hint to raise the ridge; so were the next two
        {"fit.ridge": 100.0},
        {"fit.ridge": 10.0, "fit.samples": 0.05},
        {"fit.loss": "huber", "fit.ridge": 300.0, "fit.samples": 0.5},  # once wrong by 8e-10, with an error of 8e-14
        {"fit.loss": "absolute", "fit.ridge": 100.0, "fit.samples": 0.5},
        {"fit.ridge": 100.0, "target.link": "sign(z-0.4)", "target.flips": 0.2, "network.activation": "gelu"},
    ],
    ids=["hinge", "hinge-100", "few-samples", "huber", "absolute", "flips"],
)
def test_solutions_solve_the_equations_on_many_panels(changes: dict[str, Any]) -> None:
    """Newton's step there moves no unknown by more than 1e-9 of its size: ten times the error that is asked."""
    result = gs.solve(gs.Model.from_dict(CASE).replace(changes))
    system = CoupledSystem(problem_of(result.model), MANY)
    x = system.unknowns(order_of(system.problem, result)).copy()
    outcome = newton(system, x, most=1)
    assert np.max(np.abs(outcome.x - x) / system.scale(x)) < 1e-9
    assert system.observables()[1] == pytest.approx(result.train_error, rel=1e-10)
    assert result.quadrature_error < 1e-10


def test_a_huge_ridge_leaves_the_sign_of_the_spike() -> None:
    """arccos(gamma)/pi, with corrections of the order of the spread of the output, 1e-6."""
    result = gs.solve(gs.Model.from_dict(CASE).replace({"fit.ridge": 1e6}))
    assert result.test_error == pytest.approx(np.arccos(0.8) / np.pi, abs=1e-6)


def best_multiple(found: Result) -> tuple[float, float]:
    """The m that minimises E |y - m mu0(kappa)|, and E (y - m mu0)^2 there, from their definitions.

    What is left of a model beside an infinite ridge: only m, which no ridge restrains at infinite dimension.
    """
    (gamma,), (variance,) = found.spike.alignments, found.spike.bulk_variance
    (strength,) = np.ravel(found.spike.strength)
    places, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    kappa = np.linspace(-9.0, 9.0, 6001)  # where |m mu0| passes one, all derivatives vanish, but no rule of Gauss knows
    density = np.exp(-0.5 * kappa**2) * (kappa[1] - kappa[0]) / math.sqrt(2.0 * math.pi)
    mu0 = np.tanh(strength * kappa[:, None] + math.sqrt(variance) * places) @ weight
    width = math.sqrt(1.0 - gamma**2)

    def slope(m: float) -> float:
        above = ndtr((gamma * kappa - np.arctanh(np.clip(m * mu0, -1.0, 1.0))) / width)
        return float(density @ (mu0 * (2.0 * above - 1.0)))  # E mu0 sign(y - m mu0)

    with np.errstate(divide="ignore"):
        m = brentq(slope, 0.1, 10.0, xtol=1e-14)
    label = np.tanh(gamma * kappa[:, None] + width * places)
    return m, float(density @ ((label - m * mu0[:, None]) ** 2 @ weight))


def test_absolute_loss_of_labels_that_vary_beside_a_huge_ridge() -> None:
    """Once m ran off to 1e16, where no label was near the output and no equation moved it.

    Errors differ from those beside an infinite ridge as its inverse.
    """
    given = {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "tanh"},
        "fit": {"samples": 2.0, "ridge": 1e4, "loss": "absolute"},
        "step": {"samples": 4.0, "learning_rate": 1.0},
    }
    one, two = (solve(gs.Model.from_dict(given).replace({"fit.ridge": ridge})) for ridge in (1e4, 2e4))
    m, test = best_multiple(two)
    assert 2.0 * two.test_error - one.test_error == pytest.approx(test, rel=2e-7)
    assert 2.0 * float(two.order_parameters["m"][0]) - float(one.order_parameters["m"][0]) == pytest.approx(m, rel=1e-7)


def test_drawn_signs_beside_a_large_ridge() -> None:
    """The hinge loss on labels of a channel given a smooth link, once refused at ridges of 100 and 1e6.

    What is left of the model beside an infinite ridge is the m that minimises E max(0, 1 - y m mu0(kappa)), by its
    definition; m moves like 1/ridge, so that two ridges tell it to one over their product.
    """
    given = {"target": {"link": "2*z", "channel": "logit"}, "fit": {**CASE["fit"], "loss": "hinge"}}
    model = gs.Model.from_dict(CASE | given)
    assert _beside_an_infinite_ridge(model) == pytest.approx(_multiple_of_drawn_signs(), rel=1e-8)


def _beside_an_infinite_ridge(model: gs.Model) -> float:
    first = gs.solve(model.replace({"fit.ridge": 1e3}))
    found = first, gs.solve(model.replace({"fit.ridge": 1e5}), start=first)
    low, high = (float(result.order_parameters["m"][0]) for result in found)
    assert high == pytest.approx(low, rel=1e-2)  # that is, what 1/ridge leaves is a correction
    return (1e5 * high - 1e3 * low) / (1e5 - 1e3)


def _mean_feature(kappa: float) -> float:
    return float(_WEIGHT @ np.tanh(1.5 * kappa + math.sqrt(1.2) * _PLACES))


def _multiple_of_drawn_signs() -> float:
    def pull(kappa: float, sign: float) -> float:
        """What labels of one sign pull m by."""
        chance = float(_WEIGHT @ expit(2.0 * sign * (0.8 * kappa + 0.6 * _PLACES)))
        return _mean_feature(kappa) * math.exp(-0.5 * kappa * kappa) * chance

    def slope(m: float) -> float:
        passed = brentq(lambda kappa: m * _mean_feature(kappa) - 1.0, 0.0, 9.0)
        return float(quad(pull, 0.0, passed, args=(1.0,))[0] - quad(pull, 0.0, 9.0, args=(-1.0,))[0])

    return float(brentq(slope, 1.1, 5.0))


def _of_insensitive(gamma_kappa: float, output: float) -> float:
    """E of minus the slope of max(0, |y - f| - 0.1) at y = tanh(z), z normal about gamma kappa, deviation 0.6."""
    with np.errstate(divide="ignore"):
        above, below = np.arctanh(np.clip([output + 0.1, output - 0.1], -1.0, 1.0))
    return float(ndtr((gamma_kappa - above) / 0.6) - ndtr((below - gamma_kappa) / 0.6))


def _of_huber(gamma_kappa: float, output: float) -> float:
    """The same of the Huber loss at y = max(0, z): E of z clipped to what is within 1 of f and not negative, less f."""
    low, high = max(0.0, output - 1.0), output + 1.0
    if high <= 0.0:
        return 1.0

    def beyond(x: float) -> float:
        away = (gamma_kappa - x) / 0.6
        return 0.6 * (math.exp(-0.5 * away**2) / math.sqrt(2.0 * math.pi) + away * float(ndtr(away)))

    return low + beyond(low) - beyond(high) - output


@pytest.mark.parametrize(
    "link, loss, slope, turns",
    [
        ("tanh", {"name": "epsilon_insensitive", "epsilon": 0.1}, _of_insensitive, (-1.1, -0.9, 0.9, 1.1)),
        ("relu", "huber", _of_huber, (-1.0, 1.0)),
    ],
    ids=["beyond the largest label", "labels that are zero"],
)
def test_labels_that_are_stationary_beside_a_large_ridge(
    link: str, loss: Any, slope: Callable[[float, float], float], turns: tuple[float, ...]
) -> None:
    """Once refused at such ridges: the output passes the ends of what the label sweeps, by the m of the definition."""
    model = gs.Model.from_dict(CASE | {"target": {"link": link}, "fit": {**CASE["fit"], "loss": loss}})

    def pull(m: float) -> float:
        ends = [-9.0, *(_place(m, turn) for turn in turns if abs(turn) < m * _mean_feature(9.0)), 9.0]

        def at(kappa: float) -> float:
            mean = _mean_feature(kappa)
            return mean * math.exp(-0.5 * kappa * kappa) * slope(0.8 * kappa, m * mean)

        return sum(quad(at, low, high, epsabs=1e-11)[0] for low, high in zip(ends, ends[1:], strict=False))

    assert _beside_an_infinite_ridge(model) == pytest.approx(brentq(pull, 0.1, 5.0, xtol=1e-10), rel=1e-8)


def _place(m: float, output: float) -> float:
    return float(brentq(lambda kappa: m * _mean_feature(kappa) - output, -9.0, 9.0))


def test_outputs_that_vary_by_a_ten_thousand_millionth() -> None:
    """Two resolutions differ by more than that, so that panels of the finer are cut where its own output passes a kink.

    At such a ridge the output is m mu0, whose hinge loss is the least. Against nested quadrature of its own.
    """
    gamma = 0.6
    found = solve(
        gs.Model.from_dict(
            {
                "network": {"activation": "tanh", "width": 1.0},
                "spike": {"strength": 1.0, "alignment": gamma, "bulk_variance": 1.0},
                "target": {"link": "2*z", "channel": "logit"},
                "fit": {"samples": 2.0, "loss": "hinge", "ridge": 1e10},
            }
        )
    )

    def mu0(kappa: float) -> float:
        return float(_WEIGHT @ np.tanh(kappa + _PLACES))

    def positive(kappa: float) -> float:
        """The probability of the label 1."""
        return float(_WEIGHT @ expit(2.0 * (gamma * kappa + math.sqrt(1.0 - gamma**2) * _PLACES)))

    def density(kappa: float) -> float:
        return math.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi)

    def pull(m: float) -> float:
        """The slope of the mean loss: labels that the output is beyond are not felt."""
        turn = brentq(lambda kappa: m * mu0(kappa) - 1.0, 0.0, 8.0, xtol=1e-15)
        inside, _ = quad(lambda k: density(k) * mu0(k) * (2.0 * positive(k) - 1.0), 0.0, turn, epsabs=1e-14)
        beyond, _ = quad(lambda k: density(k) * mu0(k) * (1.0 - positive(k)), turn, 9.0, epsabs=1e-14)
        return inside - beyond

    expected = brentq(pull, 1.2, 3.0, xtol=1e-14)
    # the test error does not know m; what it does not see may be off by a hundred times the tolerance
    assert found.order_parameters["m"][0] == pytest.approx(expected, rel=1e-8)
    assert found.residual < 1e-10


@pytest.mark.parametrize("ridge", [1e2, 1e6])
def test_few_samples(ridge: float) -> None:
    """Outputs vary much less than they respond there: refused once. `quantile` at one half is half of `absolute`."""
    given = {**CASE, "target": {"link": "sign", "flips": 0.1}}
    found = [
        solve(gs.Model.from_dict({**given, "fit": {"samples": 0.01, "loss": loss, "ridge": times * ridge}}))
        for loss, times in (("absolute", 2.0), ("quantile", 1.0))
    ]
    assert found[0].test_error == pytest.approx(found[1].test_error, rel=1e-9)
    assert found[0].train_error == pytest.approx(2.0 * found[1].train_error, rel=1e-9)
    np.testing.assert_allclose(found[0].order_parameters["m"], found[1].order_parameters["m"], rtol=1e-9)


def test_few_panels_beside_a_root_of_the_link() -> None:
    """Places about the root, which labels need, are no kinks: there were 547 ends of panels, and 5 million nodes."""
    network = {"activation": "arctan", "width": 1.4, "readout": {"values": [1.0, -0.3]}, "bias": 0.01}
    fit = {"samples": 1.018, "loss": "absolute", "ridge": 8.87}
    spike = {"strength": 0.2, "alignment": 0.5, "bulk_variance": 1.093}
    given = {"network": network, "fit": fit, "spike": spike, "target": {"link": "abs(z)**1.5"}}
    problem = problem_of(gs.Model.from_dict(given), None)
    x = unknowns_of_square_loss(problem, coupled_at(problem, Level(8, 44)))
    assert len(cuts_at(problem, x)) < 100
