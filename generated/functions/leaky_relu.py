"""Conditional Gaussian coefficients of f(z) = max(z,0.01*z)  [Maas, Hannun & Ng 2013, ICML workshop (slope 0.01)].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature 2e58628b1760fa71, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "leaky_relu"
EXPRESSION = "max(z,0.01*z)"
SIGNATURE = "2e58628b1760fa7147088eec591ec48adca8add806336c14bbfe4ba72443d347"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "none"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """2 pieces of f, at n places z."""
    for i in range(n):
        z = places[i]
        if z < 0.0:
            out[i] = 0.01*z
        else:
            out[i] = z


SEGMENTS = (
    (0.0, 0.0),  # ends of the pieces
    (0.0, 0.0),  # what rounding did to them
    (0.0, 0.0),  # jumps of f there
    (0.99, 0.0),  # of its slope
    (0.01, 1.0),  # slopes of the pieces
    (0.0, 0.0),  # where they are zero
    (0.0, 0.0),  # what rounding did to that
    (0.0, 0.0),  # levels of those that are constant
)

FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    segments=SEGMENTS,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
