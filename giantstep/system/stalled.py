"""What is said of equations of a loss that were not solved."""

from __future__ import annotations

from giantstep.system.loss_at_zero import cancelling_hint, constant_hint, rare_hint, remark, saturated_hint
from giantstep.system.problem import Problem
from giantstep.system.square_loss import LARGE_RIDGE


def stalled(problem: Problem) -> str:
    """That the equations were not solved, at which parameters, and what is hard about the loss."""
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"the equations of the loss {fit.loss} were not solved at fit.samples = {fit.samples:g}, fit.ridge = "
        f"{fit.ridge:g}, network.width = {width:g}{remark(problem)}"
    )


def hint(problem: Problem) -> str:
    """What to change."""
    loss = problem.model.fit.loss
    if problem.parameters.ridge > LARGE_RIDGE:
        return "lower fit.ridge: beside it the outputs vary so little that averages over them are hard to resolve"
    if found := constant_hint(problem) or rare_hint(problem) or saturated_hint(problem) or cancelling_hint(problem):
        return found
    if loss.form != "margin":
        return "raise fit.ridge" + ", or weaken fit.penalty" * (problem.model.fit.penalty is not None)
    found = "raise fit.ridge; the data may be separable, where the solution diverges as the ridge vanishes"
    if problem.parameters.inverse_dimension == 0.0:
        found += ", or by the mean features alone, which the ridge restrains at finite size only: give a dimension"
    return found
