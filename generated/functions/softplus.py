"""Conditional Gaussian coefficients of f(z) = softplus(z)  [Dugas et al. 2001, NIPS 13].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature e8de7e4f7afb24e6, runtime 0c268439566f549f.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import softplus
NAME = "softplus"
EXPRESSION = "softplus(z)"
SIGNATURE = "e8de7e4f7afb24e6bd139cf4798ce82cbff3f2c3c9259d876ac2482758287b4c"
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
