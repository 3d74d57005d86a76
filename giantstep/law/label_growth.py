"""Where labels that grow end: in t for every target, and in kappa for targets of several indices.

Of one index the mean label given kappa is a term of the mesh in kappa, whose end it tells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.law.directions import noisy_indices, rows_of
from giantstep.quadrature.mesh import NARROW, NEGLIGIBLE, Spacing, too_fast
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_FARTHEST, _FURTHER = 38.0, 2.0
_ABOUT = np.linspace(-3.0, 3.0, 7)  # of kappa: where labels that do not grow are largest
_REST = np.linspace(-15.0, 15.0, 13)  # of each direction of t: what is looked for is 19 digits wide
_SEVERAL = (-2.1, -0.6, 0.3, 1.4)  # kappa at which labels are looked at
_STEP, _REACHES = 0.25, (9.0, 12.0, 16.0, 22.0, 30.0)  # of t: the Gaussian weight beyond the first is 1e-18
ENDED = 1e-14  # of the square of a label that grows, what is beyond where a loss takes it
_NOTHING = 1e-16  # what may be left out of E y^2
_IN_CORNERS = 1e-13  # the same on a diagonal, beside which there is little


def spacing_of(target: Target, overlaps: Rows) -> Spacing:
    """Of panels in kappa of one direction, which end where the label does."""
    return replace(NARROW, reach=max(NARROW.reach, label_reach(target, overlaps)))


def label_reach(target: Target, overlaps: Rows) -> float:
    """The radius of kappa beyond which the weight times the square of a label of several indices is nothing; zero of
    one index.

    overlaps [q, m]. Raises NotConverged where there is no such radius.
    """
    if target.indices == 1:
        return 0.0
    links = [text for text in (target.mean_link, target.second_link) if isinstance(text, str)]
    return max(far_of_kappa(label_beside(link, overlaps, target.probit)) for link in links)


def reach_of(link: str, overlaps: Rows, probit: float, nothing: float = _NOTHING) -> float:
    """Where t may end: the weight times the square of the label is nothing there. Raises NotConverged."""
    return reach_beside(label_beside(link, overlaps, probit), nothing=nothing)


def share_far_out(reach: float, far: float = NARROW.reach) -> float:
    """What weights that may be left out come down by where labels grow, so that t ends at a reach and kappa far out."""
    return math.exp(-0.5 * (max(0.0, reach**2 - _REACHES[0] ** 2) + max(0.0, far**2 - NARROW.reach**2)))


@dataclass(frozen=True)
class Beside:
    """A label of indices ``z = gamma^T kappa + L t``: gamma [q, m], L [m, m]."""

    link: str
    gamma: Rows
    lower: Rows

    def along_axes(self, t: Array) -> Iterator[Array]:
        """The label at several kappa along each of its indices, t [J] from its mean, the others at a generic place."""
        values, width = link_values(self.link), np.sqrt((self._lower**2).sum(axis=1))
        for kappa in _SEVERAL:
            for axis in range(len(width)):
                z = self._lengths[:, None] * kappa + 0.37 * width[:, None] * np.ones((1, len(t)))
                z[axis] = self._lengths[axis] * kappa + width[axis] * t
                yield values(z)

    def along_diagonals(self, t: Array) -> Iterator[Array]:
        """The same where all directions of t move at once, t [J] in all: products of indices grow there."""
        values, count = link_values(self.link), len(self._lower)
        for signs in itertools.product((1.0, -1.0), repeat=count - 1):
            direction = self._lower @ np.array([1.0, *signs]) / math.sqrt(count)
            for kappa in _SEVERAL:
                yield values(self._lengths[:, None] * kappa + direction[:, None] * t)

    def largest(self, kappa: Array) -> float:
        """The logarithm of the largest square times the weight of kappa and t, at points of kappa [N, q] and on a
        coarse grid of t.
        """
        axes = [_REST if size > 0.0 else np.zeros(1) for size in np.diag(self._lower)]
        t = np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")])
        values, away, weight, found = link_values(self.link), self._lower @ t, -0.5 * (t**2).sum(axis=0), -math.inf
        for place in kappa:
            with np.errstate(all="ignore"):
                y = values((place @ np.array(self.gamma))[:, None] + away)
                square = np.fmax.reduce(2.0 * np.log(np.abs(y)) + weight)
            found = max(found, float(square) - 0.5 * float(place @ place))
        return found

    @cached_property
    def _lower(self) -> Array:
        return np.array(self.lower)

    @cached_property
    def _lengths(self) -> Array:
        """The overlap of each index with all directions of kappa together, with a sign."""
        return np.array([math.copysign(math.hypot(*column), sum(column)) for column in zip(*self.gamma, strict=True)])


def label_beside(link: str, overlaps: Rows, probit: float) -> Beside:
    """The label of a link for overlaps [q, m], with noise inside it."""
    return Beside(link, overlaps, rows_of(noisy_indices(np.array(overlaps), probit).lower))


@lru_cache(maxsize=256)
def reach_beside(label: Beside, first: float = _REACHES[0], nothing: float = _NOTHING) -> float:
    """Where t may end; the first place that is looked at, and what may be left out of E y^2. Raises NotConverged."""
    for reach in (first, *(further for further in _REACHES if further > first)):
        t = np.arange(-math.floor(reach / _STEP), math.floor(reach / _STEP) + 1) * _STEP
        weight = _STEP * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
        ends = (label.along_axes, nothing), (label.along_diagonals, max(nothing, _IN_CORNERS))
        if all(_is_nothing(weight, lines(t), share) for lines, share in ends):
            return reach
    raise NotConverged(
        f"the label {label.link!r} grows too fast for its averages given the spike",
        "use a link that grows more slowly than the exponential of a square",
    )


def _is_nothing(weight: Array, lines: Iterator[Array], share: float) -> bool:
    """Whether squares of labels on lines [J] have no more than a share of them at the ends."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.array([weight * y * y for y in lines])
    return bool(squares[:, [0, -1]].max() <= share * squares.sum(axis=1).max())


@lru_cache(maxsize=256)
def far_of_kappa(label: Beside) -> float:
    """Where kappa may end; the largest square over what it leaves open stands for the mean one. Raises NotConverged."""
    directions = len(label.gamma)
    signs = np.array([x for x in itertools.product((-1.0, 0.0, 1.0), repeat=directions) if any(x)])
    ways = signs / np.linalg.norm(signs, axis=1, keepdims=True)
    peak = label.largest((_ABOUT[:, None, None] * ways).reshape(-1, directions))
    reach = NARROW.reach
    while reach < _FARTHEST:
        if label.largest(reach * ways) <= peak + math.log(NEGLIGIBLE):
            return reach
        reach += _FURTHER
    raise too_fast()
