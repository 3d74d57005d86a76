"""Emission of the slopes of the conditional coefficients in shift and variance, and of the step's map in A."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.printers import numba_assignments
from codegen.system_module import FOLDER
from derive.gaussian.expectation import Expectation
from derive.gradient_step import gradient_step_map
from derive.labels import FLIPS, PROBIT
from derive.network_step import A
from derive.scalar import scalar_function
from derive.sensitivity import PHI, REST, G, coefficient_slopes, step_slopes

PATH = f"{FOLDER}/slopes.py"
_LENGTH = sp.Symbol("s_11", nonnegative=True)


def emit_slopes() -> str:
    """Text of the slopes of the conditional coefficients in s and c, and of the map of the step in A."""
    slopes = coefficient_slopes().slopes
    sigma, link = scalar_function("softplus"), scalar_function("sin")  # any with different moments, as for the map
    step = gradient_step_map(sigma, link, flips=FLIPS, probit=PROBIT)
    (overlap,) = step.overlaps
    strength = step.strength.xreplace({overlap**2: _LENGTH})
    moved = step_slopes(strength, step.bulk_variance, A)
    bodies = [*slopes.values(), *(expr for _, expr in moved)]
    signed = signature([sp.srepr(sp.Tuple(*bodies)), *sources_of(__name__)])
    (first,), (second,) = ([pair] for pair in moved)
    return _SLOPES.format(
        short=signed[:16],
        signature=signed,
        names=", ".join(slopes),
        slopes="\n".join(f"    {name} = {_averaged(body)}" for name, body in slopes.items()),
        strength=_lines([first]),
        bulk=_lines([second]),
    )


def _averaged(body: sp.Expr) -> str:
    """Text of a factor times the average over the last axis of the nodes of g."""
    (node,) = body.atoms(Expectation)
    factor = body / node
    inside = node.integrand.xreplace({PHI(G): sp.Symbol("phi"), REST(G): sp.Symbol("rest")})
    ((_, weight),) = _texts([("inside", inside)])
    ((_, outside),) = _texts([("factor", factor)])
    return f"{outside}*((weight*({weight})).sum(axis=-1))"


def _texts(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(name, line.partition(" = ")[2]) for name, value in pairs for line in numba_assignments([(name, value)])]


def _lines(results: Sequence[tuple[str, Any]]) -> str:
    return "\n".join(f"    {line}" for line in numba_assignments(results))


_SLOPES = '''"""Slopes of the conditional coefficients in s and c, and of the step's map in A  [THEORY sections 2, 3].

Generated; do not edit. Signature {short}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "{signature}"


def coefficient_slopes(g, weight, phi, rest, c):
    """({names}).

    From nodes g and weights of a standard normal, the last axis of all;
    phi = f(s + sqrt(c) g), rest = (phi - mu0 - mu1 g)^2.
    """
{slopes}
    return {names}


def strength_slope(A, alpha_0, mu_1, s_11, e_2):
    """d strength/dA."""
{strength}
    return strength_slope


def bulk_variance_slope(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """d bulk_variance/dA."""
{bulk}
    return bulk_variance_slope
'''
