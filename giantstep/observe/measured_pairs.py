"""Pairs of simulated fits that share some sources, as the theory of a decomposition has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.observe.finite_system import cannot_run, default_kind, finite_system
from giantstep.observe.measured_steps import standard_error
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.pairs import PairsResult, Resampling, simulate_pairs
from giantstep.simulate.system import SystemKind
from giantstep.spec.counts import checked_seeds
from giantstep.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class MeasuredPairs:
    """Averages over seeds: test_error [seed], and by the key of a pair what ``PairsResult`` has, [seed]."""

    what: SystemKind
    dimension: int
    seeds: int
    test_error: Array
    half_mean_square: dict[str, Array]
    shared: dict[str, Array]
    ensemble_of_2: dict[str, Array]

    def to_dict(self) -> dict[str, Any]:
        """Means with their standard errors."""
        found: dict[str, Any] = {"test_error": _told(self.test_error)}
        for name in ("half_mean_square", "shared", "ensemble_of_2"):
            found[name] = {key: _told(values) for key, values in getattr(self, name).items()}
        return {**found, "what": self.what, "dimension": self.dimension, "seeds": self.seeds}


def _told(values: Array) -> dict[str, float | None]:
    error = float(standard_error(values))
    return {"mean": float(values.mean()), "standard_error": error if np.isfinite(error) else None}


def measured_pairs(
    model: Model,
    dimension: int,
    seeds: int,
    sets: Sequence[Sequence[str]],
    what: SystemKind | None,
    seed: int,
    resampling: Resampling,
) -> MeasuredPairs:
    """Simulate pairs that share each of the sets of sources. Raises BadInput where that cannot be done."""
    checked_seeds(seeds)
    again = model.step is not None and any("batch" not in names for names in sets)
    kind = what or ("network" if again else default_kind(model))
    held = [(*names, "batch") if model.step is None else tuple(names) for names in sets]
    try:
        run = simulate_pairs(
            finite_system(model, kind),
            kind,
            dimension,
            seeds,
            held,
            model.fit.samples,
            model.fit.ridge,
            seed=seed,
            resampling=resampling,
        )
    except SimulationError as error:
        raise cannot_run(error) from None
    return _by_key(run, sets, kind, dimension)


def _by_key(run: PairsResult, sets: Sequence[Sequence[str]], kind: SystemKind, dimension: int) -> MeasuredPairs:
    keys = ["+".join(names) for names in sets]

    def columns(values: Array) -> dict[str, Array]:
        return dict(zip(keys, values.T, strict=True))

    parts = (columns(run.half_mean_square), columns(run.product), columns(run.ensemble))
    return MeasuredPairs(kind, dimension, len(run.test_error), run.test_error, *parts)
