"""Quadrature over kappa: panels graded towards steep places, and the table of coefficients at the nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.polynomial import polyval

from giantstep.quadrature.gauss import legendre, legendre_coefficients, normal_between
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients, function_kernel

ORDERS = (12, 16)  # nodes a panel: the answer uses the second, their difference is the error estimate
_WIDEST = 1.9  # panels resolve the Gaussian weight itself, to 1e-10 with 7 nodes
_REACH = 9.0
_FARTHEST = 38.0
_MOST_PANELS = 4000
_FLOOR = 1e-6  # a coefficient this much smaller than the function need not be resolved relative to itself
_MIRRORED = 1e-14  # relative to the largest of a column, what rounding may leave of a symmetry
_RESOLVED = 1e-8  # last Legendre coefficients of a panel; products integrate to about the square of it


@dataclass(frozen=True)
class Term:
    """A function of kappa: coefficients of ``function`` at shift ``scale*kappa + offset`` and variance ``variance``."""

    function: str
    scale: float
    offset: float
    variance: float
    polynomial: tuple[float, ...] | None = None

    def coefficients(self, kappa: np.ndarray) -> np.ndarray:
        """mu0, mu1, mu2^2 at points of kappa, [3, N]; a ``polynomial`` (lowest power first) takes the place of mu0."""
        found = coefficients(self.function, self.scale * kappa + self.offset, self.variance)
        if self.polynomial is not None:
            found[0] = polyval(kappa, self.polynomial)
        return found


@dataclass(frozen=True, eq=False)
class Mesh:
    """Edges of the panels in kappa, and the coefficients [3, panels, n] of every term at their first order of nodes."""

    edges: np.ndarray
    values: Mapping[Term, np.ndarray]

    def halved(self, chosen: np.ndarray) -> Mesh:
        """The mesh with some panels cut in two; of the others the coefficients are known."""
        edges = np.sort(np.concatenate([self.edges, 0.5 * (self.edges[:-1] + self.edges[1:])[chosen]]))
        pieces = np.where(chosen, 2, 1)
        new = np.repeat(chosen, pieces)
        kappa = normal_between(edges[:-1][new], edges[1:][new], ORDERS[0])[0].ravel()
        values = {}
        for term, known in self.values.items():
            values[term] = found = np.repeat(known, pieces, axis=1)
            found[:, new] = term.coefficients(kappa).reshape(3, -1, ORDERS[0])
        return Mesh(edges, values)


def mesh_on(terms: Sequence[Term], edges: np.ndarray) -> Mesh:
    """Panels with the coefficients of terms."""
    kappa, _ = nodes(edges, ORDERS[0])
    return Mesh(edges, {term: term.coefficients(kappa).reshape(3, -1, ORDERS[0]) for term in terms})


def steep_places(term: Term) -> list[tuple[float, float]]:
    """(centre, width) in kappa where a term varies: breakpoints and the origin of its function, blurred by variance."""
    if term.scale == 0.0:
        return []
    width = math.sqrt(term.variance) / abs(term.scale)
    kernel = function_kernel(term.function)
    hard = [((b - term.offset) / term.scale, width) for b in kernel.BREAKPOINTS]
    # a smooth function varies on a scale of one around its origin
    return [*hard, (-term.offset / term.scale, math.hypot(width, 1.0 / abs(term.scale)))]


def initial_mesh(terms: Sequence[Term], reach: float = _REACH) -> np.ndarray:
    """Panels no wider than the local scale, with edges on every unblurred breakpoint.

    Each half is walked from the origin, so that a symmetric problem has a symmetric mesh.
    """
    places = [(c, w) for term in terms for c, w in steep_places(term) if abs(c) < reach + 8.0 * w]
    fixed = {c for c, w in places if abs(c) < reach and w < 1e-9}
    blurred = [(c, w) for c, w in places if w >= 1e-9]
    right = _half(sorted({c for c in fixed if c > 0.0} | {0.0, reach}), blurred)
    left = _half(sorted({-c for c in fixed if c < 0.0} | {0.0, reach}), [(-c, w) for c, w in blurred])
    return np.array([*(-edge for edge in reversed(left[1:])), *right])


def _half(fixed: Sequence[float], places: Sequence[tuple[float, float]]) -> list[float]:
    edges: list[float] = []
    for left, right in zip(fixed[:-1], fixed[1:], strict=True):
        edges += _walk(left, right, places)
    return [*edges, fixed[-1]]


def _walk(left: float, right: float, places: Sequence[tuple[float, float]]) -> list[float]:
    """Edges from left (included) to right (not), each step as wide as the local scale allows."""
    edges, x = [left], left
    while True:
        step = min([_WIDEST, *(_step(x, c, w) for c, w in places)])
        if x + 1.4 * step >= right:
            return edges
        x += step
        edges.append(x)


def _step(x: float, centre: float, width: float) -> float:
    """A step from x that ends no deeper in a steep place than its length: 1.5 widths inside, growing outside."""
    distance = abs(x - centre)
    if x < centre:  # approaching: the far end counts
        return max(1.5 * width, 0.45 * distance)
    return max(1.5 * width, 0.8 * distance)


@lru_cache(maxsize=128)
def meshes(terms: tuple[Term, ...]) -> Mesh:
    """Panels on which every coefficient is resolved, out to where the Gaussian weight makes the rest negligible."""
    reach = reach_of(terms)
    mesh = mesh_on(terms, initial_mesh(terms, reach))
    for _ in range(40):
        bad = unresolved(mesh)
        if not bad.any():
            return mesh
        mesh = mesh.halved(bad)
        if len(mesh.edges) > _MOST_PANELS:
            break
    raise NotConverged(
        f"the coefficients are not resolved in kappa by {_MOST_PANELS} panels",
        "an activation or link varies too sharply; soften it, or lower the spike strength",
    )


def reach_of(terms: tuple[Term, ...]) -> float:
    """Where the weight times the squares of all terms has fallen below rounding."""
    candidates = np.arange(_REACH, _FARTHEST, 2.0)
    for reaches in (candidates[:2], *candidates[2:, None]):  # where nothing grows the second is enough
        count = len(reaches)
        places = np.concatenate([-reaches, np.linspace(-3.0, 3.0, 13), reaches])
        squares = np.array([_squares(term, places) for term in terms])
        peak = squares[:, count:-count].max()
        ends = np.maximum(squares[:, :count], squares[:, -count:]).max(axis=0)
        enough = np.exp(-0.5 * reaches**2) * ends <= 1e-19 * max(peak, 1e-300)
        if enough.any():
            return float(reaches[np.argmax(enough)])
    raise NotConverged(
        "the features or the target grow so fast in kappa that their second moment does not exist or overflows",
        "lower the spike strength or the learning rate, or use a function that grows more slowly",
    )


def _squares(term: Term, kappa: np.ndarray) -> np.ndarray:
    mu0, mu1, mu2sq = term.coefficients(kappa)
    with np.errstate(over="ignore"):
        result: np.ndarray = mu0**2 + mu1**2 + mu2sq
    return result


def unresolved(mesh: Mesh) -> np.ndarray:
    """Which panels have a Legendre tail above the tolerance, relative to the scale of each coefficient."""
    edges, order = mesh.edges, ORDERS[0]
    kappa, _ = nodes(edges, order)
    last = legendre_coefficients(order)[-2:]
    nearest = np.minimum(np.abs(edges[:-1]), np.abs(edges[1:])) * (edges[:-1] * edges[1:] > 0.0)
    damping = np.exp(-0.25 * nearest**2)
    weight = np.exp(-0.5 * kappa**2).reshape(1, -1, order)
    bad = np.zeros(len(edges) - 1, dtype=bool)
    for panels in mesh.values.values():
        scale = np.sqrt((weight * panels**2).max(axis=(1, 2)))
        size = float(np.sqrt(scale[0] ** 2 + scale[1] ** 2 + scale[2]))
        scale = np.maximum(scale, _FLOOR * np.array([size, size, size**2]))
        tail = np.abs(panels @ last.T).max(axis=2) * damping
        bad |= (tail > _RESOLVED * np.maximum(scale, 1e-290)[:, None]).any(axis=0)
    return bad & (np.diff(edges) > 1e-13)


def nodes(edges: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights times the standard normal density."""
    points, weights = legendre(order)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    kappa = (middle + half * points).ravel()
    return kappa, (half * weights).ravel() * np.exp(-0.5 * kappa * kappa) / math.sqrt(2.0 * math.pi)


