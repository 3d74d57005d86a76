"""Panels in kappa on which the coefficients of all terms are resolved, graded towards steep places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.polynomial import polyval

from giantstep.quadrature.gauss import legendre, legendre_coefficients
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients, function_kernel

ORDERS = (12, 16)  # nodes a panel: the answer uses the second, their difference is the error estimate
_REACH = 9.0
_FARTHEST = 38.0
_MOST_PANELS = 4000
_NEGLIGIBLE = 1e-19  # of the largest square: what may be left out
_FLOOR = 1e-6  # a coefficient this much smaller than the function need not be resolved relative to itself
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)

Array = np.ndarray
Parity = str  # "odd", "even" or "none"


@dataclass(frozen=True)
class Term:
    """A function of kappa: coefficients of ``function`` at shift ``scale*kappa + offset`` and variance ``variance``."""

    function: str
    scale: float
    offset: float
    variance: float
    polynomial: tuple[float, ...] | None = None

    def coefficients(self, kappa: Array) -> Array:
        """mu0, mu1, mu2^2 at points of kappa, [3, N]; a ``polynomial`` (lowest power first) takes the place of mu0."""
        found = coefficients(self.function, self.scale * kappa + self.offset, self.variance)
        if self.polynomial is not None:
            found[0] = polyval(kappa, self.polynomial)
        return found

    @property
    def parity(self) -> Parity:
        """Of mu0 in kappa, where mu1 has the other one and mu2^2 is even."""
        if self.polynomial is not None:  # of a scale of zero: mu1 and mu2 are constant
            return "none" if any(self.polynomial[::2]) else "odd"
        parity: Parity = function_kernel(self.function).PARITY
        return parity if self.offset == 0.0 else "none"


@dataclass(frozen=True)
class Spacing:
    """How wide panels are, for the rules that are used on them.

    widest: where nothing else asks for less; it grows beyond kappa = 2, where the weight falls, by a share ``growing``
    of the way. Beside a steep place: so many of its widths ``inside``, shares of the distance when ``approaching`` and
    when ``leaving`` it. resolved: the last Legendre coefficients of a panel at the first of ``orders``.
    """

    widest: float
    growing: float
    inside: float
    approaching: float
    leaving: float
    resolved: float
    orders: tuple[int, ...]


#: The Gaussian weight itself is right to 1e-10 with 7 nodes; products integrate to the square of what 12 resolve.
NARROW = Spacing(1.9, 0.0, 1.5, 0.45, 0.8, 1e-8, ORDERS[:1])
#: For rules of both ``ORDERS``, which check each other.
WIDE = Spacing(2.5, 0.3, 2.0, 0.6, 1.0, 1e-5, ORDERS)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Edges [P + 1] of panels; the nodes [P, n] of all orders of their spacing, sorted, and there the coefficients
    [T, 3, P, n] of the terms.
    """

    terms: tuple[Term, ...]
    spacing: Spacing
    edges: Array
    kappa: Array
    values: Array

    def places(self, order: int) -> Array:
        """Which of the nodes of a panel are those of an order."""
        return _nodes(self.spacing.orders)[1][order]

    def halved(self, chosen: Array) -> Mesh:
        """The mesh with some panels cut in two; of the others the coefficients are known."""
        edges = np.sort(np.concatenate([self.edges, 0.5 * (self.edges[:-1] + self.edges[1:])[chosen]]))
        pieces = np.where(chosen, 2, 1)
        new = np.repeat(chosen, pieces)
        kappa, values = _inside(edges, self.spacing), np.repeat(self.values, pieces, axis=2)
        places = kappa[new]
        for known, term in zip(values, self.terms, strict=True):
            known[:, new] = term.coefficients(places.ravel()).reshape(3, *places.shape)
        return Mesh(self.terms, self.spacing, edges, kappa, values)

    def unresolved(self) -> Array:
        """Which panels have a Legendre tail above the tolerance, relative to the scale of each coefficient."""
        order, edges = self.spacing.orders[0], self.edges
        place = self.places(order)
        kappa, values = self.kappa[:, place], self.values[..., place]
        nearest = np.minimum(np.abs(edges[:-1]), np.abs(edges[1:])) * (edges[:-1] * edges[1:] > 0.0)
        scale = np.sqrt((np.exp(-0.5 * kappa**2) * values**2).max(axis=(2, 3)))
        size = np.sqrt(scale[:, 0] ** 2 + scale[:, 1] ** 2 + scale[:, 2])
        scale = np.maximum(scale, _FLOOR * np.stack([size, size, size**2], axis=1))
        tail = np.abs(values @ legendre_coefficients(order)[-2:].T).max(axis=3) * np.exp(-0.25 * nearest**2)
        bad = (tail > self.spacing.resolved * np.maximum(scale, 1e-290)[..., None]).any(axis=(0, 1))
        return np.asarray(bad & (np.diff(edges) > 1e-13))


