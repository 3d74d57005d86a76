"""How the squared norms of the rows follow from those before a step, and from the rows: sums over its samples.

A step makes ``M w + eta + g delta`` of a row w whose squared norm exceeds its mean c by delta, and
``h delta + y.w + nu`` of the excess. Source: THEORY sections 5 and 12. Derived in derive.row_norms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from generated import row_norms
from giantstep.law.step_samples import StepSamples

Array = np.ndarray


class NormsOfStep(NamedTuple):
    """Of a block and a step: growth h; d times the variance of nu; coefficients [N] of the sums over samples y, of
    the covariance of nu and eta, and of g.
    """

    growth: float
    noise: float
    source: Array
    direct: Array
    gained: Array


def norms_of_step(of: StepSamples, block: int, variance: float) -> NormsOfStep:
    """Those of a block of rows whose mean squared norm was ``variance``."""
    growth, noise, linear, tau, change = row_norms.norms(
        of.samples, variance, of.weight, of.stretch[block], of.rest[:, block]
    )
    return NormsOfStep(growth, noise, linear / math.sqrt(variance), tau, change / variance)


def rates_of_first_step(of: StepSamples, moved: StepSamples, block: int) -> NormsOfStep:
    """Rates of the same after the first step, where stretch and moments of its samples move at the rates ``moved``."""
    rest = np.concatenate([of.rest[:, block], moved.rest[:, block]])
    growth, noise, linear, tau, change = row_norms.norms_rates(
        of.samples, 1.0, of.weight, of.stretch[block], moved.stretch[block], rest
    )
    return NormsOfStep(growth, noise, linear, tau, change)
