"""Conditional Gaussian coefficients of f(z) = erf(z)  [Saad & Solla 1995, PRE 52, 4225, as erf(z/sqrt(2))].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 8fb989e996b8db87, runtime f2f8f1eadb622fc6.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "erf"
EXPRESSION = "erf(z)"
SIGNATURE = "8fb989e996b8db87fdee842384cbd396f55862eba9877ded928e346b1b9fb06e"
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
