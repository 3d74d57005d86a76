"""Panels in kappa on which the coefficients of all terms are resolved, graded towards steep places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial.polynomial import polyval

from generated.runtime.survey import survey
from giantstep.quadrature.gauss import legendre, legendre_coefficients
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients, function_kernel

ORDERS = (12, 16)  # nodes a panel: the answer uses the second, their difference is the error estimate
_REACH = 9.0
_FARTHEST = 38.0
_MOST_PANELS = 4000
NEGLIGIBLE = 1e-19  # of the largest square: what may be left out
_FLOOR = 1e-6  # a coefficient this much smaller than the function need not be resolved relative to itself
_NARROW = 0.2  # width of a feature that the first panels may step over
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
        found = coefficients(self.function, self.scale * kappa + self.offset, self.variance, self.offset)
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

    reach: where they end if nothing grows. widest: where nothing else asks for less; it grows beyond kappa = 2, where
    the weight falls, by a share ``growing`` of the way. Beside a steep place: so many of its widths ``inside``, shares
    of the distance when ``approaching`` and when ``leaving`` it. resolved: the last Legendre coefficients of a panel at
    the first of ``orders``.
    """

    reach: float

    widest: float
    growing: float
    inside: float
    approaching: float
    leaving: float
    resolved: float
    orders: tuple[int, ...]


