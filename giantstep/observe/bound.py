"""A bound on the test error, and the coefficients of the function that attains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.spec.model import Model
from giantstep.spec.shown import Row, Shown, number

Array = np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Bound(Shown):
    """A bound and the function that attains it: m[K], zeta[K] and psi[K, D] of ``observe.bounds``' formula.

    model: the one whose blocks these are, of a density of readout values that at its nodes; zeta: [K, q] with loadings;
    norm [K]: of mu_c where the norms of the rows vary, zero elsewhere; learning_rate: of the step, None without one;
    at_edge: whether the search for it ended at the edge of its range; bias: of every
    neuron, the best one where it is trained; bias_at_edge: whether that is the farthest one that could be tried, and
    the bound falls further beyond; error: change between two orders of quadrature, and what rounding makes
    of mean features that hardly differ.
    """

    model: Model
    value: float
    m: Array
    zeta: Array
    psi: Array
    norm: Array
    bias: float
    learning_rate: float | None
    at_edge: bool
    error: float
    bias_at_edge: bool = False

    def summary(self) -> list[Row]:
        """The value, where it is attained."""
        rate = [] if self.learning_rate is None else [("learning rate", number(self.learning_rate))]
        return [
            ("value", f"{number(self.value)}, to {self.error:.1e}"),
            *rate,
            ("bias", number(self.bias) + self.beyond),
        ]

    @property
    def beyond(self) -> str:
        """What is said of a bias at the edge of its range."""
        return ", the farthest that was tried: the bound falls further" if self.bias_at_edge else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        return {
            "value": self.value,
            "m": self.m.tolist(),
            "zeta": self.zeta.tolist(),
            "psi": self.psi.tolist(),
            "norm": self.norm.tolist(),
            "bias": self.bias,
            "learning_rate": self.learning_rate,
            "at_edge": self.at_edge,
            "error": self.error,
            "bias_at_edge": self.bias_at_edge,
        }
