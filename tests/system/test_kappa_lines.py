"""Spikes of two directions where the output varies little: its mean passes kinks of the loss on curves of the plane."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.special import ndtr

import giantstep as gs
from giantstep.system.coupled_solver import _beside
from giantstep.system.first_solution import unknowns_of
from giantstep.system.kappa_lines import on_lines, turns_in_plane
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.resolution import FINE
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
LOADINGS, VARIANCE, ALIGNMENT = np.array([[1.5, 0.0], [0.45, 1.5]]), 1.2, np.array([0.7, 0.5])
MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0, "readout": {"values": [1.0, 1.0], "fractions": [0.5, 0.5]}},
        "spike": {
            "strength": 1.5,
            "loadings": [[1.0, 0.0], [0.3, 1.0]],
            "alignment": ALIGNMENT.tolist(),
            "bulk_variance": VARIANCE,
        },
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "loss": "hinge", "ridge": 10.0},
    }
)
# of a loss: its slope at y = 1, -1 given f, and the outputs at which one of them jumps or has a kink
LOSSES = {
    "hinge": (lambda f: -1.0 * (f < 1.0), lambda f: 1.0 * (f > -1.0), (-1.0, 1.0)),
    "huber": (lambda f: np.clip(f - 1.0, -1.0, 1.0), lambda f: np.clip(f + 1.0, -1.0, 1.0), (-2.0, 0.0, 2.0)),
}


def with_fit(**fit: object) -> gs.Model:
    return MODEL.replace({f"fit.{key}": value for key, value in fit.items()})


@lru_cache
def solved(loss: str, ridge: float) -> gs.Result:
    return gs.solve(with_fit(loss=loss, ridge=ridge))


def unknowns(problem: Problem, result: gs.Result) -> Array:
    found = unknowns_of(problem, coupled_at(problem, FINE[1]), result)
    assert found is not None
    return found


class Limit:
    """Of a large ridge: the output is m.mu0(kappa), whose m has the least loss. Lines of the plane are cut where the
    slope of the loss turns; Gauss rules between.
    """

    def __init__(self, loss: str, lines: int) -> None:
        self.positive, self.negative, self.turns = LOSSES[loss]
        points, weights = np.polynomial.legendre.leggauss(lines)
        self.line, self.share = 8.5 * points, 8.5 * weights * _density(8.5 * points)
        self.grid = np.linspace(-8.5, 8.5, 60)
        self.on_grid = _mu0(np.tile(self.grid, lines), np.repeat(self.line, 60)).reshape(lines, 60, 2)
        self.m = fsolve(self.slope, [1.0, 1.0] if loss == "huber" else [2.0, 1.9], xtol=1e-12)

    def slope(self, m: Array) -> Array:
        first, second, weight = self.nodes(m, self.turns)
        mu0 = _mu0(first, second)
        positive = _positive(first, second)
        found = positive * self.positive(mu0 @ m) + (1.0 - positive) * self.negative(mu0 @ m)
        return np.asarray(mu0.T @ (weight * found))

    def nodes(self, m: Array, turns: tuple[float, ...]) -> tuple[Array, Array, Array]:
        """Both coordinates and weights of a rule that knows where the output passes these values."""
        rule, parts = np.polynomial.legendre.leggauss(24), []
        roots = [self._roots(m, value) for value in turns]
        for number, place in enumerate(self.line):
            inner = [each for lines, places in roots for each in places[lines == number]]
            edges = np.unique([*np.linspace(-8.5, 8.5, 9), *inner])
            half = 0.5 * np.diff(edges)[:, None]
            t = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * rule[0]).ravel()
            parts.append((t, np.full_like(t, place), (half * rule[1]).ravel() * _density(t) * self.share[number]))
        first, second, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
        return first, second, weight

    def _roots(self, m: Array, value: float) -> tuple[Array, Array]:
        above = self.on_grid @ m > value
        line, place = np.nonzero(above[:, 1:] != above[:, :-1])
        low, high, side = self.grid[place], self.grid[place + 1], above[line, place]
        for _ in range(46):
            middle = 0.5 * (low + high)
            here = (_mu0(middle, self.line[line]) @ m > value) == side
            low, high = np.where(here, middle, low), np.where(here, high, middle)
        return line, 0.5 * (low + high)


def _density(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))


@lru_cache
def _gauss() -> tuple[Array, Array]:
    return np.polynomial.hermite_e.hermegauss(200)


def _mu0(first: Array, second: Array) -> Array:
    """Averages of tanh, by a Gauss-Hermite rule."""
    points, weights = _gauss()
    kappa = np.stack([first, second], axis=1)
    inside = np.sqrt(VARIANCE) * points
    return np.stack([np.tanh((kappa @ row)[:, None] + inside) @ (weights / weights.sum()) for row in LOADINGS], axis=1)


def _positive(first: Array, second: Array) -> Array:
    along = ALIGNMENT @ np.stack([first, second])
    return np.asarray(ndtr(along / np.sqrt(1.0 - ALIGNMENT @ ALIGNMENT)))


@pytest.mark.parametrize("loss", ["huber", pytest.param("hinge", marks=pytest.mark.slow)])
def test_the_limit_of_a_large_ridge(loss: str) -> None:
    """The rest falls as one over the ridge. These were refused, or known to three digits."""
    limit = Limit(loss, 80 if loss == "huber" else 1200)
    results = [solved(loss, ridge) for ridge in (1e4, 1e6)]
    if loss == "hinge":
        first, second, weight = limit.nodes(limit.m, (0.0,))
        positive, output = _positive(first, second), _mu0(first, second) @ limit.m
        error = weight @ np.where(output > 0.0, 1.0 - positive, positive)
    else:
        first, second, weight = limit.nodes(limit.m, limit.turns)
        positive, output = _positive(first, second), _mu0(first, second) @ limit.m
        error = weight @ (positive * (output - 1.0) ** 2 + (1.0 - positive) * (output + 1.0) ** 2)
    for name, value in (("error", error), *((f"m{i}", limit.m[i]) for i in range(2))):
        told = [found.test_error if name == "error" else found.order_parameters["m"][int(name[1])] for found in results]
        away = [each / value - 1.0 for each in told]
        assert abs(away[0]) < 1e-4
        assert away[1] == pytest.approx(away[0] / 100.0, rel=1e-3, abs=1e-10)


def test_two_rules_at_a_solution_agree_whatever_the_output_varies() -> None:
    """The number of nodes does not grow with the ridge."""
    for ridge in (1.0, 1e6):
        result = solved("huber", ridge)
        problem = problem_of(result.model, None)
        x = unknowns(problem, result)
        coarser, finer = on_lines(problem, FINE, x)
        found = [newton(system, x, most=12).x for system in (coarser, finer)]
        assert np.max(np.abs(found[0] - found[1]) / finer.scale(x)) < 1e-10
        assert 20_000 < len(finer.table) < 80_000


def test_lines_are_taken_where_nodes_on_axes_do_not_follow() -> None:
    for loss, ridge, turns in (("huber", 1.0, False), ("huber", 1e4, True), ("logistic", 1e3, False)):
        result = solved(loss, ridge)
        problem = problem_of(result.model, None)
        assert turns_in_plane(problem, unknowns(problem, result)) == turns


def test_a_start_that_is_near_does_not_lead_to_nodes_on_axes() -> None:
    """Two orders on these may agree without having seen a kink."""
    for ridge, near in ((1e3, False), (1.0, True)):
        start = solved("huber", 1.001 * ridge)
        found = _beside(problem_of(with_fit(loss="huber", ridge=ridge), None), start, 1e-10)
        assert (found is not None) == near


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "absolute", "quantile", "epsilon_insensitive"])
def test_kinked_losses_at_any_ridge(loss: str) -> None:
    """Errors change smoothly with the ridge: the third difference in its inverse is next to none at large ones."""
    errors = [gs.solve(with_fit(loss=loss, ridge=1e3 / k)).test_error for k in (1.0, 2.0, 3.0, 4.0)]
    first, second, third = (np.diff(errors, n) for n in (1, 2, 3))
    assert abs(third[0]) < 0.1 * abs(second[0]) < 0.01 * abs(first[0])
