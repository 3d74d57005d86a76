"""The law of a bulk whose rows the step stretches: samples of the step, and where they stand.

The covariances ``(1 + a2_b B)^2 + a_b C`` of different blocks do not commute, nor do B and C. What is known of them are
averages over the law of a sample's residual, here at a few nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from derive.directions import directions_of
from giantstep.law.covariance import Covariance
from giantstep.law.moments import ActivationMoments, activation_moments
from giantstep.law.residual import ResidualLaw
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model

Array = np.ndarray
Pair = tuple[Array, Array]
_VANISHES = 1e-9  # of E sigma'' beside sigma'


def moments_of(model: Model) -> ActivationMoments:
    """Moments of the activation at initialisation."""
    network = model.network
    breaks = function_kernel(network.activation).BREAKPOINTS
    return activation_moments(network.activation, breaks, network.initial_bias)


def stretches(model: Model) -> bool:
    """Whether the step multiplies the rows by a matrix: where E sigma'' does not vanish."""
    moments = moments_of(model)
    return abs(moments.quadratic) > _VANISHES * math.sqrt(moments.slope_square)


def selections(blocks: int, indices: int) -> dict[str, Array]:
    """Which rows and columns of the matrices belong to which block, [K, 2K], [K, 3K] and [2K, 3K], and their units.

    Samples stand in two rows of every block, ``upper`` and ``lower``; the matrix that is inverted has one row more, in
    which the response is beside them. ``place`` [m, 2K, 2mK] is where these rows stand in those of all m indices,
    ``place_left`` and ``place_right`` [m^2, 2K, 2mK] those of the two indices of a pair.
    """
    one = np.eye(3 * blocks)
    upper, lower, beside = one[:blocks], one[blocks : 2 * blocks], one[2 * blocks :]
    samples = 2 * blocks
    place = np.eye(indices * samples).reshape(indices, samples, -1)
    return {
        "upper": upper[:, :samples],
        "lower": lower.T @ lower[:, :samples],
        "first": upper,
        "inside": one[:samples],
        "last": beside,
        "fixed": upper.T @ upper + beside.T @ beside,
        "unit_G": one,
        "unit_D": np.eye(samples),
        "place": place,
        "place_left": np.repeat(place, indices, axis=0),
        "place_right": np.tile(place, (indices, 1, 1)),
        "unit_theta": np.eye(indices * samples),
    }


def samples_of(samples: float, covariance: Sequence[Covariance], variance: Array, e: Array) -> dict[str, Array]:
    """What a sample of residual e [N] adds to the matrix of all, [2K, 2K, N] over their number, and the matrix without.

    ``Sigma_b = ((1 + a2_b B)^2 + a_b C)/variance_b``; samples: of the step, over d. Source: THEORY section 5.
    """
    blocks = len(covariance)
    sample = np.zeros((2 * blocks, 2 * blocks, len(e)))
    for b, rows in enumerate(covariance):
        upper, lower = b, blocks + b
        sample[upper, upper] = (2.0 * rows.stretch * e + rows.noise * e * e) / (variance[b] * samples)
        sample[upper, lower] = sample[lower, upper] = rows.stretch * e / (math.sqrt(variance[b]) * samples)
    return {"sample": sample, "base": np.diag(np.concatenate([1.0 / variance, -np.ones(blocks)]))}


def norms_of_samples(norms: Pair, variance: Array) -> dict[str, Array]:
    """Fluctuations of the norms relative to their means: their variances ``chi`` [K], and coefficients ``along``
    [K, 2K, N] of the sums over samples that they go with.

    norms: (chi, coefficients [K, 2, N]) of ``law.row_norms``.
    """
    chi, coefficients = norms
    return {"along": _in_rows(coefficients, variance), "chi": chi / variance**2}


def rates_of_norms(norms: Pair, rates: Pair, changes: Pair) -> dict[str, Array]:
    """Rates of the same by those of ``norms``; changes: the variances c_b [K] and how they grow, relative to c_b."""
    (chi, coefficients), (d_chi, moving), (variance, growth) = norms, rates, changes
    grown = coefficients * np.array([1.5, 1.0])[:, None] * growth[:, None, None]
    return norms_of_samples((d_chi - 2.0 * growth * chi, moving - grown), variance)


def _in_rows(coefficients: Array, variance: Array) -> Array:
    """Coefficients [K, 2, N] in units of the mean norms, where samples stand in the rows of their block."""
    blocks = len(variance)
    along = np.zeros((blocks, 2 * blocks, coefficients.shape[-1]))
    for b in range(blocks):
        along[b, b] = coefficients[b, 0] / variance[b] ** 1.5
        along[b, blocks + b] = -coefficients[b, 1] / variance[b]
    return along


def rates_of_samples(
    covariance: Sequence[Covariance], rates: Sequence[Covariance], changes: tuple[Array, Array], e: Array
) -> dict[str, Array]:
    """Rates of the same, and of the ``spread`` along the spike, where the covariances move at given rates.

    changes: the variances [K] and how they grow, relative to themselves.
    """
    blocks, (variance, growth) = len(covariance), changes
    sample, spread = np.zeros((2 * blocks, 2 * blocks, len(e))), np.zeros(blocks)
    for b, (rows, moved) in enumerate(zip(covariance, rates, strict=True)):
        upper, lower = b, blocks + b
        stretch, noise = (getattr(moved, name) - growth[b] * getattr(rows, name) for name in ("stretch", "noise"))
        sample[upper, upper] = (2.0 * stretch * e + noise * e * e) / (variance[b] * rows.samples)
        across = (moved.stretch - 0.5 * growth[b] * rows.stretch) * e / (math.sqrt(variance[b]) * rows.samples)
        sample[upper, lower] = sample[lower, upper] = across
        if rows.spread > 0.0:
            spread[b] = 0.5 * (moved.spread / rows.spread - growth[b]) * math.sqrt(rows.spread / variance[b])
    base = np.diag(np.concatenate([-growth / variance, np.zeros(blocks)]))
    return {"sample": sample, "base": base, "spread": spread}


def weights_of(samples: float, law: ResidualLaw, sign: float) -> dict[str, Array]:
    """Weights of a sample in averages: of the trace, along the target beyond that, between target and the spike's
    noise, along that; of sums over samples with target, noise and each other.

    sign: of the spike along the batch's mean of e x.
    """
    noise, one = math.sqrt(law.square / samples), np.eye(len(law.weight_t))
    return {
        "law_tr": samples * law.weight,
        "law_along": samples * (law.weight_tt - np.multiply.outer(one, law.weight)).reshape(-1, len(law.e)),
        "law_te": sign * law.weight_t * law.e / noise,
        "law_ee": law.weight * law.e**2 / law.square,
        "law_t": law.weight_t,
        "law_e": sign * law.weight * law.e / (noise * samples),
        "law_own": law.weight / samples,
    }


def spike_and_rest(samples: float, law: ResidualLaw, sign: float, blocks: int) -> dict[str, Array]:
    """The spike ``v = gamma theta + rho epsilon``, and u_j of the target beside it: ``mix_j theta + across_j epsilon``.

    theta_i = gamma_i v + sum_j L_ij u_j with the factor L of Cholesky of ``1 - gamma gamma^T``, without cancellation.
    """
    overlaps, beside = law.overlaps, math.sqrt(law.square / samples)
    length = math.hypot(*overlaps, beside)
    gamma, rho, m = sign * overlaps / length, beside / length, len(overlaps)
    left = np.sqrt(np.append(np.cumsum(gamma[::-1] ** 2)[::-1], 0.0) + rho**2)  # beside the first directions
    found = {"gamma": gamma, "rho": np.full(blocks, rho)}
    for j, (along, noise) in enumerate(zip(directions_of("mix", m), directions_of("across", m), strict=True)):
        mix = np.where(np.arange(m) > j, -gamma * gamma[j] / (left[j] * left[j + 1]), 0.0)
        mix[j] = left[j + 1] / left[j]
        found[along] = mix
        found[noise] = np.full(blocks, -gamma[j] * rho / (left[j] * left[j + 1]))
    return found
