"""From how many samples on directions of a target are found better than by chance (weak recovery).

A direction with E[z|y] != 0 is found at any number. Else the smallest number is one over the largest eigenvalue of
M -> E_y[G M G], G = E[z z^T - 1 | y], and M shows which directions are found; then the same given those.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, Lemma 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated import best_estimator as kernel
from giantstep.observe.optimal.axes import lower_of
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.homogeneous import told_by_homogeneous
from giantstep.observe.optimal.monomials import told_by_monomial
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.told import Told, fine, told
from giantstep.observe.optimal.two import by_two, told_by_pairs, told_of_one_axis
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.probes import alike, places

Array = np.ndarray
_TRIVIAL = 1e-7  # of E[E[t|y]^2], beside which it is zero
_PART_OF = 1e-6  # of the eigenmatrix: what belongs to its range
_SAME = 1e-9  # of two eigenvalues
_NO_GROWTH = 1e-12
_LEVELS, _SETTLED = 16, 1e-8  # of refinement, and relative change that ends it
_MIRRORED = 1e-11  # of a link and its mirror image


@dataclass(frozen=True)
class Threshold:
    """Samples over d, infinite where none of those that were tried suffice, and the directions found [r, m]."""

    samples: float
    directions: Array


def first_threshold(sought: Sought, fineness: Fineness) -> Threshold:
    """From how many samples on anything is found, and what. Raises NotConverged for labels that are not followed."""
    target, nothing = sought.target, np.zeros((sought.target.indices, sought.target.indices))
    if by_two(target):
        sizes, vectors = np.linalg.eigh(told_by_pairs(target, nothing, fineness))
        if sizes[-1] > _TRIVIAL:
            return Threshold(0.0, vectors[:, sizes > _TRIVIAL].T)
    found = told_by_monomial(target) or told_by_homogeneous(target) if target.indices > 1 else None
    found = _settled(target, fineness) if found is None else found
    return _stage(found, np.eye(target.indices), np.eye(target.indices), sought.prior.growth)


def _settled(target: Target, fineness: Fineness) -> Told:
    """What labels tell where nothing is known; of one index on as many nodes as it takes: a link may be steep far out,
    where labels tell most. Raises NotConverged.
    """
    nothing = np.zeros((target.indices, target.indices))
    found = told(target, nothing, fineness)
    if target.indices > 1 or found.information.max() > _TRIVIAL:  # found from any number of samples
        return found
    for _ in range(_LEVELS):
        fineness, before = fineness.more_labels(), found
        found = told(target, nothing, fineness)
        coarse, finer = (float(each.weight @ each.square[:, 0, 0] ** 2) for each in (before, found))
        if abs(finer - coarse) <= _SETTLED * finer + _NO_GROWTH:
            return found
    raise NotConverged(
        f"what labels of the link {target.link!r} tell does not settle, so that the weak threshold is not known",
        "take more label noise, or a link that grows more slowly",
    )


def threshold_of_rest(sought: Sought, known: Array, rest: Array, fineness: Fineness) -> Threshold:
    """That of directions ``rest`` [r, m] of which nothing is known, given the overlap Q [m, m] with others."""
    if by_two(sought.target):
        mirrored = is_mirrored(sought.target.link, tuple(rest[0].tolist()))
        nodes = fineness if mirrored else fine(sought.target)
        told_of, square = told_of_one_axis(sought.target, known, rest[0], nodes)
        value, seen = square * sought.prior.growth, told_of > _TRIVIAL and not mirrored
        return Threshold(0.0 if seen else 1.0 / value if value > _NO_GROWTH else math.inf, rest)
    found = told(sought.target, known, fineness)
    return _stage(found, rest, rest @ lower_of(known), sought.prior.growth)


@lru_cache(maxsize=64)
def is_mirrored(link: str, axis: tuple[float, ...]) -> bool:
    """Whether a link does not see the sign of z along an axis of length one: then no label tells it."""
    z, values = places(len(axis)), link_values(link)
    return alike(values(z), values(z - 2.0 * np.outer(axis, np.array(axis) @ z)), _MIRRORED)


def _stage(found: Told, rest: Array, turn: Array, growth: float) -> Threshold:
    """The threshold of directions ``rest`` [r, m] from what labels tell of t; turn [r, m]: from t to what is not known
    of them; growth: of the prior.
    """
    sizes, vectors = np.linalg.eigh(turn @ found.information @ turn.T)
    if sizes[-1] > _TRIVIAL:
        return Threshold(0.0, vectors[:, sizes > _TRIVIAL].T @ rest)
    square = np.einsum("ai,kij,bj->kab", turn, found.square, turn)
    value, matrix = _largest(found.weight, square)
    value *= growth
    sizes, vectors = np.linalg.eigh(matrix)
    return Threshold(1.0 / value if value > _NO_GROWTH else math.inf, vectors[:, sizes > _PART_OF * sizes[-1]].T @ rest)


def _largest(weight: Array, square: Array) -> tuple[float, Array]:
    """The largest eigenvalue of M -> E[G M G], and a positive eigenmatrix: what is left of one in its eigenspace."""
    size = square.shape[1]
    growth = np.transpose(kernel.growth(weight, square), (0, 3, 1, 2)).reshape(size * size, size * size)
    values, vectors = np.linalg.eigh(growth)
    space = vectors[:, values >= (1.0 - _SAME) * values[-1]]
    return float(max(values[-1], 0.0)), (space @ (space.T @ np.eye(size).ravel())).reshape(size, size)
