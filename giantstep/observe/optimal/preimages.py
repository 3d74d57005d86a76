"""The places z that a label without noise may come from, for a target of one index."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from generated.runtime.noisy_labels import told_by_places
from giantstep.law.labels import is_constant
from giantstep.quadrature.gauss import evenly_cut, legendre, normal_nodes
from giantstep.spec.expressions import Dual, numpy_function, special
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import label_range
from giantstep.spec.model import Target

Array = np.ndarray
_REACH = 9.0  # of a standard normal z
_GRID, _BISECTIONS = 4001, 60
_FLAT = 1e-13  # of the largest value: a piece on which the link is constant
_ONE_LABEL = 1e-11  # two plateaus that are nearer have one label
_ORDER, _WIDTH = 12, 1.2  # of a panel of z
_GRADED = 2.0 ** -np.arange(
    1.0, 11.0
)  # ends of panels beside a cut, over half of what it cuts: down to where t is narrow
_UNLIKELY = 1e-18  # weight of a place that does not count
_OTHER_REACH, _OTHER_ORDER, _OTHER_WIDTH = 7.5, 12, 1.0  # and of kappa given z


@dataclass(frozen=True)
class Piece:
    """An interval on which the link is monotone, or constant, and its values at the ends from inside."""

    low: float
    high: float
    first: float
    last: float

    def flat(self, size: float) -> bool:
        """Whether it is constant here."""
        return abs(self.last - self.first) <= _FLAT * size


@dataclass(frozen=True, eq=False)
class Preimages:
    """At nodes z [M] with weights: the places [M, P] of the pieces that give the same label, or nan, and log 1/|f'|
    there.

    noise: of probit noise inside the link, so that z has the variance 1 + noise.
    """

    weight: Array
    z: Array
    place: Array
    logarithm: Array
    noise: float

    def information(self, q: float) -> float:
        """What they add to E[E[t|y]^2] for the overlap q: what ``told`` gives, in one number."""
        gamma, width, xi, share = self._given(q)
        total = 1.0 + self.noise
        centre, around = gamma * gamma * self.z / total, gamma * width / math.sqrt(total) * xi
        found = told_by_places(self.place, self.logarithm, centre, self.weight, share, around, width)
        return float(found) * (width * width - self.noise) / (width * width)

    def _given(self, q: float) -> tuple[float, float, Array, Array]:
        """gamma, the deviation of z about what is known of it, and nodes of what is known given z, with weights."""
        rest = (1.0 - math.sqrt(q)) * (1.0 + math.sqrt(q))  # as the law of the label has it
        nodes = normal_nodes(evenly_cut(_OTHER_REACH, _OTHER_WIDTH, ()), _OTHER_ORDER) if q > 0.0 else _ONE
        return math.sqrt(q), math.sqrt(rest + self.noise), *nodes

    def told(self, q: float) -> tuple[Array, Array, Array]:
        """Weight, E[t|y] and E[t^2|y] - 1 for the overlap q."""
        total = 1.0 + self.noise
        gamma, width, xi, share = self._given(q)
        centre = gamma * (gamma * self.z[:, None] / total + width / math.sqrt(total) * xi)  # gamma kappa given z
        u = (self.place[:, None, :] - centre[:, :, None]) / width
        exponent = self.logarithm[:, None, :] - 0.5 * u * u
        exponent -= np.nanmax(exponent, axis=2, keepdims=True)
        likely = np.where(np.isnan(exponent), 0.0, np.exp(exponent))
        likely /= likely.sum(axis=2, keepdims=True)
        u = np.where(np.isnan(u), 0.0, u)
        correlation = math.sqrt(width * width - self.noise) / width
        mean = correlation * (likely * u).sum(axis=2)
        square = correlation**2 * ((likely * u * u).sum(axis=2) - 1.0)
        return (self.weight[:, None] * share).ravel(), mean.reshape(-1, 1), square.reshape(-1, 1, 1)


_ONE = (np.zeros(1), np.ones(1))


@dataclass(frozen=True, eq=False)
class Places:
    """Where a label without noise comes from: intervals on which it is constant (low, high, label [J]), and places."""

    flat: tuple[Array, Array, Array]
    varying: Preimages
    pieces: tuple[Piece, ...]
    link: str

    def mean(self, y: Array, omega: Array, variance: float) -> Array:
        """E[t|y] [n, 1] for z = omega + sqrt(variance) t, z without its noise, at labels y [n] and omega [n]."""
        noise, values = self.varying.noise, numpy_function(self.link)
        width = math.sqrt(variance + noise)
        place = np.stack([_inverse(values, piece, y) for piece in self.pieces], axis=1)
        u = (place - omega[:, None]) / width
        with np.errstate(divide="ignore", invalid="ignore"):
            likely = np.nan_to_num(np.exp(-0.5 * u * u) / np.abs(values(place)[1]))
        total, first = likely.sum(axis=1), (likely * np.nan_to_num(u)).sum(axis=1)
        found = np.where(total > 0.0, first / np.where(total > 0.0, total, 1.0), 0.0)
        lows, highs, labels = self.flat
        for label in np.unique(np.round(labels, 12)):
            same, here = np.abs(labels - label) < _ONE_LABEL, np.abs(y - label) < _ONE_LABEL
            low, high = ((ends[same] - omega[here, None]) / width for ends in (lows, highs))
            share = (special.ndtr(high) - special.ndtr(low)).sum(axis=1)
            bells = (np.exp(-0.5 * low * low) - np.exp(-0.5 * high * high)).sum(axis=1) / math.sqrt(2.0 * math.pi)
            found[here] = bells / np.maximum(share, 1e-300)
        correlation = math.sqrt(variance) / width
        return np.asarray(correlation * found[:, None])


def is_flat(target: Target) -> bool:
    """Whether the link is one number, as far as many likely places of z tell."""
    least, most = label_range(target.link, 1.0)
    return most - least <= _FLAT * max(abs(least), abs(most))


@lru_cache(maxsize=64)
def places_of(target: Target) -> Places | None:
    """Those of a label without noise of one index that is not constant between its breakpoints; None for others."""
    if target.indices > 1 or target.noise > 0.0 or target.channel is not None or is_constant(target.link):
        return None
    scale = math.sqrt(1.0 + target.probit)
    pieces = _pieces(target.link, _REACH * scale)
    size = max(max(abs(piece.first), abs(piece.last)) for piece in pieces)
    moving = [piece for piece in pieces if not piece.flat(size)]
    values = numpy_function(target.link)
    ends = np.array([end for piece in moving for end in (piece.first, piece.last)])
    inside = np.concatenate([_inverse(values, piece, ends) for piece in moving])
    z, weight = _nodes(moving, inside, scale)
    label = values(z)[0]
    found = [_inverse(values, piece, label) for piece in moving]
    own = [(z > piece.low) & (z < piece.high) for piece in moving]
    place = np.stack([np.where(here, z, other) for here, other in zip(own, found, strict=True)], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = -np.log(np.abs(values(place)[1]))
    turns = ~np.any(own, axis=0) | np.any(logarithm == math.inf, axis=1)  # nodes that rounding puts where it turns
    weight, z, place, logarithm = (part[~turns] for part in (weight, z, place, logarithm))
    flat = np.array([(piece.low, piece.high, piece.first) for piece in pieces if piece.flat(size)]).reshape(-1, 3).T
    low, high = (np.where(np.abs(x) >= _REACH * scale, np.copysign(math.inf, x), x) for x in flat[:2])
    return Places(
        (low, high, flat[2]), Preimages(weight, z, place, logarithm, target.probit), tuple(moving), target.link
    )


def _pieces(link: str, reach: float) -> list[Piece]:
    """Between the breakpoints and the places where the slope changes its sign."""
    values = numpy_function(link)
    breaks = [b for b in function_kernel(link).BREAKPOINTS if abs(b) < reach]
    grid = np.unique(np.concatenate([np.linspace(-reach, reach, _GRID), breaks]))
    inside = 0.5 * (grid[1:] + grid[:-1])
    slope = values(inside)[1]
    turns = np.flatnonzero((slope[1:] > 0.0) != (slope[:-1] > 0.0))
    low, high = inside[turns], inside[turns + 1]
    rising = slope[turns + 1] > 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        up = (values(middle)[1] > 0.0) == rising
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    edges = np.unique(np.concatenate([[-reach, reach], breaks, [t for t in high if not _near(t, breaks)]]))
    inside = 1e-13 * reach * np.isin(edges, breaks)  # where it may jump
    first, last = values(edges[:-1] + inside[:-1])[0], values(edges[1:] - inside[1:])[0]
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), first.tolist(), last.tolist(), strict=True)
    return [Piece(*each) for each in ends]


def _near(place: float, others: list[float]) -> bool:
    return any(abs(place - other) < 1e-9 for other in others)


def _inverse(values: Callable[[ArrayLike], Dual], piece: Piece, label: Array) -> Array:
    """Where on a piece the link has these values; nan where it has not."""
    low, high = np.full(len(label), piece.low), np.full(len(label), piece.high)
    rising = piece.last > piece.first
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = (values(middle)[0] < label) == rising
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    inside = (label - piece.first) * (label - piece.last) < 0.0
    return np.where(inside, 0.5 * (low + high), np.nan)


def _nodes(pieces: list[Piece], cuts: Array, scale: float) -> tuple[Array, Array]:
    """Nodes of z on pieces, and weights, between cuts at which other places begin to give the same label.

    In x, with z = middle + half sin(pi x/2), the roots at the cuts are smooth.
    """
    points, weights = legendre(_ORDER)
    places, shares = [], []
    for piece in pieces:
        within = cuts[(cuts > piece.low) & (cuts < piece.high)]
        edges = np.unique([piece.low, *within, piece.high])
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            count = max(2, math.ceil((high - low) / (_WIDTH * scale)))
            ends = np.unique(np.concatenate([np.linspace(-1.0, 1.0, count + 1), _GRADED - 1.0, 1.0 - _GRADED]))
            half = 0.5 * np.diff(ends)[:, None]
            x = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * points).ravel()
            places.append(0.5 * (low + high) + 0.5 * (high - low) * np.sin(0.5 * math.pi * x))
            shares.append((half * weights).ravel() * 0.25 * math.pi * (high - low) * np.cos(0.5 * math.pi * x))
    z = np.concatenate(places)
    weight = np.concatenate(shares) * np.exp(-0.5 * (z / scale) ** 2) / (math.sqrt(2.0 * math.pi) * scale)
    likely = weight > _UNLIKELY
    return z[likely], weight[likely]
