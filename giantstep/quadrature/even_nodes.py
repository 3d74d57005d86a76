"""Evenly spaced nodes of kappa: the fewest there are, where all that is averaged is smooth in kappa.

A function of a Gaussian variable of variance v about ``s kappa``, averaged given kappa, grows as exp(d^2 s^2/(2 v)) a
distance d off the real axis, whatever the function is, and the Gaussian weight as exp(d^2/2). The trapezoidal rule
of spacing h is then off by exp(-2 pi^2/(h^2 c)), c the sum of all such growths.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.quadrature.mesh import NARROW, Term, reach_of

Array = np.ndarray
_SPACING = 0.6  # times sqrt(c), of the order that it is told for: off by exp(-55), and by far more what is sharper
_ORDER = 8
_LEAST = 0.06  # spacing below which panels that are narrow where it is needed have fewer nodes
_SQUARED = 2.0  # features come in pairs


def growth_of(terms: tuple[Term, ...]) -> float:
    """Twice the exponent per d^2 of products of two coefficients."""
    return _SQUARED * max(term.scale**2 / term.variance if term.scale else 0.0 for term in terms)


def even_nodes(terms: tuple[Term, ...], growth: float, order: int, halvings: int) -> tuple[Array, Array] | None:
    """Places and weights [N] of kappa for coefficients of terms and whatever else has that growth; None where panels
    are better.
    """
    spacing = _SPACING / math.sqrt(1.0 + growth_of(terms) + growth)
    if not spacing >= _LEAST:
        return None
    spacing *= _ORDER / order / 2**halvings
    count = math.ceil(max(NARROW.reach, reach_of(terms)) / spacing)  # labels may grow too
    kappa = spacing * (np.arange(-count, count) + 0.5)
    return kappa, spacing / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * kappa * kappa)
