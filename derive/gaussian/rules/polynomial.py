"""Moments of polynomials of a standard normal variable."""

from __future__ import annotations

from typing import Any

import sympy

NAME = "Gaussian moments of a polynomial"


def moment(k: int) -> Any:
    """E[g^k] = (k-1)!! for even k, 0 for odd k."""
    return sympy.S.Zero if k % 2 else sympy.factorial2(k - 1) if k else sympy.S.One


def close(integrand: Any, g: sympy.Symbol) -> tuple[Any, tuple[str, ...]] | None:
    """E of a polynomial in g with any coefficients."""
    if not integrand.is_polynomial(g):
        return None
    terms = sympy.Poly(integrand, g).terms()
    return sympy.Add(*(coefficient * moment(powers[0]) for powers, coefficient in terms)), (NAME,)
