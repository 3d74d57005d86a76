"""The covariance of the rows that a gradient step leaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Covariance:
    """``Sigma = (1 + stretch B)^2 + noise C`` of rows after a step on n0 = samples d inputs.

    B and C: the means over the batch of ``e x x^T`` and ``e^2 x x^T``. Source: THEORY section 5.
    """

    samples: float
    stretch: float
    noise: float
