"""All fixed points of state evolution of a target, as one curve in the mean overlap of its indices.

It begins where nothing is known, in the directions that are found first; from the samples on that suffice for more, it
goes on in all of these. A target and a prior have one path; the samples of a model choose points of it.
Source: THEORY section 15; Barbier et al. 2019, PNAS 116, 5451 (thresholds of generalised linear models).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from giantstep.observe.optimal.alike import Alike, told_alike
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.segment import Fixed, Segment
from giantstep.observe.optimal.shapes import shapes_of
from giantstep.observe.optimal.symmetry import is_alike
from giantstep.observe.optimal.thresholds import Threshold, first_threshold, threshold_of_rest
from giantstep.observe.optimal.told import fine, fine_along, has_too_many_indices, varies_without_noise
from giantstep.quadrature.gauss import legendre

Array = np.ndarray
#: Mean overlaps of directions between which fixed points are looked for.
GRID = np.sort(
    np.concatenate([10.0 ** np.arange(-7.0, -1.0), np.arange(0.05, 1.0, 0.05), 1.0 - 10.0 ** np.arange(-9.0, -1.0)])
)
_FEW = 1e-2  # overlap of directions that are just found, at which others are looked for
_AT_ONCE = 1.01  # ratio of two thresholds that are one
_PLACE = 1e-8  # of the overlap at which others are found
_MOST = 1.0 - 1e-6  # overlap up to which they are looked for
_ORDER = 8  # nodes of a path for each factor e of 1 - q
_NEAR = 1e-4  # step of a slope, over the distance from the ends

Piece = Alike | Segment


@dataclass(frozen=True, eq=False)
class Path:
    """Pieces one after the other, and the thresholds where they begin; places are mean overlaps of all indices."""

    sought: Sought
    pieces: tuple[Piece, ...]
    thresholds: tuple[Threshold, ...]

    @cached_property
    def grid(self) -> Array:
        """Places between which fixed points are looked for, in every piece."""
        inside = [GRID[(GRID > piece.low) & (GRID < piece.high)] * self._share(piece) for piece in self.pieces]
        return np.unique(np.concatenate(inside))

    @property
    def all_is_found(self) -> bool:
        """Whether enough samples leave nothing unknown: what labels tell does not vanish with what is left."""
        return self.pieces[-1].all_is_found

    @property
    def last(self) -> str:
        """The last place, in words."""
        rest = 1.0 - float(self.grid[-1])
        return f"1 - {rest:.0e}".replace("e-0", "e-") if rest < 1e-3 else f"{1.0 - rest:.3g}"

    def surplus(self, place: float, samples: float) -> float:
        """What is negative where state evolution leads to less than this overlap, positive where it leads to more."""
        if place == 1.0:
            return self.sought.prior.surplus(1.0, 0.0, samples)
        piece, q = self._piece(place)
        return self.sought.prior.surplus(q, piece.information(q), samples)

    def surplus_at_most(self, place: float, samples: float, above: float) -> float:
        """A bound of it that costs less; above: what ``rate`` gives at a larger overlap."""
        piece, q = self._piece(place)
        most = above * (1.0 - q) if piece.grows else piece.most(q)
        return math.inf if math.isinf(most) else self.sought.prior.surplus(q, most, samples)

    def rate(self, place: float) -> float:
        """What labels tell over what is left to know."""
        piece, q = self._piece(place)
        return piece.information(q) / (1.0 - q)

    def samples(self, place: float) -> float:
        """Those at which the overlap is a fixed point, where what vanishes there does: a linear function of them."""
        zero, one = (self.surplus(place, samples) for samples in (0.0, 1.0))
        return zero / (zero - one) if one != zero else math.inf

    def fewest(self, place: float) -> float:
        """A lower bound of these that costs less."""
        piece, q = self._piece(place)
        return self.sought.prior.conjugate(q) / piece.most(q)

    def overlap(self, place: float) -> Array:
        """Q [m, m]."""
        if place in (0.0, 1.0):
            return place * np.eye(self.sought.target.indices)
        piece, q = self._piece(place)
        return piece.overlap(q)

    def moved_by(self, samples: float, place: float) -> float:
        """How far the error of the pieces moves a fixed point."""
        if place in (0.0, 1.0):
            return 0.0
        piece, q = self._piece(place)
        step = _NEAR * min(q - piece.low, piece.high - q)
        ends = [
            samples * piece.information(other) - self.sought.prior.conjugate(other) for other in (q - step, q + step)
        ]
        return samples * piece.error(q) * 2.0 * step / max(abs(ends[1] - ends[0]), 1e-300) + piece.shape_error(q)

    def entropy_gain(self, low: float, high: float) -> tuple[float, float]:
        """What the free entropy gains up to a larger overlap: a number, and what multiplies samples.

        Its slope vanishes at a fixed point, where it is a number and samples times another.
        """
        number = slope = 0.0
        for start, end in self._parts(low, high):
            for place, share in _nodes(start, end):
                change = self._slope(place)
                number += share * change
                slope -= share * change / self.samples(place)
        return number, slope

    def _parts(self, low: float, high: float) -> Iterator[tuple[float, float]]:
        for piece in self.pieces:
            first, last = (end * self._share(piece) for end in (piece.low, piece.high))
            if max(low, first) < min(high, last):
                yield max(low, first), min(high, last)

    def _slope(self, place: float) -> float:
        """Of the free entropy without samples, along the path."""
        piece, q = self._piece(place)
        step = _NEAR * min(q - piece.low, piece.high - q)
        known, ends = piece.overlap(q), [piece.overlap(other) for other in (q - step, q + step)]
        slope = self.sought.prior.entropy_slope(known, np.zeros_like(known), 0.0)
        return float(np.trace(slope @ (ends[1] - ends[0]))) / (2.0 * step * self._share(piece))

    def _share(self, piece: Piece) -> float:
        """Mean overlap of all indices where the directions of a piece are known."""
        return piece.rank / self.sought.target.indices

    def piece_at(self, place: float) -> tuple[int, float]:
        """Where a place is: which piece, and the mean overlap of its directions."""
        ends = [piece.high * self._share(piece) for piece in self.pieces]
        index = min(int(np.searchsorted(ends, place)), len(ends) - 1)
        return index, place / self._share(self.pieces[index])

    def _piece(self, place: float) -> tuple[Piece, float]:
        index, q = self.piece_at(place)
        return self.pieces[index], q


def _nodes(low: float, high: float) -> Iterator[tuple[float, float]]:
    ends = [-math.log1p(-q) for q in (low, high)]
    panels = max(1, math.ceil(ends[1] - ends[0]))
    x, weight = legendre(_ORDER)
    width = (ends[1] - ends[0]) / panels
    for panel in range(panels):
        for place, share in zip(ends[0] + width * (panel + 0.5 * (1.0 + x)), 0.5 * width * weight, strict=True):
            yield -math.expm1(-place), share * math.exp(-place)


@lru_cache(maxsize=64)
def path_of(sought: Sought) -> Path:
    """That of a target. Raises NotConverged for labels that are not followed."""
    target, fineness = sought.target, fine(sought.target)
    first = first_threshold(sought, fineness)
    if is_alike(target):
        return Path(sought, (told_alike(target),), (first,))
    if varies_without_noise(target) or has_too_many_indices(target):
        return Path(sought, (), (first,))
    return _Making(sought, fine_along(target), [first]).path()


@dataclass(eq=False)
class _Making:
    """Pieces of a path, each up to where more directions are found."""

    sought: Sought
    fineness: Fineness
    stages: list[Threshold]

    def path(self) -> Path:
        """All of them."""
        first, m = self.stages[0], self.sought.target.indices
        directions = first.directions if math.isfinite(first.samples) else np.eye(m)
        pieces: list[Segment] = []
        low, start = 0.0, None
        while True:
            fixed = Fixed(self.sought, shapes_of(self.sought.target, directions))
            found = self._next(fixed, low) if len(directions) < m else None
            if found is None or found[0] > low:
                high = 1.0 if found is None else found[0]
                pieces.append(Segment.of(fixed, (low, high), start, first.samples))
            if found is None:
                return Path(self.sought, tuple(pieces), tuple(self.stages))
            place, stage = found
            self.stages.append(stage)
            wider = np.concatenate([directions, stage.directions])
            if place > low:
                shape, samples = fixed.at(place, self.fineness)
                known, low = fixed.shapes.overlap(place, shape), place * len(directions) / len(wider)
                start = (shapes_of(self.sought.target, wider).shape(low, known), samples)
            directions = wider

    def _next(self, fixed: Fixed, low: float) -> tuple[float, Threshold] | None:
        """The overlap from which on more directions are found, and that threshold; None where there is none."""
        from scipy.optimize import brentq  # not needed to solve

        directions = fixed.shapes.directions
        rest = np.linalg.svd(directions)[2][len(directions) :]
        stages: dict[float, Threshold] = {}

        def early(q: float) -> float:
            shape, samples = fixed.at(q, self.fineness)
            stage = threshold_of_rest(self.sought, fixed.shapes.overlap(q, shape), rest, self.fineness)
            stages[q] = Threshold(samples, stage.directions)
            if stage.samples == 0.0 or math.isinf(stage.samples):
                return math.copysign(math.inf, 1.0 - stage.samples)
            return math.log(samples / stage.samples)

        few = low + _FEW * (1.0 - low)
        if early(few) > -math.log(_AT_ONCE):
            return low, Threshold(self.stages[-1].samples, stages[few].directions)
        before, after = few, 0.5 * (1.0 + few)
        while (value := early(after)) <= 0.0:
            before, after = after, 0.5 * (1.0 + after)
            if after > _MOST or math.isinf(value):
                return None
        place = float(brentq(early, before, after, xtol=_PLACE, rtol=1e-8))
        return place, stages[place] if place in stages else stages[min(stages, key=lambda q: abs(q - place))]
