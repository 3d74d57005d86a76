"""Emission of how much the test error of a fit varies between draws."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.numpy_matrices import MatrixPrinter
from codegen.print.printer import Function
from codegen.text import closing
from derive.draws import draws
from derive.moved_envelopes import MOMENTS, MOVED

PATH = "draws.py"
_MOVED = sp.symbols("d_mean d_square d_Delta d_V", real=True)
_NAMES = dict(zip(MOVED, _MOVED, strict=True))
_OF_SAMPLE = ", ".join(map(str, (*_MOVED, *MOMENTS)))
_OF_READOUTS = "V_1, V_2, T_1, T_2, q, t, Q, N, J_target, J_spike, J_m"


def emit_draws() -> str:
    """Text of ``generated/draws.py``."""
    law = draws()
    averages = Function(
        "sample",
        "(what a source adds to the envelope, what two sources add to the product of two envelopes), on average.",
        _OF_SAMPLE,
        (("moved", law.moved.xreplace(_NAMES)), ("product", law.sample.xreplace(_NAMES))),
    )
    rest = Function(
        "readouts",
        "The matrix whose trace has the rest of the variance as its derivative in both sources.",
        _OF_READOUTS,
        (("found", law.readouts),),
    )
    signed = signature([sp.srepr(law.sample), sp.srepr(law.readouts), *sources_of(__name__)])
    parts = [averages.text(ArrayPrinter()), rest.text(MatrixPrinter("T_1"))]
    return _TEXT.format(closing=closing(signed), signature=signed, functions="\n\n\n".join(parts))


_TEXT = '''"""How much the test error of a fit varies between draws  [THEORY section 14].

d_mean, d_Delta, d_V: derivatives of the law of the output given kappa and t along a source on the test error; d_square:
the squared one of its slope. g1, g2, g3, g4: averages of powers of g over the output; with _x, _xx their derivatives in
its mean. Matrices are over blocks, V_1 that of the first fit; q: Q1_hat_12, t: T_12, Q: beta Q1_12, N: beta times
shares; J: beta times sums of products j_2 j_1^T of sources, of m over the dimension.

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
