"""Whether fixed nodes of a label of two indices are tried before others are chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from giantstep.spec.model import Model
from giantstep.system import coupled_solver
from giantstep.system.first_solution import coarse_system, first_solution
from giantstep.system.labels_needed import needs_chosen_labels
from giantstep.system.problem import problem_of
from giantstep.system.resolution import Times
from giantstep.system.solve import solve

BENT = {
    "network": {"activation": "tanh", "width": 0.5},
    "spike": {"strength": 1.2, "alignment": [0.7, 0.4], "bulk_variance": 1.3},
    "target": {"link": "tanh(z1*z2)"},
    "fit": {"samples": 2.0, "ridge": 0.1, "loss": "absolute"},
}


def times_of(monkeypatch: pytest.MonkeyPatch) -> list[Times]:
    """Those of all pairs that are solved from here on."""
    made: list[Times] = []
    for name in ("pair", "levels_of_pair"):
        make: Callable[..., object] = getattr(coupled_solver, name)

        def noted(problem: object, times: Times, x: object, make: Callable[..., object] = make) -> object:
            made.append(times)
            return make(problem, times, x)

        monkeypatch.setattr(coupled_solver, name, noted)
    return made


def test_chosen_at_once_where_fixed_nodes_are_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on a curve, from a start."""
    given = Model.from_dict(BENT)
    made = times_of(monkeypatch)
    first = solve(given)
    second = solve(given.replace({"fit.samples": 2.1}), start=first)
    assert made and all(times.chosen for times in made)
    assert max(first.quadrature_error, second.quadrature_error) < 1e-10


@pytest.mark.parametrize(
    ("link", "loss", "needed"),
    [
        ("tanh(z1*z2)", "absolute", True),
        ("tanh(z1*z2)", "huber", False),
        ("tanh(z1*z2)", "log_cosh", False),  # which more of them would soon serve
        ("tanh(z1*z2)", "square", False),
        ("tanh(z1)*relu(z2)", "huber", True),  # lines
    ],
)
def test_what_fixed_nodes_are_apart_by(link: str, loss: str, needed: bool) -> None:
    problem = problem_of(Model.from_dict(BENT).replace({"target.link": link, "fit.loss": loss}))
    system = coarse_system(problem)
    x = first_solution(problem, None, None, True)[0].x
    assert needs_chosen_labels(system, x, 1e-10) == needed
