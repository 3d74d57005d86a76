"""Gauss rules for averages over a density of readout values.

Features change with u on the scale on which the spike moves a neuron, and the more slowly the further u is from the
value at which a neuron has the least variance. The rule is the one that is exact for polynomials in
v = arsinh((u - centre)/scale), whatever the density, jumps and kinks too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.spec.readout_density import Density, density_of, points_between

Array = NDArray[np.float64]
_NEWTON = 3
_PANELS = 32  # of the points of rules of as many nodes; twice as many for up to twice as many nodes
_BEYOND = 1e-9  # what panels reach beyond the last points of a density
_LEAST = 1e-2  # of the drift, which a spread counts for at least
_FINER = 0.6  # of that scale: by measurement a rule converges fastest, to 1e-10 with 16 to 20 nodes for most densities
_KEPT_BITS = 2.0**44  # of a node: the last ones depend on the linear algebra library


@dataclass(frozen=True)
class Along:
    """The variable v = arsinh((u - centre)/scale)."""

    centre: float
    scale: float

    def v(self, u: Array) -> Array:
        """At values of u."""
        return np.asarray(np.arcsinh((u - self.centre) / self.scale))

    def u(self, v: Array) -> Array:
        """At values of v."""
        return np.asarray(self.centre + self.scale * np.sinh(v))


@lru_cache(maxsize=256)
def density_rule(text: str, count: int, along: Along) -> tuple[Array, Array]:
    """Nodes u and weights [count], of sum one, of the Gauss rule of a density in v; read-only.

    Those of an even density come in pairs u, -u, where the centre is zero. A density on fewer points than asked for
    gives these.
    """
    even = density_of(text).symmetric and along.centre == 0.0
    points, weight = _points(text, along, _PANELS << max(0, (count - 1) // _PANELS).bit_length())
    v = along.v(points)
    middle = 0.0 if even else 0.5 * float(v[0] + v[-1])
    spread = float(np.abs(v - middle).max())
    diagonal, beside = _recurrence((v - middle) / spread, weight, min(count, len(v) // 2))
    if even:
        diagonal = np.zeros_like(diagonal)
    nodes, weights = _gauss(diagonal, beside)
    u = along.u(middle + spread * nodes)
    if even:
        u, weights = 0.5 * (u - u[::-1]), 0.5 * (weights + weights[::-1])
    weights = weights / weights.sum()
    u.flags.writeable = weights.flags.writeable = False
    return u, weights


@lru_cache(maxsize=64)
def _points(text: str, along: Along, panels: int) -> tuple[Array, Array]:
    """Points and weights of a density on panels of one width in v, and where they need that on narrower ones."""
    ends = along.v(density_of(text).u[[0, -1]] + np.array([-1.0, 1.0]) * _BEYOND)
    edges = along.u(np.linspace(ends[0], ends[1], panels + 1))
    return points_between(text, np.union1d(edges, [0.0]))


def along_features(density: Density, strength: float, drift: float, spread: float) -> Along:
    """The variable for features whose spike has the strength u r, of the bulk variance (1 + u drift)^2 + u^2 spread.

    They turn next to zero, where the spike moves them, and next to the complex zeros of the bulk variance: the centre
    is the one that is the flatter seen from the other. Scales are powers of two: rules are few then, and made once.
    """
    reach = float(np.abs(density.u).max())
    moving, square, centre = strength**2 + reach**-2, drift**2 + spread, 0.0
    narrowest = 1.0 / math.sqrt(moving + square)
    if drift**2 > spread and square > strength * math.sqrt(spread) and density.u[0] < -drift / square < density.u[-1]:
        centre = -drift / square
        narrowest = 1.0 / math.sqrt(moving + square**2 / max(spread, (_LEAST * drift) ** 2))
    return Along(centre, 2.0 ** round(math.log2(_FINER * narrowest)))


def _recurrence(x: Array, weight: Array, count: int) -> tuple[Array, Array]:
    """Coefficients (a [count], b [count]) of x p_k = b_k p_(k+1) + a_k p_k + b_(k-1) p_(k-1), p_k orthonormal.

    By Stieltjes' procedure, with all earlier polynomials projected out once more against rounding.
    """
    rows = np.empty((count + 1, len(x)))
    rows[0] = 1.0 / np.sqrt(weight.sum())
    diagonal, beside = np.zeros(count), np.zeros(count)
    for k in range(count):
        last, known = rows[k], rows[: k + 1]
        diagonal[k] = (weight * x * last * last).sum()
        rest = x * last
        for _ in range(2):
            rest = rest - np.einsum("kn,k->n", known, np.einsum("kn,n->k", known, weight * rest))
        beside[k] = np.sqrt((weight * rest * rest).sum())
        rows[k + 1] = rest / beside[k]
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
