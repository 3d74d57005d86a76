"""Conditional Gaussian coefficients of f(z) = tanh(z)  [Cui et al. 2024, arXiv:2402.04980; LeCun et al. 1998, Efficient
BackProp].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature ae2a6f6aad7d4517, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import sigmoid
NAME = "tanh"
EXPRESSION = "tanh(z)"
SIGNATURE = "ae2a6f6aad7d451709c0f5ba30245d48217bf5366ba825b5889c4c60c0f450c9"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "odd"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = math.tanh(z)


@compiled(VALUES)
def above(n, places, out):
    """f - 1.0, which vanishes far above zero."""
    for i in range(n):
        z = places[i]
        out[i] = -2.0*sigmoid(-2.0*z)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=1.0, wave=0.0, smooth=True,
    limits=((1.0, above),),  # values, and what f has beside them
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
