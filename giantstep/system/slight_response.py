"""Outputs that hardly respond to the loss, beside a large ridge or of features that hardly vary."""

from __future__ import annotations

import numpy as np

from giantstep.system.problem import Problem

_ACROSS = np.linspace(-3.0, 3.0, 13)  # kappa
_SLIGHT = 1e-2  # a response, of which two digits are lost beside one


def largest_response(problem: Problem) -> float:
    """A bound of V at usual kappa, that without data: the variance of the features over the ridge."""
    slopes, rests = np.array([term.coefficients(_ACROSS)[1:3] for term in problem.blocks]).swapaxes(0, 1)
    return float(np.max(problem.fraction @ (slopes**2 + rests)) / problem.parameters.ridge)


def slight_hint(problem: Problem) -> str:
    """What to try where outputs respond so little that digits are lost; empty elsewhere."""
    response = largest_response(problem)
    if response > _SLIGHT:
        return ""
    return (
        f"lower fit.ridge: an output responds to a slope of the loss by {response:.0e} at most, and averages know what "
        "varies so little to as many digits less"
    )
