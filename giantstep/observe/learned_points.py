"""Simulated points of the learned function: means of the output in bins, beside what theory expects of the bin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.observe.finite_system import cannot_run, finite_system
from giantstep.quadrature.gauss import normal_between
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.learned import binned_output
from giantstep.simulate.system import SystemKind
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.system.result import Result

Array = np.ndarray
Means = Callable[[Result, Array, int], Array]
_INSIDE = 6  # Gauss-Legendre nodes of a bin


@dataclass(frozen=True)
class LearnedPoints:
    """Bins between ``edges``[B + 1], arrays [axis, B]: axis 0 along the target's direction, others along the spike's.

    mean of the output over the seeds, its standard_error, and ``theory``, the expectation in the same bin; nan in bins
    without points and along a spike that is none. at[B]: mean position of a standard normal in the bin.
    """

    what: str
    dimension: int
    seeds: int
    edges: Array
    at: Array
    mean: Array
    standard_error: Array
    theory: Array

    @property
    def scores(self) -> Array:
        """(mean - theory)/standard_error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.mean - self.theory) / self.standard_error)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, None for what is missing."""
        found: dict[str, Any] = {"what": self.what, "dimension": self.dimension, "seeds": self.seeds}
        found |= {"edges": self.edges.tolist(), "at": self.at.tolist()}
        for name in ("mean", "standard_error", "theory"):
            target, *spikes = ([float(x) if math.isfinite(x) else None for x in row] for row in getattr(self, name))
            found[name] = {"along_target": target, "along_spike": spikes[0], "along_spikes": spikes}
        return found


def simulated_points(
    result: Result, index: int, edges: Array, dimension: int, seeds: int, what: SystemKind, seed: int, means: Means
) -> LearnedPoints:
    """Simulate the model of a solution; ``means`` [axis, N] gives E[f | .] along target and spike at any points.

    Raises BadInput for what cannot be simulated.
    """
    checked_seeds(seeds, 2)
    checked_count("bins", len(edges) - 1, 1)
    model = result.model
    runs = []
    try:
        system = finite_system(model, what)
        for number in range(seeds):
            sequence = np.random.SeedSequence(seed, spawn_key=(number,))
            runs.append(
                binned_output(
                    system,
                    what,
                    dimension,
                    model.fit.samples,
                    model.fit.ridge,
                    edges,
                    sequence,
                    index=index - 1,
                    test_samples=max(20_000, 10 * dimension),
                ).mean
            )
    except SimulationError as error:
        raise cannot_run(error) from None
    measured = np.array(runs)
    at, theory = _expected(result, index, edges, means)
    if len(theory) == 1:  # the simulator has a direction v of strength zero
        theory = np.concatenate([theory, np.full((1, len(at)), np.nan)])
        measured[:, 1] = np.nan
    spread = measured.std(axis=0, ddof=1) / math.sqrt(seeds)
    return LearnedPoints(what, dimension, seeds, edges, at, measured.mean(axis=0), spread, theory)


def _expected(result: Result, index: int, edges: Array, means: Means) -> tuple[Array, Array]:
    """Mean position and mean output of a standard normal in each bin."""
    s, weight = normal_between(edges[:-1], edges[1:], _INSIDE)
    weight /= weight.sum(axis=1, keepdims=True)
    rows = means(result, s.ravel(), index).reshape(-1, *s.shape)
    return (weight * s).sum(axis=1), (weight * rows).sum(axis=2)
