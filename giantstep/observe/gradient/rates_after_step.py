"""How what a step leaves changes with its rate A = learning rate over width, for every law of the bulk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from generated import step as generated_step
from generated import structured_inputs as derived_inputs
from generated.systems import slopes
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.rows_after_step import covariance_rates
from giantstep.law.stretched_bulk import rates_of_norms, rates_of_samples
from giantstep.law.structured_inputs import spike_of_step
from giantstep.spec.model import Model
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class Moving:
    """Rates of the covariances [K, J] over the spectrum of a bulk, and of chi [K], d times the variances of norms."""

    covariance: Array
    chi: Array

    def times(self, factor: float) -> Moving:
        """The same for a change by another factor."""
        return Moving(factor * self.covariance, factor * self.chi)

    def of_blocks(self, distinct: Callable[[Array], Array]) -> Moving:
        """The same of the distinct blocks."""
        return Moving(distinct(self.covariance), distinct(self.chi))

    def arrays(self, nodes: int) -> dict[str, Array]:
        """Rates of what the equations are given, by name."""
        return {"Sigma": self.covariance, "chi": self.chi}


@dataclass(frozen=True)
class MovingSamples:
    """Rates where the bulk is one of samples of the step: of the bulk variances [K], and how fast A moves with them."""

    problem: Problem
    bulk: Array
    along: float = 1.0

    def times(self, factor: float) -> MovingSamples:
        """See ``Moving``."""
        return replace(self, along=factor * self.along)

    def of_blocks(self, distinct: Callable[[Array], Array]) -> MovingSamples:
        """See ``Moving``."""
        return replace(self, bulk=distinct(self.bulk))

    def arrays(self, nodes: int) -> dict[str, Array]:
        """See ``Moving``; nodes: of the residual of a sample."""
        rows = rows_of_blocks(self.problem)
        changes, first = (rows.variance, self.bulk / rows.variance), rows.steps(nodes)[:1]
        rates = [covariance_rates(rows.model, u) for u in rows.values]
        found = rates_of_samples(rows.covariances, rates, changes, rows.residual(nodes).e)
        moved = rows.rates_of_norms(nodes)
        found |= rates_of_norms(rows.norms(first)[0], moved, rows.model.network.radial, changes)
        return {name: self.along * rate for name, rate in found.items()}


@dataclass(frozen=True)
class StepRates:
    """Rates of the strength of a block of readout value 1, of the bulk variances [K] of all readout values, and of
    their spectrum where the bulk has one that moves.

    powers: those of the bulk variances are powers[0] u + powers[1] u^2 of the readout value u; None for others.
    """

    strength: float
    bulk: Array
    spectrum: Moving | MovingSamples | None = None
    powers: tuple[float, float] | None = None


def rates_after_step(problem: Problem) -> StepRates:
    """Rates in A for a problem whose model takes a step."""
    model = problem.model
    of, values = step_arguments(model), np.array(model.network.readout.values)
    if model.inputs is not None:
        return _of_inputs(model, of)
    sign = -1.0 if generated_step.strength(of.rate, of.samples, of.mu1, of.length, of.e2) < 0.0 else 1.0
    strength = sign * slopes.strength_slope(of.rate, of.samples, of.mu1, of.length, of.e2)  # v absorbs the sign
    if model.bulk == "matrix":  # which is what it is
        return StepRates(strength, np.zeros(len(values)))
    moments = (of.s0, of.e2, of.sigma2, of.variance)
    *bulk, up, down = (slopes.bulk_variance_slope(of.rate, of.samples, u, *moments) for u in (*values, 1.0, -1.0))
    spectrum = MovingSamples(problem, np.array(bulk)) if model.bulk == "trained" else None
    return StepRates(strength, np.array(bulk), spectrum, (0.5 * (up - down), 0.5 * (up + down)))


def _of_inputs(model: Model, of: StepArguments) -> StepRates:
    """The same for inputs of a given covariance."""
    assert model.inputs is not None
    found, values = spike_of_step(model), np.array(model.network.readout.values)
    covariance, variances = found.law.covariance, np.array(found.bulk_variance)
    s1, (x, trace, theta) = np.array(of.overlaps), model.inputs.spectrum(model.target.indices)
    rows = (x, trace, values, of.rate, of.samples, of.s0, of.e2, of.sigma2, of.variance)
    length, strength, _ = derived_inputs.spike_after_step(x, trace, theta, s1, of.samples, of.e2, of.rate, of.mu1)
    moved, means, slope = derived_inputs.slopes_after_step(*rows, of.mu1, length)
    sign = -1.0 if strength < 0.0 else 1.0
    rate = (moved - means[:, None] * covariance) / variances[:, None]
    chi = derived_inputs.norms_slope(covariance, trace, model.network.radial, rate)
    return StepRates(sign * slope, means, Moving(rate, chi))
