"""Emission of the law of readouts under a penalty, in plain Python that takes numbers and arrays."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.penalty import penalty_law

PATH = "penalty.py"


def emit_penalty() -> str:
    """Text of ``generated/penalty.py``."""
    law = penalty_law()
    functions = (
        Function(
            "readouts",
            "Response T and norm Q2 of the readouts of a block.",
            "beta, fraction, V, Delta, avg_h, avg_gg",
            (("T", law.response), ("Q2", law.norm)),
        ),
        Function(
            "stand_in",
            "The ridge and the variance of the field that stand for the penalty.",
            "V, Delta, avg_h, avg_gg",
            (("excess", law.excess), ("random_field", law.random_field)),
        ),
        Function(
            "slopes",
            "Derivatives of T, Q2, excess, random_field and energy, of each that in V and that in Delta.",
            "beta, fraction, V, Delta, avg_M, avg_h, avg_gg, avg_ggh, avg_ghx, avg_hxx",
            tuple((f"{name}_{field}", slope) for (name, field), slope in law.slopes.items()),
        ),
        Function(
            "energy",
            "What the free energy is beside that with the stand-in, of each block.",
            "beta, fraction, V, Delta, avg_M, avg_h, avg_gg",
            (("energy", law.energy),),
        ),
        Function("penalty", "The mean penalty of a readout.", "V, avg_M, avg_gg", (("penalty", law.penalty),)),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, NumbaPrinter()))


_TEXT = '''"""Readouts under a separable penalty, and what stands for it  [THEORY section 15].

V, Delta: width of the proximal map and variance of its argument; avg_*: averages of the Moreau envelope M of the
penalty, of g, minus its slope, and h, its curvature, with x = xi/sqrt(Delta); excess, random_field: a ridge and a field
that give the same response T and norm Q2 of a block.

{closing}
"""

# fmt: off

SIGNATURE = "{signature}"


{functions}
'''
