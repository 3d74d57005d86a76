"""What labels tell where all indices of a target are known alike, Q = q 1, as curves in q.

They do not depend on the samples, nor on the inputs: one curve serves all points of a target. With
J(q) = E[E[t|y]^2]/(1 - q) of each index, J grows with q (the derivative is the mean square of a slope), is proportional
to q near 0 where labels tell nothing at first, and to a power of 1/sqrt(1 - q) near 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.observe.optimal.curve import LEAST, Curve
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.preimages import places_of
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.told import fine, first_of, information, most_power
from giantstep.observe.optimal.two import by_two
from giantstep.spec.model import Target

Array = np.ndarray
_CLOSE, _EXACT = (3e-9, 1e-5), 0.01  # of what labels tell, and of two with noise; x below which rounding grows
_LITTLE = 1e-6  # overlap next to none
_TRIVIAL = 1e-7  # of what labels tell at first, beside which it is zero


@dataclass(frozen=True, eq=False)
class Alike:
    """What labels tell of each of m indices: J(q) (1 - q)^(power/2) / q^order is the curve."""

    curve: Curve
    power: int
    order: int
    rank: int

    low, high = 0.0, 1.0  # overlaps
    grows = True  # what labels tell over what is left, with the overlap

    def overlap(self, q: float) -> Array:
        """Q [m, m]."""
        found: Array = q * np.eye(self.rank)
        return found

    def most(self, q: float) -> float:
        """No bound of what labels tell."""
        return math.inf

    def shape_error(self, q: float) -> float:
        """Of the overlap, for a given mean."""
        return 0.0

    def information(self, q: float) -> float:
        """E[E[t|y]^2] of one index. Raises NotConverged."""
        return self.curve.at(q) * self._factor(q)

    @property
    def all_is_found(self) -> bool:
        """Whether enough samples leave nothing unknown: what labels tell does not vanish with what is left."""
        return self.power == 2

    def error(self, q: float) -> float:
        """Its error."""
        return self.curve.error(q) * self._factor(q)

    def _factor(self, q: float) -> float:
        return (q if self.order else 1.0) * math.pow(1.0 - q, 1.0 - 0.5 * self.power)


@lru_cache(maxsize=32)
def told_alike(target: Target) -> Alike:
    """That of a target whose indices are known alike."""
    first = first_of(target)
    order = int(_told(target, 0.0, first) <= _TRIVIAL)
    near, far = (_told(target, 1.0 - x * x, first) / (x * x) for x in (LEAST, 10.0 * LEAST))
    power = min(max(round(math.log10(near / far)), 0), most_power(target))

    def computed(q: float, fineness: Fineness) -> float:
        if q == 0.0 and order:
            if not by_two(target):
                return 1.0 / first_threshold(Sought(target), fine(target)).samples
            q = _LITTLE  # on nodes like those of the others: what rules leave is a smooth function too
        return _told(target, q, fineness) * math.pow(1.0 - q, 0.5 * power - 1.0) / (q if order else 1.0)

    exact, close = places_of(target) is not None, _CLOSE[by_two(target)]
    return Alike(
        Curve(computed, first, lambda x: close * max(1.0, _EXACT / x), exact=exact), power, order, target.indices
    )


@lru_cache(maxsize=4096)
def _told(target: Target, q: float, fineness: Fineness) -> float:
    m = target.indices
    return float(np.trace(information(target, q * np.eye(m), fineness))) / m
