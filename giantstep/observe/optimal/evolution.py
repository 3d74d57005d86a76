"""State evolution of the best estimator: the overlap Q of the directions it finds from samples.

Its equations are derived in ``derive.best_estimator``; ``giantstep derive --of optimal`` prints them.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, eq. (9)-(11).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.observe.optimal.alike import told_alike
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.iteration import SMALL, iterated, known_information
from giantstep.observe.optimal.line import fixed_points, likeliest, moved_by
from giantstep.observe.optimal.prior import Sought
from giantstep.quadrature.gauss import legendre
from giantstep.spec.errors import NotConverged

Array = np.ndarray
_NEARLY = 0.98  # overlap from which the iteration of the best estimator starts
_APART = 1e-4  # of two fixed points
_PATH = 16  # nodes between two fixed points


@dataclass(frozen=True)
class Evolution:
    """Fixed points of state evolution: of the best estimator, and of message passing that starts without knowledge."""

    optimal: Array
    algorithmic: Array


def evolve_alike(sought: Sought, samples: float, found: bool) -> tuple[Evolution, float]:
    """The fixed points at ``samples`` (over d) of indices that are all known alike, and how accurate the best one is.

    found: whether message passing leaves its start, Q = 0.
    """
    stable = ([] if found else [0.0]) + fixed_points(sought, samples) or [0.0]
    best, one = likeliest(sought, samples, stable), np.eye(sought.target.indices)
    if best == 1.0 and not told_alike(sought.target).all_is_found:
        raise NotConverged(
            f"the overlap at {samples:.3g} samples is above 1 - 1e-9, where rounding hides what it leaves",
            "take fewer samples: the least test error goes on to fall as a power of them",
        )
    return Evolution(best * one, stable[0] * one), moved_by(sought, samples, best)


def evolve(
    sought: Sought, samples: float, found: bool, fineness: Fineness, before: Evolution | None = None
) -> Evolution:
    """The fixed points at ``samples`` (over d) of several indices.

    found: whether message passing leaves its start, Q = 0; before: those on coarser nodes. Raises NotConverged.
    """
    indices = sought.target.indices
    nothing, starts = np.zeros((indices, indices)), [SMALL * np.eye(indices), _NEARLY * np.eye(indices)]
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


def _gain(sought: Sought, samples: float, first: Array, second: Array, fineness: Fineness) -> float:
    """What the free entropy gains along a line between two overlaps."""
    points, weights = legendre(_PATH)
    step, total = second - first, 0.0
    for x, weight in zip(0.5 * (1.0 + points), 0.5 * weights, strict=True):
        known = first + x * step
        slope = sought.prior.entropy_slope(known, known_information(sought.target, known, fineness), samples)
        total += weight * float(np.trace(slope @ step))
    return total
