"""Conditional Gaussian coefficients of f(z) = softplus(z)  [Dugas et al. 2001, NIPS 13].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 6cdc4041a8bb4947, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import softplus
NAME = "softplus"
EXPRESSION = "softplus(z)"
SIGNATURE = "6cdc4041a8bb49475ca6dc7c9f5df30c4bfc61d471d79c0d39d3ac0267aee541"
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
