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
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebfit, chebval, chebvander
from numpy.polynomial.polynomial import polyval

from giantstep.law.moments import hermite_moments
from giantstep.law.spike import variance_by_value
from giantstep.quadrature.mesh import Term
from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import function_kernel
from giantstep.spec.readout_density import density_of
from giantstep.system.problem import Features, Problem

Array = np.ndarray
_ORDERS, _VANISHES = 12, 1e-12
_POINTS, _DEGREES, _NEAR, _FAR = 80, 11, 2.0, 300.0  # of fits that tell polynomials from other functions
_ROUNDING = 1e-14
_ALL = 99  # a degree that stands for all functions of a parity
_FASTEST, _FEWER = 5.0, 5  # functions of a family by the logarithm of the readout values: one more by every rule
_WIDTHS, _WIDEST, _NARROWEST = 4.0, 4.0, 0.1  # scale of functions: in widths of what they approach, at most, at least
_FASTER = 0.5  # of the scale of the features, that of functions which these do not approach
Polynomials = tuple[tuple[float, ...], ...]


class Family(NamedTuple):
    """Functions of a parity: Chebyshev polynomials of kappa/sqrt(kappa^2 + scale^2); times: by the part of the mean
    label that has the other parity.
    """

    scale: float
    times: bool = False


@dataclass(frozen=True)
class Spanning:
    """Functions of kappa, of each parity: ``even`` and ``odd`` are polynomials, coefficients from the lowest power on,
    and None for all functions.

    Of all functions ``each``: that part of the mean label, the first power, and those of families in turns. columns: of
    the table that they are written to, zero where there are fewer functions.
    """

    even: Polynomials | None
    odd: Polynomials | None
    each: int
    families: tuple[Family, ...]
    columns: int
    label: Term | None

    @property
    def parts(self) -> tuple[Polynomials | None, Polynomials | None]:
        """Those of both parities."""
        return self.even, self.odd

    @property
    def places(self) -> list[tuple[int, int]]:
        """The parity of each function, and its number among those of that parity."""
        counts = (self.each if part is None else len(part) for part in self.parts)
        return [(parity, number) for parity, count in enumerate(counts) for number in range(count)][: self.columns]

    def at(self, kappa: Array) -> Array:
        """[N, columns] at points [N]."""
        label = self._label(kappa) if self.label is not None else np.zeros((2, len(kappa)))
        members = [_members(family, kappa, 2 * self.each) for family in self.families]
        found = np.zeros((len(kappa), self.columns))
        for column, (parity, number) in enumerate(self.places):
            if (part := self.parts[parity]) is not None:
                found[:, column] = polyval(kappa, part[number])
            elif number < 2:
                found[:, column] = kappa**parity if number else label[parity]
            else:
                order, turn = divmod(number - 2, len(members))
                if self.families[turn].times:
                    found[:, column] = label[1 - parity] * members[turn][:, 2 * order + 1]
                else:
                    found[:, column] = members[turn][:, 2 * order + 2 - parity]
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


def _members(family: Family, kappa: Array, most: int) -> Array:
    """Chebyshev polynomials of a family at points [N], [N, most + 1]."""
    return np.asarray(chebvander(kappa / np.sqrt(kappa * kappa + family.scale * family.scale), most))


def spanning_functions(features: Features) -> Spanning | None:
    """Functions of the closed span, as many as the nodes resolve; None where the law of the rows is not by value, or
    where the lowest powers of a polynomial do not come alone, in a ratio that is not the same for all values.
    """
    count, first = len(features.blocks), features.blocks[0]
    if variance_by_value(features.model) is None or features.loadings is not None or features.spike.strength == 0.0:
        return None
    if first.polynomial is not None:
        return None
    highest = degrees(first.function, first.offset)
    if _first_missing(first.function, first.offset, highest) is None:
        even, odd = (None if degree == _ALL else _powers(parity, degree) for parity, degree in enumerate(highest))
    elif (widening := _widening(features)) is None:
        return None
    else:
        present = _present(first.function, first.offset)
        even, odd = (
            None
            if degree == _ALL
            else tuple(_averaged(k, widening) for k in range(parity, degree + 1, 2) if present[k])
            for parity, degree in enumerate(highest)
        )
    families = _families(features, *highest)
    number = math.floor(_FASTEST * math.log(len(features.model.network.readout.values))) - _FEWER
    each = _each((even, odd), len(families), number, count)
    return Spanning(even, odd, each, families, count, features.link)