#: The Gaussian weight itself is right to 1e-10 with 7 nodes; products integrate to the square of what 12 resolve.
NARROW = Spacing(11.0, 1.9, 0.0, 1.5, 0.45, 0.8, 1e-8, ORDERS[:1])
#: For rules of both ``ORDERS``, which check each other.
WIDE = Spacing(10.0, 2.5, 0.5, 2.0, 0.6, 1.0, 1e-5, ORDERS)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Edges [P + 1] of panels, and at the sorted nodes of all orders of their spacing, n of a panel, the rows
    [2 + 3T, P, n]: kappa, weight, and mu0, mu1, mu2^2 of each of the terms; ends [3T, 2]: the same at the two ends.
    """

    terms: tuple[Term, ...]
    spacing: Spacing
    edges: Array
    rows: Array
    ends: Array

    @cached_property
    def symmetric(self) -> bool:
        """Whether panels and nodes are their own mirror images."""
        return bool((self.edges == -self.edges[::-1]).all())

    @cached_property
    def halves(self) -> bool:
        """Whether label and features are odd together, or even: every average of the square loss is then one of an even
        function.
        """
        parities = {term.parity for term in self.terms}
        return len(parities) == 1 and "none" not in parities and self.symmetric

    def columns(self, chosen: Sequence[Term], order: int, half: bool = False) -> Array:
        """kappa and weight at the nodes of an order, mu0, mu1 and mu2^2 of the first term, and of all others mu0, then
        mu1, then mu2^2 [2 + 3C, N], read-only; half: of a symmetric mesh at kappa > 0, with twice the weight.
        """
        first, *others = (2 + 3 * self.terms.index(term) for term in chosen)
        rows = [0, 1, first, first + 1, first + 2, *(start + k for k in range(3) for start in others)]
        panels = self.rows[:, len(self.edges) // 2 :] if half else self.rows
        found = panels[rows][..., _nodes(self.spacing.orders).place[order]].reshape(len(rows), -1)
        if half:
            found[1] *= 2.0
        found.flags.writeable = False
        return found

    def halved(self, chosen: Array) -> Mesh:
        """The mesh with some panels cut in two; of the others the coefficients are known."""
        edges = np.sort(np.concatenate([self.edges, 0.5 * (self.edges[:-1] + self.edges[1:])[chosen]]))
        pieces = np.where(chosen, 2, 1)
        new = np.repeat(chosen, pieces)
        rows = np.repeat(self.rows, pieces, axis=1)
        rows[:2] = _nodes(self.spacing.orders).inside(edges)
        places = rows[0, new]
        for start, term in zip(range(2, len(rows), 3), self.terms, strict=True):
            rows[start : start + 3, new] = term.coefficients(places.ravel()).reshape(3, *places.shape)
        return Mesh(self.terms, self.spacing, edges, rows, self.ends)

    @cached_property
    def seen(self) -> tuple[Array, float]:
        """Which panels are not resolved, and the largest square at an end relative to the peak about zero."""
        order, bad = self.spacing.orders[0], np.empty(len(self.edges) - 1, bool)
        place, last = _nodes(self.spacing.orders).place[order], legendre_coefficients(order)[-2:]
        share = survey(self.edges, self.rows, self.ends, place, last, self.spacing.resolved, _FLOOR, bad)
        return bad, share


@lru_cache(maxsize=128)
def meshes(terms: tuple[Term, ...], spacing: Spacing = NARROW) -> Mesh:
    """Panels on which every coefficient is resolved, out to where the Gaussian weight makes the rest negligible."""
    mesh = _first(terms, spacing)
    for _ in range(40):
        bad, _ = mesh.seen
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
    reach = spacing.reach  # what does not grow is nothing at the first
    while reach < _FARTHEST:
        edges = initial_mesh(terms, reach, spacing)
        inside = _nodes(spacing.orders).inside(edges)
        shape = inside.shape[1:]
        rows, ends = np.empty((2 + 3 * len(terms), *shape)), np.empty((3 * len(terms), 2))
        kappa = np.empty(inside[0].size + 2)  # at the ends too
        rows[:2], kappa[1:-1], kappa[0], kappa[-1] = inside, inside[0].ravel(), edges[0], edges[-1]
        for number, term in enumerate(terms):
            values = term.coefficients(kappa)
            rows[3 * number + 2 : 3 * number + 5] = values[:, 1:-1].reshape(3, *shape)
            ends[3 * number : 3 * number + 3] = values[:, :: len(kappa) - 1]
        mesh = Mesh(terms, spacing, edges, rows, ends)
        if math.exp(-0.5 * reach * reach) * mesh.seen[1] <= NEGLIGIBLE:
            return mesh
        reach += 2.0
    raise too_fast()


def reach_of(terms: tuple[Term, ...]) -> float:
    """Where the weight times the squares of all terms has fallen below rounding."""
    candidates = np.arange(_REACH, _FARTHEST, 2.0)
    for reaches in (candidates[:2], *candidates[2:, None]):  # where nothing grows the second is enough
        count = len(reaches)
        places = np.concatenate([-reaches, np.linspace(-3.0, 3.0, 13), reaches])
        squares = np.array([_squares(term, places) for term in terms])
        peak = squares[:, count:-count].max()
        ends = np.maximum(squares[:, :count], squares[:, -count:]).max(axis=0)
        enough = np.exp(-0.5 * reaches**2) * ends <= NEGLIGIBLE * max(peak, 1e-300)
        if enough.any():
            return float(reaches[np.argmax(enough)])
    raise too_fast()


def too_fast() -> NotConverged:
    """What is told where nothing is far enough out."""
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
    """(centre, width) in kappa where a term varies: breakpoints, narrow features and the origin of its function,
    blurred by variance.
    """
    if term.scale == 0.0:
        return []
    width = math.sqrt(term.variance) / abs(term.scale)
    kernel = function_kernel(term.function)
    hard = [((b - term.offset) / term.scale, width) for b in kernel.BREAKPOINTS]
    narrow = [
        ((centre - term.offset) / term.scale, math.hypot(width, of / abs(term.scale)))
        for centre, of in kernel.FUNCTION.features
    ]
    hard += [place for place in narrow if place[1] < _NARROW]
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


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The Legendre nodes [n] of several orders on (-1, 1), sorted, and their weights; which of them are of each."""

    points: Array
    weights: Array
    place: Mapping[int, Array]

    def inside(self, edges: Array) -> Array:
        """kappa and weight, the standard normal density included, at the nodes of panels [2, P, n]."""
        half, middle = 0.5 * (edges[1:] - edges[:-1])[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        found = np.empty((2, len(half), len(self.points)))
        kappa = np.add(middle, half * self.points, out=found[0])
        np.divide(half * self.weights * np.exp(-0.5 * kappa * kappa), _ROOT_TWO_PI, out=found[1])
        return found


@lru_cache(maxsize=16)
def _nodes(orders: tuple[int, ...]) -> _Nodes:
    points, weights = (np.concatenate([legendre(order)[part] for order in orders]) for part in (0, 1))
    sorts = np.argsort(points)
    owner = np.repeat(orders, orders)[sorts]
    return _Nodes(points[sorts], weights[sorts], {order: np.flatnonzero(owner == order) for order in orders})


def nodes(edges: Array, order: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights times the standard normal density."""
    kappa, weight = _nodes((order,)).inside(edges)
    return kappa.ravel(), weight.ravel()
