"""What is said of equations of a loss that were not solved."""

from __future__ import annotations

from giantstep.system.loss_at_zero import cancelling_hint, constant_hint, rare_hint, remark, saturated_hint
from giantstep.system.problem import Problem
from giantstep.system.slight_response import slight_hint


def stalled(problem: Problem) -> str:
    """That the equations were not solved, at which parameters, and what is hard about the loss."""
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"the equations of the loss {fit.loss} were not solved at fit.samples = {fit.samples:g}, fit.ridge = "
        f"{fit.ridge:g}, network.width = {width:g}{remark(problem)}"
    )


def hint(problem: Problem) -> str:
    """What to change: by the cause that was measured; that none was found, and what was looked for."""
    if found := constant_hint(problem) or rare_hint(problem) or saturated_hint(problem) or cancelling_hint(problem):
        return found
    if found := slight_hint(problem):
        return found
    fit, way = problem.model.fit, "equations are solved more easily at a larger fit.ridge"
    found = f"the cause is not known; too few labels that feel the loss, and slight responses, were ruled out; {way}"
    found += " or a weaker fit.penalty" * (fit.penalty is not None)
    if fit.loss.form != "margin":
        return found
    return found + (
        ". Not looked for: whether samples are separable, where the solution grows without bound as the ridge vanishes"
    )
