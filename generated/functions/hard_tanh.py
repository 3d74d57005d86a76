"""Conditional Gaussian coefficients of f(z) = clip(z,-1,1)  [Collobert 2004, PhD thesis, Paris 6].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature 90b9d831f0695d07, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "hard_tanh"
EXPRESSION = "clip(z,-1,1)"
SIGNATURE = "90b9d831f0695d072c16b2ae9123bb01c7ff3968047d19492b1cb32d70411108"
BREAKPOINTS: tuple[float, ...] = (-1.0, 1.0,)
PARITY = "odd"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """3 pieces of f, at n places z."""
    for i in range(n):
        z = places[i]
        if z < -1.0:
            out[i] = -1.0
        elif z < 1.0:
            out[i] = z
        else:
            out[i] = 1.0


SEGMENTS = (
    (-1.0, 1.0, 0.0),  # ends of the pieces
    (0.0, 0.0, 0.0),  # what rounding did to them
    (0.0, 0.0, 0.0),  # jumps of f there
    (1.0, -1.0, 0.0),  # of its slope
    (0.0, 1.0, 0.0),  # slopes of the pieces
    (0.0, 0.0, 0.0),  # where they are zero
    (0.0, 0.0, 0.0),  # what rounding did to that
    (-1.0, 0.0, 1.0),  # levels of those that are constant
)

FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    segments=SEGMENTS,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
