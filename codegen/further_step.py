"""Emission of the map of a further giant step: from means and bulk of the rows to those after it."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.blocks import KAPPA, block_field
from derive.further_step import B, FurtherStep, further_step
from derive.gaussian.expectation import Expectation

PATH = "further_step.py"
_AT_KAPPA = "weight, kappa_v, y_1, y_t, y_2, mu0, h_1, h_2, D_2"
_OF_THE_STEP = "c, u, pi, A, alpha_0, noise, flips"


def emit_further_step() -> str:
    """Text of ``generated/further_step.py``."""
    step = further_step()
    results = (
        ("F", step.output),
        ("e_1", step.residual),
        ("e_t", step.along),
        ("e_2", step.size),
        ("D", _by_hermite(step.slope)),
        ("D_g", _by_hermite(step.tilt)),
        *_added(step),
    )
    functions = (
        Function(
            "gradient",
            "What a step of rate A adds: P [K, q], across [K, m], noise xi [K, N]; delta, varsigma [K] of the bulk.",
            f"{_AT_KAPPA}, {_OF_THE_STEP}",
            results,
            ", ".join(name for name, _ in _added(step)),
        ),
        Function(
            "after_step",
            "Loadings [K, q] and bulk variances [K] after it.",
            "L, c, P, delta, varsigma",
            (("loadings", step.loadings), ("variance", step.bulk_variance)),
        ),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, ArrayPrinter()))


def _added(step: FurtherStep) -> tuple[tuple[str, sp.Expr], ...]:
    return (
        ("P", step.pull),
        ("across", step.across),
        ("xi", step.common),
        ("delta", step.drift),
        ("varsigma", step.spread),
    )


def _by_hermite(average: sp.Expr) -> sp.Expr:
    """An average E[p(g) sigma] over a neuron, p a Hermite polynomial over the root of c, by h_n = E[He_n sigma]."""
    (node,) = average.atoms(Expectation)
    (g,) = node.variables
    (activation,) = node.integrand.atoms(sp.core.function.AppliedUndef)
    weight = sp.Poly(sp.expand(node.integrand / activation), g)
    order, scale = weight.degree(), weight.LC()
    if sp.expand(weight.as_expr() / scale - sp.hermite_prob(order, g)) != 0:
        raise ValueError(f"{weight} is no Hermite polynomial")
    coefficient = block_field(f"h_{order}")(B, KAPPA)
    (variance,) = scale.free_symbols
    bulk = sp.IndexedBase("c", real=True)[B]
    return average / node * scale.subs(variance, bulk) * coefficient


_TEXT = '''"""The map of a giant gradient step of a first layer that has a spike  [THEORY section 12].

Averages are sums over N nodes of kappa with the weights weight [N]; kappa_v [q, N]: coordinates along the spike;
y_1, y_2 [N], y_t [m, N]: E y, E y^2, E y t of the clean label there; mu0, h_1, h_2 [K, N]: E He_n(g) sigma of the
blocks, D_2 [K, N]: E sigma'^2. L [K, q], c [K]: loadings and bulk variances before the step; u, pi [K]: values of the
readout and their fractions. Rows gain P along the spike, ``across`` along theta_perp, and noise, of which two blocks
have in common what has the product sum_n weight_n xi_bn xi_cn; their bulk moves along itself by its share delta, and
gains the square varsigma across it.

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
