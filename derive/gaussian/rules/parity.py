"""Odd integrands."""

from __future__ import annotations

from typing import Any

import sympy

NAME = "parity of the integrand"


def close(integrand: Any, g: sympy.Symbol) -> tuple[Any, tuple[str, ...]] | None:
    """Zero for an integrand that changes sign with g."""
    if integrand.atoms(sympy.core.function.AppliedUndef, sympy.Derivative):
        return None
    mirrored = integrand.subs(g, -g)
    return (sympy.S.Zero, (NAME,)) if mirrored == -integrand or sympy.expand(mirrored + integrand) == 0 else None
