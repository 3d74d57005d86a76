"""Simulated points of the learned function: means of the output in bins, beside what theory expects of the bin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from giantstep.simulate.system import Rung, SimulationError
from giantstep.spec.errors import BadInput
from giantstep.system.result import Result

Array = np.ndarray
Means = Callable[[Result, Array, int], tuple[Array, Array | None]]
_INSIDE = 6  # Gauss-Legendre nodes of a bin


@dataclass(frozen=True)
class LearnedPoints:
    """Bins between ``edges``[B + 1], arrays [axis, B]: axis 0 along the target's direction, axis 1 along the spike.

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
            rows = zip(("along_target", "along_spike"), getattr(self, name), strict=True)
            found[name] = {axis: [float(x) if math.isfinite(x) else None for x in row] for axis, row in rows}
        return found


def simulated_points(
    result: Result, index: int, edges: Array, dimension: int, seeds: int, what: Rung, seed: int, means: Means
) -> LearnedPoints:
    """Simulate the model of a solution; ``means`` gives E[f | .] along the target and the spike at any points.

    Raises BadInput for what cannot be simulated.
    """
    from giantstep.observe.simulate import checked_count, finite_system
    from giantstep.simulate.learned import binned_output

    checked_count("seeds", seeds, 2)
    checked_count("bins", len(edges) - 1, 1)
    model = result.model
    runs = []
    try:
        system = finite_system(model, what)
        for number in range(seeds):
            sequence = np.random.SeedSequence(seed, spawn_key=(number,))
            runs.append(
                binned_output(system, what, dimension, model.fit.samples, model.fit.ridge, edges, sequence,
                              index=index - 1, test_samples=max(20_000, 10 * dimension)).mean
            )  # fmt: skip
    except SimulationError as error:
        raise BadInput(f"the simulation cannot be run: {error}", "change the model or the dimension") from None
    measured = np.array(runs)
    if result.spike.strength == 0.0:
        measured[:, 1] = np.nan
    at, theory = _expected(result, index, edges, means)
    spread = measured.std(axis=0, ddof=1) / math.sqrt(seeds)
    return LearnedPoints(what, dimension, seeds, edges, at, measured.mean(axis=0), spread, theory)


def _expected(result: Result, index: int, edges: Array, means: Means) -> tuple[Array, Array]:
    """Mean position and mean output of a standard normal in each bin."""
    points, weights = leggauss(_INSIDE)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    s = middle + half * points
    weight = half * weights * np.exp(-0.5 * s * s)
    weight /= weight.sum(axis=1, keepdims=True)
    along, spike = means(result, s.ravel(), index)
    rows = [along, np.full(s.size, np.nan) if spike is None else spike]
    return (weight * s).sum(axis=1), np.array([(weight * row.reshape(s.shape)).sum(axis=1) for row in rows])
