"""Averages of smooth functions of an index z, given the part kappa of it that is known, as one matrix.

z = sqrt(q) kappa + sqrt(1 - q) t. A function times the normal density of z is known on a grid of step h; the trapezoid
over z is exact to exp(-(pi s/h)^2 2) for a density of width s = sqrt((1 - q)/q) in z. Where s is small against h, the
density is cut off at the frequency pi/h of the grid: then the average is that of the interpolant of the function.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.spec.expressions import special

Array = np.ndarray
_WIDE = 1.3  # widths s over steps h from which on nothing is cut off: the trapezoid is right to 3e-15


def grid(step: float, reach: float) -> Array:
    """Equidistant nodes from -reach to reach, zero among them."""
    number = math.ceil(reach / step)
    nodes: Array = np.arange(-number, number + 1) * (reach / number)
    return nodes


def blur(z: Array, kappa: Array, q: float) -> Array:
    """G [N, M] for equidistant z [M] and 0 <= q < 1: G @ f is the normal density of kappa [N] times E[f(z) | kappa]."""
    step, rest = z[1] - z[0], (1.0 - math.sqrt(q)) * (1.0 + math.sqrt(q))
    width = math.sqrt(2.0 * rest)
    away = (kappa[:, None] - math.sqrt(q) * z) / width
    found = np.exp(-away * away)
    sharp = math.pi * math.sqrt(rest / max(q, 1e-300)) / step
    if sharp < math.pi * _WIDE:
        a = sharp / math.sqrt(2.0)
        cut = np.exp(2j * a * away) * special.wofz(away + 1j * a)
        found -= math.exp(-a * a) * cut.real
    found *= np.exp(-0.5 * z * z) * (step / (math.sqrt(math.pi) * width * math.sqrt(2.0 * math.pi)))
    return np.asarray(found)
