"""Integrals over panels that are halved until the last Legendre coefficients of what is integrated are small."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantstep.quadrature.gauss import legendre, legendre_coefficients

Array = np.ndarray
Index = NDArray[np.intp]
_LAST = 3  # coefficients: an even or odd function has none of every second degree
_HALVINGS = 48


class DoesNotSettle(Exception):
    """Panels are halved too often, or hold what is no number, which no halving settles."""


@dataclass(frozen=True)
class Panels:
    """Panels from low to high [P], each of one of several integrals: its owner."""

    owner: Index
    low: Array
    high: Array

    @classmethod
    def between(cls, edges: Array) -> Panels:
        """Those between the edges [N, E] of N integrals, in any order, without those of no length."""
        edges = np.sort(edges, axis=1)
        owner, place = np.nonzero(np.diff(edges, axis=1) > 0.0)
        return cls(owner, edges[owner, place], edges[owner, place + 1])

    def halves(self, chosen: Array) -> Panels:
        """Both halves of the chosen ones."""
        owner, low, high = self.owner[chosen], self.low[chosen], self.high[chosen]
        middle = 0.5 * (low + high)
        pairs = (owner, owner), (low, middle), (middle, high)
        return Panels(*(np.concatenate(pair) for pair in pairs))

    def nodes(self, order: int) -> Array:
        """Nodes [P, order] of a Gauss rule."""
        half, middle = 0.5 * (self.high - self.low)[:, None], 0.5 * (self.high + self.low)[:, None]
        return np.asarray(middle + half * legendre(order)[0])


@dataclass(frozen=True)
class Rule:
    """order: nodes of a panel; allowed: error of a panel, over the largest of the integrals of the size; rounding: one
    that is allowed whatever these are.
    """

    order: int
    allowed: float
    rounding: float = 0.0

    def integrals(self, values: Callable[[Index, Array], Array], panels: Panels, count: int) -> tuple[Array, Array]:
        """(integrals, errors) [count] of a function of owner [P] and place [P, order], smooth inside panels.

        Three last coefficients bound what the nodes do not see, far above the error of the rule, which is that of twice
        the degree: a kink or a narrow turn leaves them large. Raises DoesNotSettle.
        """
        found, error, sizes = np.zeros((3, count))
        weights, last = legendre(self.order)[1], legendre_coefficients(self.order)[-_LAST:].T
        for _ in range(_HALVINGS):
            own, length = values(panels.owner, panels.nodes(self.order)), panels.high - panels.low
            size = 0.5 * length * (np.abs(own) @ weights)
            largest = np.max(sizes + np.bincount(panels.owner, size, count), initial=0.0)
            if not math.isfinite(largest):
                raise DoesNotSettle
            tail = length * np.max(np.abs(own @ last), axis=1, initial=0.0)
            again = ~(tail <= max(self.allowed * largest, self.rounding))
            owner, done = panels.owner[~again], 0.5 * length[~again] * (own[~again] @ weights)
            found += np.bincount(owner, done, count)
            error += np.bincount(owner, tail[~again], count)
            sizes += np.bincount(owner, size[~again], count)
            if not again.any():
                return found, error
            panels = panels.halves(again)
        raise DoesNotSettle
