"""What a simulation returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from giantstep.simulate.errors import Array
from giantstep.simulate.layer import MeasuredStep
from giantstep.simulate.order import Overlaps
from giantstep.simulate.system import FiniteSizes, SystemKind


@dataclass(frozen=True)
class MeasuredSpike:
    """Spike of each seed's first layer: strength[S] r, alignment[S] gamma = <v, theta> (with several indices
    [S, indices]), variances[S, K] c_b.

    "srf": as imposed. "gaussian": r = 0 and c = 1 in the rows, alignment as imposed. "network" with a step:
    measured, with v along the batch mean of e x, r = A mean(sigma') |mean(e x)|, c_b the mean squared norm of
    the rows less u_b r v.
    """

    strength: Array
    alignment: Array
    variances: Array


@dataclass(frozen=True)
class SimulationResult:
    """Errors of every seed, sample size and ridge, in arrays [seed, sample, ridge].

    test_error: mean (f_* - f)^2 (of the mean label that f stands for), for losses of the margin P(f_* f < 0) with f = 0
    by half. train_error: mean
    loss at the labels fitted, for the square loss without the factor 1/2. sampling_error: standard error of test_error
    from the finite test set alone (an upper estimate for "gaussian", whose test points are stratified). sizes holds
    the whole numbers used and, as sizes.alpha, .beta, .fractions, .alpha0, the ratios to give to the theory.
    overlaps: measured order parameters, arrays [seed, sample, ridge, block(, block)], or None where not
    asked for.
    bias: common bias of the neurons. gap: certified relative distance of the training objective from its minimum;
    output_error: bound on the distance of f(x) that is left, for features no longer than the longest of the training
    set. Both are 0 for the square loss, whose fits are direct.
    steps: of a network, its rows after each step, arrays [seed, ...]. metrics: of the system, [seed, metric, sample,
    ridge].
    """

    what: SystemKind
    sizes: FiniteSizes
    ridges: tuple[float, ...]
    seed: int
    test_error: Array
    train_error: Array
    sampling_error: Array
    spike: MeasuredSpike
    overlaps: Overlaps | None
    bias: Array
    gap: Array
    output_error: Array
    steps: tuple[MeasuredStep, ...]
    metrics: Array
    test_samples: int
    bytes_needed: int
    seconds: float = field(compare=False)

    @property
    def dimension(self) -> int:
        """The d simulated, for the finite-size theory."""
        return self.sizes.dimension

    @property
    def seeds(self) -> int:
        """Number of independent systems."""
        return int(self.test_error.shape[0])

    def mean(self, name: str = "test_error") -> Array:
        """Mean over seeds of "test_error", "train_error" or an overlap ("m", "zeta", "psi", "Q1", "Q2")."""
        return np.asarray(self._values(name).mean(axis=0))

    def standard_error(self, name: str = "test_error") -> Array:
        """Standard error over seeds of that mean; nan with a single seed."""
        values = self._values(name)
        if self.seeds < 2:
            return np.full(values.shape[1:], np.nan)
        return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(self.seeds))

    def _values(self, name: str) -> Array:
        if name in ("test_error", "train_error"):
            found: Array = getattr(self, name)
            return found
        if name not in ("m", "zeta", "psi", "Q1", "Q2"):
            raise ValueError(f"no quantity {name!r}; allowed: test_error, train_error, m, zeta, psi, Q1, Q2")
        if self.overlaps is None:
            raise ValueError(f"{name} was not measured; call simulate(..., order_parameters=True)")
        overlap: Array = getattr(self.overlaps, name)
        return overlap
