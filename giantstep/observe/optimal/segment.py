"""Fixed points of state evolution along some directions, as a curve in their mean overlap q.

For a given q state evolution fixes what else there is of the overlap Q, and the samples at which it stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from giantstep.observe.optimal.axes import lower_of
from giantstep.observe.optimal.curve import LEAST, Curve
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.shapes import Shapes
from giantstep.observe.optimal.told import first_of, information, is_rough, most_power
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
_SETTLED, _SWEEPS = 5e-6, 40  # part of the last correction of Y that may be left
_SHRINKING, _DIFFERENCE = 0.5, 1e-3  # of a step, beyond which slopes are taken anew; their difference of shapes
_FELT, _LEAST_WRONG, _NEW = (
    1e-4,
    0.03,
    0.1,
)  # moves that show slopes; part of a move that is left, at least and at first
_NEAREST, _LARGEST, _WIDEST = 8, 3.0, 25.0  # points that a guess is taken from, their weights, logarithm of samples
_MOST, _WIDE = 1e14, 2.0  # samples that are tried, and the widest step of their logarithm
_CLOSE, _CLOSE_ROUGH = 1e-4, 2e-4  # of shapes and the logarithm of the samples; of the overlap of rough labels
# root of what is left of the overlap where labels tell a power of it, and its end, of smooth labels and of others
_ENDS = (LEAST, 0.2)
_START, _SMALL = 1e-6, 1e-3  # overlap that stands for next to none, and one where labels tell a power of it


@dataclass(frozen=True, eq=False)
class Local:
    """A step of state evolution near a shape [p] and the logarithm of its samples: the slopes [p, p] of what it adds to
    the shape, and [p] of that logarithm.
    """

    shape: Array
    samples: float
    slopes: Array
    rise: Array

    @property
    def values(self) -> Array:
        """All numbers, which are smooth along a path."""
        return np.concatenate([self.shape, [self.samples], self.slopes.ravel(), self.rise])

    @classmethod
    def of(cls, values: Array, p: int) -> Local:
        """That of such numbers."""
        samples = float(np.clip(values[p], -_WIDEST, _WIDEST))
        return cls(values[:p], samples, values[p + 1 : p + 1 + p * p].reshape(p, p), values[len(values) - p :])

    def learned(self, moved: Array, change: Array, growth: float) -> Local:
        """With Broyden's updates, after a step that changed what is added, and the samples."""
        share = moved / float(moved @ moved)
        slopes = self.slopes + np.outer(change - self.slopes @ moved, share)
        return replace(self, slopes=slopes, rise=self.rise + (growth - self.rise @ moved) * share)


@dataclass(eq=False)
class Fixed:
    """Solves for fixed points of given mean overlaps, each from those near it that are known.

    points: the last one at each sqrt(1 - q), and those of all nodes. wrong: the part of a correction that was left
    after it.
    """

    sought: Sought
    shapes: Shapes
    points: dict[float, Local] = field(default_factory=dict)
    known: dict[tuple[float, Fineness], Local] = field(default_factory=dict)
    wrong: float = 1.0

    def at(self, q: float, fineness: Fineness) -> tuple[Array, float]:
        """Coordinates [p] of the shape, and the samples over d. Raises NotConverged."""
        x = math.sqrt(1.0 - q)
        if (x, fineness) not in self.known:
            self.points[x] = self.known[x, fineness] = self._solved(q, fineness)
        found = self.known[x, fineness]
        return found.shape, math.exp(found.samples)

    def _solved(self, q: float, fineness: Fineness) -> Local:
        """Newton's method with slopes of the points near it. The last correction is not looked at again where that of
        slopes like these left little.
        """
        here = self._guess(q, fineness)
        before: tuple[Array, Array, float] | None = None
        for _ in range(_SWEEPS):
            left, samples = self._step(q, here.shape, math.exp(here.samples), fineness)
            here = replace(here, samples=math.log(samples))
            if before is not None and float(np.max(np.abs(before[0]))) > _FELT:
                here = self._compared(q, here, left, before, fineness)
            wanted = here.shape - np.linalg.pinv(here.slopes) @ left
            new = self.shapes.cut(q, wanted)
            moved = new - here.shape
            rest = float(np.max(np.abs(moved), initial=0.0))
            before = moved, left, here.samples
            after = replace(here, shape=new, samples=here.samples + float(here.rise @ moved))
            if np.array_equal(new, wanted) and rest * max(self.wrong, _LEAST_WRONG) <= _SETTLED:
                return after
            here = after
        raise NotConverged(
            f"the overlap of several indices does not settle at a mean of {q:.4g}: it still moves by {rest:.1e}",
            "add noise to the label",
        )

    def _compared(
        self, q: float, here: Local, left: Array, before: tuple[Array, Array, float], fineness: Fineness
    ) -> Local:
        """With slopes that are learned from the last step, or taken anew where it was of little use."""
        moved, last, samples = before
        self.wrong = float(np.max(np.abs(left)) / np.max(np.abs(last)))
        if self.wrong > _SHRINKING:
            self.wrong = _NEW
            return self._differences(q, here, left, fineness)
        return here.learned(moved, left - last, here.samples - samples)

    def _differences(self, q: float, here: Local, left: Array, fineness: Fineness) -> Local:
        """With slopes by differences."""
        slopes, rise = np.zeros_like(here.slopes), np.zeros_like(here.rise)
        for axis in range(len(rise)):
            beside = here.shape.copy()
            beside[axis] += _DIFFERENCE
            there, samples = self._step(q, beside, math.exp(here.samples), fineness)
            slopes[:, axis] = (there - left) / _DIFFERENCE
            rise[axis] = (math.log(samples) - here.samples) / _DIFFERENCE
        return replace(here, slopes=slopes, rise=rise)

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

    def _guess(self, q: float, fineness: Fineness) -> Local:
        """Of the points next to it, by the polynomial through as many as do not make their errors larger."""
        p = len(self.shapes.basis)
        if not self.points:
            start = Local(np.zeros(p), 0.0, np.zeros((p, p)), np.zeros(p))
            left, samples = self._step(q, start.shape, 1.0, fineness)
            self.wrong = _NEW
            return self._differences(q, replace(start, samples=math.log(samples)), left, fineness)
        x = math.sqrt(1.0 - q)
        near = sorted(self.points, key=lambda place: abs(place - x))[:_NEAREST]
        values = np.array([self.points[place].values for place in near])
        found = values[0]
        for count in range(2, len(near) + 1):
            weights = _through(near[:count], x)
            if np.max(np.abs(weights)) > _LARGEST:
                break
            found = weights @ values[:count]
        guess = Local.of(found, p)
        return replace(guess, shape=self.shapes.cut(q, guess.shape))


def _through(places: list[float], x: float) -> Array:
    """Weights of values at places for the polynomial through them at x."""
    return np.array(
        [math.prod((x - v) / (u - v) for j, v in enumerate(places) if j != i) for i, u in enumerate(places)]
    )


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
        power = min(max(round(math.log2(near / far)), 0), most_power(fixed.sought.target))
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
    return _ENDS[is_rough(target)]


def _close(x: float) -> float:
    """The error that is allowed at an overlap of 1 - x^2."""
    return _CLOSE


def _close_rough(x: float) -> float:
    """The same of rough labels: that of the overlap is q (1 - q) times this."""
    return _CLOSE_ROUGH / (x * x * (1.0 - x * x) + _ENDS[True] ** 2)
