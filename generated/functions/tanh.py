"""Conditional Gaussian coefficients of f(z) = tanh(z)  [Cui et al. 2024, arXiv:2402.04980; LeCun et al. 1998, Efficient
BackProp].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature dbfdf24cc8e76462, runtime d836de114a153587.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "tanh"
EXPRESSION = "tanh(z)"
SIGNATURE = "dbfdf24cc8e76462c7175ef4f4014bbcb027e3613663025be4a12b8e0f1f380d"
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
