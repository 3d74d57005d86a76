"""Emission of the spectral law of inputs of a given covariance: rows, spike and weights over its eigenvalues."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.blocks import BlockSum, family
from derive.network_step import A
from derive.steps_on_inputs import step_on_inputs
from derive.structured_inputs import LENGTH, SIGMA, structured_inputs

PATH = "structured_inputs.py"
_ROWS = "eigenvalue, law_tr, u, A, alpha_0, s_0, e_2, sigma_2, v_sigma"
_SPIKE = "eigenvalue, law_tr, law_theta, s_1, alpha_0, e_2"


def emit_inputs() -> str:
    """Text of ``generated/structured_inputs.py``."""
    law, further = structured_inputs(), step_on_inputs()
    functions = (
        Function(
            "rows_after_step",
            "Covariances [K, J] that a step leaves, not yet over their means; the means, bulk variances c [K].",
            _ROWS,
            (("Sigma", law.moved), ("c", law.bulk_variance)),
        ),
        Function(
            "norms",
            "d times the variance of the squared norms of rows [K], by their covariances Sigma [K, J] of mean one.",
            "Sigma, law_tr, radial",
            (("chi", law.chi),),
        ),
        Function(
            "norms_slope",
            "Its derivative where the covariances move by d_Sigma.",
            "Sigma, law_tr, radial, d_Sigma",
            (("chi", _along_covariance(law.chi)),),
        ),
        Function(
            "slopes_after_step",
            "Derivatives in A of these, and of the strength r.",
            f"{_ROWS}, mu_1, N",
            (("Sigma", _slope(law.moved)), ("c", _slope(law.bulk_variance)), ("r", _slope(law.strength))),
        ),
        Function(
            "spike_after_step",
            "Strength r of a block with u = 1, alignments gamma [m], and N, the length before the factor A mu_1.",
            f"{_SPIKE}, A, mu_1",
            (("N", sp.sqrt(law.squared_length)), ("r", law.strength), ("gamma", law.alignment)),
        ),
        Function(
            "direction_after_step",
            "The parts of the unit spike along the theta_i [m, J] and without direction [J].",
            "eigenvalue, s_1, alpha_0, e_2, N",
            tuple(zip(("along", "random"), law.spike, strict=True)),
        ),
        Function(
            "rest_of_target",
            "The parts [m, m, J] and [m, q, J] of theta_perp, by those of the spike and across [m, m].",
            "along, random, gamma, across",
            tuple(zip(("rest_along", "rest_random"), law.rest, strict=True)),
        ),
        Function(
            "products",
            "Products [D, E, J] of D directions with E others, by their parts.",
            "law_tr, law_theta, along, random, other_along, other_random",
            (("law", law.product),),
        ),
        Function(
            "rows_after_gradient",
            "Covariances [K, J] that a further step leaves of those before it, not yet over their means; the means.",
            "eigenvalue, law_tr, Sigma, delta, varsigma",
            (("moved", further.moved), ("c", further.bulk_variance)),
        ),
        Function(
            "means_after_gradient",
            "Parts of the means of the blocks after it, [K, m, J], [K, q, J], and along its own noise [K, K, J].",
            "eigenvalue, L, P, across, noise, along, random, rest_along, rest_random",
            tuple(zip(("mean_along", "mean_random", "fresh"), (*further.known, further.fresh), strict=True)),
        ),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, str(LENGTH), *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, ArrayPrinter()))


def _along_covariance(expr: BlockSum) -> sp.Expr:
    """The derivative along the covariances at every point of the spectrum."""
    (covariance,) = (e for e in expr.body.atoms(sp.Indexed) if e.base == SIGMA)
    return BlockSum(sp.diff(expr.body, covariance) * family("d_Sigma")[covariance.indices], expr.bound)


def _slope(expr: sp.Expr) -> sp.Expr:
    """The derivative in A; that of a sum term by term."""
    return BlockSum(sp.diff(expr.body, A), expr.bound) if isinstance(expr, BlockSum) else sp.diff(expr, A)


_TEXT = '''"""Spectral law of features of inputs with a given covariance  [THEORY section 10].

eigenvalue [J]: of the covariance of the inputs, of mean one; law_tr [J]: weights of the trace; law_theta [m, m, J]:
products of the target's directions there; u [K]: readout values at initialisation. Directions are linear combinations
of the theta_i, by their parts ``along`` [q, m, J], and of unit vectors without direction, by ``random`` [q, q, J];
gamma [q, m]: products of the spike's with the target's. radial: 1 for rows Gaussian at initialisation, 0 on the sphere.
A further step adds to the rows, in whitened inputs, what ``further_step.gradient`` says, and its ``noise`` [K, K].

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
