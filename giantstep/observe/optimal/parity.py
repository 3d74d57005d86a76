"""What a product of the signs of several indices tells, and its variance, where all are known alike: by closed forms.

Given kappa the signs are independent: with a = gamma kappa/width, s = erf(a/sqrt(2)) the mean of a sign and S the
product of all, labels +-1 that are flipped with probability e have P(y) = (1 + (1 - 2e) y S)/2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.observe.optimal.fineness import KAPPA, Fineness
from giantstep.quadrature.gauss import normal_nodes
from giantstep.spec.expressions import special
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.probes import places

Array = np.ndarray
_MOST = 3  # indices: nodes of all kappa together
_REACH, _ORDER, _STEP = 7.5, 10, 1.5  # of kappa: nodes of a panel and its width
_AROUND = np.array([0.0, 1.0, 2.5, 5.0, 9.0])  # ends of panels, in the width of t
_FAR = 30.0  # a beyond which signs are known


@lru_cache(maxsize=64)
def size_of(target: Target) -> float | None:
    """The size of a label that is a product of the signs of two or three indices, flipped or not; None for others."""
    random = target.noise > 0.0 or target.channel is not None
    if random or not 1 < target.indices <= _MOST:
        return None
    z = places(target.indices)
    found = link_values(target.link)(z) * np.sign(z).prod(axis=0)
    return abs(float(found[0])) if np.ptp(found) == 0.0 and found[0] != 0.0 else None


def told_by_parity(target: Target, q: float, fineness: Fineness) -> float:
    """E[E[t|y]^2] of each index for the overlap q."""
    rest = (1.0 - math.sqrt(q)) * (1.0 + math.sqrt(q))
    width, kept = math.sqrt(rest + target.probit), 1.0 - 2.0 * target.flips
    if q == 0.0:
        return 0.0
    kappa, weight = _nodes(width / math.sqrt(q), fineness)
    a = np.minimum(math.sqrt(q) * kappa / width, _FAR)
    uncertain = np.where(a < 1.0, 2.0 * np.log(special.erf(a / math.sqrt(2.0))), _log_of_far(a))  # log s^2
    bell = 2.0 / math.pi * np.exp(-a * a)  # 4 phi(a)^2
    others, share = np.zeros(1), np.ones(1)
    for _ in range(target.indices - 1):
        others = np.add.outer(others, uncertain).ravel()
        share = np.multiply.outer(share, weight).ravel()
    known = np.exp(others)[:, None] / -np.expm1(2.0 * math.log(kept) + others[:, None] + uncertain)
    return float(rest / (rest + target.probit) * kept**2 * (share @ known @ (weight * bell)))


def error_by_parity(target: Target, q: float, by_sign: bool) -> float:
    """E Var(f_* | kappa), or where predictions are signs the least P(f_* f < 0), without flips and noise of indices."""
    size, m = size_of(target), target.indices
    assert size is not None
    if by_sign:
        return 0.5 * (1.0 - (1.0 - 2.0 / math.pi * math.acos(math.sqrt(q))) ** m)
    return size**2 * (1.0 - (2.0 / math.pi * math.asin(q)) ** m)


def _log_of_far(a: Array) -> Array:
    """log s^2 without loss for large a; where a is not, a number."""
    a = np.maximum(a, 1.0)
    found: Array = np.log1p(-4.0 * special.ndtr(a) * special.ndtr(-a))
    return found


def _nodes(scale: float, fineness: Fineness) -> tuple[Array, Array]:
    """Nodes of |kappa| and weights, for functions of kappa/scale."""
    near = _AROUND[1:] * scale
    edges = np.unique(np.concatenate([np.arange(0.0, _REACH + 0.1, _STEP), near[near < _REACH]]))
    kappa, weight = normal_nodes(edges, round(_ORDER * fineness.kappa / KAPPA))
    return kappa, 2.0 * weight
