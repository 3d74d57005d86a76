"""Averages of what sigma' has beside 1 and z = w.x/sqrt(c), a rest rho: by its moments with z, or for some rest."""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.bulk_covariance import OVERLAP
from derive.gaussian.expectation import Expectation

REST, Z = sp.symbols("rho z", real=True)
PLACES = ((1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0))  # E[rho^i z^j] that are not zero
MOMENTS = {place: sp.Function(f"r_{place[0]}{place[1]}", real=True)(OVERLAP) for place in PLACES}
_KNOWN = {(1, 0): sp.S.Zero, (1, 1): sp.S.Zero, **{(0, j): sp.Integer(1 - j % 2) for j in range(4)}}
SOME_REST = (Z**2 - 1) + (Z**3 - 3 * Z) / 3  # a rest without parts along 1 and z, that averages are tested with


def hermite(order: int) -> Any:
    """He_k(z), k up to 2."""
    return (sp.S.One, Z, Z**2 - 1)[order]


def over_z(expression: Any) -> Any:
    """The average over z of a polynomial in rho and z, by the moments r_ij; rho has no part along 1 and z.

    Raises KeyError for a moment without a name.
    """
    known = {**MOMENTS, **_KNOWN}
    return sp.expand(sp.Add(*(factor * known[place] for place, factor in sp.Poly(expression, REST, Z).terms())))


def averaged(expression: Any) -> Any:
    """The average over z of a polynomial in rho and z, for some rest."""
    return Expectation(expression.subs(REST, SOME_REST), Z)


def of_some_rest(found: Any) -> Any:
    """A result with the moments r_ij of that rest."""
    return found.xreplace({symbol: averaged(REST**i * Z**j) for (i, j), symbol in MOMENTS.items()})
