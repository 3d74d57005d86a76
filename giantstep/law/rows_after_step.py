"""The rows that one step leaves: their covariance and their norms, by readout value."""

from __future__ import annotations

from generated import row_norms
from generated import step as generated_step
from generated.systems import slopes
from giantstep.law.covariance import Covariance
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.moments import rest_moments
from giantstep.law.row_norms import RowNorms
from giantstep.law.stretched_bulk import moments_of, stretches
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model

_THIRD = row_norms.MOMENTS.index((1, 2))  # E rho z^2, the mean of the third derivative


def covariance_of_rows(model: Model, u: float) -> Covariance:
    """The covariance of rows of readout u after the step of a model that has one."""
    of = step_arguments(model)
    change = generated_step.strength(*_like_strength(model, of))
    stretch, noise = row_norms.covariance(*_parts(model, of, u))
    return Covariance(of.samples, stretch, noise, row_norms.spread(u, change, model.network.radial))


def covariance_rates(model: Model, u: float) -> Covariance:
    """Rates of its parts along the rate of the step."""
    of = step_arguments(model)
    strength = _like_strength(model, of)
    change, rate = generated_step.strength(*strength), slopes.strength_slope(*strength)
    stretch, noise = row_norms.covariance_rates(*_parts(model, of, u))
    return Covariance(of.samples, stretch, noise, row_norms.spread_rate(u, change, model.network.radial, rate))


def norms_of_rows(model: Model, values: tuple[float, ...]) -> RowNorms:
    """What the norms of rows of given readout values are functions of."""
    of = step_arguments(model)
    _, _, _, linear, variance = _parts(model, of, 0.0)
    return RowNorms(of.rate, of.samples, values, linear, variance, moments_of_rest(model), model.network.radial)


def _parts(model: Model, of: StepArguments, u: float) -> tuple[float, float, float, float, float]:
    """What (a_2, a) are functions of: rate, samples, u, E sigma'' and Var sigma'."""
    return of.rate, of.samples, u, of.sigma2 if stretches(model) else 0.0, of.variance


def _like_strength(model: Model, of: StepArguments) -> tuple[float, float, float, float, float]:
    """What the strength of the spike is a function of, with E sigma''' in the place of E sigma'."""
    return of.rate, of.samples, moments_of_rest(model)[_THIRD], of.length, of.e2


def moments_of_rest(model: Model) -> tuple[float, ...]:
    """Moments of what sigma' has beside 1 and z, at initialisation."""
    network = model.network
    breaks = function_kernel(network.activation).BREAKPOINTS
    return rest_moments(network.activation, breaks, network.initial_bias, row_norms.MOMENTS)


def initial_output(model: Model) -> float:
    """The mean output of the network before the step."""
    return float(model.network.readout.mean * moments_of(model).mean)


def spike_sign(model: Model) -> float:
    """The sign of the spike along the batch's mean of e x."""
    return -1.0 if moments_of(model).linear < 0.0 else 1.0
