"""Fixed points of state evolution along some directions, as a curve in their mean overlap q.

For a given q state evolution fixes what else there is of the overlap Q, and the samples at which it stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from giantstep.observe.optimal.axes import lower_of
from giantstep.observe.optimal.curve import LEAST, Curve
from giantstep.observe.optimal.fineness import Fineness, is_smooth
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.shapes import Shapes
from giantstep.observe.optimal.told import first_of, information, is_rough
from giantstep.observe.optimal.two import by_two
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
_SETTLED, _USABLE, _SWEEPS = 1e-6, 1e-5, 40  # change of Y in a step: at the end, and where it goes to and fro
_SHRINKING, _DIFFERENCE = 0.5, 1e-3  # of a step, beyond which slopes are taken anew; their difference of shapes
_NEAREST = 4  # points that a first guess is taken from
_MOST, _WIDE = 1e14, 2.0  # samples that are tried, and the widest step of their logarithm
_CLOSE, _CLOSE_ROUGH = 1e-4, 2e-4  # of shapes and the logarithm of the samples; of the overlap of rough labels
# root of what is left of the overlap where labels tell a power of it, and its end, of smooth labels and of others
_ENDS = (LEAST, 0.2)
_START, _SMALL = 1e-6, 1e-3  # overlap that stands for next to none, and one where labels tell a power of it


@dataclass(eq=False)
class Fixed:
    """Solves for fixed points of given mean overlaps, each from those near it that are known."""

    sought: Sought
    shapes: Shapes
    points: dict[float, tuple[Array, float]] = field(default_factory=dict)  # at sqrt(1 - q): shape and samples
    slopes: Array | None = None

    def at(self, q: float, fineness: Fineness) -> tuple[Array, float]:
        """Coordinates [p] of the shape, and the samples over d. Raises NotConverged."""
        shape, samples = self._guess(q)
        inverse = np.eye(len(shape)) if self.slopes is None else self.slopes
        moved, before = np.zeros_like(shape), None
        for sweep in range(_SWEEPS):
            left, samples = self._step(q, shape, samples, fineness)
            size = float(np.max(np.abs(left), initial=0.0))
            if size <= _SETTLED or (size <= _USABLE and sweep > _SWEEPS // 2):
                self.points[math.sqrt(1.0 - q)], self.slopes = (shape + left, samples), inverse
                return shape + left, samples
            if before is not None:
                slow = size > _SHRINKING * float(np.max(np.abs(before)))
                inverse = (
                    self._differences(q, shape, left, fineness) if slow else _learned(inverse, moved, left - before)
                )
            new = self.shapes.cut(q, shape + inverse @ left)
            moved, before, shape = new - shape, left, new
        raise NotConverged(
            f"the overlap of several indices does not settle at a mean of {q:.4g}: it still moves by {size:.1e}",
            "add noise to the label",
        )

    def _differences(self, q: float, shape: Array, left: Array, fineness: Fineness) -> Array:
        """What steps are multiplied by for Newton's method, by differences."""
        columns = []
        for axis in range(len(shape)):
            beside = shape.copy()
            beside[axis] += _DIFFERENCE
            columns.append((self._step(q, beside, 1.0, fineness)[0] - left) / _DIFFERENCE)
        return -np.linalg.pinv(np.array(columns).T)

    def conjugate(self, q: float) -> float:
        """The prior's conjugate over the samples."""
        return self.sought.prior.conjugate(q) / self.at(q, first_of(self.sought.target))[1]

    def told_alike(self, q: float) -> float:
        """E[E[t|y]^2] of a direction, in the mean, where all indices are known to q."""
        target = self.sought.target
        told = information(target, q * np.eye(target.indices), first_of(target))
        return self.shapes.trace(told) / self.shapes.rank

    def _step(self, q: float, shape: Array, samples: float, fineness: Fineness) -> tuple[Array, float]:
        """What one step of state evolution adds to the shape where it keeps q, and the samples at which it does."""
        known = self.shapes.overlap(q, shape)
        told = information(self.sought.target, known, fineness)
        samples = self.samples(q, known, told, samples)
        found = self.sought.prior.overlap(lower_of(known), told, samples)
        return self.shapes.shape(q, 0.5 * (found + found.T)) - shape, samples

    def samples(self, q: float, known: Array, told: Array, first: float) -> float:
        """Those at which a step keeps the mean overlap."""
        from scipy.optimize import brentq  # not needed to solve

        lower, rank = lower_of(known), self.shapes.rank

        def surplus(logarithm: float) -> float:
            found = self.sought.prior.overlap(lower, told, math.exp(logarithm))
            return math.log(rank * (1.0 - q) / (rank - self.shapes.trace(found)))

        low = high = math.log(first)
        step = 0.05
        while surplus(low) > 0.0:
            low, high, step = low - step, low, min(3.0 * step, _WIDE)
        while surplus(high) < 0.0:
            low, high, step = high, high + step, min(3.0 * step, _WIDE)
            if high > math.log(_MOST):
                raise NotConverged(f"no samples lead to a mean overlap of {q:.4g}: labels do not tell that much")
        return math.exp(brentq(surplus, low, high, xtol=1e-13, rtol=1e-14))

    def _guess(self, q: float) -> tuple[Array, float]:
        """Of the points next to it, by the polynomial through them."""
        if not self.points:
            return np.zeros(len(self.shapes.basis)), 1.0
        x = math.sqrt(1.0 - q)
        near = sorted(self.points, key=lambda other: abs(other - x))[:_NEAREST]
        if abs(near[0] - x) < 1e-12:
            return self.points[near[0]]
        values = np.array([[*self.points[u][0], math.log(self.points[u][1])] for u in near])
        found, weights = np.zeros(values.shape[1]), []
        for i, u in enumerate(near):
            weights.append(math.prod((x - v) / (u - v) for j, v in enumerate(near) if j != i))
        found = np.array(weights) @ values if max(map(abs, weights)) < 4.0 else values[0]
        return self.shapes.cut(q, found[:-1]), math.exp(float(np.clip(found[-1], -25.0, 25.0)))