@lru_cache(maxsize=128)
def meshes(terms: tuple[Term, ...], spacing: Spacing = NARROW) -> Mesh:
    """Panels on which every coefficient is resolved, out to where the Gaussian weight makes the rest negligible."""
    mesh = _first(terms, spacing)
    for _ in range(40):
        bad = mesh.unresolved()
        if not bad.any():
            return mesh
        mesh = mesh.halved(bad)
        if len(mesh.edges) > _MOST_PANELS:
            break
    raise NotConverged(
        f"the coefficients are not resolved in kappa by {_MOST_PANELS} panels",
        "an activation or link varies too sharply; soften it, or lower the spike strength",
    )


def _first(terms: tuple[Term, ...], spacing: Spacing) -> Mesh:
    """Panels as wide as the steep places of the terms allow, to where the weight makes the rest negligible."""
    for reach in np.arange(_REACH + 2.0, _FARTHEST, 2.0).tolist():  # what does not grow is nothing at the first
        edges = initial_mesh(terms, reach, spacing)
        kappa = _inside(edges, spacing)
        places = np.concatenate([edges[:1], kappa.ravel(), edges[-1:]])
        values = np.array([term.coefficients(places) for term in terms])
        with np.errstate(over="ignore"):
            squares = values[:, 0] ** 2 + values[:, 1] ** 2 + values[:, 2]
        ends = np.maximum(squares[:, 0], squares[:, -1]).max()
        peak = squares[:, np.abs(places) <= 3.0].max()
        if _negligible(ends, peak, reach):
            inside = values[:, :, 1:-1].reshape(len(terms), 3, *kappa.shape)
            return Mesh(terms, spacing, edges, kappa, inside)
    raise _too_fast()


def reach_of(terms: tuple[Term, ...]) -> float:
    """Where the weight times the squares of all terms has fallen below rounding."""
    candidates = np.arange(_REACH, _FARTHEST, 2.0)
    for reaches in (candidates[:2], *candidates[2:, None]):  # where nothing grows the second is enough
        count = len(reaches)
        places = np.concatenate([-reaches, np.linspace(-3.0, 3.0, 13), reaches])
        squares = np.array([_squares(term, places) for term in terms])
        peak = squares[:, count:-count].max()
        ends = np.maximum(squares[:, :count], squares[:, -count:]).max(axis=0)
        enough = _negligible(ends, peak, reaches)
        if enough.any():
            return float(reaches[np.argmax(enough)])
    raise _too_fast()


def _negligible(ends: Array, peak: float, reach: Array | float) -> Array:
    """Whether what lies beyond a reach is, by the squares there and their peak about zero."""
    return np.asarray(np.exp(-0.5 * np.square(reach)) * ends <= _NEGLIGIBLE * max(peak, 1e-300))


def _too_fast() -> NotConverged:
    return NotConverged(
        "the features or the target grow so fast in kappa that their second moment does not exist or overflows",
        "lower the spike strength or the learning rate, or use a function that grows more slowly",
    )


