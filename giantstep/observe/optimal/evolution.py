"""State evolution of the best estimator: the overlap Q of the directions it finds from samples.

Its equations are derived in ``derive.best_estimator``; ``giantstep derive --of optimal`` prints them.
Source: THEORY section 15; Troiani et al. 2024, arXiv:2405.15480, eq. (9)-(11).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.observe.optimal.line import fixed_points, likeliest
from giantstep.observe.optimal.path import Path
from giantstep.spec.errors import NotConverged

Array = np.ndarray


@dataclass(frozen=True)
class Evolution:
    """Fixed points of state evolution: of the best estimator, and of message passing that starts without knowledge.

    places: theirs on the path of the target.
    """

    optimal: Array
    algorithmic: Array
    places: tuple[float, float]


def evolve(path: Path, samples: float) -> tuple[Evolution, float]:
    """The fixed points at ``samples`` (over d), and how accurate the best one is."""
    found = path.thresholds[0].samples < samples  # message passing leaves its start, Q = 0
    stable = ([] if found else [0.0]) + fixed_points(path, samples) or [0.0]
    best = likeliest(path, samples, stable)
    if best == 1.0 and not path.all_is_found:
        raise NotConverged(
            f"the overlap at {samples:.3g} samples is above {path.last}, where rounding hides what it leaves",
            "take fewer samples: the least test error goes on to fall as a power of them",
        )
    places = (best, stable[0])
    return Evolution(path.overlap(best), path.overlap(stable[0]), places), path.moved_by(samples, best)
