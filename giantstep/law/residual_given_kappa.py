"""The law of the residual of a later step given the coordinates kappa along the spike, at a few nodes."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.few_nodes import Laws, on_few_nodes
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import ORDER, turns_of_target
from giantstep.quadrature.gauss import evenly_cut, normal_between, products
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_OUTERMOST = 9.0  # of t given kappa
_NEGLIGIBLE = 1e-18  # share of the squared residuals that is left out
_WIDE, _FEWEST = 4.4, 8  # width of a law in asinh(e) that has as many nodes as asked; the least number of them
_NARROW = 0.5  # the share of these that a narrow law has: its ends are sharp
_POINTS, _REACH = 72, 8.5  # along each index of a link without kinks; where they end


def residuals_given(
    target: Target, overlaps: Rows, kappa: Array, output: Array, shares: Array, count: int
) -> tuple[Array, Array, Array]:
    """The law of y - output at every kappa [P, q], at ``count`` nodes or fewer: of all nodes which kappa [N], e [N],
    and weights [R, N] of averages with 1, t and t t^T, t those of the rest of the target, of which
    theta_i = sum_j gamma_ji v_j + sum_l L_il t_l. output: of the network there, [P]; shares [P]: weights of kappa.
    """
    laws = _laws(target, np.array(overlaps), kappa, output)
    # what is averaged has its poles about zero, wherever kappa is
    unit = math.sqrt(float(shares @ (laws.weight * laws.e**2).sum(axis=1)))
    kept = shares[:, None] * np.abs(laws.weight) * (1.0 + (laws.e / unit) ** 2) > _NEGLIGIBLE
    kept |= ~kept.any(axis=1, keepdims=True)
    share = _NARROW + (1.0 - _NARROW) * _width(laws.e / unit, kept) / _WIDE
    counts = np.maximum(_FEWEST, np.ceil(count * share)).astype(int)
    found: list[tuple[Array, Array, Array]] = []
    for each in np.unique(counts).tolist():
        of = np.flatnonzero(counts == each)
        few = _on_few(laws[of].only(kept[of]), target.noise, (each, unit))
        law, node = np.nonzero(few.rows.any(axis=1))
        found.append((of[law], few.e[law, node], few.rows[law, :, node].T))
    kappas, e, rows = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    order = np.argsort(kappas, kind="stable")
    return kappas[order], e[order], rows[:, order]


def _width(e: Array, kept: Array) -> Array:
    """Of every law what it spans in asinh(e): [P]."""
    place = np.arcsinh(e)
    return np.asarray(np.where(kept, place, -np.inf).max(axis=1) - np.where(kept, place, np.inf).min(axis=1))


def _laws(target: Target, gamma: Array, kappa: Array, output: Array) -> Laws:
    """At every kappa the law of the label less the output, without noise."""
    noisy = noisy_indices(gamma, target.probit)
    label, weight, t = _labels(target, gamma, noisy, kappa)
    along = (t @ noisy.carry.T).swapaxes(1, 2)
    both = along[:, :, None] * along[:, None] + noisy.rest[:, :, None] * bool(target.probit)
    rows = np.concatenate([np.ones((len(t), 1, t.shape[1])), along, both.reshape(len(t), -1, t.shape[1])], axis=1)
    laws = Laws(label, weight[:, None] * rows).drawn(target)
    return Laws(laws.e - output[:, None], laws.rows)


def _labels(target: Target, gamma: Array, noisy: NoisyIndices, kappa: Array) -> tuple[Array, Array, Array]:
    """At every kappa labels, weights [P, N] and t' [P, N, m] of the indices with noise, z' = gamma kappa + L' t'."""
    base = kappa @ gamma
    if target.indices == 1:
        weight, t = _panels(turns_of_target(target), base[:, 0], float(noisy.lower[0, 0]))
    elif has_kinks(target.link):
        weight, t = nodes_given_kappa(target.link, gamma, noisy.lower, kappa, 1, False, "poles")
    else:
        points = np.linspace(-_REACH, _REACH, _POINTS)
        density = np.exp(-0.5 * points**2)
        nodes, weights = products([(points, density / density.sum())] * target.indices)
        weight, t = (np.broadcast_to(each, (len(kappa), *each.shape)) for each in (weights, nodes))
    z = base[:, None] + t @ noisy.lower.T
    return link_values(target.link)(np.moveaxis(z, 2, 0)), weight, t


def _panels(turns: list[float], shifts: Array, spread: float) -> tuple[Array, Array]:
    """Weights [P, N] and nodes t [P, N, 1] of the panels that resolve a link at shift + spread t."""
    even = np.broadcast_to(evenly_cut(_OUTERMOST, 1.0, ()), (len(shifts), round(2.0 * _OUTERMOST) + 1))
    turning = (np.array(turns) - shifts[:, None]) / spread if spread > 0.0 else np.empty((len(shifts), 0))
    edges = np.sort(np.concatenate([even, np.clip(turning, -_OUTERMOST, _OUTERMOST)], axis=1), axis=1)
    t, weight = normal_between(edges[:, :-1], edges[:, 1:], ORDER)
    weight = weight.reshape(len(shifts), -1)
    return weight / weight.sum(axis=1, keepdims=True), t.reshape(len(shifts), -1, 1)


def _on_few(laws: Laws, noise: float, resolved: tuple[int, float]) -> Laws:
    """The laws on a count of nodes, of residuals in a unit, with noise then."""
    count, unit = resolved
    if noise == 0.0:
        return on_few_nodes(laws, count, (0.0, unit))
    points, probability = roots_hermitenorm(count)
    some = on_few_nodes(laws, 2 * count, (0.0, unit)).plus(math.sqrt(noise) * points, probability / probability.sum())
    return on_few_nodes(some, count, (0.0, unit))
