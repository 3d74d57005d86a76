"""Conditional Gaussian coefficients of f(z) = tanh(z)  [Cui et al. 2024, arXiv:2402.04980; LeCun et al. 1998, Efficient
BackProp].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature a397db2629a5b076, runtime ce3f2a0bb30196f8.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "tanh"
EXPRESSION = "tanh(z)"
SIGNATURE = "a397db2629a5b076aeb33d3b9a73c2bcad973ab92ff63bdab53f644a0bef4fac"
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
