"""The law of the label given kappa by its definition, for the reference of the coupled system: steps, or nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import mpmath

from derive.gaussian.numeric import mpmath_function
from derive.labels import IndexFunction
from derive.scalar import ScalarFunction

REACH = 9  # standard deviations: the Gaussian weight beyond is 1e-18
_DEGREE = 3  # of mpmath's Gauss-Legendre rules: 12 nodes
_STEP = 0.3  # of the trapezoid where there are several directions: 1e-14 for tanh
_NEGLIGIBLE = 1e-19
_NOTHING = 1e-15  # of the squared length of a direction: what rounding leaves of one that the spike fixes

Centre = Callable[[tuple[float, ...], Any], Any]
Rule = list[tuple[float, tuple[float, ...]]]


@dataclass(frozen=True)
class Step:
    """A label and the interval of z' = gamma kappa + width t + sqrt(probit) n where it is the link's value."""

    low: Any
    high: Any
    weight: Any
    label: Any


@dataclass(frozen=True)
class LabelNode:
    """A weight, the place t and the label there."""

    weight: float
    t: tuple[float, ...]
    label: Any


@dataclass(frozen=True)
class Channel:
    """How the label comes about: y = flip link(z + sqrt(probit) n) + sqrt(noise) e with z = alignments kappa + L t,

    L lower triangular with L L^T = 1 - gamma gamma^T; n and e are standard normal, n one for each index.

    alignments: one for each index, or a row of them for each direction of a spike of several; kappa is a number or a
    tuple accordingly.
    """

    link: ScalarFunction | IndexFunction
    alignments: tuple[Any, ...]
    flips: Any = 0
    probit: Any = 0
    noise: Any = 0

    @property
    def width(self) -> Any:
        """Of t in the index of a single-index link."""
        return self.mixing()[0, 0]

    def clean(self) -> Channel:
        """The same without noise of any kind."""
        return Channel(self.link, self.alignments)

    def centres(self, kappa: Any) -> list[Any]:
        """The mean of every index at kappa."""
        rows, point = (self._rows(), kappa) if isinstance(kappa, tuple) else (self._rows(), (kappa,))
        pairs = list(zip(rows, point, strict=True))
        return [mpmath.fsum(mpmath.mpf(row[i]) * x for row, x in pairs) for i in range(len(rows[0]))]

    def mixing(self) -> Any:
        """L, as a matrix."""
        return _mixing(self._rows())

    def _rows(self) -> tuple[tuple[Any, ...], ...]:
        return self.alignments if isinstance(self.alignments[0], tuple) else (self.alignments,)

    def steps(self) -> list[Step] | None:
        """The intervals on which the link is constant; None where it is not."""
        if not isinstance(self.link, ScalarFunction) or any(e.free_symbols for _, _, e in self.link.pieces):
            return None
        found = [Step(_number(low), _number(high), 1, _number(value)) for low, high, value in self.link.pieces]
        if not self.flips:
            return found
        kept = [Step(s.low, s.high, 1 - mpmath.mpf(self.flips), s.label) for s in found]
        return kept + [Step(s.low, s.high, mpmath.mpf(self.flips), -s.label) for s in found]

    def below(self, edge: Any, kappa: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
        """(P(z' < edge), E[t; z' < edge]) for t ~ N(mean, variance)."""
        if mpmath.isinf(edge):
            return (mpmath.mpf(1), mean) if edge > 0 else (mpmath.mpf(0), mpmath.mpf(0))
        width = self.width
        spread = mpmath.sqrt(width**2 * variance + self.probit)
        distance = edge - self.alignments[0] * mpmath.mpf(kappa) - width * mean
        if spread == 0:
            inside = mpmath.mpf(distance > 0)
            return inside, inside * mean
        a = distance / spread
        inside = mpmath.ncdf(a)
        return inside, mean * inside - width * variance / spread * mpmath.npdf(a)

    def nodes(self, kappa: Any, centre: Centre | None = None, spread: float = math.inf) -> list[LabelNode]:
        """Nodes of t and of the noise inside the link, with the labels there; flips included.

        ``centre(t, label)``: a function that a panel of t must not change by more than two ``spread`` (one index,
        no noise inside the link).
        """
        centres, mixing = self.centres(kappa), self.mixing()
        link, root, count = self._function(), mpmath.sqrt(self.probit), len(centres)

        def label(place: tuple[float, ...]) -> Any:
            t, n = place[:count], place[count:] or (0,) * count
            return link(
                *(
                    centres[i] + mpmath.fsum(mixing[i, j] * t[j] for j in range(i + 1)) + root * n[i]
                    for i in range(count)
                )
            )

        if count == 1 and not self.probit:
            cuts = [(_number(b) - centres[0]) / (mixing[0, 0] or mpmath.inf) for b in self._breakpoints()]
            edges = panel_edges(cuts)
            if centre is not None:
                edges = _divided(edges, lambda t: centre((t,), label((t,))), 2.0 * spread)
            rule: Rule = [(w, (t,)) for w, t in gauss_panels(edges)]
        else:
            rule = _tensor(count * (2 if self.probit else 1))
        found = [LabelNode(weight, place[:count], label(place)) for weight, place in rule]
        if not self.flips:
            return found
        flips = float(self.flips)
        kept = [LabelNode((1 - flips) * x.weight, x.t, x.label) for x in found]
        return kept + [LabelNode(flips * x.weight, x.t, -x.label) for x in found]

    def _breakpoints(self) -> tuple[Any, ...]:
        return self.link.breakpoints if isinstance(self.link, ScalarFunction) else ()

    def _function(self) -> Any:
        if isinstance(self.link, ScalarFunction):
            return mpmath_function(self.link.expr, (self.link.z,))
        return mpmath_function(self.link.expr, self.link.variables)


def panel_edges(cuts: Sequence[Any]) -> list[float]:
    """Ends of panels of length 1 at most between -REACH and REACH, the cuts among them."""
    return sorted({float(c) for c in cuts if abs(c) < REACH} | {float(k) for k in range(-REACH, REACH + 1)})


def _divided(edges: list[float], function: Callable[[float], Any], most: float) -> list[float]:
    """The edges with panels halved until the function changes by no more than ``most`` on each."""
    found = edges[:1]
    for low, high in pairwise(edges):
        # not at the edges, where links may jump
        inside = [low + (high - low) * k / 4 for k in (0.01, 1, 2, 3, 3.99)]
        values = [float(function(t)) for t in inside]
        halves = max(0, math.ceil(math.log2((max(values) - min(values)) / most or 1.0)))
        found += [low + (high - low) * (k + 1) / 2**halves for k in range(2**halves)]
    return found


def gauss_panels(edges: Sequence[float]) -> list[tuple[float, float]]:
    """(weight, place) of the standard normal by Gauss-Legendre on panels."""
    rule = [(float(w), float(x)) for x, w in legendre()]
    found = []
    for low, high in pairwise(edges):
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        for w, x in rule:
            t = middle + half * x
            found.append((half * w * math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi), t))
    return found


@lru_cache(maxsize=8)
def _tensor(axes: int) -> Rule:
    line = [k * _STEP for k in range(-int(REACH / _STEP), int(REACH / _STEP) + 1)]
    weights = {t: _STEP * math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi) for t in line}
    grid = ((math.prod(weights[t] for t in place), place) for place in product(line, repeat=axes))
    return [(weight, place) for weight, place in grid if weight > _NEGLIGIBLE]


def legendre() -> list[tuple[Any, Any]]:
    """(place, weight) of the Gauss-Legendre rule of 12 nodes on (-1, 1) at the current precision."""
    rule: list[tuple[Any, Any]] = mpmath.mp._gauss_legendre.get_nodes(-1, 1, _DEGREE, mpmath.mp.prec)
    return rule


def _mixing(rows: tuple[tuple[Any, ...], ...]) -> Any:
    """L with L L^T = 1 - gamma^T gamma for gamma [q][m]; a column is zero where the spike fixes a direction."""
    gamma = mpmath.matrix([list(row) for row in rows])
    if (gamma.rows, gamma.cols) == (1, 1):
        return mpmath.matrix([[mpmath.sqrt((1 - gamma[0, 0]) * (1 + gamma[0, 0]))]])
    rest = mpmath.eye(gamma.cols) - gamma.T * gamma
    lower = mpmath.zeros(gamma.cols)
    for j in range(gamma.cols):
        pivot = rest[j, j] - mpmath.fsum(lower[j, k] ** 2 for k in range(j))
        if pivot <= _NOTHING:
            continue
        lower[j, j] = mpmath.sqrt(pivot)
        for i in range(j + 1, gamma.cols):
            lower[i, j] = (rest[i, j] - mpmath.fsum(lower[i, k] * lower[j, k] for k in range(j))) / lower[j, j]
    return lower


def _number(value: Any) -> Any:
    """A SymPy number, infinite ones included, as mpf."""
    return mpmath.mpf(value.evalf(mpmath.mp.dps + 10)._to_mpmath(mpmath.mp.prec))
