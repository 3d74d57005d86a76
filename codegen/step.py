"""Emission of the gradient-step map: strength, alignment and bulk variance from the moments, in plain Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.blocks import KAPPA
from derive.gaussian.expectation import Expectation
from derive.gradient_step import E2, MU1, S0, SECOND, VARIANCE, GradientStepMap, Z, gradient_step_map
from derive.labels import FLIPS, MU0, PROBIT, Channel, as_index_function
from derive.polynomial_spikes import PolynomialSpikes, hermite_moment, polynomial_spikes
from derive.scalar import scalar_function

PATH = "step.py"
MOST_ORDERS = 6  # of the mean features, in a step below the giant one
# any activation and link with different moments serve to read off the map
_ACTIVATION, _LINK = "softplus", "sin"
_LENGTH = sp.Symbol("s_11", nonnegative=True)  # |s_1|^2, the sum over the indices of the link


def emit_step() -> str:
    """Text of ``generated/step.py``. Raises ValueError where the derived map holds a moment that has no argument."""
    sigma, link = scalar_function(_ACTIVATION), scalar_function(_LINK)
    step = gradient_step_map(sigma, link, flips=FLIPS, probit=PROBIT)
    arguments = _arguments(sigma, link)
    moments = {symbol: value.xreplace(arguments) for symbol, value in step.moments.items()}
    moments = {symbol: value.xreplace(moments) for symbol, value in moments.items()}
    # of several indices, the labels' noise treats each alike
    (overlap,) = step.overlaps
    spikes = polynomial_spikes(None, MOST_ORDERS)
    groups = (
        [(symbol.name, moments[symbol]) for symbol in (MU0, MU1, S0, E2, SECOND, VARIANCE)],
        [(overlap.name, moments[overlap])],
        *_spike(step, overlap),
        [("bulk_variance", step.bulk_variance)],
        [("cost_exponent", spikes.cost_exponent)],
        _polynomials(spikes),
    )
    results = [result for group in groups for result in group]
    left = {node for _, expr in results for node in expr.atoms(Expectation)}
    if left:
        raise ValueError(f"the gradient-step map needs moments without an argument: {sorted(map(str, left))}")
    signed = signature([sp.srepr(sp.Tuple(*(expr for _, expr in results))), *sources_of(__name__)])
    *shared, polynomials = (
        Function(name, doc, arguments, group) for (name, arguments, doc), group in zip(_FUNCTIONS, groups, strict=True)
    )
    of_sigma = ", ".join(map(str, map(hermite_moment, range(2 * MOST_ORDERS + 1))))
    return _TEXT.format(
        signature=signed,
        closing=closing(signed),
        functions=texts(shared, NumbaPrinter()),
        orders=MOST_ORDERS,
        mean_features=replace(polynomials, returned=_rows(), unpacked=of_sigma).text(NumbaPrinter()),
    )


def _spike(step: GradientStepMap, overlap: Any) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Strength and alignment, with the length of the overlaps as an argument of its own."""
    replaced = {overlap**2: _LENGTH}
    strength = step.strength.xreplace(replaced)
    (alignment,) = (each.xreplace(replaced) for each in step.alignments)
    if strength.has(overlap):
        raise ValueError(f"the strength {strength} holds more than the length of the overlaps")
    return [("strength", strength)], [("alignment", alignment)]


def _arguments(sigma: Any, link: Any) -> dict[Any, Any]:
    """Expectation nodes of the map -> names of the arguments of the emitted functions."""
    value, slope = sigma.at(Z), sigma.derivative().subs(sigma.z, Z)
    mean, (linear,), square = Channel(1, FLIPS, PROBIT).link_nodes(as_index_function(link))
    return {
        Expectation(value, Z): sp.Symbol("mean"),
        Expectation(Z * value, Z): sp.Symbol("linear"),
        Expectation((Z**2 - 1) * value, Z): sp.Symbol("quadratic"),
        Expectation(slope**2, Z): sp.Symbol("slope_square"),
        mean: sp.Symbol("link_mean"),
        linear: sp.Symbol("link_linear"),
        square: sp.Symbol("link_square"),
    }


def _polynomials(spikes: PolynomialSpikes) -> list[tuple[str, Any]]:
    """p_k_i: the coefficient of kappa^i in the order k of the mean features."""
    found = []
    for k, order in enumerate(spikes.orders):
        found += [(f"p_{k}_{i}", sp.expand(order).coeff(KAPPA, i)) for i in range(k + 1)]
    return found


def _rows() -> str:
    rows = (", ".join(f"p_{k}_{i}" for i in range(k + 1)) for k in range(MOST_ORDERS + 1))
    return ", ".join(f"({row},)" for row in rows)


#: (name, arguments, what it says of itself)
_FUNCTIONS = (
    (
        "moments",
        "mean, linear, quadratic, slope_square, link_mean, link_square, ubar, noise, flips",
        "(mu_0, mu_1, s_0, e_2, sigma_2, v_sigma) from E f, E z f, E (z^2-1) f, E f'^2 of the activation and\n"
        "    E f, E f^2 of the link.\n    ",
    ),
    ("overlap", "link_linear, flips, probit", "s_1 of an index from E g f of the link."),
    (
        "strength",
        "A, alpha_0, mu_1, s_11, e_2",
        "Strength r of a block with u = 1; s_11: sum of s_1^2 over the indices.",
    ),
    (
        "alignment",
        "alpha_0, s_1, s_11, e_2",
        "Alignment gamma of an index; s_11: sum of s_1^2 over the indices.",
    ),
    (
        "bulk_variance",
        "A, alpha_0, u, s_0, e_2, sigma_2, v_sigma",
        "Squared norm c of the bulk rows of a block with readout u.",
    ),
    (
        "cost_exponent",
        "k, e",
        "Exponent of d in the cost of kappa^k as a feature after a step d^(1/2 + e)  [MON23]; free where negative.",
    ),
    (
        "mean_features",
        "rho, drift, spread, moments",
        "Coefficients in kappa of the orders 0 ... ORDERS of the mean features in readout times rate, lowest power "
        "first.\n\n"
        "    rho: strength per rate; (1 + w drift)^2 + w^2 spread: bulk variance at w = readout times rate; moments:\n"
        "    E[He_n sigma] for n = 0 ... 2 ORDERS.\n    ",
    ),
)
_TEXT = '''"""The map of one giant gradient step to spiked random features  [CUI24, Result 3.1; THEORY section 2].

{closing}

The moments of the link f are those of f(sqrt(1 + probit) g), g standard normal.
"""

# fmt: off
import math

SIGNATURE = "{signature}"


{functions}


ORDERS = {orders}


{mean_features}
'''
