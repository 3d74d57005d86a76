"""The law of the residual of the gradient step at a few nodes, for targets of one index and of several."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.directions import noisy_indices
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import ORDER, Panels, ResidualLaw, on_few_nodes, residual_law
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
_LEVELS, _SETTLED = 9, 1e-12
_OF_SEVERAL, _NEARLY = 12, 1e-10  # the same for several indices, where nodes without weight are left out by millions
_APART = (0.3, 1.0, 3.0)  # distances of poles from the law's mean, in standard deviations
_FIRST, _GROWTH, _REACH = 24, 1.5, 8.5  # points along each index of a link without kinks; where they end
_MOST, _OF_THREE = 2_500_000, 600_000  # points of two indices together; of more, whose rest is slow and seldom settles
_PANELS = 64  # in e, that many points are gathered on


@lru_cache(maxsize=64)
def residual_nodes(target: Target, mean: float, count: int) -> ResidualLaw:
    """The law of a sample's residual at ``count`` nodes or fewer. Raises NotConverged.

    mean: the network's output at initialisation. Every average is one of a function of the residual that is analytic
    about the axis.
    """
    clean = _settled(replace(target, noise=0.0), mean)
    if target.noise == 0.0:
        return on_few_nodes(clean, count)
    some, (noise, probability) = on_few_nodes(clean, 2 * count), roots_hermitenorm(count)
    e = np.add.outer(some.e, math.sqrt(target.noise) * noise).ravel()
    return on_few_nodes(some.at(e, np.kron(some.rows, probability / probability.sum())), count)


@lru_cache(maxsize=16)
def _settled(target: Target, mean: float) -> ResidualLaw:
    """The law of a label without noise at as many nodes as its averages need."""
    poles: Array | None = None
    previous: Array | None = None
    levels, settled = (_LEVELS, _SETTLED) if target.indices == 1 else (_OF_SEVERAL, _NEARLY)
    for level in range(levels):
        law = _at_level(target, mean, level)
        if law is None:
            break
        if poles is None:
            spread = math.sqrt(max(law.square - float(law.weight @ law.e) ** 2, 1e-300))
            poles = float(law.weight @ law.e) + 1j * spread * np.array(_APART)
        found = law.rows @ (poles.imag / (law.e[:, None] - poles))
        if previous is not None and np.max(np.abs(found - previous)) < settled:
            return law
        previous = found
    smooth = target.indices > 1 and not has_kinks(target.link)
    softer = "take a link that varies less" if smooth else "soften the link"
    raise NotConverged(
        f"the law of the step's residual does not settle for the link {target.link!r}",
        f'{softer}{", take fewer indices" * (target.indices > 2)}, or use step.bulk = "isotropic"',
    )


def _at_level(target: Target, mean: float, level: int) -> ResidualLaw | None:
    """Nodes at a level of refinement; None where there are too many of them."""
    if target.indices == 1:
        return residual_law(target, mean, level)
    noisy = noisy_indices(np.zeros((1, target.indices)), target.probit)
    found = _points(target, noisy.lower, level)
    if found is None:
        return None
    weight, t = found
    label = link_values(target.link)(noisy.lower @ t.T)
    along = noisy.carry @ t.T
    both = np.einsum("in,jn->ijn", along, along) + noisy.rest[:, :, None] * bool(target.probit)
    law = ResidualLaw(label, weight, weight * along, weight * both).drawn(target)
    return _gathered(law.at(law.e - mean, law.rows))


def _points(target: Target, lower: Array, level: int) -> tuple[Array, Array] | None:
    """Weights [N] and standard normal points t [N, m] for indices z = L t; None where there are too many of them."""
    m = target.indices
    if has_kinks(target.link):
        none = np.zeros((1, m))
        try:
            weight, t = nodes_given_kappa(target.link, none, lower, np.zeros((1, 1)), level, False, "poles")
        except NotConverged:
            return None
        return weight[0] / weight[0].sum(), t[0]
    count = int(_FIRST * _GROWTH**level)
    if count**m > (_MOST if m == 2 else _OF_THREE):
        return None
    points = np.linspace(-_REACH, _REACH, count)  # the trapezoidal rule: best for what is analytic about the axis
    t = np.stack(np.meshgrid(*[points] * m, indexing="ij"), axis=-1).reshape(-1, m)
    weight = np.exp(-0.5 * (t**2).sum(axis=1))
    return weight / weight.sum(), t


def _gathered(law: ResidualLaw) -> ResidualLaw:
    """Many points brought to panels in asinh(e) by polynomial interpolation: averages are of what these resolve."""
    if len(law.e) <= _PANELS * ORDER:
        return law
    center = float(law.weight @ law.e)
    spread = math.sqrt(max(law.square - center**2, 1e-300))
    u = np.arcsinh((law.e - center) / spread)
    panels = Panels(float(u.min()), float(u.max()), _PANELS)
    return law.at(center + spread * np.sinh(panels.nodes), panels.gathered(u, law.rows))
