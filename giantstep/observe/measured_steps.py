"""The rows of simulated networks after each step: all seeds together, and as means with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantstep.simulate.layer import MeasuredStep

Array = NDArray[np.float64]


def of_all_seeds(states: Sequence[MeasuredStep]) -> MeasuredStep:
    """The rows after one step, with an axis for all seeds in front."""
    names = (item.name for item in fields(MeasuredStep))
    return MeasuredStep(*(np.concatenate([getattr(state, name) for state in states]) for name in names))


def measured_step(state: MeasuredStep) -> dict[str, Any]:
    """Means over the seeds with their standard errors, as lists: products, along_target and bulk_variance as the theory
    tells its steps, the second without an axis for a single index; overlaps, an older name of it.
    """
    along = state.overlaps[..., 0] if state.overlaps.shape[-1] == 1 else state.overlaps
    names = {
        "products": state.products,
        "along_target": along,
        "bulk_variance": state.variances,
        "overlaps": along,
    }
    found = {}
    for name, values in names.items():
        error = standard_error(values)
        found[name] = {"mean": values.mean(axis=0).tolist(), "standard_error": _finite(error.tolist())}
    return found


def _finite(numbers: Any) -> Any:
    """Nested lists with None for what is not a number."""
    return [_finite(each) for each in numbers] if isinstance(numbers, list) else finite_number(numbers)


def finite_number(value: float) -> float | None:
    """The number, or None where it is none."""
    return float(value) if math.isfinite(value) else None


def standard_error(values: Array) -> Array:
    """Standard error of the mean over the first axis; nan with a single entry."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / math.sqrt(len(values)))
