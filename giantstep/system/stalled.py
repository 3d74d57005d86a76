"""What is said of equations of a loss that were not solved."""

from __future__ import annotations

from giantstep.spec.errors import NotConverged
from giantstep.system.far_labels import seldom_hint
from giantstep.system.given_labels import given_hint
from giantstep.system.loss_at_zero import cancelling_hint, constant_hint, rare_hint, remark, saturated_hint
from giantstep.system.problem import Problem
from giantstep.system.separation import separable, separated
from giantstep.system.slight_response import peak_hint, slight_hint

_SMALL_RIDGE = 1e-2
_OF_LABELS = given_hint, cancelling_hint, constant_hint, rare_hint, saturated_hint, seldom_hint
_CAUSES = *_OF_LABELS, slight_hint, peak_hint


class NotSoon(NotConverged):
    """No start leads to a solution; what paths from easier models would do was not tried."""


def unsolved(problem: Problem, of_system: str) -> NotConverged:
    """Why no solution was found; of_system: the hint of what was measured at a system, where there is one."""
    if separable(problem):
        return separated(problem)
    return NotConverged(stalled(problem), of_system or hint(problem))


def stalled(problem: Problem) -> str:
    """That the equations were not solved, at which parameters, and what is hard about the loss."""
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"the equations of the loss {fit.loss} were not solved at fit.samples = {fit.samples:g}, fit.ridge = "
        f"{fit.ridge:g}, network.width = {width:g}{remark(problem)}"
    )


def hint(problem: Problem) -> str:
    """What to change: by the cause that was measured; that none was found."""
    for cause in _CAUSES:
        if found := cause(problem):
            return found
    fit = problem.model.fit
    if fit.loss.form == "margin" and fit.samples < problem.model.network.width and fit.ridge < _SMALL_RIDGE:
        return (
            "raise fit.ridge: there are fewer samples than neurons, which as a rule separate any labels, and the "
            "solution grows without bound as the ridge vanishes"
        )
    weaken = " or weaken fit.penalty" * (fit.penalty is not None)
    return f"raise fit.ridge{weaken}, which most often helps (no cause was found)"
