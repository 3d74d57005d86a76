"""The law of the readout at initialisation: its mean, and a density of values as a vocabulary at nodes.

Source: THEORY section 13.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from generated import step as generated_step
from giantstep.law.gradient_step import arguments_of, variance_after_step
from giantstep.quadrature.density_rule import density_rule, scale_of
from giantstep.spec.model import Model
from giantstep.spec.readout_density import density_of
from giantstep.spec.validate import SMALLEST

Array = np.ndarray
#: Numbers of nodes that are tried one after the other, and what a mean feature has to have to count at each.
RUNGS = (10, 14, 18, 22, 28, 36, 46, 60, 80, 106, 140, 186)
_COARSEST, _FINEST, _FULL = 1e-8, 1e-13, 7  # that at first, and from which rung on


def at_nodes(model: Model, rung: int) -> Model:
    """A model whose readout has a density, with a vocabulary in its place: the nodes of a rule."""
    readout = model.network.readout
    assert readout.density is not None
    rule = density_rule(readout.density, RUNGS[rung], scale_of_features(model))
    resolution = _COARSEST * (_FINEST / _COARSEST) ** min(1.0, rung / _FULL)
    u, weights = _of_fractions(*rule, density_of(readout.density).symmetric)
    chosen = readout.at_nodes(tuple(u.tolist()), tuple(weights.tolist()), resolution)
    return replace(model, network=replace(model.network, readout=chosen))


def _of_fractions(u: Array, weights: Array, symmetric: bool) -> tuple[Array, Array]:
    """Nodes whose weights are fractions that a readout may have: the nearest of them takes over a smaller one, with its
    part of E u^2, which the features of large u go with.
    """
    kept = np.flatnonzero(weights >= 2.0 * SMALLEST)
    nearest = np.argmin(np.abs(u[:, None] - u[kept]), axis=1)
    share, squares = (np.asarray(np.bincount(nearest, weights=w), float) for w in (weights, weights * u * u))
    moved = np.copysign(np.sqrt(squares / share), u[kept])
    if symmetric:
        moved, share = 0.5 * (moved - moved[::-1]), 0.5 * (share + share[::-1])
    return np.asarray(moved), np.asarray(share / share.sum())


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
