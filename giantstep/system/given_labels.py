"""Linear labels that linear features give to every input."""

from __future__ import annotations

from functools import lru_cache

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from giantstep.quadrature.kinks import degree
from giantstep.spec.fit_loss import FitLoss
from giantstep.system.kernels import loss_kernel
from giantstep.system.loss_at_zero import loss_constants, pieces_at_zero
from giantstep.system.problem import Problem


def given_hint(problem: Problem) -> str:
    """What to do where a kink of the loss may hold every output at its label; empty elsewhere.

    Of more neurons than dimensions some readout gives a linear label, of more samples than dimensions it alone. Beside
    a small ridge less than the loss's slopes at the kink holds it: no residual is left, and the equations are empty.
    """
    fit, width = problem.model.fit, problem.model.network.width
    if min(fit.samples, width) <= 1.0 or not _are_linear(problem) or not _has_kink(fit.loss):
        return ""
    return (
        "add target.noise, or raise fit.ridge: linear features give the linear label, and beside a small ridge the "
        f"kink of the loss {fit.loss} holds all outputs at their labels; both errors are zero then, and no equation "
        "tells the responses"
    )


def _are_linear(problem: Problem) -> bool:
    """Whether features and the clean label are, and nothing is added to it."""
    target = problem.model.target
    if target.indices > 1 or target.drawn or target.noise > 0.0:
        return False
    functions = {target.link, *(term.function for term in problem.blocks)}
    return all(degree(parse(lookup(function).expression), "z") == 1 for function in functions)


@lru_cache(maxsize=64)
def _has_kink(loss: FitLoss) -> bool:
    """Whether a loss of the residual has a kink where there is none, and is least there."""
    if loss.form != "residual":
        return False
    pieces = pieces_at_zero(loss_kernel(loss), loss_constants(loss), 0.0)
    return pieces[0][1] < 0.0 < pieces[-1][1]
