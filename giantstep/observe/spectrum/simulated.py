"""Simulated eigenvalues of a model, and how far they are from the theory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from giantstep.observe.finite_system import at_dimension, cannot_run, default_kind, finite_system
from giantstep.simulate.eigenvalues import gram_eigenvalues
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.system import SystemKind
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.model import Model

Array = np.ndarray

_ZERO = 1e-12  # relative to the mean eigenvalue: rounding of eigenvalues that vanish
_QUANTILES = 101


class Theory(Protocol):
    """What a spectrum of the theory tells."""

    @property
    def outliers(self) -> Array:
        """Eigenvalues beside the bulk."""

    def distribution(self, x: Any) -> Array:
        """The share of eigenvalues up to x."""


@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalues of Phi^T Phi / p, [seeds, p] ascending, of ``model``, which has the ratios really simulated."""

    model: Model
    what: SystemKind
    dimension: int
    seed: int
    values: Array

    @property
    def seeds(self) -> int:
        """Number of independent systems."""
        return len(self.values)

    def largest(self, count: int) -> tuple[Array, Array]:
        """(means, standard errors) of the ``count`` largest eigenvalues, the largest first."""
        top = self.values[:, ::-1][:, :count]
        if self.seeds < 2:
            return top[0], np.full(count, np.nan)
        return top.mean(axis=0), top.std(axis=0, ddof=1) / np.sqrt(self.seeds)

    def bulk(self, outliers: int) -> Array:
        """All eigenvalues of all seeds in ascending order, without the largest ones of each."""
        kept = self.values[:, : self.values.shape[1] - outliers]
        return np.sort(kept.ravel())

    def distance(self, theory: Theory) -> float:
        """Kolmogorov distance of the eigenvalues of all seeds to the theory; rounded zeros count as zeros."""
        values = np.sort(self.values.ravel())
        values = values[values > _ZERO * float(values.mean())]
        count, nothing = self.values.size, self.values.size - len(values)
        expected = theory.distribution(values)
        rank = nothing + np.arange(1, len(values) + 1)
        gap = np.maximum(np.abs(rank / count - expected), np.abs((rank - 1) / count - expected))
        return float(max(gap.max(initial=0.0), abs(nothing / count - float(theory.distribution(0.0)))))

    def to_dict(self, theory: Theory) -> dict[str, Any]:
        """The part ``simulation`` of the object of ``spectrum --json``."""
        mean, error = self.largest(len(theory.outliers) + 1)
        probabilities = np.linspace(0.0, 1.0, _QUANTILES)
        return {
            "dimension": self.dimension,
            "seeds": self.seeds,
            "seed": self.seed,
            "what": self.what,
            "kolmogorov_distance": self.distance(theory),
            "largest": {"mean": mean.tolist(), "standard_error": [float(e) if np.isfinite(e) else None for e in error]},
            "quantiles": {"probability": probabilities.tolist(), "x": np.quantile(self.values, probabilities).tolist()},
        }


def simulated_eigenvalues(
    model: Model,
    *,
    dimension: int,
    seeds: int,
    what: SystemKind | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], object] | None = None,
) -> Eigenvalues:
    """Eigenvalues of the features' Gram matrix of ``seeds`` finite systems; ``what`` as in ``simulate``.

    Sizes are rounded to whole numbers first and the spike computed at the rounded ratios. Raises BadInput.
    """
    checked_seeds(seeds)
    checked_count("seed", seed, 0)
    rounded, what = at_dimension(model, dimension), what or default_kind(model)
    system = finite_system(rounded, what)
    try:
        values = gram_eigenvalues(system, what, dimension, seeds, rounded.fit.samples, seed=seed, progress=progress)
    except SimulationError as error:
        raise cannot_run(error) from None
    return Eigenvalues(rounded, what, dimension, seed, values)
