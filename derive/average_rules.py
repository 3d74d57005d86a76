"""Rules of quadrature for averages in expressions: exact for polynomials of the degree that is there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from derive.blocks import KAPPA, BlockSum, LogDet, family_name, walk
from derive.free_indices import depends_on
from derive.gaussian.expectation import Expectation
from derive.high_precision import GAUSS, NotEvaluable, gauss_rule

Rules = list[tuple[sp.Symbol, list[tuple[Any, Any]]]]  # variables with nodes and weights

_OF_KAPPA = 2  # nodes; what stands under an average over kappa is true of any measure
_TOGETHER, _FEW = (
    3,
    16,
)  # variables from which on each has this many nodes: they leave 1e-28 of the square of a function
_MOST = 100_000  # combinations of nodes
_STRUCTURE = (
    AppliedUndef,
    sp.Indexed,
    sp.Derivative,
    sp.Subs,
    sp.Limit,
    sp.Integral,
    BlockSum,
    LogDet,
    sp.KroneckerDelta,
)


@lru_cache(maxsize=4096)
def rules_of(expression: Expectation) -> Rules | None:
    """Rules for the variables of an average; None of a given function that is no polynomial.

    Raises NotEvaluable where they have too many nodes together.
    """
    integrand, polynomial = (
        expression.integrand,
        {v: expression.integrand.is_polynomial(v) for v in expression.variables},
    )
    if not all(polynomial.values()) and _is_plain(apart(expression)[0]):
        return None
    found, most = [], GAUSS if sum(not known for known in polynomial.values()) < _TOGETHER else _FEW
    for variable in expression.variables:
        degree = _degree(integrand, variable) if polynomial[variable] else 2 * most - 1
        count = _OF_KAPPA if str(variable).startswith(str(KAPPA)) else degree // 2 + 1
        found.append((variable, gauss_rule(count)))
    if prod(len(rule) for _, rule in found) > _MOST:
        raise NotEvaluable(f"an average over {len(found)} variables at once")
    return found


@lru_cache(maxsize=4096)
def apart(expression: Expectation) -> tuple[Any, Mapping[Any, sp.Symbol]]:
    """The average with symbols in the place of members and functions that its variables are not in, and these."""
    if expression.has(BlockSum):
        return expression, {}
    atoms = expression.integrand.atoms(sp.Indexed, AppliedUndef)
    outside = [e for e in atoms if not depends_on(e) & frozenset(expression.variables)]
    names = {e: sp.Dummy(real=True, positive=family_name(e) != "s") for e in sorted(outside, key=str)}
    return (expression.xreplace(names) if names else expression), names


def _is_plain(expression: Any) -> bool:
    """Whether nothing in it is a member, a function without a formula, or computed in a way of its own."""
    return not expression.has(*_STRUCTURE) and not any(hasattr(e, "numerical_value") for e in walk(expression))


@lru_cache(maxsize=65536)
def _degree(polynomial: Any, variable: sp.Symbol) -> int:
    """No less than the degree of a polynomial, which is not expanded."""
    if polynomial == variable or not polynomial.has(variable):
        return int(polynomial == variable)
    degrees = [_degree(arg, variable) for arg in polynomial.args]
    if isinstance(polynomial, sp.Pow):
        return int(polynomial.exp) * degrees[0]
    return sum(degrees) if isinstance(polynomial, sp.Mul) else max(degrees)
