"""Nodes in a plane of kappa on lines across the alignment, for what turns on curves that a grid does not resolve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from giantstep.verify.quadrature import REACH, Integrand, Nodes, density, legendre

Array = np.ndarray
_ORDER = 10  # nodes of a panel, and lines of one
_PARTS = 8  # panels at first, of lines and on each
_MOST = 24  # halvings
_MANY = 700_000  # nodes evaluated: a minute or so
_BATCH = 2000  # nodes evaluated together


@dataclass
class _Lines:
    """What has been evaluated on some lines: places, weights with the share of the line, values; and the integrals of
    lines [F, L], times their shares.
    """

    kappa: list[Array] = field(default_factory=list)
    weight: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    owner: list[Array] = field(default_factory=list)

    def integrals(self, count: int) -> Array:
        """Of each line."""
        owner, weight = np.concatenate(self.owner), np.concatenate(self.weight)
        return np.array([np.bincount(owner, row * weight, count) for row in np.concatenate(self.values, axis=1)])

    def of(self, kept: Array) -> tuple[Array, Array, Array]:
        """(kappa, weight, values) of the lines that are kept [L]."""
        here = kept[np.concatenate(self.owner)]
        kappa, weight = np.concatenate(self.kappa), np.concatenate(self.weight)
        return kappa[here], weight[here], np.concatenate(self.values, axis=1)[:, here]


class OutOfReach(Exception):
    """More nodes than are worth their time."""


def plane_nodes(function: Integrand, tolerance: float, sizes: Callable[[Array], Array]) -> Nodes:
    """Nodes on lines along the second axis, panels of which, and on which, are halved until halves give what the whole
    did, relative to ``sizes`` of the averages of absolute values. Raises OutOfReach.
    """
    plane = _Plane(function, tolerance, sizes)
    edges = np.linspace(-REACH, REACH, _PARTS + 1)
    low, high, whole = edges[:-1], edges[1:], plane.of_panels(edges[:-1], edges[1:])[0]
    found, error = [], np.zeros(len(whole))
    for _ in range(_MOST):
        middle = 0.5 * (low + high)
        left, right = np.stack([low, middle], axis=1).ravel(), np.stack([middle, high], axis=1).ravel()
        halves, lines = plane.of_panels(left, right)
        missed = np.abs(halves.reshape(len(whole), -1, 2).sum(axis=2) - whole)
        done = np.all(missed <= tolerance * plane.size[:, None] / _PARTS, axis=0)
        error += missed[:, done].sum(axis=1)
        kept = np.repeat(done, 2)
        found.append(lines.of(np.repeat(kept, _ORDER)))
        low, high, whole = left[~kept], right[~kept], halves[:, ~kept]
        if not len(low):
            break
    else:
        raise OutOfReach
    kappa, weight, values = (np.concatenate([part[i] for part in found], axis=-1 if i else 0) for i in range(3))
    return Nodes(kappa, weight, values, float(np.max(error / plane.size)) + tolerance)


class _Plane:
    """Integrals along lines, and of these over panels of lines."""

    def __init__(self, function: Integrand, tolerance: float, sizes: Callable[[Array], Array]) -> None:
        self.function, self.tolerance, self.sizes = function, tolerance, sizes
        self.size = np.empty(0)  # of the averages, once the first lines are known
        self.count = 0

    def of_panels(self, low: Array, high: Array) -> tuple[Array, _Lines]:
        """Integrals [F, P] over panels of lines, and these lines."""
        x, w = legendre(_ORDER)
        half = 0.5 * (high - low)[:, None]
        place = (0.5 * (high + low)[:, None] + half * x).ravel()
        lines = self.along(place, (half * w).ravel() * density(place))
        return lines.integrals(len(place)).reshape(-1, len(low), _ORDER).sum(axis=2), lines

    def along(self, place: Array, share: Array) -> _Lines:
        """Lines at these places, with panels on them that are halved until they agree."""
        edges, found = np.linspace(-REACH, REACH, _PARTS + 1), _Lines()
        owner = np.repeat(np.arange(len(place)), _PARTS)
        low, high = np.tile(edges[:-1], len(place)), np.tile(edges[1:], len(place))
        whole = self._evaluated(place, owner, low, high)
        if not len(self.size):
            weight = whole[1] * np.repeat(share[owner], _ORDER)
            self.size = np.maximum(self.sizes(np.abs(whole[2]) @ weight), 1e-300)
        integrals = self._integrals(whole)
        for _ in range(_MOST):
            middle = 0.5 * (low + high)
            owner = np.repeat(owner, 2)
            left, right = np.stack([low, middle], axis=1).ravel(), np.stack([middle, high], axis=1).ravel()
            parts = self._evaluated(place, owner, left, right)
            halves = self._integrals(parts)
            missed = np.abs(halves.reshape(len(halves), -1, 2).sum(axis=2) - integrals) * density(place[owner[::2]])
            done = np.all(missed <= self.tolerance * self.size[:, None] / (2.0 * REACH * _PARTS), axis=0)
            kept = np.repeat(done, 2)
            of_nodes = np.repeat(kept, _ORDER)
            found.kappa.append(parts[0][of_nodes])
            found.weight.append((parts[1] * np.repeat(share[owner], _ORDER))[of_nodes])
            found.values.append(parts[2][:, of_nodes])
            found.owner.append(np.repeat(owner, _ORDER)[of_nodes])
            owner, low, high, integrals = owner[~kept], left[~kept], right[~kept], halves[:, ~kept]
            if not len(low):
                return found
        raise OutOfReach

    def _evaluated(self, place: Array, owner: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
        """(kappa [N, 2], weights along the line with its density, values [F, N]) on panels of lines."""
        x, w = legendre(_ORDER)
        half = 0.5 * (high - low)[:, None]
        second = (0.5 * (high + low)[:, None] + half * x).ravel()
        kappa = np.stack([np.repeat(place[owner], _ORDER), second], axis=1)
        self.count += len(kappa)
        if self.count > _MANY:
            raise OutOfReach
        values = [self.function(kappa[i : i + _BATCH]) for i in range(0, len(kappa), _BATCH)]
        return kappa, (half * w).ravel() * density(second), np.concatenate(values, axis=1)

    def _integrals(self, parts: tuple[Array, Array, Array]) -> Array:
        return np.asarray((parts[2] * parts[1]).reshape(len(parts[2]), -1, _ORDER).sum(axis=2))
