"""A function of an overlap q that is dear to compute, as polynomials on panels that are made where they are asked.

The variable is x = sqrt(1 - q): what labels tell that are smooth, or have kinks or jumps, is analytic in x up to x = 0
but for a power of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from giantstep.observe.optimal.fineness import Fineness
from giantstep.spec.errors import NotConverged

Array = np.ndarray
LEAST = math.sqrt(1e-9)  # x of the largest overlap
_EDGES = (LEAST, 0.06, 0.25, 1.0)
_DEGREES = (4, 8, 16, 32)
_PART = 0.2  # of the overlaps of a panel that begins at 0, where it is cut
_SHOWN = 2  # coefficients at the end of a polynomial that show how far it is from its function
_REFINEMENTS = 9  # of labels, and of kappa
_ROUNDING = 4e-10  # of values: what rules leave that finer ones do not show
_LOOKED_AT = (0, 2, 3)  # where nodes have to settle: of the places of the least degree, at first and in the middle
# how far nodes that settled are off anywhere, over the change by finer ones at the places that are looked at: a half of
# it may be left after these, and other places may be worse
_ANYWHERE = 4.0
_NARROW = 1e-3  # width of a panel over its end, below which it is taken as it is


@dataclass(frozen=True, eq=False)
class Panel:
    """Polynomials of x between low and high, by their values [N, V] at Chebyshev's places, and the error expected."""

    low: float
    high: float
    values: Array
    error: float

    def at(self, x: float) -> Array:
        """Its values [V], by the barycentric formula."""
        nodes, weights = _places(len(self.values) - 1)
        away = (2.0 * x - self.low - self.high) / (self.high - self.low) - nodes
        nearest = int(np.argmin(np.abs(away)))
        if abs(away[nearest]) < 1e-15:
            return np.asarray(self.values[nearest])
        share = weights / away
        return np.asarray(share @ self.values / share.sum())


