"""Why digits run out, by the causes that are measured one after the other, and what to do about it."""

from __future__ import annotations

from giantstep.law.multi_index_labels import has_kinks
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Target
from giantstep.system.loss_at_zero import (
    cancelling_hint,
    counts_hint,
    has_jumps,
    rare_hint,
    saturated_hint,
    vanishing_hint,
)
from giantstep.system.problem import Problem, Solution
from giantstep.system.square_loss import UNEXPLAINED, rounding_hint

_FAR = 100.0  # times E y^2, from which on a test error is made by large predictions
_MEASURED = rare_hint, counts_hint, saturated_hint, vanishing_hint, cancelling_hint


def prediction_hint(problem: Problem, found: Solution) -> str:
    """What to do where the mean label that an output predicts, as exp(f), is so large at rare inputs that these make
    the test error; empty elsewhere.
    """
    predicts = problem.model.fit.loss.predicts
    if predicts is None or not found.test_error > _FAR * found.signal:
        return ""
    return (
        f"raise fit.ridge or fit.samples: the test error is {found.test_error / found.signal:.0e} times E y^2, as the "
        f"mean label {predicts.text} that the output predicts is very large at rare inputs, which nodes miss"
    )


def settling_hint(problem: Problem) -> str:
    """What to do where quadrature does not settle, or linear equations about a solution are not solved."""
    target, loss = problem.model.target, problem.model.fit.loss
    for hint_of in _MEASURED:
        if found := hint_of(problem):
            return found
    return _of_label_nodes(target, loss) or _of_rounding(problem)


def _of_label_nodes(target: Target, loss: FitLoss) -> str:
    """What to do where nodes of the label miss kinks; empty elsewhere."""
    if _has_nodes_of_several(target, loss) and target.noise == 0.0 and has_kinks(target.link):
        return "add target.noise, which blurs the kinks that the label has in its indices"
    if target.noise > 0.0 and loss.form == "general" and has_jumps(loss):
        return (
            "set target.noise to 0, or take a loss of y - f: for that alone noise is averaged in closed form, and here "
            "the loss has kinks between the nodes of the noise"
        )
    return ""


def _of_rounding(problem: Problem) -> str:
    target, found = problem.model.target, rounding_hint(problem)
    several = target.indices > 1 and problem.model.fit.loss.key != "square"
    if not several or found != UNEXPLAINED or has_kinks(target.link):
        return found
    if target.channel is not None:
        return (
            "take the square loss, which needs moments of the label only, or a link of fewer indices: the label is "
            f"drawn at every node of its {target.indices} indices, of which there were as many as can be afforded"
        )
    return (
        "raise target.noise, or take a link that varies less, which need fewer nodes: the label has no kinks, and its "
        f"{target.indices} indices had as many nodes as can be afforded"
    )


def _has_nodes_of_several(target: Target, loss: FitLoss) -> bool:
    return target.indices > 1 and loss.form == "residual" and loss.key != "square"
