"""Conditional Gaussian coefficients of f(z) = relu(z)  [Nair & Hinton 2010, ICML].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature ea96474006baaedc, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "relu"
EXPRESSION = "relu(z)"
SIGNATURE = "ea96474006baaedc7cd6ba4ac7f7dcae63defcdcfe4b42d200f1626fbfeb64b0"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "none"
OPERATIONS = 0
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """2 pieces of f, at n places z."""
    for i in range(n):
        z = places[i]
        if z < 0.0:
            out[i] = 0.0
        else:
            out[i] = z


SEGMENTS = (
    (0.0, 0.0),  # ends of the pieces
    (0.0, 0.0),  # what rounding did to them
    (0.0, 0.0),  # jumps of f there
    (1.0, 0.0),  # of its slope
    (0.0, 1.0),  # slopes of the pieces
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
