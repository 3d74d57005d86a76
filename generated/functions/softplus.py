"""Conditional Gaussian coefficients of f(z) = softplus(z)  [Dugas et al. 2001, NIPS 13].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 87327e235812b126, runtime 346396a47abd4c5f.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import softplus
NAME = "softplus"
EXPRESSION = "softplus(z)"
SIGNATURE = "87327e235812b126d200811188c53d28c572a8a6e663e17d2d7146e4cd0b7b21"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "none"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = softplus(z)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=((0.0, 1.0),),  # centres and widths
    steepness=0.7, wave=0.0, smooth=True,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
