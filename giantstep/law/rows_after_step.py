"""The rows that one step leaves: their covariance by readout value, and what their norms are functions of."""

from __future__ import annotations

from generated import row_norms
from giantstep.law.covariance import Covariance
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.moments import rest_moments
from giantstep.law.stretched_bulk import moments_of, stretches
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model


def covariance_of_rows(model: Model, u: float) -> Covariance:
    """The covariance of rows of readout u after the step of a model that has one."""
    of = step_arguments(model)
    return Covariance(of.samples, *row_norms.covariance(*_parts(model, of, u)))


def covariance_rates(model: Model, u: float) -> Covariance:
    """Rates of its parts along the rate of the step."""
    of = step_arguments(model)
    return Covariance(of.samples, *row_norms.covariance_rates(*_parts(model, of, u)))


def _parts(model: Model, of: StepArguments, u: float) -> tuple[float, float, float, float, float]:
    """What (a_2, a) are functions of: rate, samples, u, E sigma'' and Var sigma'."""
    return of.rate, of.samples, u, of.sigma2 if stretches(model) else 0.0, of.variance


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
