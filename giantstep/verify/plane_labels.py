"""Labels that are constant between curves of the plane of two indices: their probability given the output.

Along z2 the probability is closed between the places where the curves cross; along z1 panels end where the order of
these changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from giantstep.verify.conditional_law import LabelLaw, link_function, link_is_constant
from giantstep.verify.kinks import kinks_of, smoothed_panels
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import density

Array = np.ndarray
_REACH, _OF_SPREAD = 9.0, 2.0  # of z1, and panels of it, in its spreads
_NARROW = 0.02  # spreads below this are out of reach
_TOGETHER = 2_000_000
_CLOSE = 1e-9
_SIDES = np.array([1.0, 0.0]), np.array([0.0, 1.0])


@dataclass(frozen=True)
class _Lines:
    """Places z1 [J] with weights, crossings z2 [J, C] along each, and the labels between them [J, C + 1]."""

    z1: Array
    weight: Array
    crossings: Array
    labels: Array


def is_of_plane(law: LabelLaw) -> bool:
    """Whether the label is one of a few between curves of two indices."""
    return law.overlaps.shape[1] == len(law.directions) == 2 and link_is_constant(law.text)


def values_of_plane(law: LabelLaw) -> tuple[float, ...]:
    """The labels."""
    lines = _lines(law.text, 8.0, 1.0)
    with np.errstate(invalid="ignore"):  # places beyond the last crossing are infinite
        wide = np.diff(lines.crossings, axis=1, prepend=-np.inf, append=np.inf) > _CLOSE  # not on a curve itself
    return tuple(np.unique(lines.labels[wide & (lines.weight > _CLOSE)[:, None]]).tolist())


def tells_apart(law: LabelLaw, output: Output) -> bool:
    """Whether the output given kappa leaves the indices a spread that panels resolve."""
    return _narrowest(_spread(law, output, output.variance)[1]) >= _NARROW


def _spread(law: LabelLaw, output: Output, own: Array) -> tuple[Array, Array]:
    """Covariances of t and z' [N, 2, 2], and of z' [N, 2, 2], given kappa and the output."""
    total = own + (output.slopes**2).sum(axis=0)
    left = np.eye(2) - np.einsum("in,jn->nij", output.slopes, output.slopes) / total[:, None, None]
    across = left @ law.lower.T
    return across, law.lower @ across + law.probit * np.eye(2)


def _narrowest(spread: Array) -> float:
    """The least spread of z1, and of z2 given z1."""
    first = spread[:, 0, 0]
    with np.errstate(all="ignore"):
        second = np.where(first > 0.0, np.linalg.det(spread) / first, 0.0)
    return math.sqrt(max(0.0, float(np.minimum(first, second).min())))


def probability_given_output(
    law: LabelLaw, value: float, kappa: Array, output: Output, own: Array, width: float
) -> Callable[[Array], tuple[Array, Array]]:
    """P(y = value | f) [N, U] and E[t; y = value | f] [2, N, U] at places f [N, U], as a function.

    own: the variance of f given t.
    """
    total = own + (output.slopes**2).sum(axis=0)
    across, spread = _spread(law, output, own)
    narrow = _narrowest(spread)
    carry = across @ np.linalg.inv(spread)
    centre = law.centre(kappa)

    def at(f: Array) -> tuple[Array, Array]:
        t = np.einsum("in,nu->nui", output.slopes / total, f - output.mean[:, None])
        middle = centre[:, None, :] + t @ law.lower.T
        step = _OF_SPREAD * width * narrow
        lines = _lines(law.text, 2.0 ** math.ceil(math.log2(np.abs(middle).max() + _REACH * 2.0)), _power(step))
        found = [_of_node(lines, value, middle[n], spread[n]) for n in range(len(f))]
        p = np.array([inside for inside, _ in found])
        beside = np.einsum("nij,nuj->inu", carry, np.array([away for _, away in found]))
        return p, np.moveaxis(t, -1, 0) * p + beside

    return at


def _power(step: float) -> float:
    """The power of two below, so that few sets of lines are kept."""
    return float(2.0 ** math.floor(math.log2(min(step, 2.0))))


@lru_cache(maxsize=16)
def _lines(text: str, reach: float, step: float) -> _Lines:
    kinks = kinks_of(text)
    assert kinks is not None
    across, along = _SIDES
    cuts = kinks.cuts(across, along, reach)
    even = np.linspace(-reach, reach, round(2.0 * reach / step) + 1)
    z1, weight = (found[0] for found in smoothed_panels(np.sort(np.concatenate([even, cuts]))[None]))
    crossings, _ = kinks.roots(z1[:, None] * across, along, reach)
    held = np.minimum(crossings, reach)
    edges = np.concatenate([np.full((len(z1), 1), -reach), held, np.full((len(z1), 1), reach)], axis=1)
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    return _Lines(z1, weight, crossings, link_function(text)(np.broadcast_to(z1[:, None], middle.shape), middle))


def _of_node(lines: _Lines, value: float, middle: Array, spread: Array) -> tuple[Array, Array]:
    """P [U] and E[z' - middle; y = value] [U, 2] at one kappa, for z' about middle [U, 2]."""
    root = math.sqrt(spread[0, 0])
    slope = spread[0, 1] / spread[0, 0]
    own = math.sqrt(spread[1, 1] - slope * spread[0, 1])
    low, high = middle[:, 0].min() - _REACH * root, middle[:, 0].max() + _REACH * root
    near = (lines.z1 > low) & (lines.z1 < high)
    z1, crossings, inside = lines.z1[near], lines.crossings[near], (lines.labels[near] == value).astype(float)
    turns = np.where(np.isfinite(crossings), np.diff(inside, axis=1), 0.0)
    some = np.any(turns != 0.0, axis=0)
    turns, crossings = turns[:, some], crossings[:, some]
    size = max(1, int(_TOGETHER / (len(z1) * max(1, turns.shape[1]))))
    parts = []
    for start in range(0, len(middle), size):
        c = middle[start : start + size]
        away = z1[None] - c[:, :1]
        weight = lines.weight[near] * density(away / root) / root
        place = crossings[None] - (c[:, 1:] + slope * away)[..., None]
        with np.errstate(invalid="ignore"):
            x = np.where(turns != 0.0, place / own, 0.0)
        p = inside[:, 0] + (turns * ndtr(-x)).sum(axis=2)
        bump = (turns * density(x)).sum(axis=2)
        first = (weight * away * p).sum(axis=1)
        second = slope * first + own * (weight * bump).sum(axis=1)
        parts.append(np.stack([(weight * p).sum(axis=1), first, second], axis=1))
    found = np.concatenate(parts)
    return found[:, 0], found[:, 1:]
