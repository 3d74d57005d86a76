"""The law of the readout at initialisation: its mean, and a density of values as a vocabulary at nodes.

Source: THEORY section 13.
"""

from __future__ import annotations

import math
from dataclasses import replace

from generated import step as generated_step
from giantstep.law.gradient_step import arguments_of, variance_after_step
from giantstep.quadrature.density_rule import density_rule, scale_of
from giantstep.spec.model import Model
from giantstep.spec.readout_density import density_of
from giantstep.spec.validate import SMALLEST

#: Numbers of nodes that are tried one after the other, and what a mean feature has to have to count at each.
RUNGS = (12, 16, 20, 24, 30, 38, 48, 60)
_COARSEST, _FINEST = 1e-8, 1e-13


def at_nodes(model: Model, rung: int) -> Model:
    """A model whose readout has a density, with a vocabulary in its place: the nodes of a rule."""
    readout = model.network.readout
    assert readout.density is not None
    u, weights = density_rule(readout.density, RUNGS[rung], scale_of_features(model))
    kept = weights >= 2.0 * SMALLEST
    resolution = _COARSEST * (_FINEST / _COARSEST) ** (rung / (len(RUNGS) - 1))
    u, weights = u[kept], weights[kept] / weights[kept].sum()
    chosen = readout.at_nodes(tuple(u.tolist()), tuple(weights.tolist()), resolution)
    return replace(model, network=replace(model.network, readout=chosen))


def scale_of_features(model: Model) -> float:
    """The scale in u of the features after all steps, roughly."""
    density = density_of(model.network.readout.density or "")
    if model.spike is not None:
        c = model.spike.bulk_variance
        return scale_of(density, model.spike.strength, c - 1.0 if isinstance(c, float) else 0.0)
    if model.step is None:
        return scale_of(density, 0.0, 0.0)
    rate = math.fsum(step.learning_rate for step in model.steps)
    of = arguments_of(model.network, replace(model.step, learning_rate=rate), model.target)
    variance = variance_after_step(of)
    strength = float(generated_step.strength(of.rate, of.samples, of.mu1, of.length, of.e2))
    return scale_of(density, strength, max(float(variance(1.0)), float(variance(-1.0))) - 1.0)