def _powers(parity: int, degree: int) -> Polynomials:
    """Powers of a parity up to a degree."""
    return tuple((*[0.0] * k, 1.0) for k in range(parity, degree + 1, 2))


def _widening(features: Features) -> float | None:
    """(c - 1)/r^2 where the bulk variance of values u is 1 + u^2 (c - 1), so that He_k is u^k times one polynomial on
    average; None of other laws.
    """
    variance = variance_by_value(features.model)
    assert variance is not None
    beside = float(variance(1.0)) - 1.0
    if any(abs(float(variance(u)) - 1.0 - u * u * beside) > _VANISHES * (1.0 + u * u) for u in (-1.0, 0.5, 2.0)):
        return None
    return beside / features.spike.strength**2


def _averaged(order: int, widening: float) -> tuple[float, ...]:
    """E He_k(u r kappa + sqrt(c_u) g) over u^k r^k, by the generating function exp(t kappa + t^2 widening/2)."""
    found = [0.0] * (order + 1)
    for pairs in range(order // 2 + 1):
        ways = math.factorial(order) / (math.factorial(pairs) * math.factorial(order - 2 * pairs))
        found[order - 2 * pairs] = ways * (0.5 * widening) ** pairs
    return tuple(found)


def _each(parts: tuple[Polynomials | None, ...], families: int, number: int, columns: int) -> int:
    """How many functions of a parity there are: of every family as many, more with every rule that has more nodes."""
    room = (columns - sum(len(part) for part in parts if part is not None)) // max(parts.count(None), 1)
    return min(room, 2 + families * min(max(room - 2, 0) // families, number))


def _families(features: Features, even: int, odd: int) -> tuple[Family, ...]:
    """Functions that vary as mean features do; for other losses than the square as the mean label does where that is
    faster.

    Outputs vary by other amounts at kappa and -kappa where features are neither even nor odd. What mean features leave
    of one parity of the mean label then comes with the other one: times a smooth odd function.
    """
    gamma = math.sqrt(min(1.0, math.fsum(x * x for x in features.overlaps[0])))
    of_label = _scale(math.sqrt(1.0 - gamma * gamma) / max(gamma, 1e-3))
    density, variance = density_of(features.model.network.readout.density or ""), variance_by_value(features.model)
    usual = math.sqrt(density.moment(2))
    assert variance is not None
    of_features = _scale(math.sqrt(float(variance(usual))) / (abs(features.spike.strength) * usual))
    other = features.link is not None and features.link.parity != ("odd" if odd == _ALL else "even")
    turned = (Family(of_features, times=True),) if other and (even == _ALL) != (odd == _ALL) else ()
    faster = of_label < _FASTER * of_features and features.model.fit.loss.key != "square"
    return Family(of_label if faster else of_features), *turned


def _scale(width: float) -> float:
    """That of functions that vary on a width."""
    return max(min(_WIDTHS * width, _WIDEST), _NARROWEST)


def moving_order(problem: Problem) -> int | None:
    """The first vanishing moment h_k = E He_k(z) sigma(z) of a polynomial part of sigma whose h_(k+2) does not vanish:
    kappa^(k+2) comes with kappa^k then, in a ratio that moves with the spike.
    """
    term = problem.blocks[0]
    return _first_missing(term.function, term.offset, degrees(term.function, term.offset))


@lru_cache(maxsize=64)
def _first_missing(text: str, offset: float, parts: tuple[int, int]) -> int | None:
    here = _present(text, offset)
    lower = [k for degree in parts if 0 <= degree < _ALL for k in range(degree % 2, degree, 2)]
    return next((k for k in sorted(lower) if not here[k]), None)


def _present(text: str, offset: float) -> Array:
    """Which moments h_k of an activation do not vanish."""
    moments = hermite_moments(text, function_kernel(text).BREAKPOINTS, _ORDERS, offset)
    return np.asarray(np.abs(moments) > _VANISHES * np.abs(moments).max())


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
