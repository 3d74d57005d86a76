"""Solvers of the square loss for several indices and for labels that are drawn: against that of any loss."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.sweep.many import solve_many
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.problem import problem_of
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.solve import solve
from giantstep.system.square_loss import direct_points, refinements, solve_direct
from giantstep.system.square_tables import Fineness

STEP = {"samples": 2.0, "learning_rate": 1.0}
TWO = {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}


def of(
    link: str, noise: float = 0.1, steps: int = 1, drawn: Mapping[str, object] | None = None, **readout: object
) -> Model:
    network = {"activation": "tanh", "width": 1.0} | ({"readout": readout} if readout else {})
    data = {
        "network": network,
        "target": {"link": link, "noise": noise, **(drawn or {})},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return Model.from_dict({**data, "step": [STEP] * steps if steps > 1 else STEP})


def spiked(link: str, *alignment: float) -> Model:
    data = of(link, 0.0).to_dict() | {"spike": {"strength": 1.5, "alignment": [*alignment], "bulk_variance": 1.2}}
    return Model.from_dict({name: table for name, table in data.items() if name != "step"})


@pytest.mark.parametrize(
    "given",
    [
        of("z1 + z1*z2"),
        of("sign(z1 + z1*z2)", 0.0),
        of("tanh(z1) + z2*z3", **TWO),
        of("z1 + z1*z2", steps=2, **TWO),
        of("sign", 0.0, drawn={"flips": 0.1}),
        of("sign(z - 0.3)", 0.2, drawn={"probit": 0.3}, **TWO),
        of("sign(z1)*sign(z2) + z1", 0.0, drawn={"probit": 0.1}),
        of("2*z", 0.0, drawn={"channel": "logit"}),
        of("z/2", 0.0, drawn={"channel": "poisson"}),
        of("sign(z1*z2 + z1)", 0.0, drawn={"flips": 0.2}, **TWO),
        of("sign(z1*z2 + z1)", 0.0, 2, drawn={"flips": 0.2}, **TWO),
    ],
    ids=[
        "two",
        "jumps",
        "three",
        "two steps",
        "flips",
        "probit",
        "probit of two",
        "logit",
        "poisson",
        "flips of two",
        "steps and flips",
    ],
)
def test_it_agrees_with_the_solver_of_any_loss(given: Model) -> None:
    """To what both state as their errors."""
    problem = problem_of(given)
    direct, coupled = solve_direct(problem, 1e-10), solve_coupled(problem, 1e-10)
    stated = direct.quadrature_error + coupled.quadrature_error + 1e-12
    for name in ("test_error", "train_error", "free_energy", "signal"):
        assert getattr(direct, name) == pytest.approx(getattr(coupled, name), rel=2.0 * stated), name
    for name in ORDER_PARAMETERS:
        mine, other = direct.order_parameters[name], coupled.order_parameters[name]
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-7, atol=1e-8, err_msg=name)


def test_three_indices_may_change_places() -> None:
    first, other = solve(spiked("tanh(z1) + z2*z3", 0.6, 0.3, 0.2)), solve(spiked("tanh(z3) + z1*z2", 0.3, 0.2, 0.6))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(first, name) == pytest.approx(getattr(other, name), rel=1e-9), name
    length, turned = (np.linalg.norm(one.order_parameters["psi"]) for one in (first, other))  # of any axes
    assert length == pytest.approx(turned, rel=1e-7)


@pytest.mark.parametrize(
    ("link", "alignment"),
    [("cos(3*z1)*z2", (0.99, 0.1)), ("sign(z1*z2+z1)", (0.99, 0.1)), ("exp(z1*z2/4)", (0.5, 0.5))],
)
def test_a_coarser_answer_is_as_wrong_as_it_says(link: str, alignment: tuple[float, float]) -> None:
    """Nodes of kappa and of the label are refined, each as far as the tolerance asks for."""
    fine = solve(spiked(link, *alignment), tolerance=1e-12)
    for tolerance in (1e-5, 1e-9):
        found = solve(spiked(link, *alignment), tolerance=tolerance)
        missed = abs(found.test_error - fine.test_error) / fine.test_error
        assert missed <= found.quadrature_error + 2e-12 and found.quadrature_error <= tolerance
    assert found.nodes <= fine.nodes


def test_a_link_that_turns_sharply_has_nodes_close_enough() -> None:
    """tanh(a z1) z2: the squared label, E tanh(a z)^2, from a sum over many points."""
    z = np.linspace(-12.0, 12.0, 20_001)
    weight = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * (z[1] - z[0])
    for sharpness in (6.0, 12.0):
        found = solve_direct(problem_of(spiked(f"tanh({sharpness:g}*z1)*z2", 0.5, 0.5)), 1e-9)
        assert found.signal == pytest.approx(float(weight @ np.tanh(sharpness * z) ** 2), rel=1e-10)


def test_many_points_are_solved_together_as_each_alone() -> None:
    given = of("z1 + z1*z2")
    ridges = [0.01, 0.1, 1.0]
    found = solve_many(given, {"fit.ridge": np.array(ridges)})
    each = [solve(given.replace({"fit.ridge": ridge})) for ridge in ridges]
    assert found["test_error"].tolist() == [one.test_error for one in each]


@pytest.mark.parametrize("dimension", [1000, None])
def test_first_panels_too_wide_for_one_halving_to_tell(dimension: int | None) -> None:
    """gelu is nothing on one side of a strong spike, and the response falls to zero on the way there: two halvings of
    the panels of kappa find it, one leaves the error as it was, which was taken for rounding.
    """
    given = Model.from_dict(
        {
            "network": {
                "activation": "gelu",
                "width": 7.836,
                "readout": {"values": [0.55176, 0.5587], "fractions": [0.13, 0.87]},
            },
            "target": {"link": "hard_tanh", "noise": 0.0092},
            "fit": {"samples": 1.2205, "ridge": 8.09e-8},
            "spike": {"strength": 4.3914, "alignment": 1.0, "bulk_variance": 2.5134},
        }
    )
    problem = problem_of(given, dimension, intermediate=True)
    fine = direct_points(problem, problem.parameters, 1e-10, Fineness((4,), 0, (False, False))).at(0)
    assert solve(given, dimension=dimension).test_error == pytest.approx(fine.test_error, rel=1e-10)


def test_an_axis_is_refined_as_often_as_its_error_asks() -> None:
    """An error exp(-c n) at n nodes is right at log(wanted)/log(error) times as many, steps of 1.3 rounded down."""
    assert [refinements(error, 1e-10) for error in (1e-11, 0.9e-10, 1.1e-10, 1e-7, 1e-5, 0.5, 2.0)] == [
        0, 0, 1, 1, 2, 3, 3,
    ]  # fmt: skip


def test_errors_that_tell_nothing_refine_once() -> None:
    """All that axes change is zero, or no number: the error is of all of them together."""
    assert refinements(0.0, 0.0) == refinements(math.nan, 1e-10) == refinements(1e-7, math.nan) == 1