def _learned(inverse: Array, moved: Array, change: Array) -> Array:
    """Broyden's update of what steps are multiplied by, after a step that changed what is left."""
    against = inverse @ change
    size = float(moved @ against)
    return inverse if size == 0.0 else inverse - np.outer(moved + against, moved @ inverse) / size


@dataclass(eq=False)
class Segment:
    """Fixed points at mean overlaps from low to high. F is the prior's conjugate over the samples: tabulated are the
    logarithm of F over q^order (1 - q)^(1 - power/2), and the shape. start: shape and samples at low, if that is not 0.
    """

    fixed: Fixed
    low: float
    high: float
    order: int
    power: int
    start: tuple[Array, float] | None
    curve: Curve = field(init=False)
    _bounds: dict[float, float] = field(default_factory=dict)

    grows = False  # what labels tell of all directions together

    def __post_init__(self) -> None:
        target = self.fixed.sought.target
        close, ends = _close_rough if is_rough(target) else _close, (self.low, self.high)
        self.curve = Curve(self._computed, first_of(target), close, absolute=True, ends=ends)

    @classmethod
    def of(cls, fixed: Fixed, ends: tuple[float, float], start: tuple[Array, float] | None, first: float) -> Segment:
        """That between two overlaps; first: the samples from which on anything is found."""
        if ends[0] > 0.0:
            order = 0
        elif math.isfinite(first):
            order = int(first > 0.0)
        else:
            order = round(math.log10(fixed.conjugate(10.0 * _SMALL) / fixed.conjugate(_SMALL)))
        last = _end_of(fixed.sought.target)
        near, far = (fixed.told_alike(1.0 - x * x) / (x * x) for x in (last, 2.0 * last))
        power = min(max(round(math.log2(near / far)), 0), 2)
        return cls(fixed, ends[0], min(ends[1], 1.0 - last * last), order, power, start)

    @property
    def rank(self) -> int:
        """The number of directions."""
        return self.fixed.shapes.rank

    @property
    def all_is_found(self) -> bool:
        """Whether enough samples leave nothing unknown."""
        return self.power == 2 and self.rank == self.fixed.sought.target.indices

    def information(self, q: float) -> float:
        """F at a mean overlap q. Raises NotConverged."""
        return float(math.exp(self.curve.at(q)) * self._factor(q))

    def overlap(self, q: float) -> Array:
        """Q [m, m]."""
        return self.fixed.shapes.overlap(q, self.curve.all_at(q)[1:])

    def error(self, q: float) -> float:
        """Of F."""
        return self.curve.error(q) * self.information(q)

    def shape_error(self, q: float) -> float:
        """Of the overlap, for a given mean."""
        return self.curve.error(q) * q * (1.0 - q)

    def most(self, q: float) -> float:
        """A bound of F: by what labels tell where nearly all is known."""
        if q not in self._bounds:
            self._bounds[q] = math.inf if self.power or self._end > LEAST else self._most(q)
        return self._bounds[q]

    @property
    def _end(self) -> float:
        return _end_of(self.fixed.sought.target)

    def _most(self, q: float) -> float:
        known = q * np.eye(len(self._top))
        told = (1.0 - q) * self._top
        return self.fixed.sought.prior.conjugate(q) / self.fixed.samples(q, known, told, 1.0)

    @cached_property
    def _top(self) -> Array:
        target = self.fixed.sought.target
        q = 1.0 - LEAST**2
        found: Array = information(target, q * np.eye(target.indices), first_of(target)) / (1.0 - q)
        return found

    def _factor(self, q: float) -> float:
        return math.pow(q, self.order) * math.pow(1.0 - q, 1.0 - 0.5 * self.power)

    def _computed(self, q: float, fineness: Fineness) -> Array:
        if self.start is not None and q <= self.low * (1.0 + 1e-12):
            shape, samples = self.start
        else:
            q = max(q, _START)
            shape, samples = self.fixed.at(q, fineness)
        return np.array([math.log(self.fixed.sought.prior.conjugate(q) / samples / self._factor(q)), *shape])


def _end_of(target: Target) -> float:
    return _ENDS[is_rough(target) or (by_two(target) and not is_smooth(target))]


def _close(x: float) -> float:
    """The error that is allowed at an overlap of 1 - x^2."""
    return _CLOSE


def _close_rough(x: float) -> float:
    """The same of rough labels: that of the overlap is q (1 - q) times this."""
    return _CLOSE_ROUGH / (x * x * (1.0 - x * x) + _ENDS[True] ** 2)
