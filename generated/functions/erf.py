"""Conditional Gaussian coefficients of f(z) = erf(z)  [Saad & Solla 1995, PRE 52, 4225, as erf(z/sqrt(2))].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 55fd573111a7ab9d, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "erf"
EXPRESSION = "erf(z)"
SIGNATURE = "55fd573111a7ab9d69dde309dca98eb25f8f436577a872fe4810d9bf2cf69fca"
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


@compiled(VALUES)
def above(n, places, out):
    """f - 1.0, which vanishes far above zero."""
    for i in range(n):
        z = places[i]
        out[i] = -math.erfc(z)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=1.0, wave=0.0, smooth=True,
    limits=((1.0, above),),  # values, and what f has beside them
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
