"""Emission of the law of readouts under a penalty, in plain Python that takes numbers and arrays."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.penalised_pair import pair_law
from derive.penalty import penalty_law

PATH = "penalty.py"


def emit_penalty() -> str:
    """Text of ``generated/penalty.py``."""
    law, pair = penalty_law(), pair_law()
    averages = "avg_M, avg_g, avg_h, avg_gg, avg_gh, avg_hx, avg_ggh, avg_ghx, avg_hxx"
    given = f"beta, fraction, inverse_dimension, V, Delta, mean,\n    {averages}"
    functions = (
        Function(
            "readouts",
            "Response T, norm Q2 and mean of the readouts of a block.",
            "beta, fraction, V, Delta, mean, avg_g, avg_h, avg_gg",
            (("T", law.response), ("Q2", law.norm), ("readout", law.readout)),
        ),
        Function(
            "overlap",
            "m by the mean of the readouts; of finite dimension.",
            "beta, fraction, inverse_dimension, readout",
            (("m", law.overlap),),
        ),
        Function(
            "stand_in",
            "The ridge, the variance of the field and the common field that stand for the penalty.",
            "beta, inverse_dimension, V, Delta, mean, avg_g, avg_h, avg_gg",
            (("excess", law.excess), ("random_field", law.random_field), ("pull", law.pull)),
        ),
        Function(
            "slopes",
            "Derivatives of T, Q2, readout, excess, random_field, pull and energy, of each in V, Delta and mean.",
            given,
            tuple((f"{name}_{field}", slope) for (name, field), slope in law.slopes.items()),
        ),
        Function(
            "energy",
            "What the free energy is beside that with the stand-in, of each block.",
            "beta, fraction, V, Delta, mean, avg_M, avg_g, avg_h, avg_gg",
            (("energy", law.energy),),
        ),
        Function(
            "in_common",
            "A readout given what two fits have in common, and how much it moves with its argument.",
            "V, mean, avg_g, avg_h",
            (("readout", pair.readout), ("move", pair.move)),
        ),
        Function(
            "of_two",
            "T_12 and the covariance of the stand-ins' fields of two fits, and their derivatives in Delta_12.",
            "beta, fraction, V, T, readout, Delta_12, product, moves",
            (
                ("T_12", pair.overlap),
                ("random_field_12", pair.field),
                ("T_12_slope", pair.overlap_slope),
                ("field_slope", pair.field_slope),
            ),
        ),
        Function("penalty", "The mean penalty of a readout.", "V, avg_M, avg_gg", (("penalty", law.penalty),)),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, NumbaPrinter()))


_TEXT = '''"""Readouts under a separable penalty, and what stands for it  [THEORY section 16].

V, Delta, mean: width of the proximal map, variance and mean of its argument; avg_*: averages of the Moreau envelope M
of the penalty, of g, minus its slope, and h, its curvature, with x = xi/sqrt(Delta); excess, random_field, pull:
a ridge and fields that give the same response T, norm Q2 and overlap m of a block. Of two fits: Delta_12, the
covariance of the arguments, product and moves, the mean squares of readout and move of ``in_common``.

{closing}
"""

# fmt: off
import math

SIGNATURE = "{signature}"


{functions}
'''
