"""Gauss rules for averages over a density of readout values.

Features change with u on the scale on which the spike moves a neuron, and the more slowly the larger |u| is. The rule
is the one that is exact for polynomials in v = arsinh(u/scale), whatever the density, jumps and kinks too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.spec.readout_density import Density, density_of

Array = NDArray[np.float64]
_NEWTON = 3
_FINER = 0.6  # of that scale: by measurement a rule converges fastest, to 1e-10 with 16 to 20 nodes for most densities
_KEPT_BITS = 2.0**44  # of a node: the last ones depend on the linear algebra library


@lru_cache(maxsize=256)
def density_rule(text: str, count: int, scale: float) -> tuple[Array, Array]:
    """Nodes u and weights [count], of sum one, of the Gauss rule of a density in arsinh(u/scale); read-only.

    Those of an even density come in pairs u, -u. A density on fewer points than asked for gives these.
    """
    density = density_of(text)
    v = np.arcsinh(density.u / scale)
    middle, spread = (0.0 if density.symmetric else 0.5 * float(v[0] + v[-1])), float(np.abs(v).max())
    x = (v - middle) / spread
    diagonal, beside = _recurrence(x, density.weight, min(count, len(x) // 2))
    if density.symmetric:
        diagonal = np.zeros_like(diagonal)
    nodes, weights = _gauss(diagonal, beside)
    u = np.asarray(scale * np.sinh(middle + spread * nodes))
    if density.symmetric:
        u, weights = 0.5 * (u - u[::-1]), 0.5 * (weights + weights[::-1])
    weights = weights / weights.sum()
    u.flags.writeable = weights.flags.writeable = False
    return u, weights


def scale_of(density: Density, strength: float, wider: float) -> float:
    """The scale in u of features with the strength u r of their spike and bulk variance of the order 1 + u^2 wider, a
    power of two: rules are few then, and made once.
    """
    reach = float(np.abs(density.u).max())
    smallest = 1.0 / np.sqrt(strength**2 + max(wider, 0.0) + reach**-2)
    return float(2.0 ** np.round(np.log2(_FINER * smallest)))


def _recurrence(x: Array, weight: Array, count: int) -> tuple[Array, Array]:
    """Coefficients (a [count], b [count]) of x p_k = b_k p_(k+1) + a_k p_k + b_(k-1) p_(k-1), p_k orthonormal.

    By Stieltjes' procedure, with all earlier polynomials projected out once more against rounding.
    """
    rows = [np.full_like(x, 1.0 / np.sqrt(weight.sum()))]
    diagonal, beside = np.zeros(count), np.zeros(count)
    for k in range(count):
        last = rows[-1]
        diagonal[k] = (weight * x * last * last).sum()
        rest = x * last
        for _ in range(2):
            for row in rows:
                rest = rest - row * (weight * row * rest).sum()
        beside[k] = np.sqrt((weight * rest * rest).sum())
        rows.append(rest / beside[k])
    return diagonal, beside


def _gauss(diagonal: Array, beside: Array) -> tuple[Array, Array]:
    """Zeros of p_n, and the weights of the rule."""
    inner = beside[:-1]
    matrix = np.diag(diagonal) + np.diag(inner, 1) + np.diag(inner, -1)
    nodes = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
    for _ in range(_NEWTON):
        values, slopes = _polynomials(nodes, diagonal, beside)
        nodes = nodes - values / slopes
    nodes = np.round(nodes * _KEPT_BITS) / _KEPT_BITS
    return nodes, _weights(nodes, diagonal, inner)


def _weights(nodes: Array, diagonal: Array, inner: Array) -> Array:
    """Squares of the first components of the eigenvectors of the recurrence, of length one, at its eigenvalues.

    Each vector is begun where it is large, in the middle of two eliminations: where p_k falls with k the recurrence
    itself, which knows what grows, loses it.
    """
    count = len(diagonal)
    own = diagonal[:, None] - nodes
    down, up = own.copy(), own.copy()
    for i in range(1, count):
        down[i] -= inner[i - 1] ** 2 / _not_zero(down[i - 1])
        up[-1 - i] -= inner[-i] ** 2 / _not_zero(up[-i])
    start = np.argmin(np.abs(down + up - own), axis=0)
    vectors, places = np.zeros_like(own), np.arange(count)
    vectors[start, places] = 1.0
    for i in range(count - 1):
        before, after = vectors[count - 1 - i], vectors[i]
        ahead = -inner[count - 2 - i] * before / _not_zero(down[count - 2 - i])
        vectors[count - 2 - i] = np.where(start > count - 2 - i, ahead, vectors[count - 2 - i])
        behind = -inner[i] * after / _not_zero(up[i + 1])
        vectors[i + 1] = np.where(start <= i, behind, vectors[i + 1])
    return np.asarray(vectors[0] ** 2 / (vectors**2).sum(axis=0))


def _not_zero(pivot: Array) -> Array:
    return np.where(pivot == 0.0, 1e-300, pivot)


def _polynomials(x: Array, diagonal: Array, beside: Array) -> tuple[Array, Array]:
    """(p_n, its slope) at points."""
    before, value = np.zeros_like(x), np.ones_like(x)
    slope_before, slope = np.zeros_like(x), np.zeros_like(x)
    for k in range(len(diagonal)):
        down = beside[k - 1] if k else 0.0
        following = ((x - diagonal[k]) * value - down * before) / beside[k]
        slope_following = (value + (x - diagonal[k]) * slope - down * slope_before) / beside[k]
        before, value, slope_before, slope = value, following, slope, slope_following
    return value, slope
