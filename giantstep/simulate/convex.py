"""A convex loss as plain numpy functions, its proximal map and its Moreau envelope.

With s = y for a margin loss and 1 otherwise, and o = y for a residual loss and 0 otherwise, a loss is a function rho
of u = s f - o: the margin y f, the residual f - y, or f itself (then rho keeps y as a parameter). All kinks of a loss
are points in u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from giantstep.simulate.errors import Array, SimulationError

Form: TypeAlias = Literal["residual", "margin", "general"]
FORMS: tuple[Form, ...] = ("residual", "margin", "general")
Value: TypeAlias = Callable[[Array, Array], Array]
Derivatives: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]

# distance from a kink at which one-sided slopes are read and extrapolated: leaves 1e-14 of a third derivative
SIDE = 1e-7
PROX_STEPS = 200
WIDEST = 30.0  # widths of the first envelopes of the method of multipliers, in distances
# where pieces are probed for being straight, as shares of their length; the outer ones up to 1000
STRAIGHT = np.array([1e-5, 1e-4, 1e-3, 0.01, 0.0721, 0.2618, 0.5, 0.7071, 0.95, 0.99, 0.999, 0.9999, 0.99999])
# a curvature below minus this, in units of 1 + |slope|, is more than rounding
CONCAVE = 1e-6
LARGEST = 1e150


@dataclass(frozen=True)
class ConvexLoss:
    """A loss l(y, f), convex in f, elementwise on arrays: (y, f) -> l and (y, f) -> (dl/df, d2l/df2).

    form: "residual" (of f - y), "margin" (of y f; labels must be +-1) or "general". kinks: increasing points in u
    where the slope jumps, or ``moving`` gives those at a label; the derivatives are never read there. A slope that is
    only kinked (Huber) has none.
    Raises SimulationError for impossible values.
    """

    value: Value
    derivatives: Derivatives
    form: Form = "residual"
    kinks: tuple[float, ...] = ()
    name: str = "loss"
    moving: Callable[[float], tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SimulationError(f"form must be one of {', '.join(FORMS)}, got {self.form!r}")
        if list(self.kinks) != sorted(set(self.kinks)) or not np.all(np.isfinite(self.kinks)):
            raise SimulationError(f"kinks must be increasing finite numbers, got {self.kinks!r}")

    @property
    def smooth(self) -> bool:
        """Whether the slope is continuous."""
        return not self.kinks and self.moving is None

    def kinks_at(self, labels: Array) -> Array:
        """Kinks [K, 1], or [K, n] where they move with the label; labels with fewer than others have inf."""
        if self.moving is None:
            return np.array(self.kinks)[:, None]
        found = [self.moving(float(label)) for label in labels]
        table = np.full((max(map(len, found), default=0), labels.size), np.inf)
        for column, kinks in enumerate(found):
            table[: len(kinks), column] = kinks
        return table


SQUARE = ConvexLoss(lambda y, f: 0.5 * (y - f) ** 2, lambda y, f: (f - y, np.ones_like(f)), name="square")


class Labelled:
    """A loss at fixed labels y[n], as n functions of f.

    ``kinks``: [K, 1] or [K, n] as ``ConvexLoss.kinks_at``; ``sides``: one-sided slopes (below, above) in u at each
    kink, arrays [1] or [n]; ``linear``: slopes of the pieces
    between the kinks where all are straight lines, the same for all labels.
    """

    def __init__(self, loss: ConvexLoss, labels: Array) -> None:
        self.loss, self.labels = loss, labels
        self.sign = labels if loss.form == "margin" else np.ones(labels.size)
        self.offset = labels if loss.form == "residual" else np.zeros(labels.size)
        self._base = {"residual": np.zeros(1), "margin": np.ones(1), "general": labels}[loss.form]
        self.kinks = loss.kinks_at(labels)
        self.sides = [self._sides(kink) for kink in self.kinks]
        pairs = zip(self.kinks, self.sides, strict=True)
        if any(np.any((above <= below) & np.isfinite(kink)) for kink, (below, above) in pairs):
            raise SimulationError(f"the loss {loss.name} is not convex: its slope falls at a kink")
        self.linear = self._slopes() if loss.kinks else None

    @property
    def name(self) -> str:
        """Of the loss."""
        return self.loss.name

    @property
    def smooth(self) -> bool:
        """Whether all slopes are continuous."""
        return self.loss.smooth

    def widest(self) -> float:
        """V of envelopes whose width, V times the jump of the slope, is large against the distance of 0 from kinks."""
        origin = -self.offset
        if not len(self.kinks):
            jump = float(np.max(np.abs(self.slope(np.zeros(origin.size))[0])))
            return WIDEST * (float(np.median(np.abs(origin))) or 1.0) / (jump or 1.0)
        jump, distance = 0.0, 0.0
        for kink, (below, above) in zip(self.kinks, self.sides, strict=True):
            there = np.broadcast_to(np.isfinite(kink), origin.shape)
            jump = max(jump, float(np.max(np.where(np.isfinite(kink), above - below, 0.0))))
            distance = max(distance, float(np.median(np.abs(origin - kink)[there])))
        return WIDEST * (distance or 1.0) / jump

    def train(self, f: Array) -> float:
        """The mean loss."""
        return float(np.mean(self.value(f)))

    def value(self, f: Array) -> Array:
        """l(y, f), shape (n,)."""
        return self.loss.value(self.labels, f)

    def slope(self, f: Array) -> tuple[Array, Array]:
        """Slope and curvature in f, each (n,). Raises SimulationError where the curvature is negative."""
        return self._derivatives(self.labels, f)

    def proximal(self, w: Array, variance: float) -> tuple[Array, Array, Array]:
        """Minimiser x of (x - w)^2/(2V) + l(y, x), the slope (w - x)/V of the envelope at w, and its curvature.

        Each of shape (n,). The pair (x, slope) lies on the graph of the subdifferential of the loss to rounding.
        """
        target = self.sign * w - self.offset
        ends_at = np.full((1, self.kinks.shape[1]), np.inf)
        edges = np.concatenate([-ends_at, self.kinks, ends_at])
        piece, held, point = np.zeros(w.size, dtype=np.intp), np.zeros(w.size, dtype=bool), np.zeros(w.size)
        for kink, (below, above) in zip(self.kinks, self.sides, strict=True):
            right = target > kink + variance * above
            here = ~right & (target >= kink + variance * below)
            piece += right
            held |= here
            point[here] = np.broadcast_to(kink, w.shape)[here]
        slope, curvature = (target - point) / variance, np.full(w.size, 1.0 / variance)
        free = np.flatnonzero(~held)
        if self.linear is not None:
            slope[free], curvature[free] = self.linear[piece[free]], 0.0
            point[free] = target[free] - variance * slope[free]
        elif free.size:
            column = free if edges.shape[1] > 1 else np.zeros_like(free)
            ends = edges[piece[free], column], edges[piece[free] + 1, column]
            point[free], slope[free], found = self._smooth_part(target[free], variance, *ends, free)
            curvature[free] = found / (1.0 + variance * found)
        return self.sign * (point + self.offset), self.sign * slope, curvature

    def _smooth_part(
        self, target: Array, variance: float, low: Array, high: Array, index: np.ndarray
    ) -> tuple[Array, Array, Array]:
        """Root of x + V rho'(x) = w between two kinks: Newton's method kept in a shrinking bracket.

        The left side grows at least as fast as x, so the root is at most |gap| away from any point; the first bracket
        comes from a point near 0, where slopes do not overflow.
        """
        base = self._base if self._base.size == 1 else self._base[index]
        left, right = low, high
        origin = _inside(np.clip(0.0, low, high), low, high)
        gap = origin + variance * self._derivatives(base, origin)[0] - target
        low, high = np.maximum(low, origin - np.maximum(gap, 0.0)), np.minimum(high, origin - np.minimum(gap, 0.0))
        point = np.minimum(np.maximum(_inside(np.clip(target, left, right), left, right), low), high)
        last = np.full(target.size, np.inf)
        for _ in range(PROX_STEPS):
            slope, curvature = self._derivatives(base, point)
            gap = point + variance * slope - target
            low = np.where(gap > 0.0, np.maximum(low, point - gap), np.maximum(low, point))
            high = np.where(gap > 0.0, np.minimum(high, point), np.minimum(high, point - gap))
            scale = np.abs(point) + np.abs(target) + variance * np.abs(slope)
            new = point - gap / (1.0 + variance * curvature)
            good = (new >= low) & (new <= high) & (new > left) & (new < right) & (np.abs(gap) <= 0.5 * last)
            new, last = np.where(good, new, 0.5 * (low + high)), np.abs(gap)
            done = (np.abs(gap) <= 4e-16 * scale) | (high - low <= 4e-16 * scale)
            if np.all(done):
                return point, slope, curvature
            point = np.where(done, point, new)
        return point, slope, curvature

    def _sides(self, kink: Array) -> tuple[Array, Array]:
        kink = np.where(np.isfinite(kink), kink, 0.0)
        step = SIDE * (1.0 + np.abs(kink))

        def beside(direction: float) -> Array:
            near, far = (np.zeros(self._base.size) + kink + k * direction * step for k in (1.0, 2.0))
            return 2.0 * self._derivatives(self._base, near)[0] - self._derivatives(self._base, far)[0]

        return beside(-1.0), beside(1.0)

    def _slopes(self) -> Array | None:
        """The slope in u of every piece, or None where a piece is curved."""
        kinks = np.array(self.loss.kinks)
        ends = np.concatenate([[kinks[0] - 1e3], kinks, [kinks[-1] + 1e3]])
        if self._base.size > 1:
            return None
        probes = [low + (high - low) * STRAIGHT for low, high in zip(ends[:-1], ends[1:], strict=True)]
        slopes = np.array([self._derivatives(self._base, probe)[0] for probe in probes])
        if not np.all(np.isfinite(slopes)):
            return None
        return slopes[:, 0] if np.all(np.ptp(slopes, axis=1) <= 1e-13 * np.max(np.abs(slopes))) else None

    def _derivatives(self, labels: Array, f: Array) -> tuple[Array, Array]:
        slope, curvature = self.loss.derivatives(labels, f)
        if np.any(curvature < -CONCAVE * (1.0 + np.abs(slope))):
            raise SimulationError(f"the loss {self.loss.name} is not convex: its slope falls with the output")
        return slope, np.clip(curvature, 0.0, LARGEST)


class Penalised:
    """The samples of a loss, and behind them the p readouts, as samples of a penalty at the label 0."""

    def __init__(self, data: Labelled, penalty: Labelled) -> None:
        self.parts, self.count = (data, penalty), data.labels.size

    @property
    def name(self) -> str:
        """Of loss and penalty."""
        return " with the penalty ".join(part.name for part in self.parts)

    @property
    def smooth(self) -> bool:
        """Whether all slopes are continuous."""
        return all(part.smooth for part in self.parts)

    def widest(self) -> float:
        """That of the part with the wider envelopes."""
        return max(part.widest() for part in self.parts)

    def train(self, f: Array) -> float:
        """The mean loss of the samples."""
        return self.parts[0].train(f[: self.count])

    def value(self, f: Array) -> Array:
        """Losses, then penalties, shape (n + p,)."""
        return np.concatenate([part.value(own) for part, own in zip(self.parts, self._split(f), strict=True)])

    def slope(self, f: Array) -> tuple[Array, Array]:
        """Slopes and curvatures."""
        found = [part.slope(own) for part, own in zip(self.parts, self._split(f), strict=True)]
        slope, curvature = (np.concatenate(pair) for pair in zip(*found, strict=True))
        return slope, curvature

    def proximal(self, w: Array, variance: float) -> tuple[Array, Array, Array]:
        """Minimisers, slopes of the envelopes, and their curvatures."""
        found = [part.proximal(own, variance) for part, own in zip(self.parts, self._split(w), strict=True)]
        point, slope, curvature = (np.concatenate(each) for each in zip(*found, strict=True))
        return point, slope, curvature

    def _split(self, f: Array) -> tuple[Array, Array]:
        return f[: self.count], f[self.count :]


#: What is minimised beside the ridge: functions of outputs.
Functions: TypeAlias = Labelled | Penalised


def _inside(point: Array, low: Array, high: Array) -> Array:
    """Points moved off the ends of their intervals, where slopes are not defined."""
    width = np.where(np.isfinite(high - low), high - low, 1.0 + np.abs(point))
    edge = SIDE * np.minimum(width, 1.0 + np.abs(point))
    point = np.where(point - low < edge, low + edge, point)
    return np.where(high - point < edge, high - edge, point)
