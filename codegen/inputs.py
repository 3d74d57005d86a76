"""Emission of the spectral law of inputs of a given covariance: rows, spike and weights over its eigenvalues."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.blocks import BlockSum
from derive.network_step import A
from derive.spectrum import INPUTS, weight_names
from derive.structured_inputs import LENGTH, structured_inputs

PATH = "structured_inputs.py"
_ROWS = "eigenvalue, law_tr, u, A, alpha_0, s_0, e_2, sigma_2, v_sigma"
_STEP = "eigenvalue, law_tr, law_theta, alpha_0, s_1, e_2"


def emit_inputs() -> str:
    """Text of ``generated/structured_inputs.py``."""
    law = structured_inputs()
    _, vv, vo, oo = weight_names(INPUTS)
    functions = (
        Function(
            "rows_after_step",
            "Covariances [K, J] that a step leaves, not yet over their means; the means, bulk variances c [K].",
            _ROWS,
            (("Sigma", law.moved), ("c", law.bulk_variance)),
        ),
        Function(
            "slopes_after_step",
            "Derivatives in A of these, and of the strength r.",
            f"{_ROWS}, mu_1, N",
            (("Sigma", _slope(law.moved)), ("c", _slope(law.bulk_variance)), ("r", _slope(law.strength))),
        ),
        Function(
            "spike_after_step",
            "Strength r of a block with u = 1, alignment gamma, and N, the length before the factor A mu_1.",
            f"{_STEP}, A, mu_1",
            (("N", sp.sqrt(law.squared_length)), ("r", law.strength), ("gamma", law.alignment)),
        ),
        Function(
            "direction_after_step",
            "The parts of the unit spike along theta and without direction, at each eigenvalue.",
            "eigenvalue, alpha_0, s_1, e_2, N",
            (("along", law.direction[0]), ("random", law.direction[1])),
        ),
        Function(
            "weights_after_step",
            "(law_vv, law_vo, law_oo) of the spike of a step.",
            f"{_STEP}, gamma, N",
            tuple(zip((vv, vo, oo), law.weights, strict=True)),
        ),
        Function(
            "weights_of_spike",
            "(law_vv, law_vo, law_oo) of a spike of which only the alignment is given.",
            "law_tr, law_theta, gamma",
            tuple(zip((vv, vo, oo), law.given, strict=True)),
        ),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, str(LENGTH), *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, ArrayPrinter()))


def _slope(expr: sp.Expr) -> sp.Expr:
    """The derivative in A; that of a sum term by term."""
    return BlockSum(sp.diff(expr.body, A), expr.bound) if isinstance(expr, BlockSum) else sp.diff(expr, A)


_TEXT = '''"""Spectral law of features of inputs with a given covariance, of a target of one index  [THEORY section 10].

eigenvalue [J]: of the covariance of the inputs, of mean one; law_tr, law_theta [J]: weights of the trace and of the
target's direction theta there; u [K]: readout values at initialisation.

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
