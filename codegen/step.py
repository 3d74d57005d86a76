"""Emission of the gradient-step map: strength, alignment and bulk variance from the moments, in plain Python."""

from __future__ import annotations

from typing import Any

import sympy as sp

from codegen.manifest import signature, source_parts
from codegen.printers import numba_assignments
from derive.expectation import Expectation
from derive.gradient_step import (
    ALPHA0,
    E2,
    MU0,
    MU1,
    NOISE,
    S0,
    S1,
    SECOND,
    UBAR,
    VARIANCE,
    A,
    T,
    U,
    Z,
    gradient_step_map,
)
from derive.scalar import scalar_function

PATH = "step.py"
# any activation and link with different moments serve to read off the map
_ACTIVATION, _LINK = "softplus", "sin"


def emit_step() -> str:
    """Text of ``generated/step.py``. Raises ValueError where the derived map holds a moment that has no argument."""
    sigma, link = scalar_function(_ACTIVATION), scalar_function(_LINK)
    step = gradient_step_map(sigma, link)
    arguments = _arguments(sigma, link)
    results: list[tuple[str, Any]] = []
    known: dict[Any, Any] = {}
    for symbol in (MU0, MU1, S0, S1, E2, SECOND, VARIANCE):
        results.append((symbol.name, step.moments[symbol].xreplace(arguments).xreplace(known)))
        known[symbol] = results[-1][1]
    results += [
        ("strength", step.strength),
        ("alignment", step.alignment),
        ("bulk_variance", step.bulk_variance),
    ]
    left = {node for _, expr in results for node in expr.atoms(Expectation)}
    if left:
        raise ValueError(f"the gradient-step map needs moments without an argument: {sorted(map(str, left))}")
    signed = signature(
        [sp.srepr(sp.Tuple(*(expr for _, expr in results))), *source_parts(("step.py", "printers.py"))]
    )
    return _TEXT.format(signature=signed, short=signed[:16], moments=_lines(results[:7]), spike=_lines(results[7:9]),
                        bulk=_lines(results[9:]))  # fmt: skip


def _arguments(sigma: Any, link: Any) -> dict[Any, Any]:
    """Expectation nodes of the map -> names of the arguments of the emitted functions."""
    value, target, slope = sigma.at(Z), link.at(T), sigma.derivative().subs(sigma.z, Z)
    return {
        Expectation(value, Z): sp.Symbol("mean"),
        Expectation(Z * value, Z): sp.Symbol("linear"),
        Expectation((Z**2 - 1) * value, Z): sp.Symbol("quadratic"),
        Expectation(slope**2, Z): sp.Symbol("slope_square"),
        Expectation(target, T): sp.Symbol("link_mean"),
        Expectation(T * target, T): sp.Symbol("link_linear"),
        Expectation(target**2, T): sp.Symbol("link_square"),
    }


def _lines(results: list[tuple[str, Any]]) -> str:
    return "\n".join(f"    {line}" for line in numba_assignments(results))


_NAMES = {symbol: symbol.name for symbol in (A, ALPHA0, U, UBAR, NOISE)}
_TEXT = '''"""The map of one giant gradient step to spiked random features  [CUI24, Result 3.1; THEORY section 2].

Generated; do not edit. Signature {short}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "{signature}"


def moments(mean, linear, quadratic, slope_square, link_mean, link_linear, link_square, ubar, noise):
    """(mu_0, mu_1, s_0, s_1, e_2, sigma_2, v_sigma) from E f, E z f, E (z^2-1) f, E f'^2 and those of the link."""
{moments}
    return mu_0, mu_1, s_0, s_1, e_2, sigma_2, v_sigma


def spike(A, alpha_0, mu_1, s_1, e_2):
    """Strength r (of a block with u = 1) and alignment gamma."""
{spike}
    return strength, alignment


def bulk_variance(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """Squared norm c of the bulk rows of a block with readout u."""
{bulk}
    return bulk_variance
'''