def _squares(term: Term, kappa: Array) -> Array:
    mu0, mu1, mu2sq = term.coefficients(kappa)
    with np.errstate(over="ignore"):
        result: Array = mu0**2 + mu1**2 + mu2sq
    return result


# --- the first panels ------------------------------------------------------------------------------------------------


def steep_places(term: Term) -> list[tuple[float, float]]:
    """(centre, width) in kappa where a term varies: breakpoints and the origin of its function, blurred by variance."""
    if term.scale == 0.0:
        return []
    width = math.sqrt(term.variance) / abs(term.scale)
    kernel = function_kernel(term.function)
    hard = [((b - term.offset) / term.scale, width) for b in kernel.BREAKPOINTS]
    # a smooth function varies on a scale of one around its origin
    return [*hard, (-term.offset / term.scale, math.hypot(width, 1.0 / abs(term.scale)))]


def initial_mesh(terms: Sequence[Term], reach: float, spacing: Spacing = NARROW) -> Array:
    """Panels no wider than the local scale, with edges on every unblurred breakpoint.

    Each half is walked from the origin, so that a symmetric problem has a symmetric mesh.
    """
    places = [(c, w) for term in dict.fromkeys(terms) for c, w in steep_places(term) if abs(c) < reach + 8.0 * w]
    fixed = {c for c, w in places if abs(c) < reach and w < 1e-9}
    blurred = sorted({(c, w) for c, w in places if w >= 1e-9})
    right = _half(sorted({c for c in fixed if c > 0.0} | {0.0, reach}), blurred, spacing)
    turned = sorted((-c, w) for c, w in blurred)
    left = right
    if turned != blurred or fixed != {-c for c in fixed}:
        left = _half(sorted({-c for c in fixed if c < 0.0} | {0.0, reach}), turned, spacing)
    return np.array([*(-edge for edge in reversed(left[1:])), *right])


def _half(fixed: Sequence[float], places: Sequence[tuple[float, float]], spacing: Spacing) -> list[float]:
    edges: list[float] = []
    for left, right in zip(fixed[:-1], fixed[1:], strict=True):
        edges += _walk(left, right, places, spacing)
    return [*edges, fixed[-1]]


def _walk(left: float, right: float, places: Sequence[tuple[float, float]], spacing: Spacing) -> list[float]:
    """Edges from left (included) to right (not), each step as wide as the local scale allows.

    A step ends no deeper in a steep place than its length: some widths inside, growing outside.
    """
    edges, x = [left], left
    inside, approaching, leaving = spacing.inside, spacing.approaching, spacing.leaving
    while True:
        step = spacing.widest + spacing.growing * max(0.0, x - 2.0)
        for centre, width in places:
            away = approaching * (centre - x) if x < centre else leaving * (x - centre)  # the far end counts
            step = min(step, max(inside * width, away))
        if x + 1.4 * step >= right:
            return edges
        x += step
        edges.append(x)


# --- nodes -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _nodes(orders: tuple[int, ...]) -> tuple[Array, dict[int, Array]]:
    """The Legendre nodes of several orders on (-1, 1), sorted; which of them are those of each."""
    points = np.concatenate([legendre(order)[0] for order in orders])
    place = np.argsort(points)
    owner = np.repeat(orders, orders)[place]
    return points[place], {order: np.flatnonzero(owner == order) for order in orders}


def _inside(edges: Array, spacing: Spacing) -> Array:
    """The nodes [P, n] of panels."""
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    return np.asarray(middle[:, None] + half[:, None] * _nodes(spacing.orders)[0])


def nodes(edges: Array, order: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights times the standard normal density."""
    points, _ = legendre(order)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    kappa = (middle + half * points).ravel()
    return kappa, weights_at(edges, kappa, order)


def weights_at(edges: Array, kappa: Array, order: int) -> Array:
    """Gauss-Legendre weights times the standard normal density at the nodes of panels."""
    weights = (0.5 * np.diff(edges)[:, None] * legendre(order)[1]).ravel()
    return np.asarray(weights * np.exp(-0.5 * kappa * kappa) / _ROOT_TWO_PI)
