"""Axes of kappa, of spikes of several directions, along which the label of several indices jumps or has kinks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node
from derive.language.links import link_of, variables_of
from giantstep.law.kink_roots import REACH
from giantstep.law.multi_index_labels import has_kinks
from giantstep.quadrature.kinks import LINE, along_a_line, bracketed_zeros, degree, kinks
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.tensor import LabelAxes
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import jet
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_SHARP = 0.1  # a width that panels resolve with fewer nodes than evenly spaced ones
_RESOLVED = 0.02  # a width in kappa that nodes on any axes resolve
_FAR = 8.0  # how far out in kappa a kink is felt
_ROUNDED = 4e-15  # of a variance that is the difference of two
_NO_WIDTH = 1e-9  # of a kink that kappa decides, to rounding


@dataclass(frozen=True)
class _Kink:
    """A kink where ``along . kappa`` plus a normal variable of that variance passes ``-offset``; along: None if it is
    bent.
    """

    along: Array | None
    offset: float
    variance: float
    width: float

    def along_axes(self, turn: Array) -> tuple[float, ...]:
        """The width along each axis."""
        if self.along is None:
            return (self.width,) * len(turn)
        return _widths(np.array([math.sqrt(self.variance)]), (turn @ self.along)[:, None])


@lru_cache(maxsize=64)
def axes_of_kinks(target: Target, overlaps: Rows) -> LabelAxes:
    """How the mean label of several indices varies in kappa.

    Given kappa an index varies by what the directions leave of it, which blurs jumps; a smooth link varies on a scale
    of one. Noise inside the link blurs the label that is fitted, and not the clean one that errors are of. Raises
    NotConverged where the label jumps, or nearly so, along curves of kappa.
    """
    known, kinked = np.array(overlaps), has_kinks(target.link)
    left = np.sqrt(np.maximum(0.0, 1.0 - (known**2).sum(axis=0)))
    widths = _widths(left if kinked else np.hypot(left, 1.0), known)
    if not kinked or min(widths) >= _SHARP:
        return LabelAxes(widths)
    found = sorted(_kinks(target, known), key=lambda kink: kink.width)
    sharp = [kink for kink in found if kink.width < _SHARP]
    turn = _basis([kink.along for kink in sharp if kink.along is not None], len(known)) if sharp else np.eye(len(known))
    terms, bent = _on_axes(sharp, turn)
    others = [*bent, *(kink for kink in found if kink.width >= _SHARP)]
    smooth = _widths(np.hypot(left, 1.0), turn @ known)
    beside = tuple(min(each) for each in zip(smooth, *(kink.along_axes(turn) for kink in others), strict=True))
    if not sharp:
        return LabelAxes(beside)
    return LabelAxes(beside, tuple(map(tuple, turn.tolist())), terms)


def _on_axes(kinks: list[_Kink], turn: Array) -> tuple[tuple[tuple[Term, ...], ...], list[_Kink]]:
    """Terms that turn at kinks across each axis, and the kinks that lie across none. Raises NotConverged where kappa
    decides one of these.
    """
    terms: list[dict[Term, None]] = [{} for _ in turn]  # in their order, each once
    others = []
    for kink in kinks:
        axis, scale = _axis_of(kink, turn)
        if axis is not None:
            terms[axis][Term("relu", scale, kink.offset, kink.variance)] = None
        elif kink.width >= _RESOLVED:
            others.append(kink)
        else:
            raise NotConverged(
                "the label jumps or has a kink along curves of kappa, or along lines that cross at an angle, and the "
                f"{len(turn)} directions of the spike decide where (to {kink.width:.0e}): nodes on axes do not follow "
                "them",
                "lower spike.alignment so that its columns are shorter than 0.999",
            )
    return tuple(map(tuple, terms)), others


def _widths(scale: Array, known: Array) -> tuple[float, ...]:
    """The least scale in kappa of any index, along each axis."""
    along = np.abs(known)
    found = np.divide(scale, along, out=np.full(known.shape, math.inf), where=along > 0.0)
    return tuple(found.min(axis=1).tolist())


def _kinks(target: Target, known: Array) -> Iterator[_Kink]:
    """Straight kinks of a link, and of each bent one how sharply kappa decides its indices; with noise inside the link
    and without.
    """
    for probit in sorted({0.0, target.probit}):
        yield from _kinks_with(probit, target, known)


def _kinks_with(probit: float, target: Target, known: Array) -> Iterator[_Kink]:
    found = link_of(target.link)
    names = found.variables
    for node in dict.fromkeys(kinks(found.node)):
        used = [name for name in names if name in variables_of(node)]
        if degree(along_a_line(node, names), LINE) == 1:
            yield _straight(*_value_and_slopes(node, names), known, probit)
        elif len(used) == 1:
            slopes = np.array([float(name == used[0]) for name in names])
            for place in _zeros(node, used[0]):
                yield _straight(-place, slopes, known, probit)
        else:
            each = np.eye(len(names))[[names.index(name) for name in used]]
            yield _Kink(None, 0.0, 0.0, min(_straight(0.0, slopes, known, probit).width for slopes in each))


def _straight(offset: float, slopes: Array, known: Array, probit: float) -> _Kink:
    along = known @ slopes
    whole = float(slopes @ slopes) * (1.0 + probit)
    variance = whole - float(along @ along)
    if variance < _ROUNDED * whole:  # kappa decides it: panels need not get small about a cut
        variance = 0.0
    length = math.sqrt(float(along @ along))
    return _Kink(along, offset, variance, math.sqrt(variance) / length if length > 0.0 else math.inf)


def _value_and_slopes(node: Node, names: tuple[str, ...]) -> tuple[float, Array]:
    zero = {name: np.zeros(1) for name in names}
    jets = [jet(node, name, zero, 1) for name in names]
    return float(np.ravel(jets[0][0])[0]), np.array([float(np.ravel(each[1])[0]) for each in jets])


def _zeros(node: Node, name: str) -> list[float]:
    def at(z: Array) -> Array:
        return np.asarray(jet(node, name, {name: z.ravel()}, 0)[0]).reshape(1, -1)

    return [float(place) for place in bracketed_zeros(at, (-REACH, REACH))[:, 0]]


def _basis(along: list[Array], rank: int) -> Array:
    """Orthonormal rows, the first ones along the vectors in their order."""
    rows: list[Array] = []
    for vector in (*along, *np.eye(rank)):
        rest = vector - sum((row * float(row @ vector) for row in rows), np.zeros(rank))
        if len(rows) < rank and float(rest @ rest) > 0.25 * float(vector @ vector):
            rows.append(rest / math.sqrt(float(rest @ rest)))
    return np.array(rows)


def _axis_of(kink: _Kink, turn: Array) -> tuple[int | None, float]:
    """The axis that a kink lies across, as far as it is felt, and its slope there; None for none."""
    if kink.along is None:
        return None, 0.0
    parts = turn @ kink.along
    axis = int(np.argmax(np.abs(parts)))
    beside = math.sqrt(max(0.0, float(parts @ parts) - float(parts[axis]) ** 2))
    close = beside * _FAR <= max(kink.width, _NO_WIDTH) * abs(float(parts[axis]))
    return (axis if close else None), float(parts[axis])
