"""Conditional Gaussian coefficients of f(z) = z*sigmoid(z)  [Elfwing, Uchibe & Doya 2018, Neural Networks 107, 3].

mu0, mu1, mu2 by the trapezoid rule in g.
Generated; do not edit. Signature 5c9cb2c662fcaac0, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
from generated.runtime.special import sigmoid
NAME = "silu"
EXPRESSION = "z*sigmoid(z)"
SIGNATURE = "5c9cb2c662fcaac08321f66802cdb8c09a6ca3578be53b851ebca90bb6f4f787"
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
