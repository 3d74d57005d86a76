"""Conditional Gaussian coefficients of f(z) = erf(z)  [Saad & Solla 1995, PRE 52, 4225, as erf(z/sqrt(2))].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature a928d356f33723cb, runtime bca8a2b3e7d43eb7.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "erf"
EXPRESSION = "erf(z)"
SIGNATURE = "a928d356f33723cb5cb22a1a1ed02a4c84b812f7a19dcdb8c40277060f7988b0"
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
