"""The least error of a target along its path, as a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.law.labels import is_constant
from giantstep.observe.optimal.curve import Curve
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.fineness import Fineness, is_continuous, label_fineness
from giantstep.observe.optimal.parity import size_of
from giantstep.observe.optimal.path import Path, Piece
from giantstep.observe.optimal.smooth import on_grid
from giantstep.observe.optimal.two import by_pieces, by_two, first_of_two
from giantstep.spec.model import Target

Array = np.ndarray
_SMALL = 1e-9  # overlap at which what is won over its root is that of none
_CLOSE = (1e-9, 1e-5)  # of the least error, and of that of two indices with noise, over that without samples


@dataclass(frozen=True, eq=False)
class Errors:
    """Of every piece of a path a curve, whose values are E f_*^2 at first, or where predictions are signs a half.

    over_rest: whether it is that of the error over what is left to know: in proportion to that where nothing jumps.
    by_sign: whether it is that of what is won over the root of the overlap, beside the error without any: the likelier
    sign of a label is one of the root of the overlap times kappa.
    """

    path: Path
    curves: tuple[Curve, ...]
    over_rest: bool
    by_sign: bool

    def at(self, place: float) -> float:
        """The error at a mean overlap. Raises NotConverged."""
        if place == 1.0:
            return 0.0
        index, q = self.path.piece_at(place)
        if self.by_sign:
            won, begun = self.curves[index].all_at(q)
            return max(float(begun - math.sqrt(q) * won), 0.0)
        return max(self.curves[index].at(q), 0.0) * (1.0 - q if self.over_rest else 1.0)

    def off(self, place: float) -> float:
        """How far that may be off."""
        if place == 1.0:
            return 0.0
        index, q = self.path.piece_at(place)
        error = self.curves[index].error(q)
        if self.by_sign:  # of both
            return error * (1.0 + math.sqrt(q))
        return error * (1.0 - q if self.over_rest else 1.0)


@lru_cache(maxsize=32)
def errors_along(path: Path, by_sign: bool) -> Errors:
    """Those of a path."""
    target = path.sought.target
    first = _first(target, by_sign)
    size = max(least_error(target, path.overlap(0.0), first, by_sign), 1e-300)
    close = _CLOSE[by_two(target)] * size
    over_rest = by_pieces(target) and not by_sign and is_continuous(target.link)

    @lru_cache(maxsize=32)
    def begun(fineness: Fineness) -> float:
        return least_error(target, path.overlap(0.0), fineness, by_sign)

    def of(piece: Piece) -> Curve:
        def computed(q: float, fineness: Fineness) -> float | Array:
            at = max(q, _SMALL) if by_sign else q
            found = least_error(target, piece.overlap(at), fineness, by_sign)
            if by_sign:
                return np.array([(begun(fineness) - found) / math.sqrt(at), begun(fineness)])
            return found / (1.0 - q) if over_rest else found

        return Curve(computed, first, lambda x: close, absolute=True, ends=(piece.low, piece.high))

    return Errors(path, tuple(of(piece) for piece in path.pieces), over_rest, by_sign)


def _first(target: Target, by_sign: bool) -> Fineness:
    if size_of(target) is not None or not by_sign and _by_nodes_of_link(target):
        return first_of_two(target) if by_pieces(target) else Fineness()
    return label_fineness(target)


def _by_nodes_of_link(target: Target) -> bool:
    """Whether the variance of the link is averaged on nodes that follow the link, not the noise."""
    if target.indices == 1:
        return not is_constant(target.link)
    return by_pieces(target) or on_grid(target)