@dataclass(eq=False)
class Curve:
    """Functions computed(q, fineness), one or several [V]. close(x): the error that is allowed; of the largest value of
    one function, or absolute.

    exact: whether finer nodes do not change them. ends: of the overlaps where they are smooth.
    """

    computed: Callable[[float, Fineness], float | Array]
    first: Fineness
    close: Callable[[float], float]
    absolute: bool = False
    exact: bool = False
    ends: tuple[float, float] = (0.0, 1.0)
    _panels: list[Panel | None] = field(init=False)
    _edges: list[float] = field(init=False)
    _settled_on: Fineness | None = None

    def __post_init__(self) -> None:
        most, least = (math.sqrt(1.0 - q) for q in self.ends)
        self._edges = [max(least, LEAST), *(x for x in _EDGES if max(least, LEAST) < x < most), most]
        self._panels = [None] * (len(self._edges) - 1)

    def at(self, q: float) -> float:
        """The value of a single function at an overlap up to 1 - LEAST^2. Raises NotConverged."""
        return float(self.all_at(q)[0])

    def all_at(self, q: float) -> Array:
        """The values [V] there."""
        x = math.sqrt(1.0 - q)
        return self._panel(x).at(x)

    def error(self, q: float) -> float:
        """How far from the function it is expected to be there, at most."""
        return self._panel(math.sqrt(1.0 - q)).error

    def _panel(self, x: float) -> Panel:
        place = min(max(int(np.searchsorted(self._edges, x, side="right")) - 1, 0), len(self._panels) - 1)
        found = self._panels[place]
        if found is None:
            low, high = self._edges[place : place + 2]
            found = self._panels[place] = self._made(low, high)
        if found is not None:
            return found
        self._edges.insert(place + 1, _between(low, high))
        self._panels.insert(place, None)
        return self._panel(x)

    def _made(self, low: float, high: float) -> Panel | None:
        """The panel between two x; None where a polynomial is not close and narrower ones may be."""
        narrow = high - low < _NARROW * high
        try:
            places = _between_ends(low, high, _DEGREES[0])
            looked_at = _LOOKED_AT if self._settled_on is None else _LOOKED_AT[1:2]
            fineness, moved = self._settled(tuple(float(places[k]) for k in looked_at))
            self._settled_on = fineness
            return self._fitted(low, high, fineness, moved, narrow)
        except NotConverged:
            if narrow:
                raise
            return None

    def _settled(self, places: tuple[float, ...]) -> tuple[Fineness, float]:
        """Nodes on which the function has settled at these x, and how much finer ones still change it."""
        fineness, moved = self._settled_on or self.first, 0.0
        if self.exact:
            return fineness, moved
        values = self._values(places, fineness)
        for finer in (Fineness.more_labels, Fineness.more_kappa):
            for _ in range(_REFINEMENTS):
                after = self._values(places, finer(fineness))
                change = np.abs(after - values)
                if np.all(change <= self._allowed(np.abs(after), np.array(places))):
                    break
                fineness, values = finer(fineness), after
            moved += _ANYWHERE * float(np.max(change))
        return fineness, moved

    def _allowed(self, size: Array, x: Array) -> Array:
        close = np.array([[self.close(float(each))] for each in x])
        return close if self.absolute else close * size

    def _values(self, places: tuple[float, ...] | Array, fineness: Fineness) -> Array:
        return np.array([np.atleast_1d(self.computed(1.0 - float(x) ** 2, fineness)) for x in places])

    def _fitted(self, low: float, high: float, fineness: Fineness, moved: float, narrow: bool) -> Panel | None:
        """The polynomial of least degree that is close; None where none is, unless there is no narrower panel."""
        known: dict[float, Array] = {}
        tails: list[float] = []
        for degree in _DEGREES:
            x = _between_ends(low, high, degree)
            known |= {float(u): self._values((u,), fineness)[0] for u in x if float(u) not in known}
            values = np.array([known[float(u)] for u in x])
            tails.append(float(np.max(np.abs(_coefficients(degree) @ values)[-_SHOWN:])))
            rest = tails[-1] / (1.0 - _ratio(tails, degree))
            allowed = float(self._allowed(np.array([[np.max(np.abs(values))]]), np.array([low]))[0, 0])
            rounding = _ROUNDING * float(np.max(np.abs(values)))
            if rest <= allowed:
                return Panel(low, high, values, moved + rest + rounding)
            if narrow and degree == _DEGREES[-1]:
                return Panel(
                    low, high, values, moved + max(rest, float(np.ptp(values, axis=0).max()) / degree) + rounding
                )
            if len(tails) > 1 and not narrow and _in_the_end(tails, degree) > allowed:
                return None
        return None


def _ratio(tails: list[float], degree: int) -> float:
    """Of two coefficients that follow each other, by the tails at the degree and at half of it."""
    if len(tails) < 2:
        return 0.5
    return float(min(tails[-1] / max(tails[-2], 1e-300), 1.0) ** (2.0 / degree)) * (1.0 - 1.0 / degree)


def _in_the_end(tails: list[float], degree: int) -> float:
    """The tail at the largest degree, where it goes on to fall as fast as it did."""
    return float(tails[-1] * (tails[-1] / max(tails[-2], 1e-300)) ** (2.0 * (_DEGREES[-1] / degree - 1.0)))


def _between(low: float, high: float) -> float:
    """Where a panel is cut: with a part of the x that is nearer to 0, and of the overlaps that is nearer to 0."""
    if high < 1.0:
        return math.sqrt(low * high)
    return math.sqrt(1.0 - _PART * (1.0 - low**2))


def _between_ends(low: float, high: float, degree: int) -> Array:
    """Chebyshev's places on a panel."""
    x: Array = 0.5 * (low + high) + 0.5 * (high - low) * _places(degree)[0]
    x[0], x[-1] = low, high
    return x


@lru_cache(maxsize=16)
def _places(degree: int) -> tuple[Array, Array]:
    """Chebyshev's places on [-1, 1], ends among them, and weights of the barycentric formula."""
    weights = (-1.0) ** np.arange(degree + 1)
    weights[[0, -1]] *= 0.5
    return -np.cos(math.pi * np.arange(degree + 1) / degree), weights


@lru_cache(maxsize=16)
def _coefficients(degree: int) -> Array:
    """From values at these places to coefficients of Chebyshev polynomials."""
    inverse: Array = np.linalg.inv(np.polynomial.chebyshev.chebvander(_places(degree)[0], degree))
    return inverse
