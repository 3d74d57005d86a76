"""Conditional Gaussian coefficients of f(z) = z*Phi(z)  [Hendrycks & Gimpel 2016, arXiv:1606.08415].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 2549e70cb4365358, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "gelu"
EXPRESSION = "z*Phi(z)"
SIGNATURE = "2549e70cb4365358e0de1abe6f1cb69532861cbd79976ebd32462c809ddee570"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "none"
OPERATIONS = 2
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = z*(0.5*math.erfc(-0.7071067811865476*z))


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=1.0, wave=0.0, smooth=True,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
