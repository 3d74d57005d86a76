"""Emission of state evolution of the best estimator."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.numpy_matrices import MatrixPrinter
from codegen.print.printer import Function
from codegen.text import closing
from derive.best_estimator import ONE_INDEX, best_estimator
from derive.posterior.symbols import INFORMATION, LOWER, SIDE, Q

PATH = "best_estimator.py"
_NAMES = {
    INFORMATION: sp.MatrixSymbol("information", SIDE, SIDE),
    LOWER: sp.MatrixSymbol("lower", SIDE, SIDE),
    Q: sp.MatrixSymbol("known", SIDE, SIDE),
}
_NUMBERS = dict(zip(ONE_INDEX, sp.symbols("known information", positive=True), strict=True))


def emit_best_estimator() -> str:
    """Text of ``generated/best_estimator.py``."""
    law = best_estimator()
    matrices = (
        Function(
            "overlap",
            "Q after one step of state evolution.",
            "lower, information, alpha",
            (("overlap", law.overlap.xreplace(_NAMES)),),
        ),
        Function(
            "entropy_slope",
            "The free entropy grows by the trace of this times dQ.",
            "lower, known, information, alpha",
            (("slope", law.entropy_slope.xreplace(_NAMES)),),
        ),
        Function(
            "surplus",
            "What vanishes at the overlap of one index; numbers.",
            "known, information, alpha",
            (("surplus", law.surplus.xreplace(_NUMBERS)),),
        ),
    )
    growth = Function(
        "growth",
        "From no overlap one step leads from M to alpha times this [m, m, m, m], summed with M over its inner indices.",
        "weight, G",
        (("H", law.growth),),
    )
    canonical = [sp.srepr(expr) for function in (*matrices, growth) for _, expr in function.results]
    signed = signature([*canonical, *sources_of(__name__)])
    parts = [function.text(MatrixPrinter("lower")) for function in matrices] + [growth.text(ArrayPrinter())]
    return _TEXT.format(closing=closing(signed), signature=signed, functions="\n\n\n".join(parts))


_TEXT = '''"""State evolution of the best estimator of a target  [THEORY section 15; arXiv:2405.15480].

known [m, m]: the overlap Q of the directions; lower: S with S S^T = 1 - Q; information [m, m]: E[E[t|y] E[t|y]^T] of
what labels tell of the own part t of the indices; G [Y, m, m]: E[t t^T - 1|y] of labels of probability weight [Y];
alpha: samples over d.

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
