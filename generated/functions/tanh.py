"""Conditional Gaussian coefficients of f(z) = tanh(z)  [Cui et al. 2024, arXiv:2402.04980; LeCun et al. 1998, Efficient
BackProp].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 39b425601f97ad9e, runtime f2f8f1eadb622fc6.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "tanh"
EXPRESSION = "tanh(z)"
SIGNATURE = "39b425601f97ad9e2685cfa54a7ab9ae8c63a19882e7c615f4bc43d43669459c"
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
