"""The law of a bulk whose rows the step stretches by their readout value: samples of the step, and where they stand.

The covariances ``(1 + a2_b B)^2 + a_b C`` of different blocks do not commute. What is known of them are averages over
the law of a sample's residual, here at a few nodes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.moments import ActivationMoments, activation_moments
from giantstep.law.residual import ResidualLaw, on_few_nodes, residual_law
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model, Target

Array = np.ndarray
_VANISHES = 1e-9  # of E sigma'' beside sigma'
_LEVELS, _SETTLED = 7, 1e-12
_APART = (0.3, 1.0, 3.0)  # distances of poles from the law's mean, in standard deviations


def moments_of(model: Model) -> ActivationMoments:
    """Moments of the activation at initialisation."""
    network = model.network
    breaks = function_kernel(network.activation).BREAKPOINTS
    return activation_moments(network.activation, breaks, network.initial_bias)


def stretches(model: Model) -> bool:
    """Whether the step multiplies the rows by a matrix: where E sigma'' does not vanish."""
    moments = moments_of(model)
    return abs(moments.quadratic) > _VANISHES * math.sqrt(moments.slope_square)


def is_stretched(model: Model) -> bool:
    """Whether the bulk is one of rows that the step stretches by different readout values."""
    several = len(set(model.network.readout.values)) > 1
    return model.bulk == "trained" and several and stretches(model)


def places_of(blocks: int) -> dict[str, Array]:
    """Which rows and columns of the matrices belong to which block, [K, 2K], [K, 3K] and [2K, 3K], and their units.

    Samples stand in two rows of every block, ``upper`` and ``lower``; the matrix that is inverted has one row more, in
    which the response is beside them.
    """
    one = np.eye(3 * blocks)
    upper, lower, beside = one[:blocks], one[blocks : 2 * blocks], one[2 * blocks :]
    samples = 2 * blocks
    return {
        "upper": upper[:, :samples],
        "lower": lower.T @ lower[:, :samples],
        "first": upper,
        "inside": one[:samples],
        "last": beside,
        "fixed": upper.T @ upper + beside.T @ beside,
        "unit_G": one,
        "unit_D": np.eye(samples),
    }


def samples_of(samples: float, covariance: Array, variance: Array, e: Array) -> dict[str, Array]:
    """What a sample of residual e [N] adds to the matrix of all, [2K, 2K, N] over their number, and the matrix without.

    ``Sigma_b = ((1 + a2_b B)^2 + a_b C)/variance_b`` by (a2, a) [K, 2]; samples: of the step, over d. THEORY section 5.
    """
    blocks = len(covariance)
    sample = np.zeros((2 * blocks, 2 * blocks, len(e)))
    for b, (stretch, noise) in enumerate(covariance):
        upper, lower = b, blocks + b
        sample[upper, upper] = (2.0 * stretch * e + noise * e * e) / (variance[b] * samples)
        sample[upper, lower] = sample[lower, upper] = stretch * e / (math.sqrt(variance[b]) * samples)
    return {"sample": sample, "base": np.diag(np.concatenate([1.0 / variance, -np.ones(blocks)]))}


def rates_of_samples(samples: float, covariance: Array, rates: Array, variance: Array, e: Array) -> dict[str, Array]:
    """Rates of the same where (a2, a) and the variances move at rates [K, 3]."""
    blocks = len(covariance)
    sample = np.zeros((2 * blocks, 2 * blocks, len(e)))
    relative = rates[:, 2] / variance
    for b, ((stretch, noise), (d_stretch, d_noise, _)) in enumerate(zip(covariance, rates, strict=True)):
        upper, lower = b, blocks + b
        own = 2.0 * d_stretch * e + d_noise * e * e - relative[b] * (2.0 * stretch * e + noise * e * e)
        sample[upper, upper] = own / (variance[b] * samples)
        across = (d_stretch - 0.5 * relative[b] * stretch) * e / (math.sqrt(variance[b]) * samples)
        sample[upper, lower] = sample[lower, upper] = across
    return {"sample": sample, "base": np.diag(np.concatenate([-relative / variance, np.zeros(blocks)]))}


def weights_of(samples: float, law: ResidualLaw, alignment: float, sign: float, blocks: int) -> dict[str, Array]:
    """Weights of a sample in averages: of the trace, along theta, between theta and the spike's noise, along that.

    alignment: of the spike with theta; sign: of the spike along the batch's mean of e x.
    """
    noise = math.sqrt(law.square / samples)
    return {
        "law_tr": samples * law.weight,
        "law_tt": samples * law.weight_tt,
        "law_te": sign * law.weight_t * law.e / noise,
        "law_ee": law.weight * law.e**2 / law.square,
        "gamma": np.full(blocks, alignment),
        "rho": np.full(blocks, noise / math.hypot(law.overlap, noise)),
    }


@lru_cache(maxsize=64)
def residual_nodes(target: Target, mean: float, count: int) -> ResidualLaw:
    """The law of a sample's residual at ``count`` nodes or fewer. Raises NotConverged.

    Every average is one of a function of the residual that is analytic about the axis.
    """
    clean = _settled(replace(target, noise=0.0), mean)
    if target.noise == 0.0:
        return on_few_nodes(clean, count)
    some, (noise, probability) = on_few_nodes(clean, 2 * count), roots_hermitenorm(count)
    probability = probability / probability.sum()
    rows = [np.multiply.outer(row, probability).ravel() for row in (some.weight, some.weight_t, some.weight_tt)]
    return on_few_nodes(ResidualLaw(np.add.outer(some.e, math.sqrt(target.noise) * noise).ravel(), *rows), count)


@lru_cache(maxsize=16)
def _settled(target: Target, mean: float) -> ResidualLaw:
    """The law of a label without noise at as many nodes as its averages need."""
    poles: Array | None = None
    previous: Array | None = None
    for level in range(_LEVELS):
        law = residual_law(target, mean, level)
        if poles is None:
            spread = math.sqrt(max(law.square - float(law.weight @ law.e) ** 2, 1e-300))
            poles = float(law.weight @ law.e) + 1j * spread * np.array(_APART)
        rows = np.array([law.weight, law.weight_t, law.weight_tt])
        found = rows @ (poles.imag / (law.e[:, None] - poles))
        if previous is not None and np.max(np.abs(found - previous)) < _SETTLED:
            return law
        previous = found
    raise NotConverged(
        f"the law of the step's residual does not settle for the link {target.link!r}",
        'soften the link, or use step.bulk = "isotropic"',
    )
