"""How what a step leaves changes with its rate A = learning rate over width, for every law of the bulk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from generated import bulk_resolvent
from generated import step as generated_step
from generated import structured_inputs as derived_inputs
from generated.systems import slopes
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.structured_inputs import input_law
from giantstep.law.trained_bulk import law_rates
from giantstep.spec.inputs_table import Inputs
from giantstep.system.bulk_system import (
    bulk_of,
    covariance_of,
    initial_output,
    largest_value,
    spike_sign,
    variances_of,
)
from giantstep.system.merged_blocks import Members
from giantstep.system.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class Moving:
    """Rates of the covariances [K, J] over the spectrum of a bulk, and of the weights [J] of its law that move."""

    covariance: Array
    weights: Mapping[str, Array]

    def times(self, factor: float) -> Moving:
        """The same for a change by another factor."""
        return Moving(factor * self.covariance, {name: factor * rate for name, rate in self.weights.items()})


@dataclass(frozen=True)
class StepRates:
    """Rates of the strength of a block of readout value 1, of the bulk variances [K] of all readout values, and of
    their spectrum where the bulk has one that moves.
    """

    strength: float
    bulk: Array
    spectrum: Moving | None = None


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
    return StepRates(strength, bulk, _of_trained(problem, members, of, bulk) if model.bulk == "trained" else None)


def _of_trained(problem: Problem, members: Members, of: StepArguments, bulk: Array) -> Moving:
    """Rates of ``Sigma_b = (1 + share_b x)/c_b`` over the spectrum x, and of the law of x where it moves.

    Without a stretch x is a spectrum of ``a C``, and the law of C does not know the rate: its points are held, and all
    moves with the bulk variances ``c_b = 1 + a_b E e^2``.
    """
    law, sigma = bulk_of(problem)
    variances = variances_of(problem)[members.block]
    factor, covariance = (bulk / variances)[:, None], covariance_of(problem)
    if covariance.stretch == 0.0:
        beyond = float(np.max(np.abs(variances - 1.0))) or 1.0
        return Moving(np.asarray(factor * (law.x / beyond - sigma[members.block])), {})
    model = problem.model
    rates = bulk_resolvent.covariance_rates(of.rate, of.samples, largest_value(model), of.sigma2, of.variance)
    moved = law_rates(
        model.target, initial_output(model), covariance, problem.spike.alignment, spike_sign(model), rates
    )
    return Moving(np.asarray(-factor * sigma[members.block]), moved.weights)


def _of_inputs(inputs: Inputs, of: StepArguments, values: Array, covariance: Array, variances: Array) -> StepRates:
    """The same for inputs of a given covariance; ``covariance`` [K, J] is that of the rows over ``variances`` [K]."""
    (s1,), (x, trace, theta) = of.overlaps, inputs.spectrum()
    rows = (x, trace, values, of.rate, of.samples, of.s0, of.e2, of.sigma2, of.variance)
    length, strength, _ = derived_inputs.spike_after_step(x, trace, theta, of.samples, s1, of.e2, of.rate, of.mu1)
    moved, means, slope = derived_inputs.slopes_after_step(*rows, of.mu1, length)
    sign = -1.0 if strength < 0.0 else 1.0
    return StepRates(sign * slope, means, Moving((moved - means[:, None] * covariance) / variances[:, None], {}))
