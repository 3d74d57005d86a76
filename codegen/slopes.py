"""Emission of the slopes of the conditional coefficients in shift and variance, and of the step's map in A."""

from __future__ import annotations

from typing import Any

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Function, texts
from codegen.system_module import FOLDER
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
    of_strength, of_bulk = ([pair] for pair in moved)
    functions = (
        Function(
            "coefficient_slopes", _DOC.format(", ".join(slopes)), "g, weight, phi, rest, c", tuple(slopes.items())
        ),
        Function("strength_slope", "d strength/dA.", "A, alpha_0, mu_1, s_11, e_2", of_strength),
        Function("bulk_variance_slope", "d bulk_variance/dA.", "A, alpha_0, u, s_0, e_2, sigma_2, v_sigma", of_bulk),
    )
    return _SLOPES.format(short=signed[:16], signature=signed, functions=texts(functions, _NodesPrinter()))


class _NodesPrinter(NumbaPrinter):
    """Averages over g are sums over the last axis of its nodes."""

    def average(self, node: Any) -> str:
        """See ``codegen.print.printer.Printer``."""
        inside = node.integrand.xreplace({PHI(G): sp.Symbol("phi"), REST(G): sp.Symbol("rest")})
        return f"((weight*({NumbaPrinter().expression(inside)})).sum(axis=-1))"


_DOC = """({}).

    From nodes g and weights of a standard normal, the last axis of all;
    phi = f(s + sqrt(c) g), rest = (phi - mu0 - mu1 g)^2.
    """
_SLOPES = '''"""Slopes of the conditional coefficients in s and c, and of the step's map in A  [THEORY sections 2, 3].

Generated; do not edit. Signature {short}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "{signature}"


{functions}
'''
