"""The samples of every giant step at nodes: what each adds to the rows, and what it sees.

A step turns the bulk row w of a block into ``w + A u (1/n) sum_i e_i (D_2(kappa_i) x_i.w + rest) x_i``, D_2 = E sigma''
given kappa: it multiplies rows by a matrix, the same for a block, and adds noise. Means of the rows gain the noise
``A u (1/n) sum_i e_i D(kappa_i) x_i``, D = E sigma', of the batch. Source: THEORY sections 5 and 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated import row_norms
from giantstep.law.label_growth import label_reach
from giantstep.law.layer_state import LayerState
from giantstep.law.residual import ResidualLaw
from giantstep.law.residual_given_kappa import residuals_given
from giantstep.law.rest_of_target import rest_of_target
from giantstep.law.terms import label_axes, link_term
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import rest_averages, slope_averages
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray


POWERS = row_norms.MOMENTS
_NOTHING = 1e-16  # of the largest weight
_FEW = 32  # nodes of a law of residuals, for which kappa has those that its rule takes by itself


@dataclass(frozen=True)
class StepSamples:
    """Nodes of the law of a sample of a step, ``samples`` times d of them, and weights of averages over it.

    weight [N]; along [D, N]: with t = u.x, and between [D + r, D + r, N]: with t t^T - 1, for the D directions u that
    it knows, those of the target and the noise of batches before, and with what it has added itself to the r directions
    of the noise of its own batch, ``own`` [r, N]. stretch, noise [K, N]: given kappa the rows of a block gain
    ``(1/n) sum_i stretch_i x_i x_i.w``, and their covariance the matrix ``(1/n) sum_i noise_i x_i x_i^T``; rest
    [8, K, N]: moments of that noise and z = x_i.w/sqrt(c), ``POWERS`` of each.
    """

    samples: float
    weight: Array
    along: Array
    between: Array
    own: Array
    stretch: Array
    noise: Array
    rest: Array


def first_samples(
    samples: float, law: ResidualLaw, sign: float, parts: tuple[Array, Array, Array], moments: Sequence[float]
) -> StepSamples:
    """Those of the first step; sign: of the spike along the batch's mean of e x; parts [K]: stretch and noise over e
    and e^2, and the step of a neuron over e sigma'; moments: of the rest of sigma', ``POWERS``.
    """
    stretch, noise, size = parts
    own = sign * law.e / np.sqrt(law.square * samples)
    beyond = law.weight_tt - np.multiply.outer(np.eye(len(law.weight_t)), law.weight)
    added = np.multiply.outer(stretch, law.e), np.multiply.outer(noise, law.e**2)
    rest = first_rest(np.multiply.outer(size, law.e), moments)
    between = _between(law.weight, law.weight_t, beyond, own[None])
    return StepSamples(samples, law.weight, law.weight_t, between, own[None], *added, rest)


def first_rest(step: Array, moments: Sequence[float]) -> Array:
    """Moments [8, ...] of the noise of samples of a first step, which moves a neuron by step [...] times sigma'."""
    return np.array([step**i * each for (i, _), each in zip(POWERS, moments, strict=True)])


def _between(weight: Array, along: Array, beyond: Array, own: Array) -> Array:
    """Weights of pairs of all that a sample sees."""
    mixed = np.einsum("rn,dn->rdn", own, along)
    itself = weight * np.einsum("rn,sn->rsn", own, own)
    return np.concatenate(
        [np.concatenate([beyond, mixed.swapaxes(0, 1)], axis=1), np.concatenate([mixed, itself], axis=1)]
    )


@lru_cache(maxsize=32)
def later_samples(
    network: Network, states: tuple[LayerState, LayerState], step: Step, target: Target, count: int
) -> StepSamples:
    """Those of a further step, from one state of the layer to another; count: of nodes, as of one law of residuals."""
    before, after = states
    values, size = np.array(network.readout.values), step.learning_rate / network.width
    kappa, weight = _kappa(network, before, target, count)
    shifts = np.array(before.loadings) @ kappa.T + network.initial_bias
    output, slope, curvature, rest = averages_at(network, before.bulk_variance, shifts)
    mean = (values * np.array(network.readout.fractions)) @ output
    of, e, rows = residuals_given(target, before.overlaps, kappa, mean, weight, 2 * count // 3)
    plain, along, beyond = _seen(weight[of] * rows, kappa[of].T, before.places, target.indices)
    own = np.array(after.own).reshape(-1, len(values)) @ (e * slope[:, of])
    moved = size * values[:, None] * e
    stretch, noise = moved * curvature[:, of], moved**2 * rest[:, of]
    terms = _terms(network, before.bulk_variance)
    moments = np.array([rest_averages(term, at, POWERS)[:, of] for term, at in zip(terms, shifts, strict=True)])
    noises = np.array([moved**i * moments[:, place] for place, (i, _) in enumerate(POWERS)])
    between = _between(plain, along, beyond, own)
    return StepSamples(step.samples, plain, along, between, own, stretch, noise / step.samples, noises)


def _terms(network: Network, variances: tuple[float, ...]) -> tuple[Term, ...]:
    return tuple(Term(network.activation, 1.0, network.initial_bias, c) for c in variances)


def _kappa(network: Network, before: LayerState, target: Target, count: int) -> tuple[Array, Array]:
    """Points [N, q] and weights [N] along the spike before the step."""
    terms, overlaps = _terms(network, before.bulk_variance), before.overlaps
    label = label_axes(target, overlaps), label_reach(target, overlaps)
    shape = Shape(terms, before.loadings, link_term(target, overlaps), *label)
    rows = tensor_table(shape, (count / _FEW,) * before.rank)
    weight = rows[:, 1]
    kept = weight > _NOTHING * weight.max()
    return coordinates(rows, 1, before.rank)[kept], weight[kept]


def averages_at(network: Network, variances: tuple[float, ...], shifts: Array) -> tuple[Array, Array, Array, Array]:
    """E sigma, E sigma', E sigma'' of every block, and the variance of the rest of sigma': [K, N] at shifts [K, N]."""
    terms = zip(_terms(network, variances), shifts, strict=True)
    found = np.array([slope_averages(term, at) for term, at in terms])
    output, slope, curvature, squares = found.swapaxes(0, 1)
    rest = squares - slope**2 - np.array(variances)[:, None] * curvature**2
    return output, slope, curvature, np.maximum(rest, 0.0)


def _seen(rows: Array, kappa: Array, axes: Array, m: int) -> tuple[Array, Array, Array]:
    """Weights of 1, t [D, N] and t t^T - 1 [D, D, N], t along kappa, the target's rest and else.

    rows [1 + m + m^2, N]: with 1, the target's rest and its products, kappa [q, N].
    """
    plain, linear, both = rows[0], rows[1 : m + 1], rows[m + 1 :].reshape(m, m, -1)
    turn = np.concatenate([axes, rest_of_target(axes, m)])
    one, across = np.concatenate([plain * kappa, linear]), linear[None] * kappa[:, None]
    square = plain * np.einsum("in,jn->ijn", kappa, kappa)
    pairs = np.concatenate(
        [np.concatenate([square, across], axis=1), np.concatenate([across.swapaxes(0, 1), both], axis=1)]
    )
    pairs = pairs - np.multiply.outer(np.eye(len(pairs)), plain)
    return plain, turn.T @ one, np.einsum("id,ijn,je->den", turn, pairs, turn)
