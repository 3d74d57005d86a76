"""The least error of a target along its path, as a curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from giantstep.law.labels import is_constant
from giantstep.observe.optimal.curve import Curve
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.fineness import Fineness, label_fineness
from giantstep.observe.optimal.parity import size_of
from giantstep.observe.optimal.path import Path, Piece
from giantstep.observe.optimal.smooth import on_grid
from giantstep.observe.optimal.two import by_two
from giantstep.spec.model import Target

_CLOSE = (1e-9, 1e-5)  # of the least error, and of that of two indices with noise, over that without samples


@dataclass(frozen=True, eq=False)
class Errors:
    """Of every piece of a path a curve, whose values are E f_*^2 at first, or where predictions are signs a half."""

    path: Path
    curves: tuple[Curve, ...]

    def at(self, place: float) -> float:
        """The error at a mean overlap. Raises NotConverged."""
        if place == 1.0:
            return 0.0
        index, q = self.path.piece_at(place)
        return max(self.curves[index].at(q), 0.0)

    def off(self, place: float) -> float:
        """How far that may be off."""
        if place == 1.0:
            return 0.0
        index, q = self.path.piece_at(place)
        return self.curves[index].error(q)


@lru_cache(maxsize=32)
def errors_along(path: Path, by_sign: bool) -> Errors:
    """Those of a path."""
    target = path.sought.target
    first = _first(target, by_sign)
    size = max(least_error(target, path.overlap(0.0), first, False), 1e-300)
    close = _CLOSE[by_two(target)] * size

    def of(piece: Piece) -> Curve:
        def computed(q: float, fineness: Fineness) -> float:
            return least_error(target, piece.overlap(q), fineness, by_sign)

        return Curve(computed, first, lambda x: close, absolute=True, ends=(piece.low, piece.high))

    return Errors(path, tuple(of(piece) for piece in path.pieces))


def _first(target: Target, by_sign: bool) -> Fineness:
    nodes = target.indices == 1 and not by_sign and not is_constant(target.link) or size_of(target) is not None
    return Fineness() if nodes or (on_grid(target) and not by_sign) else label_fineness(target)
