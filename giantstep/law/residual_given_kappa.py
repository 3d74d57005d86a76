"""The law of the residual of a later step given the coordinates kappa along the spike, at a few nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import ResidualLaw, normal_on_panels, on_few_nodes, turns_of
from giantstep.quadrature.gauss import products
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_NEGLIGIBLE = 1e-18  # share of the squared residuals that is left out
_WIDE, _FEWEST = 4.4, 8  # width of a law in asinh(e) that has as many nodes as asked; the least number of them
_POINTS, _REACH = 72, 8.5  # along each index of a link without kinks; where they end


def residuals_given(
    target: Target, overlaps: Rows, kappa: Array, output: Array, shares: Array, count: int
) -> list[ResidualLaw]:
    """The law of y - output at every kappa [N, q], at ``count`` nodes or fewer; its t are those of the rest of the
    target, of which theta_i = sum_j gamma_ji v_j + sum_l L_il t_l. output: of the network there, [N]; shares [N]:
    weights of kappa.
    """
    noisy = noisy_indices(np.array(overlaps), target.probit)
    laws = []
    for (label, weight, t), mean in zip(_labels(target, np.array(overlaps), noisy, kappa), output, strict=True):
        along = noisy.carry @ t.T
        both = np.einsum("in,jn->ijn", along, along) + noisy.rest[:, :, None] * bool(target.probit)
        law = ResidualLaw(label, weight, weight * along, weight * both).flipped(target.flips)
        laws.append(law.at(law.e - mean, law.rows))
    # what is averaged has its poles about zero, wherever kappa is
    unit = math.sqrt(sum(share * law.square for share, law in zip(shares, laws, strict=True)))
    return [_on_few(law, share, target.noise, (count, unit)) for share, law in zip(shares, laws, strict=True)]


def _labels(target: Target, gamma: Array, noisy: NoisyIndices, kappa: Array) -> Iterator[tuple[Array, Array, Array]]:
    """At every kappa labels [J], weights [J] and t' [J, m] of the indices with noise, z' = gamma kappa + L' t'."""
    base, values = kappa @ gamma, link_values(target.link)
    if target.indices == 1:
        spread = float(noisy.lower[0, 0])
        for (shift,) in base:
            cuts = [(turn - shift) / spread for turn in turns_of(target.link)] if spread > 0.0 else []
            t, weight = normal_on_panels(cuts, 1.0)
            yield values((shift + spread * t)[None]), weight, t[:, None]
        return
    if has_kinks(target.link):
        weights, places = nodes_given_kappa(target.link, gamma, noisy.lower, kappa, 1, False, True)
    else:
        points = np.linspace(-_REACH, _REACH, _POINTS)
        density = np.exp(-0.5 * points**2)
        t, weight = products([(points, density / density.sum())] * target.indices)
        weights, places = (np.broadcast_to(each, (len(kappa), *each.shape)) for each in (weight, t))
    for z, weight, t in zip(base, weights, places, strict=True):
        yield values((z + t @ noisy.lower.T).T), weight, t


def _on_few(law: ResidualLaw, share: float, noise: float, resolved: tuple[int, float]) -> ResidualLaw:
    """The law on nodes as many as its width asks for, residuals with noise then; resolved: by how many where it is
    ``_WIDE``, in which unit.
    """
    count, unit = resolved
    kept = share * np.abs(law.weight) * (1.0 + (law.e / unit) ** 2) > _NEGLIGIBLE
    law = law.at(law.e[kept], law.rows[:, kept]) if kept.any() else law
    count = max(_FEWEST, math.ceil(count * np.ptp(np.arcsinh(law.e / unit)) / _WIDE))
    if noise == 0.0:
        return on_few_nodes(law, count, (0.0, unit))
    some, (points, probability) = on_few_nodes(law, 2 * count, (0.0, unit)), roots_hermitenorm(count)
    e = np.add.outer(some.e, math.sqrt(noise) * points).ravel()
    return on_few_nodes(some.at(e, np.kron(some.rows, probability / probability.sum())), count, (0.0, unit))
