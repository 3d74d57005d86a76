"""The checks of spikes of several directions."""

from __future__ import annotations

import numpy as np
import pytest
from rank_cases import model, staircase, three

from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import ORDER_PARAMETERS, reported
from giantstep.system.solve import solve
from giantstep.verify.answer import result_checks
from giantstep.verify.certificate import certificate_checks
from giantstep.verify.coupled_system import kernel_checks, solved_again
from giantstep.verify.run import verify
from giantstep.verify.solver_equations import on_halved_panels, solver_checks

SIGN = {"target__link": "sign", "target__noise": 0.0}
LOGISTIC = model(**SIGN, fit__loss="logistic", network__activation="tanh", fit__ridge=0.1)
STAIRCASE = staircase(fit__samples=2.5, fit__ridge=0.1)
ALIGNED = STAIRCASE.replace({"spike.alignment": [[1.0, 0.0], [0.0, 1.0]]})


@pytest.mark.parametrize("given", [model(), three()], ids=["two", "three"])
def test_square_loss_against_the_interpreted_system(given: Model) -> None:
    found = list(solver_checks(given, solve(given)))
    assert len(found) == 2 and all(check.ok for check in found), [check.line() for check in found]


def test_the_answer_is_settled() -> None:
    given = model()
    found = list(result_checks(solve(given), *on_halved_panels(given, solve(given))))
    assert all(check.ok for check in found), [check.line() for check in found]


@pytest.mark.parametrize("given", [LOGISTIC, ALIGNED], ids=["logistic", "aligned"])
def test_coupled_losses(given: Model) -> None:
    result = solve(given)
    rows = list(kernel_checks(given, solved_again(given, result)))
    assert all(row.ok for row in rows), [row.line() for row in rows]


@pytest.mark.parametrize("given", [LOGISTIC, model()], ids=["logistic", "square"])
def test_the_reported_solution_by_a_second_quadrature(given: Model) -> None:
    found = list(certificate_checks(solve(given)))
    assert len(found) == 7 and all(check.ok for check in found), [check.line() for check in found]


@pytest.mark.parametrize(
    "given", [ALIGNED, model(spike__loadings=[[1.0, 0.0], [-0.6, 0.0]])], ids=["all directions", "one not known"]
)
def test_order_parameters_go_in_and_out(given: Model) -> None:
    """Along the directions that kappa has and back: nothing is lost."""
    result, problem = solve(given), problem_of(given)
    assert problem.spike.directions is not None
    back = reported(problem.spike.directions.outward(order_of(problem, result)), problem.spike)
    for name in ORDER_PARAMETERS:
        assert np.allclose(back[name], result.order_parameters[name], rtol=1e-12, atol=1e-13), name


@pytest.mark.slow
@pytest.mark.parametrize("given", [model(**SIGN), LOGISTIC, STAIRCASE, ALIGNED, three()])
def test_verify(given: Model) -> None:
    assert verify(given, print)
