"""The law of the readout at initialisation: its mean, and a density of values as a vocabulary at nodes.

Source: THEORY section 13.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.law.gradient_step import scale_of_step
from giantstep.quadrature.density_rule import Along, along_features, density_rule
from giantstep.spec.model import Model
from giantstep.spec.readout_density import density_of
from giantstep.spec.validate import SMALLEST

Array = np.ndarray
#: Numbers of nodes that are tried one after the other, and what a mean feature has to have to count at each.
RUNGS = (10, 14, 18, 22, 28, 36, 46, 60, 80, 106, 140, 186, 246)
_COARSEST, _FINEST, _FULL = 1e-8, 1e-13, 7  # that at first, and from which rung on


def at_nodes(model: Model, rung: int) -> Model:
    """A model whose readout has a density, with a vocabulary in its place: the nodes of a rule."""
    readout = model.network.readout
    assert readout.density is not None
    rule = density_rule(readout.density, RUNGS[rung], variable_of(model))
    resolution = _COARSEST * (_FINEST / _COARSEST) ** min(1.0, rung / _FULL)
    u, weights = _of_fractions(*rule)
    chosen = readout.at_nodes(tuple(u.tolist()), tuple(weights.tolist()), resolution)
    return replace(model, network=replace(model.network, readout=chosen))


def _of_fractions(u: Array, weights: Array) -> tuple[Array, Array]:
    """Nodes whose weights are fractions that a readout may have: the nearest of them takes over a smaller one, with its
    part of E u^2, which the features of large u go with.
    """
    kept = np.flatnonzero(weights >= 2.0 * SMALLEST)
    nearest = np.argmin(np.abs(u[:, None] - u[kept]), axis=1)
    share, squares = (np.asarray(np.bincount(nearest, weights=w), float) for w in (weights, weights * u * u))
    moved = np.copysign(np.sqrt(squares / share), u[kept])
    if np.array_equal(u, -u[::-1]):
        moved, share = 0.5 * (moved - moved[::-1]), 0.5 * (share + share[::-1])
    return np.asarray(moved), np.asarray(share / share.sum())


def variable_of(model: Model) -> Along:
    """The variable of features after all steps, roughly, in which rules are exact for polynomials."""
    density = density_of(model.network.readout.density or "")
    if model.spike is not None:
        c = model.spike.bulk_variance
        spread = max(c - 1.0, 0.0) if isinstance(c, float) else 0.0
        return along_features(density, abs(model.spike.strength), 0.0, spread)
    if model.step is None:
        return along_features(density, 0.0, 0.0, 0.0)
    rate = math.fsum(step.learning_rate for step in model.steps) / model.network.width
    strength, drift, spread = scale_of_step(model.network, model.step, model.target)
    return along_features(density, abs(rate) * strength, rate * drift, rate * rate * spread)
