"""The spectral measure: density on panels of every interval of the support, masses, distribution function."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import legint, legval

from giantstep.observe.spectrum.response import Response, State, follow
from giantstep.observe.spectrum.support import Edge, Interval, inside
from giantstep.quadrature.gauss import legendre, legendre_coefficients
from giantstep.spec.errors import NotConverged

Array = np.ndarray

ORDER = 16
_POINTS, _WEIGHTS = legendre(ORDER)
_TO_LEGENDRE = legendre_coefficients(ORDER)
_FINEST = 14


class Lost(NotConverged):
    """A solution cannot be followed along the axis to a place: there may be a gap."""

    def __init__(self, message: str, hint: str, x: float) -> None:
        super().__init__(message, hint)
        self.x = x


@dataclass(frozen=True)
class Coordinate:
    """theta in [0, pi] for x in an interval: log x (from an end at zero: down to a floor) is taken along a cosine, so
    that roots at the ends are smooth in theta.
    """

    low: float
    high: float

    def x(self, theta: Array) -> Array:
        """x at theta."""
        a, b = math.log(self.low), math.log(self.high)
        return np.asarray(np.exp(a + (b - a) * np.sin(0.5 * theta) ** 2))

    def slope(self, theta: Array) -> Array:
        """dx/dtheta."""
        return np.asarray(self.x(theta) * (0.5 * math.log(self.high / self.low)) * np.sin(theta))

    def theta(self, x: Array) -> Array:
        """theta at x, clipped to the interval."""
        share = np.log(np.clip(x, self.low, self.high) / self.low) / math.log(self.high / self.low)
        return np.asarray(2.0 * np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))))


@dataclass(frozen=True)
class Bulk:
    """An interval of the support with its density: Legendre coefficients of rho dx/dtheta on panels in theta."""

    low: Edge
    high: Edge
    coordinate: Coordinate = field(repr=False)
    edges: Array = field(repr=False)
    coefficients: Array = field(repr=False)
    states: tuple[State, ...] = field(repr=False)

    @property
    def middles(self) -> tuple[State, ...]:
        """A solution next to the middle of every panel."""
        x = np.array([state.z.real for state in self.states])
        middle = self.coordinate.x(0.5 * (self.edges[1:] + self.edges[:-1]))
        return tuple(self.states[np.argmin(np.abs(np.log(x / each)))] for each in middle)

    @cached_property
    def mass(self) -> float:
        """Fraction of eigenvalues in the interval."""
        return float(self._masses.sum())

    @cached_property
    def _masses(self) -> Array:
        return np.asarray(self.coefficients[:, 0] * np.diff(self.edges))

    @cached_property
    def error(self) -> float:
        """Mass that the last Legendre coefficients stand for."""
        return float(np.abs(self.coefficients[:, -2:]).max(axis=1) @ np.diff(self.edges))

    def below(self, x: Array) -> Array:
        """Mass of the interval below x."""
        theta = self.coordinate.theta(x)
        number = np.clip(np.searchsorted(self.edges, theta, side="right") - 1, 0, len(self.edges) - 2)
        width = np.diff(self.edges)[number]
        local = 2.0 * (theta - self.edges[number]) / width - 1.0
        integral = legint(self.coefficients, lbnd=-1.0, axis=1)
        part = legval(np.clip(local, -1.0, 1.0), integral[number].T, tensor=False) * 0.5 * width
        before = np.concatenate([[0.0], np.cumsum(self._masses)])
        return np.asarray(before[number] + part)

    def density(self, x: Array) -> Array:
        """Density by interpolation, zero outside."""
        theta = self.coordinate.theta(x)
        number = np.clip(np.searchsorted(self.edges, theta, side="right") - 1, 0, len(self.edges) - 2)
        local = 2.0 * (theta - self.edges[number]) / np.diff(self.edges)[number] - 1.0
        value = legval(np.clip(local, -1.0, 1.0), self.coefficients[number].T, tensor=False)
        slope = self.coordinate.slope(theta)
        within = (x > self.coordinate.low) & (x < self.coordinate.high) & (slope > 0.0)
        return np.where(within, np.maximum(value, 0.0) / np.where(slope > 0.0, slope, 1.0), 0.0)


def bulk(response: Response, interval: Interval, floor: float, tolerance: float) -> Bulk:
    """The density of an interval to a tolerance of its mass, down to ``floor`` at least. Raises NotConverged."""
    coordinate = Coordinate(max(interval.low.x, floor), interval.high.x)
    known = list(interval.states)
    done: list[tuple[float, float, Array]] = []
    waiting = [(0.0, 0.5 * math.pi, 0), (0.5 * math.pi, math.pi, 0)]
    while waiting:
        left, right, depth = waiting.pop()
        values = _values(response, coordinate, 0.5 * (left + right) + 0.5 * (right - left) * _POINTS, known)
        coefficients = _TO_LEGENDRE @ values
        tail = float(np.abs(coefficients[-2:]).max()) * (right - left)
        if tail > tolerance * math.sqrt((right - left) / math.pi) and depth < _FINEST:
            middle = 0.5 * (left + right)
            waiting += [(left, middle, depth + 1), (middle, right, depth + 1)]
        else:
            done.append((left, right, coefficients))
    done.sort(key=lambda part: part[0])
    edges = np.array([part[0] for part in done] + [math.pi])
    known.sort(key=lambda state: state.z.real)
    parts = np.array([part[2] for part in done])
    return Bulk(interval.low, interval.high, coordinate, edges, parts, tuple(known))


def _values(response: Response, coordinate: Coordinate, thetas: Array, known: list[State]) -> Array:
    """rho dx/dtheta at some points; their solutions join those known."""
    values = np.zeros(len(thetas))
    slopes = coordinate.slope(thetas)
    for number, x in enumerate(coordinate.x(thetas).tolist()):
        try:
            state = at(response, known, x)
        except NotConverged as error:
            raise Lost(error.message, error.hint, x) from error
        known.append(state)
        values[number] = state.density * slopes[number]
    return values


def at(response: Response, known: list[State] | tuple[State, ...], x: float) -> State:
    """The solution at x by continuation from the nearest of those known that carry a density. Raises NotConverged."""
    nearest = sorted((s for s in known if inside(s)), key=lambda s: abs(math.log(s.z.real / x)))[:2]
    for number, start in enumerate(nearest or list(known)[:1]):
        try:
            return follow(response, start, complex(x), most=100)
        except NotConverged:
            if number + 1 == len(nearest):
                raise
    raise NotConverged(f"no solution is known near x = {x:.6g}", "report this")
