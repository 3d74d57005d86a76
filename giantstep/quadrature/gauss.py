"""Gauss rules: Legendre on panels, bare and with the weight of a standard normal variable, and Hermite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import Legendre, leggauss, legvander
from numpy.typing import NDArray

Array = NDArray[np.float64]
INSIDE = 1e-12  # of half the length of a panel: what its ends are off by
_OVERFLOWS = 150  # nodes of a Hermite rule, from which on polynomials may
_BESIDE = 1e-13  # what rounding moves edges by
_STEP, _STEPS = 0.125, 48  # of the double exponential rule, on either side


@lru_cache(maxsize=64)
def legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights [order] of the Gauss-Legendre rule on (-1, 1)."""
    nodes, weights = leggauss(order)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def gathered(order: int) -> tuple[Array, Array]:
    """Nodes and weights [order] on (-1, 1) for functions with roots at the ends: those of Legendre in t, where x is the
    normalised integral of ``(1 - t^2)^4``, whose ends are flat.
    """
    t, weights = leggauss(order)
    density = Polynomial([1.0, 0.0, -1.0]) ** 4
    inner = density.integ() / density.integ()(1.0)
    nodes, weights = inner(t), weights * inner.deriv()(t)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def lobatto(order: int) -> tuple[Array, Array]:
    """Nodes and weights [order] of the Gauss-Lobatto rule on (-1, 1), whose ends are nodes: within ``INSIDE`` of them,
    as a function may have a limit on this side only.
    """
    highest = Legendre.basis(order - 1)
    nodes = np.concatenate([[-1.0], highest.deriv().roots(), [1.0]])
    weights = 2.0 / (order * (order - 1) * highest(nodes) ** 2)
    nodes[0], nodes[-1] = INSIDE - 1.0, 1.0 - INSIDE
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def hermite(order: int) -> tuple[Array, Array]:
    """Nodes and weights [order] of the Gauss rule of a standard normal variable."""
    if order > _OVERFLOWS:
        from scipy.special import roots_hermitenorm  # few need it, and the square loss starts sooner without

        nodes, weights = roots_hermitenorm(order)
    else:
        nodes, weights = hermegauss(order)
    weights /= weights.sum()
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def products(rules: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Nodes [J, D] and weights [J] of the product of D rules, the last one's running fastest."""
    places, factors = (np.meshgrid(*each, indexing="ij") for each in zip(*rules, strict=True))
    nodes = np.stack([axis.ravel() for axis in places], axis=1)
    return nodes, np.prod([axis.ravel() for axis in factors], axis=0)


@lru_cache(maxsize=64)
def legendre_coefficients(order: int) -> Array:
    """The matrix [order, order] from values at the nodes of ``legendre`` to coefficients of Legendre polynomials."""
    nodes, weights = legendre(order)
    found = (legvander(nodes, order - 1) * weights[:, None]).T * (np.arange(order)[:, None] + 0.5)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=16)
def lobatto_coefficients(order: int) -> Array:
    """The same [order, order] from values at the nodes of ``lobatto``."""
    nodes, weights = lobatto(order)
    norm = np.append(np.arange(order - 1) + 0.5, 0.5 * (order - 1))
    found: Array = (legvander(nodes, order - 1) * weights[:, None]).T * norm[:, None]
    found.flags.writeable = False
    return found


def middle_and_end(coefficients: Array) -> tuple[Array, Array]:
    """Sizes [...] of Legendre coefficients [..., n] in their middle and at their end, each of two: even and odd
    functions have none of every second degree.
    """
    size, half = np.abs(coefficients), coefficients.shape[-1] // 2
    return size[..., half - 1 : half + 1].max(axis=-1), size[..., -2:].max(axis=-1)


