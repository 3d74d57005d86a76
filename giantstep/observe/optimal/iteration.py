"""Steps of state evolution of several indices: the overlap Q of the directions after each, up to where it stays.

Its equations are derived in ``derive.best_estimator``; ``giantstep derive --of optimal`` prints them.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, eq. (9)-(11).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.law.directions import rows_of
from giantstep.observe.optimal.axes import lower_of
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.told import information
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
SMALL = 1e-3  # overlap from which the iteration starts
_SETTLED, _SWEEPS = 1e-9, 600
_LOOK, _RIPPLE = 50, 1e-3  # sweeps after which steps are taken together; of those that lead nowhere
_SHRINKING = 0.95  # ratio of two steps, up to which the rest of a geometric series is added


def iterated(sought: Sought, samples: float, start: Array, fineness: Fineness, inside: Array | None = None) -> Array:
    """The fixed point that the iteration reaches; inside: a projection on directions that it keeps to."""
    known, before, earlier = start, np.zeros_like(start), start
    for sweep in range(_SWEEPS):
        new = updated(sought, samples, known, fineness)
        if inside is not None:
            new = inside @ new @ inside
        step, known = new - known, new
        change = float(np.max(np.abs(step)))
        if change <= _SETTLED * max(float(np.max(np.abs(known))), SMALL):
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
