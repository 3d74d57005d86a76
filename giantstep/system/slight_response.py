"""Outputs that hardly respond to the loss, beside a large ridge, or more and more, at the interpolation peak."""

from __future__ import annotations

import math

import numpy as np

from giantstep.law.kind import bulk_kind
from giantstep.system.problem import Problem

_ACROSS = np.linspace(-3.0, 3.0, 13)  # kappa
_PEAKED, _NEAR_PEAK = 1e2, 0.05  # a response beside a ridge that is small; samples beside width, in logarithms
_CANCEL = 1e4  # responses of blocks over those of outputs, from which on digits are lost
_SLIGHT = 1e-2  # a response, of which two digits are lost beside one


def largest_response(problem: Problem) -> float:
    """A bound of V at usual kappa, that without data: the variance of the features over the ridge."""
    slopes, rests = np.array([term.coefficients(_ACROSS)[1:3] for term in problem.blocks]).swapaxes(0, 1)
    return float(np.max(problem.fraction @ (slopes**2 + rests)) / problem.parameters.ridge)


def responses_cancel(problem: Problem) -> bool:
    """Whether blocks of linear features respond by much more than outputs do: beside more neurons and samples than
    dimensions, and a small ridge.
    """
    model = problem.model
    if len(problem.blocks) < 2 or problem.loadings is not None or bulk_kind(model) != "isotropic":
        return False
    if min(model.fit.samples, model.network.width) < 1.0:
        return False
    slopes, rests = np.array([term.coefficients(_ACROSS)[1:3] for term in problem.blocks]).swapaxes(0, 1)
    if np.any(rests != 0.0) or np.any(slopes != slopes[:, :1]):
        return False
    return bool((slopes**2).max() > _CANCEL * model.fit.ridge)


def slight_hint(problem: Problem) -> str:
    """What to try where outputs respond so little that digits are lost; empty elsewhere."""
    response = largest_response(problem)
    if response > _SLIGHT:
        return ""
    return (
        "lower fit.ridge: the features are so small beside it that the data hardly move an output (by "
        f"{response:.0e} of the slope of the loss at most), and as many digits are lost"
    )


def peak_hint(problem: Problem) -> str:
    """What to try at the interpolation peak, where samples and width are nearly equal and labels are fitted exactly;
    empty elsewhere.
    """
    samples, width, *_ = problem.parameters
    away = abs(math.log(samples / width)) > _NEAR_PEAK or problem.model.fit.loss.form == "margin"
    if away or largest_response(problem) < _PEAKED:
        return ""
    return (
        "raise fit.ridge, or move away from fit.samples = network.width, where errors peak as the ridge vanishes and "
        "the equations lose digits"
    )
