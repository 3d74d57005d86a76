"""Overlaps of the neurons with the target's directions after every simulated giant step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.observe.learnable.text import columns
from giantstep.observe.measured_steps import standard_error
from giantstep.simulate.giant_steps import GiantStepOverlaps
from giantstep.spec.expressions import Array


@dataclass(frozen=True)
class GiantSteps:
    """Overlaps [seed, step, group] of the first layer with groups of directions, named by ``names``; step 0 is the
    start.
    """

    names: tuple[str, ...]
    found: GiantStepOverlaps
    samples: float
    rate: float

    @property
    def overlaps(self) -> Array:
        """[seed, step, group]."""
        return self.found.overlaps

    @property
    def chance(self) -> tuple[float, ...]:
        """Root mean square overlap of random rows with each group, about sqrt(r/d)."""
        return self.found.chance

    @property
    def seeds(self) -> int:
        """Number of networks."""
        return int(self.overlaps.shape[0])

    @property
    def mean(self) -> Array:
        """Mean over seeds, [step, group]."""
        return np.asarray(self.overlaps.mean(axis=0))

    @property
    def standard_error(self) -> Array:
        """Standard error of that mean; nan with a single seed."""
        return standard_error(self.overlaps)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        errors = [[float(e) if math.isfinite(e) else None for e in row] for row in self.standard_error]
        return {
            "dimension": self.found.dimension,
            "width": self.found.width,
            "seeds": self.seeds,
            "orders": list(self.found.orders),
            "batches": list(self.found.batches),
            "samples": self.samples,
            "rate": self.rate,
            "directions": list(self.names),
            "mean": self.mean.tolist(),
            "standard_error": errors,
            "chance": list(self.chance),
            "seconds": self.found.seconds,
        }

    def lines(self) -> list[str]:
        """A table for the terminal."""
        found = self.found
        rows = [("step", "samples", *self.names)]
        for step, (means, errors) in enumerate(zip(self.mean, self.standard_error, strict=True)):
            batch = "" if step == 0 else f"{found.batches[step - 1]}"
            rows.append((str(step), batch, *(_with_error(m, e) for m, e in zip(means, errors, strict=True))))
        return [
            "Simulated overlaps of the neurons with the target's directions (root mean square), each beside what a row "
            f"has apart from the others; d = {found.dimension}, p = {found.width}, {self.seeds} seeds",
            "Correlation loss, rows of length one before every step, readout weights that are all the same",
            f"n = {self.samples:g} d^l, eta = {self.rate:g} p d^((l-1)/2) at a step of order l",
            "",
            *columns([*rows, ("chance", "", *(f"{value:.3f}" for value in self.chance))]),
        ]


def _with_error(mean: float, error: float) -> str:
    return f"{mean:.3f} +- {error:.3f}" if math.isfinite(error) else f"{mean:.3f}"
