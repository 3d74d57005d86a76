"""Conditional Gaussian coefficients of f(z) = tanh(z)  [Cui et al. 2024, arXiv:2402.04980; LeCun et al. 1998, Efficient
BackProp].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 80620157378653ef, runtime d836de114a153587.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "tanh"
EXPRESSION = "tanh(z)"
SIGNATURE = "80620157378653ef9a292c611fc55d9266eeb556e17fb7bbba8db139dffcc24f"
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


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=1.0, wave=0.0, smooth=True,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
