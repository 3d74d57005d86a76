"""Panels of kappa, and nodes of the label given kappa, where a loss with kinks meets a label that varies smoothly: what
their estimates of errors tell beside errors found with more nodes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from loss_cases import model

from giantstep.spec.model import Model
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.coupled_system import Array, CoupledSystem
from giantstep.system.kappa_panels import unresolved
from giantstep.system.label_refinement import _averages, _first, stays, system_at
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE, Times, chooses, next_times, pair
from giantstep.system.solve import solve

TOLERANCE = 1e-10
SHARP = "erf(2*z)"  # labels next to one where outputs, which vary little there, pass one
LEVEL = Level(8, 44, cuts=(0.0,))  # smooth coefficients have panels where these are cut


@lru_cache(maxsize=8)
def chosen(loss: str, link: str, level: Level = LEVEL) -> tuple[CoupledSystem, Array]:
    """A system with nodes of the label chosen at a solution, with averages there."""
    result = solve(model(loss, target__link=link))
    problem = problem_of(result.model)
    x = CoupledSystem(problem, FINE[1]).unknowns(order_of(problem, result))
    system = system_at(problem, level, x)
    system.residual(x)
    return system, x


def averages(problem: Problem, level: Level, x: Array) -> Array:
    """Integrals over kappa of averages that the equations hold."""
    system = system_at(problem, level, x)
    system.residual(x)
    names, mu1 = system.kernel.AVERAGES, system.table[:, -2 * system.blocks]
    rows = [system.averages[names.index(name)] for name in ("avg_M", "avg_g", "avg_h", "avg_gg")]
    values = np.array([rows[0], mu1 * system.kappa * rows[1], mu1**2 * rows[2], mu1**2 * rows[3]])
    return np.asarray((values * system.table[:, 1]).sum(axis=1))


def test_panels_of_kappa_that_are_not_resolved() -> None:
    system, x = chosen("absolute", SHARP)
    ends = unresolved(system, TOLERANCE)
    assert 0 < len(ends) < len(AveragedTerms.of(system.problem).panel_ends(LEVEL))  # not all panels
    assert ends == tuple(-place for place in reversed(ends))  # as kappa is folded
    exact = averages(system.problem, replace(LEVEL, order=16, halvings=1), x)
    before, after = (averages(system.problem, replace(LEVEL, cuts=cuts), x) for cuts in (LEVEL.cuts, ends))
    assert np.max(np.abs(before / exact - 1.0)) > 10.0 * TOLERANCE
    assert np.max(np.abs(after / exact - 1.0)) < 0.1 * np.max(np.abs(before / exact - 1.0))
    assert unresolved(chosen("absolute", SHARP, replace(LEVEL, order=16, halvings=2))[0], TOLERANCE) == ()


def test_nodes_without_panels_begin_with_those_of_the_coefficients() -> None:
    system, x = chosen("absolute", SHARP, replace(LEVEL, cuts=()))
    ends = unresolved(system, TOLERANCE)
    assert ends == tuple(AveragedTerms.of(system.problem).panel_ends(LEVEL)[1:-1])
    on_panels, given = (averages(system.problem, replace(LEVEL, cuts=cuts), x) for cuts in (ends, LEVEL.cuts))
    assert np.array_equal(on_panels, given)


@pytest.mark.parametrize("loss", ["absolute", "huber"])
@pytest.mark.parametrize("link", [SHARP, "tanh"])
def test_errors_of_panels_of_the_label(loss: str, link: str) -> None:
    """No panel that counts as known is off, by its halves, by more than ten times what is allowed."""
    system, _ = chosen(loss, link)
    panels = _first(system)
    found, error = _averages(system, panels)
    off = np.abs(found - sum(_averages(system, half)[0] for half in panels.halves()))
    local = np.stack([np.bincount(panels.owner, np.abs(row), len(system.kappa)) for row in found])
    local += 1e-6 * local.max(axis=1, keepdims=True)
    known = np.all(error <= 1e-12 * local[:, panels.owner], axis=0)
    assert 0.5 < known.mean() < 1.0
    assert np.max((off / local[:, panels.owner])[:, known]) < 1e-11
    assert np.max(off / local[:, panels.owner]) > 1e-9  # others are


def test_nodes_of_the_label_serve_where_outputs_move_little() -> None:
    """Outputs of next to no spread, far out, may move: the solution on nodes chosen beside it is the same."""
    system, x = chosen("absolute", "tanh")
    before = x * (1.0 + 1e-6 * np.array([1.0, -1.0] * len(x))[: len(x)])
    assert stays(system, x, before, TOLERANCE)
    assert not stays(system, x, x * 1.1, TOLERANCE)
    values = [newton(each, x, settled=1e-13) for each in (system, system_at(system.problem, LEVEL, before))]
    here, there = (system.test_error(outcome.x) for outcome in values)
    assert there == pytest.approx(here, rel=0.1 * TOLERANCE)
    system.residual(x)


def test_even_nodes_of_a_smooth_loss_are_halved() -> None:
    """They converge fast, also where fixed ones do not serve; those of a loss with kinks are chosen at once."""
    smooth, kinked = (problem_of(model(loss, target__link="cubic")) for loss in ("log_cosh", "absolute"))
    assert not chooses(smooth, Times(kappa=1, labels=2))
    assert chooses(smooth, Times(kappa=1, labels=3))
    assert chooses(kinked, Times(kappa=1))
    result = solve(model("log_cosh", target__link="cubic"))
    off = []
    for labels in (0, 2):
        finer = pair(smooth, Times(labels=labels), np.empty(0))[1]
        answer = newton(finer, finer.unknowns(order_of(smooth, result)))
        off.append(abs(finer.test_error(answer.x) / result.test_error - 1.0))
    assert off[1] < 1e-3 * off[0]
    told = finer.answer()
    assert next_times(Times(), finer, answer, (1.001 * told, told), TOLERANCE).kappa == 1


def test_nodes_of_the_label_are_those_at_the_answer() -> None:
    """Features that saturate on one side: outputs there vary within what the unknowns move by under refinement."""
    given = Model.from_dict(
        {
            "network": {"activation": "elu", "width": 0.7637651640829399},
            "spike": {"strength": 6.162751867480704, "alignment": -0.39064219380129, "bulk_variance": 1.0535369097},
            "target": {"link": "z**3/3"},
            "fit": {"samples": 1.875000781675437, "ridge": 263.90651018, "loss": "epsilon_insensitive"},
        }
    ).replace({"fit.loss.epsilon": 0.08640718210993896})
    result, problem = solve(given), problem_of(given)
    x = CoupledSystem(problem, FINE[1]).unknowns(order_of(problem, result))
    finer = system_at(problem, Level(12, 80, 1), x)
    newton(finer, x, most=20, settled=1e-14)
    assert abs(float(finer.answer()[0]) / result.test_error - 1.0) < max(result.quadrature_error, 0.1 * TOLERANCE)


def test_labels_are_resolved_where_outputs_do_not_vary() -> None:
    """Of saturated features the place where an output passes its label is known to rounding, not what is beside it."""
    given = model("absolute", target__link="atan(4*z)", spike__strength=5.6, spike__alignment=-0.22, fit__ridge=656.0)
    problem = problem_of(given)
    x = CoupledSystem(problem, FINE[1]).unknowns(order_of(problem, solve(given)))
    system = system_at(problem, FINE[1], x)
    system.residual(x)
    losses, t = system.averages[list(system.kernel.AVERAGES).index("avg_l")], np.linspace(-9.5, 9.5, 40_001)
    still = (np.sqrt(system.view("Delta")) < 1e-8) & (system.table[:, 1] > 1e-3)
    gamma, weight = problem.overlaps[0][0], np.exp(-0.5 * t * t) / np.exp(-0.5 * t * t).sum()
    kappa, output = system.kappa[still], system.view("mean")[still]
    label = np.arctan(4.0 * (gamma * kappa[:, None] + np.sqrt(1.0 - gamma**2) * t))
    exact = np.abs(label - output[:, None]) @ weight
    spacing = t[1] - t[0]  # the trapezoidal rule is off by its square beside a kink
    assert np.sum(still) > 5 and np.max(np.abs(losses[still] - exact)) < spacing**2


@pytest.mark.parametrize(
    ("loss", "link", "ridge"),
    [
        ({"name": "quantile", "tau": 0.155}, "leaky_relu", 1e-3),
        ("absolute", "z**2", 3600.0),
        ({"name": "huber", "delta": 0.03}, "abs(z)", 2000.0),
    ],
    ids=["leaves a kink", "passes it twice where the label turns", "the same at a kink"],
)
def test_kinks_of_the_loss_where_a_label_that_kappa_tells_turns(loss: Any, link: str, ridge: float) -> None:
    """A spike of no strength tells nothing of kappa: a label that follows kappa alone is one beside it."""
    spikes = ({"strength": 0.0, "alignment": gamma, "bulk_variance": 1.0} for gamma in (-1.0, 0.0))
    fit = {"fit__samples": 7.8, "fit__ridge": ridge, "target__link": link}
    held, free = (
        solve(model(loss, network__activation="relu", network__width=0.34, spike=spike, **fit)) for spike in spikes
    )
    assert held.test_error == pytest.approx(free.test_error, rel=10 * TOLERANCE)
    assert held.free_energy == pytest.approx(free.free_energy, rel=100 * TOLERANCE)
