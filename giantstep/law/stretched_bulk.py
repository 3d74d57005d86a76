"""The law of a bulk whose rows the step stretches: samples of the step, and where they stand.

The covariances ``(1 + a2_b B)^2 + a_b C`` of different blocks do not commute, nor do B and C. What is known of them are
averages over the law of a sample's residual, here at a few nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.moments import ActivationMoments, activation_moments
from giantstep.law.residual import ResidualLaw, on_few_nodes, residual_law
from giantstep.law.trained_bulk import Covariance
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model, Target

Array = np.ndarray
Pair = tuple[Array, Array]
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
    """Whether the bulk is one of rows that the step stretches."""
    return model.bulk == "trained" and stretches(model)


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


def norms_of_samples(samples: float, law: ResidualLaw, norms: tuple[Array, Array], variance: Array) -> dict[str, Array]:
    """Fluctuations of the norms relative to their means: coefficients ``along`` [K, 2K, N] of the sums over samples
    that they go with, and ``chi`` [K], their variance without the square of the part in the lower rows.

    norms: (chi, coefficients [K, 2, N]) of ``law.row_norms``, which are linear in both.
    """
    chi, coefficients = norms
    lower = coefficients[:, 1]
    rest = chi - _between_sums(samples, law, lower, lower)
    return {"along": _in_rows(coefficients, variance), "chi": rest / variance**2}


def rates_of_norms(samples: float, law: ResidualLaw, norms: Pair, rates: Pair, changes: Pair) -> dict[str, Array]:
    """Rates of the same by those of ``norms``; changes: the variances c_b [K] and how they grow, relative to c_b."""
    (chi, coefficients), (d_chi, moving), (variance, growth) = norms, rates, changes
    lower, moved = coefficients[:, 1], moving[:, 1]
    rest = chi - _between_sums(samples, law, lower, lower)
    d_rest = d_chi - 2.0 * _between_sums(samples, law, lower, moved)
    grown = coefficients * np.array([1.5, 1.0])[:, None] * growth[:, None, None]
    return {"along": _in_rows(moving - grown, variance), "chi": (d_rest - 2.0 * growth * rest) / variance**2}


def _in_rows(coefficients: Array, variance: Array) -> Array:
    """Coefficients [K, 2, N] in units of the mean norms, where samples stand in the rows of their block."""
    blocks = len(variance)
    along = np.zeros((blocks, 2 * blocks, coefficients.shape[-1]))
    for b in range(blocks):
        along[b, b] = coefficients[b, 0] / variance[b] ** 1.5
        along[b, blocks + b] = -coefficients[b, 1] / variance[b]
    return along


def _between_sums(samples: float, law: ResidualLaw, one: Array, other: Array) -> Array:
    """``x_f.x_g`` of sums over samples ``(1/n0) sum_i f_i x_i`` by their coefficients [K, N], block by block."""
    return np.asarray((one @ law.weight_t) * (other @ law.weight_t) + (one * other) @ law.weight / samples)


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


def weights_of(samples: float, law: ResidualLaw, alignment: float, sign: float, blocks: int) -> dict[str, Array]:
    """Weights of a sample in averages: of the trace, along theta, between theta and the spike's noise, along that.

    ``law_t``, ``law_e``, ``law_own``: of sums over samples with theta, with the spike's noise, and with each other.
    alignment: of the spike with theta; sign: of the spike along the batch's mean of e x.
    """
    noise = math.sqrt(law.square / samples)
    return {
        "law_t": law.weight_t,
        "law_e": sign * law.weight * law.e / (noise * samples),
        "law_own": law.weight / samples,
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