def tail(middle: Array, end: Array, power: int, least: float = 0.0) -> Array:
    """The error of a rule of n nodes from Legendre coefficients: what they come to beyond, where they go on to fall as
    from their middle to their end, by at most 1/least, so many times. Twice is to the degree 2n - 4, where a Gauss rule
    misses that of 2n; three times to 2.5n - 5.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        falls = np.clip(np.nan_to_num(end / middle, nan=1.0), least, 1.0)
    return np.asarray(2.0 * end * falls**power)


def evenly_cut(reach: float, width: float, breaks: Iterable[float]) -> Array:
    """Ends [E] of panels of a width that cover (-reach, reach), cut further at breakpoints inside."""
    grid = np.arange(-reach, reach + 0.5 * width, width)
    edges = np.sort(np.concatenate([grid, [b for b in breaks if abs(b) < reach]]))
    found: Array = edges[np.append(True, edges[1:] > edges[:-1])]  # np.unique loads a seventh of NumPy, at every start
    return found


def ends_within(breaks: Array, centre: Array, width: float, reach: float) -> Array:
    """Where centre + width t passes sorted breakpoints, for every centre [N]: [N, E] in (-reach, reach), and at its
    ends where other centres have more within reach. Mirror images have the mirror image.
    """
    middle = np.searchsorted(breaks, centre)
    below = middle - np.searchsorted(breaks, centre - reach * width)
    above = np.searchsorted(breaks, centre + reach * width) - middle
    most = max(below.max(initial=0), above.max(initial=0))
    padded = np.concatenate([np.full(most, -math.inf), breaks, np.full(most, math.inf)])
    near = padded[middle[:, None] + np.arange(2 * most)]
    return np.asarray(np.clip((near - centre[:, None]) / width, -reach, reach))


def normal_between(low: Array, high: Array, order: int) -> tuple[Array, Array]:
    """Nodes and weights [..., order] between low and high [...], the weights times the standard normal density."""
    points, weights = legendre(order)
    half, middle = 0.5 * (high - low)[..., None], 0.5 * (high + low)[..., None]
    t = middle + half * points
    return t, half * weights * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)


def normal_nodes(edges: Array, order: int) -> tuple[Array, Array]:
    """The same [(E - 1) * order] on the panels between edges [E]."""
    t, weight = normal_between(edges[:-1], edges[1:], order)
    return t.ravel(), weight.ravel()


def with_places(edges: Array, places: Array) -> Array:
    """Edges [E] of which those that rounding has put beside a place are there, in order."""
    found = np.array(edges, dtype=float)
    for place in places:
        found[np.abs(found - place) <= _BESIDE * (1.0 + abs(place))] = place
    return np.unique(found)


def gathered_nodes(edges: Array, finer: int = 0) -> tuple[Array, Array]:
    """Nodes and weights on the panels between edges [E], double exponentially near these, to 1e-270 of their lengths.

    finer: how often their steps are halved, for what turns close to an edge.
    A power above -1, or a logarithm, of the distance from an edge is integrated as well as what is smooth. Nodes are
    sums of an edge and a distance: next to an edge at zero they have all their digits. Source: Takahasi, Mori 1974.
    """
    step, count = _STEP / 2**finer, _STEPS * 2**finer
    t = step * np.arange(-count, count + 1)
    far = np.pi * np.sinh(np.abs(t))
    share = np.exp(-far) / (1.0 + np.exp(-far))  # of a panel, from its nearer edge
    weight = step * np.pi * np.cosh(t) * share * (1.0 - share)
    low, length = edges[:-1, None], np.diff(edges)[:, None]
    places = np.where(t < 0.0, low + length * share, edges[1:, None] - length * share)
    return places.ravel(), (length * weight).ravel()


@lru_cache(maxsize=64)
def gauss_rule(steps: int) -> Array:
    """The Gauss-Legendre rule [2, n] on (-1, 1) that goes with a trapezoid of that many steps."""
    return np.array(legendre(8 * math.ceil(steps / 20.0)))  # whole vectors of a processor
