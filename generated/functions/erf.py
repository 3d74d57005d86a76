"""Conditional Gaussian coefficients of f(z) = erf(z)  [Saad & Solla 1995, PRE 52, 4225, as erf(z/sqrt(2))].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 26b48ba60f7415c5, runtime f2f8f1eadb622fc6.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "erf"
EXPRESSION = "erf(z)"
SIGNATURE = "26b48ba60f7415c5133d07088914165e5f45056fbeed38d71aa6215d03da76f5"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "odd"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = math.erf(z)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=1.0, wave=0.0, smooth=True,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
