"""The covariance of the rows that a gradient step leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass

_EXTENT = 1e-2  # least extent of a contour, of a step that moves next to nothing: the pole at -1 is far away


@dataclass(frozen=True)
class Covariance:
    """``Sigma = (1 + stretch B)^2 + noise C + spread v v^T`` of rows after a step on n0 = samples d inputs, spike v.

    B and C: the means over the batch of ``e x x^T`` and ``e^2 x x^T``. Source: THEORY section 5.
    """

    samples: float
    stretch: float
    noise: float
    spread: float = 0.0

    def bounds(self, residual: float) -> tuple[float, float]:
        """Bounds of the eigenvalues of Sigma - 1, never closer than a contour can be; residual: the largest there is.

        With G the mean of x x^T and g = y.Gy of a unit vector y, |y.By| is at most g times the residual, and
        ``(y.By)^2 <= g y.Cy``. The largest eigenvalue of G is that of Marchenko and Pastur.
        """
        edge = 1.0001 * (1.0 + 1.0 / math.sqrt(self.samples)) ** 2
        most, curvature = abs(self.stretch) * residual * edge, self.stretch**2 + self.noise / edge
        farthest = self.stretch**2 / curvature if curvature > 0.0 else 0.0  # a_2 y.By at the least of the parabola
        part = min(most, farthest)
        least = -2.0 * part + part * part * (curvature / self.stretch**2 if part > 0.0 else 0.0)
        top = most * (2.0 + most) + self.noise * residual**2 * edge + self.spread
        return least, max(top, least + _EXTENT)
