"""Means of features with kinks between curved pieces (elu, relu(z)^2), to many digits: Gauss's rule between the kinks.

Panels in z = s + sqrt(c) g are the same for all shifts s and variances c of one size, so that the function is evaluated
once. Sums are in fixed point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import mpmath
import numpy as np

from derive.language.grammar import Node
from giantstep.system.exact_averages import gauss, kinks_are_exact, value_at

Array = np.ndarray
_BITS_PER_NODE, _MORE, _TRIALS = 5, 1.4, 3  # of the first rule on a panel; the factor of the next; rules
_UNSETTLED = 42  # of the bits: what two rules may differ by
_APART = 2.0  # standard deviations between shifts at which a rule is tried


class _Size(NamedTuple):
    """A bulk variance, the length of panels that serve it, and Gauss's rule on them."""

    variance: Any
    length: float
    order: int


def far_apart(shifts: list[Any], variance: Any) -> list[Any]:
    """Some of the shifts, so close to each other that what a function is averaged over counts at one of them."""
    ordered, least = sorted(shifts), _APART * mpmath.sqrt(variance)
    found = [ordered[0]]
    for s in ordered:
        if s - found[-1] > least:
            found.append(s)
    return found


class Panels:
    """A function between its kinks, and its values at nodes of panels, remembered."""

    def __init__(self, node: Node, breaks: Sequence[float], bits: int) -> None:
        self.node, self.bits = node, bits
        self.breaks = breaks if kinks_are_exact(breaks) else None
        self._known: dict[tuple[float, int, int], Array] = {}
        self._cut: dict[tuple[float, int, int], list[tuple[Any, Any]]] = {}

    def means(self, shifts: list[Any], variance: Any) -> Array | None:
        """E f(s + sqrt(c) g) by the first rule that has settled; None where there is none."""
        if self.breaks is None:
            return None
        some = far_apart(shifts, variance)
        length = 2.0 ** min(0, math.floor(math.log2(float(variance)) / 2.0))
        size = _Size(variance, length, self.bits // _BITS_PER_NODE)
        allowed = mpmath.mpf(2) ** (_UNSETTLED - self.bits)
        try:
            before = self._means(some, size)
            for _ in range(_TRIALS):
                size = size._replace(order=int(_MORE * size.order))
                here = self._means(some, size)
                if all(abs(a - b) <= allowed * max(1, abs(a)) for a, b in zip(here, before, strict=True)):
                    return np.array(self._means(shifts, size))
                before = here
        except KeyError:
            pass
        return None

    def _means(self, shifts: list[Any], size: _Size) -> list[Any]:
        """Sums over panels as far as the weight counts.

        About the middle m of a panel the weight is exp(-(m - s)^2/2c) exp(-(m - s) x/c - x^2/2c); of its last factor
        one panel has that of the one before times exp(-length x/c).
        """
        c, length = size.variance, size.length
        half = mpmath.mpf(length) / 2
        x = [half * place for place, _ in _rule(size.order, self.bits)]
        ratio = self._fixed([mpmath.exp(-length * place / c) for place in x])
        reach = math.sqrt(2.0 * math.log(2.0) * self.bits * float(c))
        found = []
        for s in shifts:
            first, last = (math.floor((float(s) + side * reach) / length) for side in (-1, 1))
            middle, total = first * length + half - s, 0
            beside = self._fixed([mpmath.exp(-(middle * place + place * place / 2) / c) for place in x])
            for number in range(first, last + 1):
                if self._inside(length, number):
                    total += self._between(number, s, size)
                else:
                    weight = int(mpmath.exp(-middle * middle / (2 * c)) * (1 << self.bits))
                    total += weight * int((self._values(size, number) * beside).sum()) >> self.bits
                middle, beside = middle + length, (beside * ratio) >> self.bits
            found.append(mpmath.mpf(total) / (1 << 2 * self.bits) / mpmath.sqrt(2 * mpmath.pi * c))
        return found

    def _values(self, size: _Size, number: int) -> Array:
        """The function times the weights of the rule, on the panel that begins at this multiple of the length."""
        key = (size.length, size.order, number)
        if key not in self._known:
            ends = number * size.length, (number + 1) * size.length
            self._known[key] = self._fixed([w * value_at(self.node, z) for z, w in self._nodes(size, *ends)])
        return self._known[key]

    def _between(self, number: int, shift: Any, size: _Size) -> int:
        """The sum over a panel with kinks inside it, in parts."""
        weights = (mpmath.exp(-((z - shift) ** 2) / (2 * size.variance)) for z, _ in self._parts(size, number))
        parts = zip(self._parts(size, number), weights, strict=True)
        return sum(int(value * weight * (1 << 2 * self.bits)) for (_, value), weight in parts)

    def _parts(self, size: _Size, number: int) -> list[tuple[Any, Any]]:
        """Places between the kinks of such a panel, and the function there times the weights of the rule."""
        key = (size.length, size.order, number)
        if key not in self._cut:
            ends = number * size.length, (number + 1) * size.length
            cuts = sorted({*ends, *self._inside(size.length, number)})
            nodes = [node for low, high in pairwise(cuts) for node in self._nodes(size, low, high)]
            self._cut[key] = [(z, w * value_at(self.node, z)) for z, w in nodes]
        return self._cut[key]

    def _inside(self, length: float, number: int) -> list[float]:
        """Kinks between the ends of a panel."""
        return [z for z in self.breaks or () if number * length < z < (number + 1) * length]

    def _nodes(self, size: _Size, low: float, high: float) -> list[tuple[Any, Any]]:
        """Places and weights between two ends."""
        half, middle = (mpmath.mpf(high) - mpmath.mpf(low)) / 2, (mpmath.mpf(high) + mpmath.mpf(low)) / 2
        return [(middle + half * x, half * w) for x, w in _rule(size.order, self.bits)]

    def _fixed(self, numbers: list[Any]) -> Array:
        return np.array([int(x * (1 << self.bits)) for x in numbers], dtype=object)


@lru_cache(maxsize=8)
def _rule(order: int, bits: int) -> tuple[tuple[Any, Any], ...]:
    """Gauss's rule on (-1, 1) to so many bits."""
    with mpmath.workprec(2 * bits):
        return gauss(order)
