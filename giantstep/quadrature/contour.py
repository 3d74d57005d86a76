"""A quadrature over a spectrum that is known by its resolvent only: nodes on a contour around it.

Hale, Higham and Trefethen, SIAM J. Numer. Anal. 46 (2008) 2505: for functions that are analytic off ``(-oo, -gap]`` the
trapezoidal rule converges geometrically on the contour that elliptic functions map a circle to.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ellipj, ellipk, ellipkm1

Array = np.ndarray
_DIGITS = 37.0  # -log of the error


def contour(gap: float, top: float) -> tuple[Array, Array]:
    """(z, dz/(2 pi i)) of the upper half of a contour around [0, top], clockwise, [J] each, complex.

    ``2 Re sum_j dz_j f(z_j) S(z_j)``, S the mean of ``1/(x - z)``, is the mean of f over a spectrum x in [0, top],
    for f real on the axis and analytic off ``(-oo, -gap]``, to double precision.
    """
    low, high = gap, gap + top
    ratio = math.sqrt(high / low)
    k = (ratio - 1.0) / (ratio + 1.0)
    complement = 4.0 * ratio / (ratio + 1.0) ** 2  # 1 - k^2
    quarter, height = float(ellipkm1(complement)), float(ellipk(complement))
    count = math.ceil(2.0 * quarter * _DIGITS / (math.pi * height)) + 2
    t = quarter * (2.0 * (np.arange(count) + 0.5) / count - 1.0)
    u, slope = _elliptic(t, 0.5 * height, k * k, complement)
    scale = math.sqrt(low * high)
    z = scale * (1.0 + k * u) / (1.0 - k * u) - low
    change = scale * 2.0 * k * slope / (1.0 - k * u) ** 2
    return z, change * (2.0 * quarter / count) / (2j * math.pi)


def _elliptic(x: Array, y: float, m: float, complement: float) -> tuple[Array, Array]:
    """sn(x + i y) and its derivative cn dn, of parameter m = 1 - complement."""
    s, c, d, _ = ellipj(x, m)
    s1, c1, d1, _ = ellipj(y, complement)
    under = 1.0 - (d * s1) ** 2
    sn = (s * d1 + 1j * c * d * s1 * c1) / under
    cn = (c * c1 - 1j * s * d * s1 * d1) / under
    dn = (d * c1 * d1 - 1j * m * s * c * s1) / under
    return sn, cn * dn
