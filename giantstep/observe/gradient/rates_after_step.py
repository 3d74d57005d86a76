"""How what a step leaves changes with its rate A = learning rate over width, for every law of the bulk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generated import step as generated_step
from generated import structured_inputs as derived_inputs
from generated.systems import slopes
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.structured_inputs import input_law
from giantstep.spec.inputs_table import Inputs
from giantstep.system.bulk_system import bulk_of, mean_square
from giantstep.system.merged_blocks import Members
from giantstep.system.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class StepRates:
    """Rates of the strength of a block of readout value 1, of the bulk variances [K] of all readout values, and of
    their covariances [K, J] over the spectrum of the bulk where it has one that moves.
    """

    strength: float
    bulk: Array
    covariance: Array | None = None


def rates_after_step(problem: Problem, members: Members) -> StepRates:
    """Rates in A for a problem whose model takes a step; ``members``: where its blocks went."""
    model = problem.model
    of, values = step_arguments(model), np.array(model.network.readout.values)
    if model.inputs is not None:
        law = input_law(model)
        return _of_inputs(model.inputs, of, values, law.covariance, np.array(law.bulk_variance))
    sign = -1.0 if generated_step.strength(of.rate, of.samples, of.mu1, of.length, of.e2) < 0.0 else 1.0
    strength = sign * slopes.strength_slope(of.rate, of.samples, of.mu1, of.length, of.e2)  # v absorbs the sign
    if model.bulk == "matrix":  # which is what it is
        return StepRates(strength, np.zeros(len(values)))
    moments = (of.s0, of.e2, of.sigma2, of.variance)
    bulk = np.array([slopes.bulk_variance_slope(of.rate, of.samples, u, *moments) for u in values])
    return StepRates(strength, bulk, _of_trained(problem, members, bulk) if model.bulk == "trained" else None)


def _of_trained(problem: Problem, members: Members, bulk: Array) -> Array:
    """Rates of ``Sigma_b = (1 + a_b x)/c_b`` with ``c_b = 1 + a_b E e^2``; the law of x does not know the rate."""
    law, sigma = bulk_of(problem)
    variances = np.array([term.variance for term in problem.blocks])[members.block]
    factor = (bulk / variances)[:, None]
    return np.asarray(factor * (law.x / mean_square(problem.model) - sigma[members.block]))


def _of_inputs(inputs: Inputs, of: StepArguments, values: Array, covariance: Array, variances: Array) -> StepRates:
    """The same for inputs of a given covariance; ``covariance`` [K, J] is that of the rows over ``variances`` [K]."""
    (s1,), (x, trace, theta) = of.overlaps, inputs.spectrum()
    rows = (x, trace, values, of.rate, of.samples, of.s0, of.e2, of.sigma2, of.variance)
    length, strength, _ = derived_inputs.spike_after_step(x, trace, theta, of.samples, s1, of.e2, of.rate, of.mu1)
    moved, means, slope = derived_inputs.slopes_after_step(*rows, of.mu1, length)
    sign = -1.0 if strength < 0.0 else 1.0
    return StepRates(sign * slope, means, (moved - means[:, None] * covariance) / variances[:, None])
