"""What the map of a giant gradient step is a function of: averages of activation, link and residual.

Source: [CUI24] Result 3.1, App. A; THEORY section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from generated import step as generated_step
from giantstep.law.moments import ActivationMoments, LinkMoments, activation_moments, link_moments
from giantstep.spec.errors import BadInput
from giantstep.spec.jumps import jumps
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model, Network, Step, Target

_ROUNDING = 1e-14  # of the squares that the mean square of the residual is the difference of


@dataclass(frozen=True)
class StepArguments:
    """What the map of the step is a function of: rate A = eta_tilde/beta, samples alpha0, averages of THEORY section 2.

    overlaps: s1 of every index; length: the sum of their squares.
    """

    rate: float
    samples: float
    mu1: float
    s0: float
    e2: float
    sigma2: float
    variance: float
    overlaps: tuple[float, ...]

    @property
    def length(self) -> float:
        """|s1|^2."""
        return math.fsum(s1 * s1 for s1 in self.overlaps)


def step_arguments(model: Model) -> StepArguments:
    """The arguments of the map of the step of a model that has one. Raises BadInput where the step is not defined."""
    if model.step is None:
        raise BadInput("the model takes no step", "give [step]")
    return arguments_of(model.network, model.step, model.target)


def arguments_of(network: Network, step: Step, target: Target) -> StepArguments:
    """The same for parts of a model."""
    averages = _averages(network.activation, network.initial_bias, network.readout.mean, target)
    return StepArguments(step.learning_rate / network.width, step.samples, *averages)


@lru_cache(maxsize=256)
def _averages(
    text: str, bias: float, ubar: float, target: Target
) -> tuple[float, float, float, float, float, tuple[float, ...]]:
    """(mu1, s0, e2, sigma2, variance, overlaps) of ``StepArguments``, which no rate and no width enters."""
    of_f, of_link = moments_of_step(text, bias), _link_moments(target)
    _, mu1, s0, e2, sigma2, variance = generated_step.moments(
        of_f.mean,
        of_f.linear,
        of_f.quadratic,
        of_f.slope_square,
        of_link.mean,
        of_link.square,
        ubar,
        target.noise,
        target.flips,
    )
    if not e2 > _ROUNDING * (of_link.square + (ubar * of_f.mean) ** 2):
        raise BadInput(
            f"the residual of the gradient step vanishes: target.link = {target.link!r} equals the network's mean, "
            "but for rounding",
            "choose a link that is not constant, add target.noise, or leave [step] out",
        )
    overlaps = tuple(generated_step.overlap(linear, target.flips, target.probit) for linear in of_link.linear)
    return mu1, s0, e2, sigma2, max(variance, 0.0), overlaps


def moments_of_step(text: str, bias: float) -> ActivationMoments:
    """Averages of an activation that is differentiated. Raises BadInput where its slope is not square integrable."""
    for place, _, _ in jumps(text):
        raise BadInput(
            f"network.activation = {text!r} jumps at z = {place:g}: its gradient step is not defined",
            "use a continuous activation, or give [spike] in place of [step]",
        )
    return activation_moments(text, function_kernel(text).BREAKPOINTS, bias)


def variance_after_step(of: StepArguments) -> Callable[[Any], Any]:
    """The bulk variance after a giant step by the readout value, in any arithmetic."""
    return lambda u: generated_step.bulk_variance(of.rate, of.samples, u, of.s0, of.e2, of.sigma2, of.variance)


def scale_of_step(network: Network, step: Step, target: Target) -> tuple[float, float, float]:
    """(rho, drift, spread): strength w rho and bulk variance (1 + w drift)^2 + w^2 spread at w = readout times rate.

    Raises BadInput where the step is not defined.
    """
    of = arguments_of(network, replace(step, learning_rate=1.0, exponent=0.5), target)
    variance = variance_after_step(of)
    strength = float(generated_step.strength(of.rate, of.samples, of.mu1, of.length, of.e2))
    drift = 0.25 * (variance(1.0) - variance(-1.0))
    spread = 0.5 * (variance(1.0) + variance(-1.0)) - 1.0 - drift * drift
    return abs(strength), drift, max(0.0, spread)


def _link_moments(target: Target) -> LinkMoments:
    """Moments of the label without flips and its own noise; of one that a channel draws with the channel's."""
    found, second = _moments_of(target, target.mean_link), target.second_link
    if target.channel is None:
        return found
    square = _moments_of(target, second).mean if isinstance(second, str) else second
    return replace(found, square=square + found.square if target.channel.counts else square)


def _moments_of(target: Target, link: str) -> LinkMoments:
    if target.indices == 1:
        return link_moments(link, function_kernel(link).BREAKPOINTS, target.probit)
    from giantstep.law.multi_index_moments import index_moments  # targets of one index start sooner without

    return index_moments(link, target.probit)
