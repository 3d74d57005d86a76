"""The closed span of the mean features of a density of readout values, at infinite dimension.

mu0_u(kappa) is analytic in u: a function that is orthogonal to it for all u of an interval is so for every u, and its
expansion in powers of u brings kappa^k with h_k = E He_k(z) sigma(z). The closed span therefore does not depend on the
density, nor on the strength of the spike: of each parity of kappa it is all functions where that part of sigma is no
polynomial, and the powers up to its degree where it is one. Any functions that approach these will do; nothing cancels
in those that are taken here. Source: THEORY section 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebfit, chebval, chebvander

from giantstep.law.moments import hermite_moments
from giantstep.law.spike import variance_by_value
from giantstep.quadrature.mesh import Term
from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import function_kernel
from giantstep.system.problem import Features, Problem

Array = np.ndarray
_ORDERS, _VANISHES = 12, 1e-12
_POINTS, _DEGREES, _NEAR, _FAR = 80, 11, 2.0, 300.0  # of fits that tell polynomials from other functions
_ROUNDING = 1e-14
_ALL = 99  # a degree that stands for all functions of a parity
_EACH, _SLOWER = 8, 6  # as many functions of a parity, and one more for so many readout values
_WIDTHS, _WIDEST, _NARROWEST = 4.0, 4.0, 0.1  # scale of the functions: in widths of E[y|kappa], at most, at least


@dataclass(frozen=True)
class Spanning:
    """Functions of kappa, of each parity up to a degree: ``even`` and ``odd`` are -1 for none, and _ALL for all.

    Powers; of all functions ``each``: that part of the mean label, the first power, and Chebyshev polynomials of
    kappa/sqrt(kappa^2 + scale^2). columns: of the table that they are written to, zero where there are fewer functions.
    """

    even: int
    odd: int
    each: int
    scale: float
    columns: int
    label: Term | None

    @property
    def degrees(self) -> tuple[int, int]:
        """Those of both parities."""
        return self.even, self.odd

    @property
    def places(self) -> list[tuple[int, int]]:
        """The parity of each function, and its number among those of that parity."""
        counts = (
            self.each if degree == _ALL else (degree - k) // 2 + 1 for k, degree in enumerate((self.even, self.odd))
        )
        return [(parity, number) for parity, count in enumerate(counts) for number in range(count)][: self.columns]

    def at(self, kappa: Array) -> Array:
        """[N, columns] at points [N]."""
        chebyshev = chebvander(kappa / np.sqrt(kappa * kappa + self.scale * self.scale), 2 * self.each)
        label = self._label(kappa) if self.label is not None else np.zeros((2, len(kappa)))
        found = np.zeros((len(kappa), self.columns))
        for column, (parity, number) in enumerate(self.places):
            if self.degrees[parity] < _ALL:
                found[:, column] = kappa ** (parity + 2 * number)
            elif number < 2:
                found[:, column] = kappa**parity if number else label[parity]
            else:
                found[:, column] = chebyshev[:, 2 * number - 2 - parity]
        return found

    def _label(self, kappa: Array) -> Array:
        """The even and the odd part of the mean label, [2, N]."""
        assert self.label is not None
        there, mirrored = self.label.coefficients(np.concatenate([kappa, -kappa]))[0].reshape(2, -1)
        return 0.5 * np.stack([there + mirrored, there - mirrored])

    def written(self, coefficients: Array) -> Array:
        """Coefficients [columns] by parity and number, [2, n], whatever functions there are beside."""
        found = np.zeros((2, max(self.each, self.columns)))
        for column, place in enumerate(self.places):
            found[place] = coefficients[column]
        return found

    def read(self, written: Array) -> Array:
        """Coefficients [columns] of what is ``written`` of other numbers of functions."""
        found, known = np.zeros(self.columns), written.shape[1]
        for column, (parity, number) in enumerate(self.places):
            found[column] = written[parity, number] if number < known else 0.0
        return found


def spanning_functions(features: Features) -> Spanning | None:
    """Functions of the closed span, as many as the nodes resolve; None where the law of the rows is not by value, or
    where the lowest powers of a polynomial do not come alone.
    """
    count, first = len(features.blocks), features.blocks[0]
    if variance_by_value(features.model) is None or features.loadings is not None or features.spike.strength == 0.0:
        return None
    if first.polynomial is not None:
        return None
    even, odd = degrees(first.function, first.offset)
    if _first_missing(first.function, first.offset, (even, odd)) is not None:
        return None
    nodes = len(features.model.network.readout.values)
    gamma = math.sqrt(min(1.0, math.fsum(x * x for x in features.overlaps[0])))
    width = math.sqrt(1.0 - gamma * gamma) / max(gamma, 1e-3)
    each = min(nodes // 2, _EACH + nodes // _SLOWER)
    return Spanning(even, odd, each, max(min(_WIDTHS * width, _WIDEST), _NARROWEST), count, features.link)


def moving_order(problem: Problem) -> int | None:
    """The first vanishing moment h_k = E He_k(z) sigma(z) of a polynomial part of sigma whose h_(k+2) does not vanish:
    kappa^(k+2) comes with kappa^k then, in a ratio that moves with the spike.
    """
    term = problem.blocks[0]
    return _first_missing(term.function, term.offset, degrees(term.function, term.offset))


@lru_cache(maxsize=64)
def _first_missing(text: str, offset: float, parts: tuple[int, int]) -> int | None:
    moments = hermite_moments(text, function_kernel(text).BREAKPOINTS, _ORDERS, offset)
    here = np.abs(moments) > _VANISHES * np.abs(moments).max()
    lower = [k for degree in parts if 0 <= degree < _ALL for k in range(degree % 2, degree, 2)]
    return next((k for k in sorted(lower) if not here[k]), None)


@lru_cache(maxsize=64)
def degrees(text: str, offset: float) -> tuple[int, int]:
    """(even, odd): degrees of the parts of sigma(offset + z), -1 where one vanishes and _ALL where it is no
    polynomial, near zero or far out.
    """
    places, function = np.cos(math.pi * (np.arange(_POINTS) + 0.5) / (2 * _POINTS)), numpy_values(text)
    found = [-1, -1]
    for reach in (_NEAR, *_FAR * 0.5 ** np.arange(8)):
        with np.errstate(all="ignore"):
            above, below = (function(offset + side * reach * places) for side in (1.0, -1.0))
        size = float(max(np.abs(above).max(), np.abs(below).max()))
        if not math.isfinite(size):
            continue
        for parity, part in enumerate((0.5 * (above + below), 0.5 * (above - below))):
            here = _degree(places, part, parity, size)
            found[parity] = max(found[parity], here if here == _ALL or reach == _NEAR else -1)
        if reach != _NEAR:
            break
    return found[0], found[1]


def _degree(places: Array, values: Array, parity: int, size: float) -> int:
    """Of a function of a parity at Chebyshev points of (0, 1), the difference of others of a size."""
    largest = float(np.abs(values).max())
    if largest <= _ROUNDING * size:
        return -1
    values, least = values / largest, max(_VANISHES, _ROUNDING * size / largest)
    both, mirrored = np.concatenate([places, -places]), np.concatenate([values, (1 - 2 * parity) * values])
    coefficients = chebfit(both, mirrored, _DEGREES)
    if np.abs(chebval(both, coefficients) - mirrored).max() > least:
        return _ALL
    return int(np.flatnonzero(np.abs(coefficients) > least).max(initial=-1))
