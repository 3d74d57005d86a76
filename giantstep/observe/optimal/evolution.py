"""State evolution of the best estimator: the overlap Q of the directions it finds from samples.

Its equations are derived in ``derive.best_estimator``; ``giantstep derive --of optimal`` prints them.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, eq. (9)-(11).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.law.directions import rows_of
from giantstep.observe.optimal.axes import lower_of
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.told import information
from giantstep.quadrature.gauss import legendre
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
#: Overlaps between which fixed points of one index are looked for.
GRID = np.sort(
    np.concatenate([10.0 ** np.arange(-7.0, -1.0), np.arange(0.05, 1.0, 0.05), 1.0 - 10.0 ** np.arange(-9.0, -1.0)])
)
_ROOT = 1e-13  # of a fixed point
_SMALL, _NEARLY = 1e-3, 0.98  # overlaps from which the iteration of several indices starts
_SETTLED, _SWEEPS, _APART = 1e-9, 600, 1e-4
_LOOK, _RIPPLE = 50, 1e-3  # sweeps after which steps are taken together; of those that lead nowhere
_SHRINKING = 0.95  # ratio of two steps, up to which the rest of a geometric series is added
_BESIDE = (1e-5, 1e-3, 3e-2)  # of a root that moves on finer nodes, over its distance from 0 and 1
_PATH = 16  # nodes between two fixed points


@dataclass(frozen=True)
class Evolution:
    """Fixed points of state evolution: of the best estimator, and of message passing that starts without knowledge."""

    optimal: Array
    algorithmic: Array


def evolve(
    sought: Sought, samples: float, found: bool, fineness: Fineness, before: Evolution | None = None
) -> Evolution:
    """The fixed points at ``samples`` (over d); found: whether message passing leaves its start, Q = 0.

    before: those on coarser nodes. Raises NotConverged.
    """
    target = sought.target
    nothing = np.zeros((target.indices, target.indices))
    if target.indices == 1:
        stable = [nothing + q for q in _roots(sought, samples, fineness, before)]
    else:
        starts = [_SMALL * np.eye(target.indices), _NEARLY * np.eye(target.indices)]
        if before is not None:
            starts = [start for start in _different(before) if np.any(start != nothing)]
        stable = [iterated(sought, samples, start, fineness) for start in starts]
    if not found:
        stable.insert(0, nothing)
    best = stable[0]
    for other in stable[1:]:
        if np.max(np.abs(other - best)) > _APART and _gain(sought, samples, best, other, fineness) > 0.0:
            best = other
    return Evolution(best, stable[0])


def _different(found: Evolution) -> list[Array]:
    """The fixed points, once where they are one."""
    same = np.max(np.abs(found.optimal - found.algorithmic)) <= _APART
    return [found.algorithmic] if same else [found.algorithmic, found.optimal]


def iterated(sought: Sought, samples: float, start: Array, fineness: Fineness, inside: Array | None = None) -> Array:
    """The fixed point that the iteration reaches; inside: a projection on directions that it keeps to."""
    known, before, earlier = start, np.zeros_like(start), start
    for sweep in range(_SWEEPS):
        new = updated(sought, samples, known, fineness)
        if inside is not None:
            new = inside @ new @ inside
        step, known = new - known, new
        change = float(np.max(np.abs(step)))
        if change <= _SETTLED * max(float(np.max(np.abs(known))), _SMALL):
            return known
        if sweep % _LOOK == _LOOK - 1:
            if change < _RIPPLE and float(np.max(np.abs(known - earlier))) <= 2.0 * change:
                return known  # it goes to and fro, as nodes change with the overlap
            earlier = known
        if sweep % 3 == 2:
            known = _ahead(known, step, before)
        before = step
    raise NotConverged(
        f"the overlap still moves by {change:.1e} after {_SWEEPS} steps of state evolution",
        "the samples are close to a threshold; take a few per cent more or less",
    )


def _ahead(known: Array, step: Array, before: Array) -> Array:
    """Where steps that shrink by a constant factor lead; where they do not, what is given."""
    ratio = float(np.sum(step * before)) / float(np.sum(before * before))
    if not 0.0 < ratio < _SHRINKING:
        return known
    found: Array = known + step * (ratio / (1.0 - ratio))
    sizes = np.linalg.eigvalsh(found)
    return found if sizes[0] >= 0.0 and sizes[-1] < 1.0 else known


def updated(sought: Sought, samples: float, known: Array, fineness: Fineness) -> Array:
    """The overlap after one step of state evolution."""
    found = sought.prior.overlap(lower_of(known), known_information(sought.target, known, fineness), samples)
    symmetric: Array = 0.5 * (found + found.T)
    return symmetric


def known_information(target: Target, known: Array, fineness: Fineness) -> Array:
    """E[E[t|y] E[t|y]^T] [m, m] at an overlap Q, remembered. Raises NotConverged."""
    return _remembered(target, rows_of(known), fineness)


@lru_cache(maxsize=4096)
def _remembered(target: Target, known: Rows, fineness: Fineness) -> Array:
    found = information(target, np.array(known), fineness)
    found.flags.writeable = False
    return found


def _roots(sought: Sought, samples: float, fineness: Fineness, before: Evolution | None) -> list[float]:
    """The stable fixed points of one index: where alpha E[E[t|y]^2] - Q falls through zero, and one, if it does not.

    Those near the ones before, where there are some.
    """

    def surplus(q: float) -> float:
        told = known_information(sought.target, np.array([[q]]), fineness)[0, 0]
        return sought.prior.surplus(q, float(told), samples)

    if before is not None:
        near = [_root_near(surplus, float(q[0, 0])) for q in _different(before) if q[0, 0] > 0.0]
        if near and all(q is not None for q in near):
            return [q for q in near if q is not None]
    values = [surplus(q) for q in GRID]
    falls = [i for i in range(len(GRID) - 1) if values[i] > 0.0 >= values[i + 1]]
    roots = [between(surplus, GRID[i], GRID[i + 1]) for i in falls]
    return roots + ([1.0] if values[-1] > 0.0 else [])


def _root_near(surplus: Callable[[float], float], q: float) -> float | None:
    """The root beside one that was found on coarser nodes; None where it is not close."""
    for part in _BESIDE:
        away = part * min(q, 1.0 - q)
        if away > 0.0 and surplus(q - away) > 0.0 >= surplus(q + away):
            return between(surplus, q - away, q + away)
    return None


def between(surplus: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that changes its sign between two overlaps."""
    from scipy.optimize import brentq  # not needed to solve

    return float(brentq(surplus, low, high, xtol=_ROOT, rtol=1e-14))


def _gain(sought: Sought, samples: float, first: Array, second: Array, fineness: Fineness) -> float:
    """What the free entropy gains along a line between two overlaps; without bound where all is known at its end."""
    if np.all(np.diag(second) == 1.0):
        return math.inf
    points, weights = legendre(_PATH)
    step, total = second - first, 0.0
    for x, weight in zip(0.5 * (1.0 + points), 0.5 * weights, strict=True):
        known = first + x * step
        slope = sought.prior.entropy_slope(known, known_information(sought.target, known, fineness), samples)
        total += weight * float(np.trace(slope @ step))
    return total
