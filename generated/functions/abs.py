"""Conditional Gaussian coefficients of f(z) = abs(z)  [Jarrett et al. 2009, ICCV (absolute value rectification)].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature 17c0f02a3618d2f6, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "abs"
EXPRESSION = "abs(z)"
SIGNATURE = "17c0f02a3618d2f655060178f58148720a3f656fdab0f648c3e9d52ab87a4729"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "even"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """2 pieces of f, at n places z."""
    for i in range(n):
        z = places[i]
        if z < 0.0:
            out[i] = -z
        else:
            out[i] = z


SEGMENTS = (
    (0.0, 0.0),  # ends of the pieces
    (0.0, 0.0),  # what rounding did to them
    (0.0, 0.0),  # jumps of f there
    (2.0, 0.0),  # of its slope
    (-1.0, 1.0),  # slopes of the pieces
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
