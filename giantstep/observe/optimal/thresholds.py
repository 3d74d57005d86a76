"""From how many samples on directions of a target are found better than by chance (weak recovery).

A direction with E[z|y] != 0 is found at any number. Else the smallest number is one over the largest eigenvalue of
M -> E_y[G M G], G = E[z z^T - 1 | y], and M shows which directions are found; then the same given those.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, Lemma 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from generated import best_estimator as kernel
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.iteration import iterated
from giantstep.observe.optimal.monomials import told_by_monomial
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.told import Told, told, varies_without_noise

Array = np.ndarray
_TRIVIAL = 1e-7  # of E[E[t|y]^2], beside which it is zero
_PART_OF = 1e-6  # of the eigenmatrix: what belongs to its range
_SAME = 1e-9  # of two eigenvalues
_NO_GROWTH = 1e-12
_FIRST = 1e-2  # overlap that stands for a direction that is found at any number of samples
_MOST, _PRECISION = 1e3, 1e-4  # samples over d that are tried, and how well a later threshold is known


@dataclass(frozen=True)
class Threshold:
    """Samples over d, infinite where none of those that were tried suffice, and the directions found [r, m]."""

    samples: float
    directions: Array


def thresholds(sought: Sought, fineness: Fineness) -> tuple[Threshold, ...]:
    """The thresholds of all directions that labels depend on, first one first."""
    first, target = first_threshold(sought, fineness), sought.target
    inside = first.directions
    stages = [first]
    while len(inside) < target.indices and math.isfinite(stages[-1].samples) and not varies_without_noise(target):
        following = _next(sought, stages[-1].samples, inside, fineness)
        if following is None:
            break
        stages.append(following)
        inside = np.concatenate([inside, following.directions])
    return tuple(stages)


def first_threshold(sought: Sought, fineness: Fineness) -> Threshold:
    """From how many samples on anything is found, and what. Raises NotConverged for labels that are not followed."""
    target, nothing = sought.target, np.zeros((sought.target.indices, sought.target.indices))
    found = told_by_monomial(target) if target.indices > 1 else None
    found = told(target, nothing, fineness) if found is None else found
    return _stage(found, np.eye(target.indices), sought.prior.growth)


def _stage(found: Told, rest: Array, growth: float) -> Threshold:
    """The threshold of directions ``rest`` [r, m] from what labels tell; growth: of the prior."""
    turned = rest @ found.information @ rest.T
    sizes, vectors = np.linalg.eigh(turned)
    if sizes[-1] > _TRIVIAL:
        return Threshold(0.0, vectors[:, sizes > _TRIVIAL].T @ rest)
    square = np.einsum("ai,kij,bj->kab", rest, found.square, rest)
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


def _next(sought: Sought, before: float, inside: Array, fineness: Fineness) -> Threshold | None:
    """The threshold of the rest, given what the samples tell of the directions inside."""
    target, growth, projection = sought.target, sought.prior.growth, inside.T @ inside
    rest = np.linalg.svd(inside)[2][len(inside) :]

    def at(samples: float, known: Array) -> tuple[Threshold, Array]:
        known = iterated(sought, samples, known, fineness, projection)
        return _stage(told(target, known, fineness), rest, growth), known

    start = _FIRST * projection
    if before == 0.0 and (stage := _stage(told(target, start, fineness), rest, growth)).samples == 0.0:
        return stage
    low = max(before, 1e-3) * (1.0 + 1e-2)
    stage, known = at(low, start)
    if stage.samples <= low:
        return Threshold(before, stage.directions)
    high = low
    while stage.samples > high:
        low, high = high, 2.0 * high
        if high > _MOST:
            return None
        stage, known = at(high, known)
    while high > low * (1.0 + _PRECISION):
        middle = math.sqrt(low * high)
        stage, known = at(middle, known)
        low, high = (middle, high) if stage.samples > middle else (low, middle)
    return Threshold(high, stage.directions)
