"""Estimated errors of what a rule of the coefficients gives, point by point."""

from __future__ import annotations

import numpy as np

from generated.runtime.coefficients import unfold


def estimates(raw: np.ndarray) -> np.ndarray:
    """The worst of mu0, mu1 and mu2 relative to sqrt(E f^2), for each point of raw[7, n]."""
    out = np.empty((3, 1))
    return np.array([unfold(raw[:, [i]], np.ones(1), 0, 0, out) for i in range(raw.shape[1])])
