"""Conditional Gaussian coefficients of f(z) = z*sigmoid(z)  [Elfwing, Uchibe & Doya 2018, Neural Networks 107, 3].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 47f70b61b66b1eff, runtime 0c268439566f549f.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import sigmoid
NAME = "silu"
EXPRESSION = "z*sigmoid(z)"
SIGNATURE = "47f70b61b66b1eff9271036853e48ea5d4cf124ae75985a11ca1e2e5de742fd5"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "none"
OPERATIONS = 2
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = z*sigmoid(z)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=0.7, wave=0.0, smooth=True,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
