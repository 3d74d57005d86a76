"""What chance leaves open of errors and equations, where averages are taken at random places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from giantstep.verify.quadrature import CHANCE
from giantstep.verify.reference import Reference

_SIGNS = 24  # sets of signs


@dataclass(frozen=True)
class Chance:
    """CHANCE standard errors of the observables and of the residuals, by name."""

    observables: Mapping[str, float]
    residuals: Mapping[str, float]


def chance_of(found: Reference) -> Chance:
    """Zero of averages without chance. What two draws differ by gets a random sign at every node of kappa, where the
    numbers drawn are its own: errors and equations of many such sets vary as their own do (the wild bootstrap).
    """
    observables, residuals = found.observables(), found.residuals()
    if found.nodes.drawn is None:
        return Chance(dict.fromkeys(observables, 0.0), dict.fromkeys(residuals, 0.0))
    source, seen = np.random.default_rng(2), []
    for _ in range(_SIGNS):
        signs = source.choice([-1.0, 1.0], len(found.nodes.kappa))
        moved = replace(found.nodes, values=found.nodes.values + signs * found.nodes.drawn)
        other = found.at_nodes(moved)
        seen.append((other.observables(), other.residuals()))
    return Chance(
        _spread([each for each, _ in seen], observables),
        _spread([each for _, each in seen], residuals),
    )


def _spread(seen: list[dict[str, float]], mean: Mapping[str, float]) -> dict[str, float]:
    return {
        name: CHANCE * float(np.sqrt(np.mean([(each[name] - value) ** 2 for each in seen])))
        for name, value in mean.items()
    }
