"""Conditional Gaussian coefficients of f(z) = z*Phi(z)  [Hendrycks & Gimpel 2016, arXiv:1606.08415].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 76cf59c5ce7d7e24, runtime ad08b7e40ee9ca37.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "gelu"
EXPRESSION = "z*Phi(z)"
SIGNATURE = "76cf59c5ce7d7e249e07b9d55b63ca605ae1d543cded185742526bced43c9915"
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
