"""From a model to its spiked random features: strength r, alignment gamma, bulk variance c of each block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from giantstep.errors import BadInput
from giantstep.kernels import function_kernel
from giantstep.model import Model, Network, Step, Target
from giantstep.moments import activation_moments, link_moments


@dataclass(frozen=True)
class SpikeParameters:
    """Strength of a block with readout 1, alignment <v, theta>, squared norm of the bulk rows per block.

    Source: [CUI24] Result 3.1; THEORY section 2.
    """

    strength: float
    alignment: float
    bulk_variance: tuple[float, ...]


def spike_of(model: Model) -> SpikeParameters:
    """Parameters of the sRF model: of the step, as given, or r = 0, c = 1 for plain random features.

    Raises BadInput for a step with an activation that jumps.
    """
    values = model.network.readout.values
    if model.spike is not None:
        c = model.spike.bulk_variance
        bulk = tuple((1.0 - u * u) + u * u * c for u in values)
        return SpikeParameters(model.spike.strength, model.spike.alignment, bulk)
    if model.step is None:
        return SpikeParameters(0.0, 0.0, (1.0,) * len(values))
    return _after_step(model.network, model.step, model.target)


@lru_cache(maxsize=1024)
def _after_step(network: Network, step: Step, target: Target) -> SpikeParameters:
    from generated import step as generated_step

    activation, link = function_kernel(network.activation), function_kernel(target.link)
    _refuse_jump(network.activation, activation)
    ubar = sum(u * f for u, f in zip(network.readout.values, network.readout.fractions, strict=True))
    of_f = activation_moments(network.activation, activation.BREAKPOINTS, float(network.bias))
    of_link = link_moments(target.link, link.BREAKPOINTS)
    moments = generated_step.moments(
        of_f.mean, of_f.linear, of_f.quadratic, of_f.slope_square, of_link.mean, of_link.linear, of_link.square, ubar,
        target.noise,
    )  # fmt: skip
    _, mu1, s0, s1, e2, sigma2, variance = moments
    rate, samples = step.learning_rate / network.width, step.samples
    if not e2 > 0.0:
        raise BadInput(
            f"the residual of the gradient step vanishes: target.link = {target.link!r} equals the network's mean",
            "choose a link that is not constant, add target.noise, or leave [step] out",
        )
    strength, alignment = generated_step.spike(rate, samples, mu1, s1, e2)
    bulk = tuple(
        generated_step.bulk_variance(rate, samples, u, s0, e2, sigma2, max(variance, 0.0))
        for u in network.readout.values
    )
    if not all(math.isfinite(x) for x in (strength, alignment, *bulk)) or min(bulk) <= 0.0:
        raise BadInput(
            f"the gradient step gives strength {strength:.3g}, bulk variances {bulk}",
            "lower step.learning_rate: the bulk variance has to be positive and finite",
        )
    # the direction v absorbs the sign
    if strength < 0.0:
        strength, alignment = -strength, -alignment
    return SpikeParameters(strength, min(1.0, max(-1.0, alignment)), bulk)


def _refuse_jump(text: str, kernel: object) -> None:
    breakpoints: tuple[float, ...] = kernel.BREAKPOINTS  # type: ignore[attr-defined]
    import numpy as np

    from giantstep.functions import numpy_function

    function = numpy_function(text)
    for point in breakpoints:
        gaps = (1.0 + abs(point)) * np.array([2.0**-20, 2.0**-30])
        wide, narrow = np.abs(function(point + gaps)[0] - function(point - gaps)[0])
        if narrow > 0.5 * wide > 0.0:  # the difference of a continuous function shrinks with the gap
            raise BadInput(
                f"network.activation = {text!r} jumps at z = {point:g}: its gradient step is not defined",
                "use a continuous activation, or give [spike] in place of [step]",
            )