@lru_cache(maxsize=128)
def table(
    blocks: tuple[Term, ...],
    target: Term,
    order: int,
    halvings: int = 0,
    cuts: tuple[float, ...] = (),
    further: tuple[Term, ...] = (),
) -> np.ndarray:
    """Rows (kappa, weight, nu0, nu1, nu2sq, mu0 per block, mu1 per block, mu2sq per block), shape [N, 5 + 3K].

    cuts: further ends of panels; further: terms that the panels resolve, without a column.
    """
    mesh = meshes((*blocks, target, *further))
    edges = mesh.edges
    inside = [cut for cut in cuts if edges[0] < cut < edges[-1]]
    edges = np.unique(np.concatenate([edges, inside]))
    for _ in range(halvings):
        edges = np.sort(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])]))
    as_they_are = order == ORDERS[0] and len(edges) == len(mesh.edges)
    known = {term: values.reshape(3, -1) for term, values in mesh.values.items()} if as_they_are else {}
    result = rows_at(blocks, target, *nodes(edges, order), known)
    result.flags.writeable = False
    return result


def rows_at(
    blocks: tuple[Term, ...],
    target: Term,
    kappa: np.ndarray,
    weight: np.ndarray,
    known: Mapping[Term, np.ndarray] | None = None,
) -> np.ndarray:
    """The rows of a table at any kappa; known: coefficients [3, N] there of some terms."""
    found = dict(known or {})
    for term in (target, *blocks):
        if term not in found:
            found[term] = term.coefficients(kappa)
    of_blocks = np.stack([found[term] for term in blocks], axis=1)
    rows = np.concatenate([kappa[None], weight[None], found[target], of_blocks.reshape(-1, len(kappa))])
    return np.ascontiguousarray(rows.T)


def half_of_even(rows: np.ndarray) -> np.ndarray:
    """Rows at kappa > 0 with twice the weight, where label and features are odd together, or even; else all rows.

    Every average of the square loss is then one of an even function. Of a table of one direction and one index.
    """
    blocks = (rows.shape[1] - 5) // 3
    mirrored, size = rows[::-1], np.abs(rows).max(axis=0)
    for sign in (-1.0, 1.0):
        parity = np.array([-1.0, 1.0, sign, -sign, 1.0, *[sign] * blocks, *[-sign] * blocks, *[1.0] * blocks])
        if np.all(np.abs(rows - mirrored * parity) <= _MIRRORED * size):
            half = rows[rows[:, 0] > 0.0].copy()
            half[:, 1] *= 2.0
            half.flags.writeable = False
            return half
    return rows
