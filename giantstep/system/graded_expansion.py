"""Features of a block expanded about the centre of its cluster, to many digits; see ``graded_features``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import mpmath

from giantstep.system.graded_blocks import Block
from giantstep.system.graded_elimination import Column


class Expansion:
    """Coefficients of the features of a block in the functions kappa^a D_k of its centre."""

    def __init__(self, block: Block, centre: Block, order: int, vanishing: frozenset[int]) -> None:
        self.delta = [x - y for x, y in zip(block.loadings, centre.loadings, strict=True)]
        self.gamma = (block.variance - centre.variance) / 2
        self.deviation = mpmath.sqrt(block.variance)
        self.order, self.vanishing = order, vanishing

    def mean(self) -> Column:
        """mu0."""
        return self.terms(0, None, mpmath.mpf(1))

    def slope(self, along: int | None = None) -> Column:
        """mu1, or kappa_i mu1."""
        return self.terms(1, along, self.deviation)

    def norm(self) -> Column:
        """mu_c = c dmu0/dc, by the heat equation."""
        return self.terms(2, None, self.deviation**2 / 2)

    def moved(self, loadings: Sequence[Any], variance: Any, offset: Any) -> Column:
        """What mu0 changes by, for rates of loadings, variance and bias of the block."""
        found = self.terms(2, None, variance / 2)
        for column in (self.terms(1, None, offset), *(self.terms(1, i, rate) for i, rate in enumerate(loadings))):
            for row, coefficient in column.items():
                found[row] = found.get(row, 0) + coefficient
        return found

    def terms(self, derivatives: int, along: int | None, factor: Any) -> Column:
        """A derivative of mu0 in the shift, times a factor and kappa_along."""
        found: Column = {}
        for powers, coefficient in self._powers:
            here = tuple(p + (i == along) for i, p in enumerate(powers))
            rest = factor * coefficient
            for j in range((self.order - sum(powers)) // 2 + 1):
                k = sum(powers) + 2 * j + derivatives
                if rest == 0:
                    break
                if k not in self.vanishing:
                    found[here, k] = found.get((here, k), 0) + rest
                rest *= self.gamma / (j + 1)
        return found

    @cached_property
    def _powers(self) -> list[tuple[tuple[int, ...], Any]]:
        """(a, delta^a/a!) up to the order."""
        each, found = [self._of_one(x) for x in self.delta], []
        for degree in range(self.order + 1):
            for chosen in combinations_with_replacement(range(len(each)), degree):
                powers = tuple(chosen.count(i) for i in range(len(each)))
                parts = [terms[p] for p, terms in zip(powers, each, strict=True) if p]
                if coefficient := mpmath.fprod(parts):
                    found.append((powers, coefficient))
        return found

    def _of_one(self, x: Any) -> list[Any]:
        """x^p/p! up to the order."""
        found = [mpmath.mpf(1)]
        for p in range(1, self.order + 1):
            found.append(found[-1] * x / p)
        return found
